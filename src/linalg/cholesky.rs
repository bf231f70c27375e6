//! Cholesky factor of a symmetric positive definite matrix.

use core::fmt;

use super::rows::{Column, scale, subtract_rows};
use super::{MatMut, MatRef, partial_dot, solve_lower, solve_upper};
use crate::memory::{Values, rest, split_mut, within, within_mut};
use crate::scalar::Real;

/// A pivot was zero, negative or not a number; rows before it are factored, the rest is spoiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPositiveDefinite {
    /// Row of the pivot.
    pub pivot: usize,
}

impl fmt::Display for NotPositiveDefinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "matrix is not positive definite: pivot {} is not above zero", self.pivot)
    }
}

impl core::error::Error for NotPositiveDefinite {}

/// A = Uᵀ U in place: reads and writes the upper triangle. O(n³ / 6).
///
/// ```
/// use saltus::linalg::{MatMut, cholesky};
///
/// let mut a = [4.0, 2.0, 2.0, 5.0];
/// cholesky(MatMut::new(&mut a, 2, 2))?;
/// assert_eq!([a[0], a[1], a[3]], [2.0, 1.0, 2.0]);
/// # Ok::<(), saltus::linalg::NotPositiveDefinite>(())
/// ```
pub fn cholesky<T: Real>(mut a: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    let (n, stride) = (a.rows(), a.stride());
    debug_assert!(a.cols() == n);
    let m = a.data_mut();
    for i in 0..n {
        let (above, row) = split_mut(m, i * stride);
        subtract_rows(row, above, stride, i..n, Column::new(above, i, stride).take(i));
        let pivot = row.at(i);
        if !(pivot > T::ZERO && pivot.is_finite()) {
            return Err(NotPositiveDefinite { pivot: i });
        }
        scale(within_mut(row, i..n), T::ONE / pivot.sqrt());
    }
    Ok(())
}

/// X ← A⁻¹ X, with `u` from [`cholesky`]. O(n² · columns).
pub fn cholesky_solve<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    solve_lower(u, x.reborrow());
    solve_upper(u, x);
}

/// x ← A⁻¹ x for a single right-hand side, with `u` from [`cholesky`]. O(n²).
pub fn cholesky_solve_vector<T: Real>(u: MatRef<'_, T>, x: &mut [T]) {
    let n = u.rows();
    for i in 0..n {
        let row = u.row(i);
        let solved = x.at(i) / row.at(i);
        x.set(i, solved);
        let minus = -solved;
        for (x, u) in within_mut(x, i + 1..n).iter_mut().zip(rest(row, i + 1)) {
            *x = minus.mul_add(*u, *x);
        }
    }
    for i in (0..n).rev() {
        let row = u.row(i);
        let solved = (x.at(i) - partial_dot(rest(row, i + 1), within(x, i + 1..n))) / row.at(i);
        x.set(i, solved);
    }
}
