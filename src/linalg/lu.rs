//! LU factor of a general square matrix, with row exchanges.

use core::fmt;

use super::rows::{row_end, scale, subtract_rows};
use super::{MatMut, MatRef};
use crate::scalar::Real;

/// No entry of a column was left to divide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// The column.
    pub column: usize,
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "matrix is singular: column {} has no pivot", self.column)
    }
}

impl core::error::Error for Singular {}

/// P A = L U in place, L with unit diagonal; `exchanges[k]` is the row that came to place k at step k. O(n³ / 3).
///
/// Returns the smallest pivot in size over the largest, a cheap sign of bad conditioning.
///
/// ```
/// use saltus::linalg::{MatMut, MatRef, lu, lu_solve};
///
/// let (mut a, mut exchanges, mut x) = ([0.0, 2.0, 1.0, 1.0], [0; 2], [4.0, 3.0]);
/// lu(MatMut::new(&mut a, 2, 2), &mut exchanges)?;
/// lu_solve(MatRef::new(&a, 2, 2), &exchanges, &mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), saltus::linalg::Singular>(())
/// ```
pub fn lu<T: Real>(mut a: MatMut<'_, T>, exchanges: &mut [u16]) -> Result<T, Singular> {
    let (n, stride) = (a.rows(), a.stride());
    debug_assert!(a.cols() == n && exchanges.len() >= n && n <= usize::from(u16::MAX));
    let m = a.data_mut();
    let (mut smallest, mut largest) = (T::ZERO, T::ZERO);
    for k in 0..n {
        let row = largest_below(m, k, n, stride);
        exchanges[k] = row as u16;
        if row != k {
            let (upper, lower) = m.split_at_mut(row * stride);
            upper[k * stride..][..n].swap_with_slice(&mut lower[..n]);
        }
        let (above, below) = m.split_at_mut((k * stride + n).min(m.len()));
        let pivot_row = &above[k * stride..][..n];
        let pivot = pivot_row[k];
        if !(pivot.abs() > T::ZERO && pivot.is_finite()) {
            return Err(Singular { column: k });
        }
        (smallest, largest) =
            if k == 0 { (pivot.abs(), pivot.abs()) } else { (smallest.min(pivot.abs()), largest.max(pivot.abs())) };
        let inverse = T::ONE / pivot;
        for row in below.get_mut(stride - n..).unwrap_or_default().chunks_mut(stride).take(n - k - 1) {
            let factor = row[k] * inverse;
            row[k] = factor;
            if factor != T::ZERO {
                for (x, p) in row[k + 1..n].iter_mut().zip(&pivot_row[k + 1..]) {
                    *x = (-factor).mul_add(*p, *x);
                }
            }
        }
    }
    Ok(if n == 0 { T::ONE } else { smallest / largest })
}

/// The row from k on whose entry in column k is the largest in size.
#[inline(always)]
fn largest_below<T: Real>(m: &[T], k: usize, n: usize, stride: usize) -> usize {
    let (mut best, mut size) = (k, m[k * stride + k].abs());
    for i in k + 1..n {
        let candidate = m[i * stride + k].abs();
        if candidate > size {
            (best, size) = (i, candidate);
        }
    }
    best
}

/// x ← A⁻¹ x, with `factor` and `exchanges` from [`lu`]. O(n²).
pub fn lu_solve<T: Real>(factor: MatRef<'_, T>, exchanges: &[u16], x: &mut [T]) {
    let n = factor.rows();
    for k in 0..n {
        x.swap(k, usize::from(exchanges[k]));
    }
    for i in 1..n {
        let row = factor.row(i);
        x[i] -= partial_dot(&row[..i], &x[..i]);
    }
    for i in (0..n).rev() {
        let row = factor.row(i);
        x[i] = (x[i] - partial_dot(&row[i + 1..], &x[i + 1..n])) / row[i];
    }
}

/// X ← A⁻¹ X for many right-hand sides, with `factor` and `exchanges` from [`lu`]. O(n² · columns).
pub fn lu_solve_matrix<T: Real>(factor: MatRef<'_, T>, exchanges: &[u16], mut x: MatMut<'_, T>) {
    let (n, stride, cols) = (factor.rows(), x.stride(), x.full_cols());
    let x = x.data_mut();
    for k in 0..n {
        let other = usize::from(exchanges[k]);
        if other != k {
            let (upper, lower) = x.split_at_mut(other * stride);
            upper[k * stride..][..cols].swap_with_slice(&mut lower[..cols]);
        }
    }
    for i in 1..n {
        let (above, row) = x.split_at_mut(i * stride);
        subtract_rows(row, above, stride, 0..cols, factor.row(i)[..i].iter().copied());
    }
    for i in (0..n).rev() {
        let (row, below) = x[i * stride..].split_at_mut(row_end(i, n, stride, cols));
        subtract_rows(row, below, stride, 0..cols, factor.row(i)[i + 1..].iter().copied());
        scale(&mut row[..cols], T::ONE / factor[(i, i)]);
    }
}

/// Σ aᵢ bᵢ in four interleaved sums, in an order that does not depend on the target.
#[inline(always)]
pub(crate) fn partial_dot<T: Real>(a: &[T], b: &[T]) -> T {
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
    let mut sums = [T::ZERO; 4];
    for (a, b) in a_chunks.zip(b_chunks) {
        for k in 0..4 {
            sums[k] = a[k].mul_add(b[k], sums[k]);
        }
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum = a.mul_add(*b, sum);
    }
    sum
}
