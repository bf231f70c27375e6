//! LDLᵀ factor of a symmetric matrix, without square roots and without a sign requirement.

use core::fmt;

use super::rows::{scale_row, subtract_rows};
use super::{MatMut, MatRef};
use crate::scalar::Real;

/// A pivot was no larger than the caller's threshold: it would be noise that is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallPivot {
    /// Row of the pivot.
    pub pivot: usize,
}

impl fmt::Display for SmallPivot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pivot {} is within the threshold of zero: regularize the matrix", self.pivot)
    }
}

impl core::error::Error for SmallPivot {}

/// A = Uᵀ D U in place, U with unit diagonal: reads and writes the upper triangle, D on the diagonal. O(n³ / 6).
///
/// Symmetric indefinite input is welcome as long as every pivot exceeds `threshold` in size; no pivoting.
///
/// ```
/// use saltus::linalg::{MatMut, ldlt};
///
/// let mut a = [2.0, 2.0, 2.0, -1.0];
/// ldlt(MatMut::new(&mut a, 2, 2), 1e-12)?;
/// assert_eq!([a[0], a[1], a[3]], [2.0, 1.0, -3.0]);
/// # Ok::<(), saltus::linalg::SmallPivot>(())
/// ```
pub fn ldlt<T: Real>(mut a: MatMut<'_, T>, threshold: T) -> Result<(), SmallPivot> {
    let (n, stride) = (a.rows(), a.stride());
    debug_assert!(a.cols() == n);
    let m = a.data_mut();
    for i in 0..n {
        subtract_rows(m, stride, i, 0..i, i..n, |u, k| u[k * stride + i] * u[k * stride + k]);
        let pivot = m[i * stride + i];
        if !(pivot.abs() > threshold && pivot.is_finite()) {
            return Err(SmallPivot { pivot: i });
        }
        scale_row(m, stride, i, i + 1..n, T::ONE / pivot);
    }
    Ok(())
}

/// X ← A⁻¹ X, with `factor` from [`ldlt`]. O(n² · columns).
pub fn ldlt_solve<T: Real>(factor: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols, n) = (x.stride(), x.full_cols(), factor.rows());
    let (u, step) = (factor.data(), factor.stride());
    for i in 0..n {
        subtract_rows(x.data_mut(), stride, i, 0..i, 0..cols, |_, k| u[k * step + i]);
    }
    for i in (0..n).rev() {
        scale_row(x.data_mut(), stride, i, 0..cols, T::ONE / factor[(i, i)]);
        subtract_rows(x.data_mut(), stride, i, i + 1..n, 0..cols, |_, k| u[i * step + k]);
    }
}
