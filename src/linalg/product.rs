//! Matrix products by register tiles.

use super::{MatMut, MatRef};
use crate::scalar::Real;

/// Rows of a register tile.
const TILE_ROWS: usize = 4;
/// Columns of the widest register tile: 4 × 12 sums fill the vector registers of x86-64-v3; a Cortex-M7 has 32 scalars.
const TILE_COLS: usize = if cfg!(target_arch = "arm") { 4 } else { 12 };

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
    let left = Left { data: a.data(), row_step: a.stride(), depth_step: 1, rows: a.rows(), depth: a.cols() };
    tiled(c, left, b, |_| 0);
}

/// C += Aᵀ B.
pub fn add_at_b<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows());
    tiled(c, Left::transposed(a), b, |_| 0);
}

/// C += Aᵀ A, on and above the diagonal; below it C is left in part as it was. Symmetric rank-k update.
pub fn add_at_a_upper<T: Real>(c: MatMut<'_, T>, a: MatRef<'_, T>) {
    tiled(c, Left::transposed(a), a, |row| row);
}

/// C += A Bᵀ.
pub fn add_a_bt<T: Real>(mut c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
    for i in 0..a.rows() {
        for j in 0..b.rows() {
            let mut sum = T::ZERO;
            for (x, y) in a.row(i).iter().zip(b.row(j)) {
                sum = x.mul_add(*y, sum);
            }
            c[(i, j)] += sum;
        }
    }
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
    fn transposed(a: MatRef<'a, T>) -> Self {
        Self { data: a.data(), row_step: 1, depth_step: a.stride(), rows: a.cols(), depth: a.rows() }
    }
}

/// C += A B over tiles; in the band of rows from `row` on, columns start at `first_col(row)`.
#[inline(always)]
fn tiled<T: Real>(mut c: MatMut<'_, T>, a: Left<'_, T>, b: MatRef<'_, T>, first_col: impl Fn(usize) -> usize) {
    debug_assert!(c.rows() == a.rows && c.cols() == b.cols());
    let mut row = 0;
    while row + TILE_ROWS <= a.rows {
        band::<T, TILE_ROWS>(&mut c, a, b, row, first_col(row));
        row += TILE_ROWS;
    }
    while row < a.rows {
        band::<T, 1>(&mut c, a, b, row, first_col(row));
        row += 1;
    }
}

#[inline(always)]
fn band<T: Real, const R: usize>(c: &mut MatMut<'_, T>, a: Left<'_, T>, b: MatRef<'_, T>, row: usize, from: usize) {
    let cols = b.cols();
    let mut col = from;
    while col + TILE_COLS <= cols {
        tile::<T, R, TILE_COLS>(c, a, b, row, col);
        col += TILE_COLS;
    }
    while col + 4 <= cols {
        tile::<T, R, 4>(c, a, b, row, col);
        col += 4;
    }
    while col < cols {
        tile::<T, R, 1>(c, a, b, row, col);
        col += 1;
    }
}

#[inline(always)]
fn tile<T: Real, const R: usize, const C: usize>(
    c: &mut MatMut<'_, T>,
    a: Left<'_, T>,
    b: MatRef<'_, T>,
    row: usize,
    col: usize,
) {
    let mut sums = [[T::ZERO; C]; R];
    let (a_tile, b_tile) = (&a.data[row * a.row_step..], &b.data()[col..]);
    for k in 0..a.depth {
        let Some(b_row) = b_tile.get(k * b.stride()..).and_then(|rest| rest.first_chunk::<C>()) else { return };
        for i in 0..R {
            let x = a_tile[i * a.row_step + k * a.depth_step];
            for j in 0..C {
                sums[i][j] = x.mul_add(b_row[j], sums[i][j]);
            }
        }
    }
    for (i, sum) in sums.iter().enumerate() {
        for (out, s) in c.row_mut(row + i)[col..].iter_mut().zip(sum) {
            *out += *s;
        }
    }
}
