//! Matrix products by register tiles.

use core::ops::Range;

use super::rows::{chunk, chunk_mut};
use super::{MatMut, MatRef};
use crate::scalar::Real;

/// Rows of a register tile.
const TILE_ROWS: usize = 4;
/// Columns of a register tile of f64, half those of f32: 4 × 12 sums fill the vector registers of x86-64-v3; a Cortex-M7
/// has 32 scalars.
const TILE_COLS: usize = if cfg!(target_arch = "arm") { 4 } else { 12 };

/// Columns of the tile for what is left of a band.
const NARROW_COLS: usize = if cfg!(target_arch = "arm") { 4 } else { 8 };

/// C += A B.
///
/// ```
/// use saltus::linalg::{MatMut, MatRef, add_a_b};
///
/// let (a, b) = ([1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 1.0, 0.0]);
/// let mut c = [0.0; 4];
/// add_a_b(MatMut::new(&mut c, 2, 2), MatRef::new(&a, 2, 2), MatRef::new(&b, 2, 2));
/// assert_eq!(c, [2.0, 1.0, 4.0, 3.0]);
/// ```
pub fn add_a_b<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.cols() == b.rows());
    tiled(c, Left::new(a), Right::new(b), |_| 0);
}

/// C += Aᵀ B.
pub fn add_at_b<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), Right::new(b), |_| 0);
}

/// C += Aᵀ A, on and above the diagonal; below it C is left in part as it was. Symmetric rank-k update.
pub fn add_at_a_upper<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>) {
    tiled(c, Left::transposed(a), Right::new(a), |row| row);
}

/// C += Aᵀ B, on and above the diagonal, for a product that is symmetric.
pub fn add_at_b_upper<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), Right::new(b), |row| row);
}

/// Some rows of C = Aᵀ A, at most four, where their columns of A are zero outside of the rows that `depth` gives; from
/// the diagonal on, and a little before it as far as full vectors reach.
pub(crate) fn write_gram_rows<T: Real>(
    c: &mut MatMut<'_, T>,
    a: MatRef<'_, T>,
    rows: Range<usize>,
    depth: impl Iterator<Item = Range<usize>> + Clone,
) {
    match rows.len() {
        1 => gram_band::<T, 1>(c, a, rows.start, depth),
        2 => gram_band::<T, 2>(c, a, rows.start, depth),
        3 => gram_band::<T, 3>(c, a, rows.start, depth),
        _ => gram_band::<T, 4>(c, a, rows.start, depth),
    }
}

#[allow(clippy::int_plus_one)] // The last of the widths is one.
fn gram_band<T: Real, const R: usize>(
    c: &mut MatMut<'_, T>,
    a: MatRef<'_, T>,
    row: usize,
    depth: impl Iterator<Item = Range<usize>> + Clone,
) {
    let end = Right::new(a).readable_cols(c.full_cols());
    let mut col = row - row % 4;
    macro_rules! tiles {
        ($($width:expr),*) => {$(
            while col + $width <= end {
                gram_tile::<T, R, { $width }>(c, a, row, col, depth.clone());
                col += $width;
            }
        )*};
    }
    tiles!(TILE_COLS, 4, 1);
}

#[inline(always)]
fn gram_tile<T: Real, const R: usize, const C: usize>(
    c: &mut MatMut<'_, T>,
    a: MatRef<'_, T>,
    row: usize,
    col: usize,
    depth: impl Iterator<Item = Range<usize>>,
) {
    let (data, stride) = (a.data(), a.stride());
    let mut sums = [[T::ZERO; C]; R];
    for run in depth {
        let mut at = run.start * stride;
        for _ in run {
            let (Some(left), Some(right)) = (chunk::<T, R>(data, at + row), chunk::<T, C>(data, at + col)) else {
                return;
            };
            at += stride;
            for i in 0..R {
                multiply_add(left[i], right, &mut sums[i]);
            }
        }
    }
    let stride = c.stride();
    for (i, sum) in sums.iter().enumerate() {
        let Some(out) = chunk_mut::<T, C>(c.data_mut(), (row + i) * stride + col) else { return };
        *out = *sum;
    }
}

/// C += A Bᵀ.
pub fn add_a_bt<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.cols() == b.cols());
    tiled(c, Left::new(a), Right::transposed(b), |_| 0);
}

/// The left factor, or its transpose: entry (i, k) stands at `i · row_step + k · depth_step`.
#[derive(Clone, Copy)]
struct Left<'a, T> {
    data: &'a [T],
    row_step: usize,
    depth_step: usize,
    rows: usize,
    depth: usize,
}

impl<'a, T: Real> Left<'a, T> {
    #[inline(always)]
    fn new(a: MatRef<'a, T>) -> Self {
        Self { data: a.data(), row_step: a.stride(), depth_step: 1, rows: a.rows(), depth: a.cols() }
    }

    #[inline(always)]
    fn transposed(a: MatRef<'a, T>) -> Self {
        Self { data: a.data(), row_step: 1, depth_step: a.stride(), rows: a.cols(), depth: a.rows() }
    }
}

/// The right factor, or its transpose: entry (k, j) stands at `k · depth_step + j · col_step`.
#[derive(Clone, Copy)]
struct Right<'a, T> {
    data: &'a [T],
    depth_step: usize,
    col_step: usize,
    cols: usize,
    depth: usize,
}

