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
    tiled(c, Left::new(a), Right::new(b), |_| 0, Add);
}

/// C += Aᵀ B.
pub fn add_at_b<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), Right::new(b), |_| 0, Add);
}

/// C = Aᵀ B; what C was does not matter.
pub(crate) fn write_at_b<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), Right::new(b), |_| 0, Write);
}

/// C += Aᵀ A, on and above the diagonal; below it C is left in part as it was. Symmetric rank-k update.
pub fn add_at_a_upper<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>) {
    tiled(c, Left::transposed(a), Right::new(a), |row| row, Add);
}

/// C += Aᵀ B, on and above the diagonal, for a product that is symmetric.
pub fn add_at_b_upper<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), Right::new(b), |row| row, Add);
}

/// C = H + Aᵀ B, on and above the diagonal, for a sum that is symmetric. Rows of H and C reach to the end of a vector, and
/// what stands there beyond the columns is read and written as well.
pub(crate) fn write_sum_upper<T: Real>(c: MatMut<'_, T>, h: MatRef<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows() && h.rows() >= c.rows() && h.cols() == c.cols());
    tiled(c, Left::transposed(a), Right::new(b), |row| row, WriteOnto { rows: h.data(), stride: h.stride() });
}

/// C −= Aᵀ B.
pub(crate) fn subtract_at_b<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), Right::new(b), |_| 0, Subtract);
}

/// C −= Aᵀ A, on and above the diagonal.
pub(crate) fn subtract_at_a_upper<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>) {
    tiled(c, Left::transposed(a), Right::new(a), |row| row, Subtract);
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
    tiled(c, Left::new(a), Right::transposed(b), |_| 0, Add);
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

/// What becomes of the sums of a tile, row by row.
trait Put<T: Real>: Copy {
    /// From the tile whose first entry is at `row` and `col` on.
    #[inline(always)]
    fn at(self, _row: usize, _col: usize) -> Option<Self> {
        Some(self)
    }

    /// Puts the sums of the next row.
    fn put<const C: usize>(&mut self, out: &mut [T; C], sums: &[T; C]) -> Option<()>;
}

/// C += A B.
#[derive(Clone, Copy)]
struct Add;

impl<T: Real> Put<T> for Add {
    #[inline(always)]
    fn put<const C: usize>(&mut self, out: &mut [T; C], sums: &[T; C]) -> Option<()> {
        for j in 0..C {
            out[j] += sums[j];
        }
        Some(())
    }
}

/// C −= A B.
#[derive(Clone, Copy)]
struct Subtract;

impl<T: Real> Put<T> for Subtract {
    #[inline(always)]
    fn put<const C: usize>(&mut self, out: &mut [T; C], sums: &[T; C]) -> Option<()> {
        for j in 0..C {
            out[j] -= sums[j];
        }
        Some(())
    }
}

/// C = A B.
#[derive(Clone, Copy)]
struct Write;

impl<T: Real> Put<T> for Write {
    #[inline(always)]
    fn put<const C: usize>(&mut self, out: &mut [T; C], sums: &[T; C]) -> Option<()> {
        *out = *sums;
        Some(())
    }
}

/// C = H + A B.
#[derive(Clone, Copy)]
struct WriteOnto<'h, T> {
    rows: &'h [T],
    stride: usize,
}

impl<T: Real> Put<T> for WriteOnto<'_, T> {
    #[inline(always)]
    fn at(self, row: usize, col: usize) -> Option<Self> {
        Some(Self { rows: self.rows.get(row * self.stride + col..)?, ..self })
    }

    #[inline(always)]
    fn put<const C: usize>(&mut self, out: &mut [T; C], sums: &[T; C]) -> Option<()> {
        let from = self.rows.first_chunk::<C>()?;
        for j in 0..C {
            out[j] = from[j] + sums[j];
        }
        self.rows = self.rows.get(self.stride..).unwrap_or(&[]);
        Some(())
    }
}

