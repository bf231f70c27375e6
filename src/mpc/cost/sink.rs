//! Where the rows of residuals go: into a sum of squares, or into its expansion as well.

use super::{MOST_ROWS, Quadratic};
use crate::input::InputError;
use crate::linalg::MatMut;
use crate::scalar::Real;

/// Takes weighted rows of residuals.
pub(in super::super) trait Sink<T: Real> {
    /// ½ w r², whose derivative is one with respect to variable `column` and zero otherwise.
    fn unit(&mut self, column: usize, residual: T, weight: T);

    /// ½ Σ w r², with a Jacobian over the first `columns` variables that comes in as zero.
    fn rows(
        &mut self,
        residual: &[T],
        weights: &[T],
        columns: usize,
        jacobian: impl FnOnce(MatMut<'_, T>) -> Result<(), InputError>,
    ) -> Result<(), InputError>;

    /// A convex function of variable `column`: its value, slope and curvature.
    fn curve(&mut self, column: usize, value: T, slope: T, curvature: T);

    /// The sum so far.
    fn value(&self) -> T;
}

/// The sum alone.
#[derive(Debug)]
pub(in super::super) struct Sum<T>(pub T);

impl<T: Real> Sink<T> for Sum<T> {
    #[inline(always)]
    fn unit(&mut self, _: usize, residual: T, weight: T) {
        self.0 += half::<T>() * weight * residual * residual;
    }

    #[inline(always)]
    fn rows(
        &mut self,
        residual: &[T],
        weights: &[T],
        _: usize,
        _: impl FnOnce(MatMut<'_, T>) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        self.0 += sum_of_squares(residual, weights);
        Ok(())
    }

    #[inline(always)]
    fn curve(&mut self, _: usize, value: T, _: T, _: T) {
        self.0 += value;
    }

    #[inline(always)]
    fn value(&self) -> T {
        self.0
    }
}

/// The sum and its Gauss–Newton expansion.
#[derive(Debug)]
pub(in super::super) struct Expansion<'e, 'a, T> {
    pub value: T,
    pub quadratic: &'e mut Quadratic<'a, T>,
}

impl<T: Real> Sink<T> for Expansion<'_, '_, T> {
    #[inline(always)]
    fn unit(&mut self, column: usize, residual: T, weight: T) {
        let slope = weight * residual;
        self.curve(column, half::<T>() * slope * residual, slope, weight);
    }

    fn rows(
        &mut self,
        residual: &[T],
        weights: &[T],
        columns: usize,
        jacobian: impl FnOnce(MatMut<'_, T>) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        self.value += sum_of_squares(residual, weights);
        let rows = residual.len().min(MOST_ROWS);
        jacobian(self.quadratic.rows_mut(rows, columns))?;
        self.quadratic.add_rows(residual, weights, columns);
        Ok(())
    }

    #[inline(always)]
    fn curve(&mut self, column: usize, value: T, slope: T, curvature: T) {
        self.value += value;
        self.quadratic.add_diagonal(column, slope, curvature);
    }

    #[inline(always)]
    fn value(&self) -> T {
        self.value
    }
}

fn sum_of_squares<T: Real>(residual: &[T], weights: &[T]) -> T {
    half::<T>() * residual.iter().zip(weights).fold(T::ZERO, |sum, (r, w)| (*w * *r).mul_add(*r, sum))
}

#[inline(always)]
fn half<T: Real>() -> T {
    T::from_f64(0.5)
}
