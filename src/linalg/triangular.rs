//! Triangular solves with many right-hand sides.

use super::rows::{scale_row, subtract_rows};
use super::{MatMut, MatRef};
use crate::scalar::Real;

/// X ← U⁻ᵀ X, with U upper triangular: forward substitution. O(n² · columns).
pub fn solve_lower<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    let (factor, step) = (u.data(), u.stride());
    for i in 0..u.rows() {
        subtract_rows(x.data_mut(), stride, i, 0..i, 0..cols, |_, k| factor[k * step + i]);
        scale_row(x.data_mut(), stride, i, 0..cols, T::ONE / u[(i, i)]);
    }
}

/// X ← U⁻¹ X, with U upper triangular: back substitution. O(n² · columns).
pub fn solve_upper<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols, n) = (x.stride(), x.full_cols(), u.rows());
    let (factor, step) = (u.data(), u.stride());
    for i in (0..n).rev() {
        subtract_rows(x.data_mut(), stride, i, i + 1..n, 0..cols, |_, k| factor[i * step + k]);
        scale_row(x.data_mut(), stride, i, 0..cols, T::ONE / u[(i, i)]);
    }
}
