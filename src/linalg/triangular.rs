//! Triangular solves with many right-hand sides.

use super::rows::{Column, row_end, scale, subtract_rows};
use super::{MatMut, MatRef};
use crate::memory::{rest, rest_mut, run, run_mut, split_mut};
use crate::scalar::Real;

/// X ← U⁻ᵀ X, with U upper triangular: forward substitution. O(n² · columns).
pub fn solve_lower<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    if stride == 1 {
        return solve_lower_vector(u, x.data_mut());
    }
    for i in 0..u.rows() {
        let (above, row) = split_mut(x.data_mut(), i * stride);
        subtract_rows(row, above, stride, 0..cols, Column::new(u.data(), i, u.stride()).take(i));
        scale(run_mut(row, 0, cols), T::ONE / u[(i, i)]);
    }
}

/// X ← L⁻¹ X, with L lower triangular and ones on its diagonal, which are not read. O(n² · columns).
pub fn solve_unit_lower<T: Real>(l: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    for i in 1..l.rows() {
        let (above, row) = split_mut(x.data_mut(), i * stride);
        subtract_rows(row, above, stride, 0..cols, run(l.row(i), 0, i).iter().copied());
    }
}

/// X ← U⁻¹ X, with U upper triangular: back substitution. O(n² · columns).
pub fn solve_upper<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols, n) = (x.stride(), x.full_cols(), u.rows());
    if stride == 1 {
        return solve_upper_vector(u, x.data_mut());
    }
    for i in (0..n).rev() {
        let (row, below) = split_mut(rest_mut(x.data_mut(), i * stride), row_end(i, n, stride, cols));
        subtract_rows(row, below, stride, 0..cols, rest(u.row(i), i + 1).iter().copied());
        scale(run_mut(row, 0, cols), T::ONE / u[(i, i)]);
    }
}

/// The same for one right-hand side, by rows of U; its sums are in the same order.
fn solve_lower_vector<T: Real>(u: MatRef<'_, T>, x: &mut [T]) {
    for i in 0..u.rows().min(x.len()) {
        let Some(([own], later)) = rest_mut(x, i).split_first_chunk_mut() else { return };
        let Some(([pivot], row)) = rest(u.row(i), i).split_first_chunk() else { return };
        let solved = *own * (T::ONE / *pivot);
        *own = solved;
        for (x, u) in later.iter_mut().zip(row) {
            *x = (-*u).mul_add(solved, *x);
        }
    }
}

fn solve_upper_vector<T: Real>(u: MatRef<'_, T>, x: &mut [T]) {
    for i in (0..u.rows().min(x.len())).rev() {
        let Some(([own], later)) = rest_mut(x, i).split_first_chunk_mut() else { return };
        let Some(([pivot], row)) = rest(u.row(i), i).split_first_chunk() else { return };
        let sum = later.iter().zip(row).fold(*own, |sum, (x, u)| (-*u).mul_add(*x, sum));
        *own = sum * (T::ONE / *pivot);
    }
}