impl<'a, T: Real> Right<'a, T> {
    #[inline(always)]
    fn new(b: MatRef<'a, T>) -> Self {
        Self { data: b.data(), depth_step: b.stride(), col_step: 1, cols: b.cols(), depth: b.rows() }
    }

    #[inline(always)]
    fn transposed(b: MatRef<'a, T>) -> Self {
        Self { data: b.data(), depth_step: 1, col_step: b.stride(), cols: b.rows(), depth: b.cols() }
    }

    /// Columns to work on: as far as `wide` where every row can be read that far, for what it gives lands in padding.
    #[inline(always)]
    fn readable_cols(&self, wide: usize) -> usize {
        let last_row = self.depth.saturating_sub(1) * self.depth_step;
        if self.col_step == 1 && last_row + wide <= self.data.len() { wide } else { self.cols }
    }

    /// Entries (k, col .. col + C).
    #[inline(always)]
    fn load<const C: usize>(&self, k: usize, col: usize) -> Option<[T; C]> {
        let first = k * self.depth_step + col * self.col_step;
        if self.col_step == 1 {
            return chunk::<T, C>(self.data, first).copied();
        }
        let mut row = [T::ZERO; C];
        for j in 0..C {
            row[j] = *self.data.get(first + j * self.col_step)?;
        }
        Some(row)
    }
}

/// C += A B over tiles; in the band of rows from `row` on, columns start at `first_col(row)`.
#[inline(always)]
#[allow(clippy::int_plus_one)] // The last of the heights is one.
fn tiled<T: Real>(mut c: MatMut<'_, T>, a: Left<'_, T>, b: Right<'_, T>, first_col: impl Fn(usize) -> usize) {
    debug_assert!(c.rows() == a.rows && c.cols() == b.cols);
    let cols = b.readable_cols(c.full_cols());
    let mut row = 0;
    macro_rules! bands {
        ($($height:expr),*) => {$(
            while row + $height <= a.rows {
                band::<T, { $height }>(&mut c, a, b, row, first_col(row)..cols);
                row += $height;
            }
        )*};
    }
    bands!(TILE_ROWS, 2, 1);
}

#[inline(always)]
#[allow(clippy::int_plus_one)] // The last of the widths is one.
fn band<T: Real, const R: usize>(
    c: &mut MatMut<'_, T>,
    a: Left<'_, T>,
    b: Right<'_, T>,
    row: usize,
    cols: Range<usize>,
) {
    let mut col = cols.start;
    macro_rules! tiles {
        ($($width:expr),*) => {$(
            while col + $width <= cols.end {
                tile::<T, R, { $width }>(c, a, b, row, col);
                col += $width;
            }
        )*};
    }
    // A transposed factor is gathered number by number: four columns at a time are all that pays.
    if b.col_step == 1 {
        if size_of::<T>() <= 4 {
            tiles!(2 * TILE_COLS);
        }
        tiles!(TILE_COLS, NARROW_COLS);
    }
    tiles!(4, 1);
}

/// Whole rows of sums, and loads that end the tile instead of panicking: a plain double loop with indexing compiled to
/// scalar code ten times slower (`cargo bench --bench linalg -- product`).
#[inline(always)]
fn tile<T: Real, const R: usize, const C: usize>(
    c: &mut MatMut<'_, T>,
    a: Left<'_, T>,
    b: Right<'_, T>,
    row: usize,
    col: usize,
) {
    let mut sums = [[T::ZERO; C]; R];
    if a.row_step == 1 && b.col_step == 1 {
        // All rows but the last are whole, so their bounds are checked once for all of them.
        let whole = a.depth.saturating_sub(1);
        let Some((a_rows, a_last)) = a.data.split_at_checked(whole * a.depth_step) else { return };
        let Some((b_rows, b_last)) = b.data.split_at_checked(whole * b.depth_step) else { return };
        for (a_row, b_row) in a_rows.chunks_exact(a.depth_step.max(1)).zip(b_rows.chunks_exact(b.depth_step.max(1))) {
            let (Some(xs), Some(b_row)) = (chunk::<T, R>(a_row, row), chunk::<T, C>(b_row, col)) else { return };
            for i in 0..R {
                multiply_add(xs[i], b_row, &mut sums[i]);
            }
        }
        let (Some(xs), Some(b_row)) = (chunk::<T, R>(a_last, row), chunk::<T, C>(b_last, col)) else { return };
        for i in 0..R {
            multiply_add(xs[i], b_row, &mut sums[i]);
        }
    } else {
        for k in 0..a.depth {
            let Some(b_row) = b.load::<C>(k, col) else { return };
            for i in 0..R {
                let Some(&x) = a.data.get((row + i) * a.row_step + k * a.depth_step) else { return };
                multiply_add(x, &b_row, &mut sums[i]);
            }
        }
    }
    let stride = c.stride();
    for (i, sum) in sums.iter().enumerate() {
        let at = (row + i) * stride + col;
        let Some(out) = chunk_mut::<T, C>(c.data_mut(), at) else { return };
        for j in 0..C {
            out[j] += sum[j];
        }
    }
}

/// sums += x · row.
#[inline(always)]
fn multiply_add<T: Real, const C: usize>(x: T, row: &[T; C], sums: &mut [T; C]) {
    for j in 0..C {
        sums[j] = x.mul_add(row[j], sums[j]);
    }
}
