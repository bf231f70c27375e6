//! LDLᵀ factor of a symmetric matrix, without square roots and without a sign requirement.

use core::fmt;

use super::rows::{Column, row_end, scale, subtract_rows};
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
        let (above, row) = m.split_at_mut(i * stride);
        let pivots = Column::new(above, 0, stride + 1);
        let coefficients = Column::new(above, i, stride).zip(pivots).map(|(u, d)| u * d).take(i);
        subtract_rows(row, above, stride, i..n, coefficients);
        let pivot = row[i];
        if !(pivot.abs() > threshold && pivot.is_finite()) {
            return Err(SmallPivot { pivot: i });
        }
        scale(&mut row[i + 1..n], T::ONE / pivot);
    }
    Ok(())
}

/// X ← A⁻¹ X, with `factor` from [`ldlt`]. O(n² · columns).
pub fn ldlt_solve<T: Real>(factor: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols, n) = (x.stride(), x.full_cols(), factor.rows());
    let x = x.data_mut();
    for i in 0..n {
        let (above, row) = x.split_at_mut(i * stride);
        subtract_rows(row, above, stride, 0..cols, Column::new(factor.data(), i, factor.stride()).take(i));
    }
    for i in (0..n).rev() {
        let (row, below) = x[i * stride..].split_at_mut(row_end(i, n, stride, cols));
        scale(&mut row[..cols], T::ONE / factor[(i, i)]);
        subtract_rows(row, below, stride, 0..cols, factor.row(i)[i + 1..].iter().copied());
    }
}
