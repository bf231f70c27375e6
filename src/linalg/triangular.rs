//! Triangular solves with many right-hand sides.

use super::rows::{Column, row_end, scale, subtract_rows};
use super::{MatMut, MatRef};
use crate::scalar::Real;

/// X ← U⁻ᵀ X, with U upper triangular: forward substitution. O(n² · columns).
pub fn solve_lower<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    if stride == 1 {
        return solve_lower_vector(u, x.data_mut());
    }
    for i in 0..u.rows() {
        let (above, row) = x.data_mut().split_at_mut(i * stride);
        subtract_rows(row, above, stride, 0..cols, Column::new(u.data(), i, u.stride()).take(i));
        scale(&mut row[..cols], T::ONE / u[(i, i)]);
    }
}

/// X ← L⁻¹ X, with L lower triangular and ones on its diagonal, which are not read. O(n² · columns).
pub fn solve_unit_lower<T: Real>(l: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    for i in 1..l.rows() {
        let (above, row) = x.data_mut().split_at_mut(i * stride);
        subtract_rows(row, above, stride, 0..cols, l.row(i)[..i].iter().copied());
    }
}

/// X ← U⁻¹ X, with U upper triangular: back substitution. O(n² · columns).
pub fn solve_upper<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols, n) = (x.stride(), x.full_cols(), u.rows());
    if stride == 1 {
        return solve_upper_vector(u, x.data_mut());
    }
    for i in (0..n).rev() {
        let (row, below) = x.data_mut()[i * stride..].split_at_mut(row_end(i, n, stride, cols));
        subtract_rows(row, below, stride, 0..cols, u.row(i)[i + 1..].iter().copied());
        scale(&mut row[..cols], T::ONE / u[(i, i)]);
    }
}

/// The same for one right-hand side, by rows of U; its sums are in the same order.
fn solve_lower_vector<T: Real>(u: MatRef<'_, T>, x: &mut [T]) {
    for i in 0..u.rows().min(x.len()) {
        let (done, rest) = x.split_at_mut(i + 1);
        let row = &u.row(i)[i..];
        let solved = done[i] * (T::ONE / row[0]);
        done[i] = solved;
        for (x, u) in rest.iter_mut().zip(&row[1..]) {
            *x = (-*u).mul_add(solved, *x);
        }
    }
}

fn solve_upper_vector<T: Real>(u: MatRef<'_, T>, x: &mut [T]) {
    for i in (0..u.rows().min(x.len())).rev() {
        let (head, later) = x.split_at_mut(i + 1);
        let row = &u.row(i)[i..];
        let sum = later.iter().zip(&row[1..]).fold(head[i], |sum, (x, u)| (-*u).mul_add(*x, sum));
        head[i] = sum * (T::ONE / row[0]);
    }
}