/// The sums of A B over tiles, put into C; in the band of rows from `row` on, columns start at `first_col(row)`.
#[inline(always)]
#[allow(clippy::int_plus_one)] // The last of the heights is one.
fn tiled<T: Real>(
    mut c: MatMut<'_, T>,
    a: Left<'_, T>,
    b: Right<'_, T>,
    first_col: impl Fn(usize) -> usize,
    put: impl Put<T>,
) {
    debug_assert!(c.rows() == a.rows && c.cols() == b.cols);
    let cols = b.readable_cols(c.full_cols());
    let mut row = 0;
    macro_rules! bands {
        ($($height:expr),*) => {$(
            while row + $height <= a.rows {
                band::<T, { $height }>(&mut c, (a, b), row, first_col(row)..cols, put);
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
    (a, b): (Left<'_, T>, Right<'_, T>),
    row: usize,
    cols: Range<usize>,
    put: impl Put<T>,
) {
    let mut col = cols.start;
    macro_rules! tiles {
        ($($width:expr),*) => {$(
            while col + $width <= cols.end {
                tile::<T, R, { $width }>(c, (a, b), (row, col), put);
                col += $width;
            }
        )*};
    }
    // A transposed factor is gathered number by number: four columns at a time are all that pays.
    if b.col_step == 1 {
        if size_of::<T>() <= 4 && !cfg!(target_arch = "arm") {
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
    (a, b): (Left<'_, T>, Right<'_, T>),
    (row, col): (usize, usize),
    put: impl Put<T>,
) {
    let mut sums = [[T::ZERO; C]; R];
    if a.row_step == 1 && b.col_step == 1 {
        let (Some(left), Some(right)) = (a.data.get(row..), b.data.get(col..)) else { return };
        let (left, right) = ((left, a.depth_step), (right, b.depth_step));
        if add_products(left, right, a.depth, &mut sums).is_none() {
            return;
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
    let (Some(mut rows), Some(mut put)) = (c.data_mut().get_mut(row * stride + col..), put.at(row, col)) else {
        return;
    };
    for sums in &sums {
        let Some(out) = rows.first_chunk_mut::<C>() else { return };
        if put.put(out, sums).is_none() {
            return;
        }
        rows = rows.get_mut(stride..).unwrap_or_default();
    }
}

/// sums += Σ x yᵀ over `depth` rows, x the first numbers of the left row, y those of the right one. Rows come with their
/// strides. Nothing if they are too short.
#[inline(always)]
fn add_products<T: Real, const R: usize, const C: usize>(
    (left, left_stride): (&[T], usize),
    (right, right_stride): (&[T], usize),
    depth: usize,
    sums: &mut [[T; C]; R],
) -> Option<()> {
    let Some(whole) = depth.checked_sub(1) else { return Some(()) };
    // All rows but the last are whole, so their bounds are checked once for all of them.
    let (left, last_left) = left.split_at_checked(whole * left_stride)?;
    let (right, last_right) = right.split_at_checked(whole * right_stride)?;
    let (last_left, last_right) = (last_left.first_chunk::<R>()?, last_right.first_chunk::<C>()?);
    if whole > 0 {
        if left_stride < R || right_stride < C {
            return None;
        }
        for (x, y) in left.chunks_exact(left_stride).zip(right.chunks_exact(right_stride)) {
            let (x, y) = (x.first_chunk::<R>()?, y.first_chunk::<C>()?);
            for i in 0..R {
                multiply_add(x[i], y, &mut sums[i]);
            }
        }
    }
    for i in 0..R {
        multiply_add(last_left[i], last_right, &mut sums[i]);
    }
    Some(())
}

/// sums += x · row.
#[inline(always)]
fn multiply_add<T: Real, const C: usize>(x: T, row: &[T; C], sums: &mut [T; C]) {
    for j in 0..C {
        sums[j] = x.mul_add(row[j], sums[j]);
    }
}
