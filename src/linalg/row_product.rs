//! Matrix products row by row: for few and wide rows, where tiles are seldom full.

use super::rows::{Column, subtract_rows};
use super::{MatMut, MatRef, partial_dot};
use crate::scalar::Real;

/// C += A B, one row of C at a time. O(rows · depth · columns).
pub(crate) fn add_rows_a_b<T: Real>(mut c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.cols() == b.rows() && c.rows() == a.rows() && b.stride() >= c.cols());
    let (stride, cols) = (c.stride(), c.full_cols());
    let c = c.data_mut();
    for i in 0..a.rows() {
        let Some(row) = c.get_mut(i * stride..) else { return };
        subtract_rows(row, b.data(), b.stride(), 0..cols, a.row(i).iter().map(|x| -*x));
    }
}

/// C −= Aᵀ B, one row of C at a time. O(rows · depth · columns).
pub(crate) fn subtract_rows_at_b<T: Real>(mut c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.rows() == b.rows() && c.rows() == a.cols() && b.stride() >= c.cols());
    let (stride, cols) = (c.stride(), c.full_cols());
    let c = c.data_mut();
    for i in 0..a.cols() {
        let Some(row) = c.get_mut(i * stride..) else { return };
        subtract_rows(row, b.data(), b.stride(), 0..cols, Column::new(a.data(), i, a.stride()).take(a.rows()));
    }
}

/// y += A x for a symmetric A, both triangles given: its rows are its columns, so that sums of several entries stand in
/// registers side by side. Each of them is in the order of [`partial_dot`]. O(rows²).
pub(crate) fn add_symmetric_product<T: Real>(y: &mut [T], a: MatRef<'_, T>, x: &[T]) {
    let (mut fours, mut first) = (y.as_chunks_mut::<4>().0, 0);
    macro_rules! chunks {
        ($($count:expr),*) => {$(
            while fours.len() >= $count {
                let (out, rest) = core::mem::take(&mut fours).split_at_mut($count);
                let sums = combine_rows::<T, { $count }>(a, first, x);
                for (y, sum) in out.iter_mut().zip(sums) {
                    *y = [0, 1, 2, 3].map(|k| y[k] + sum[k]);
                }
                (fours, first) = (rest, first + 4 * $count);
            }
        )*};
    }
    chunks!(SUMS, 1);
    for (row, y) in y.iter_mut().enumerate().skip(first) {
        *y += partial_dot(a.row(row), x);
    }
}

/// Fours of columns of a symmetric product at once, with four sums for each: twelve vectors of f64, or 16 scalars of a
/// Cortex-M7.
const SUMS: usize = if cfg!(target_arch = "arm") { 1 } else { 3 };

/// Σ x_j · A[j, first ..], in fours.
#[inline(always)]
fn combine_rows<T: Real, const F: usize>(a: MatRef<'_, T>, first: usize, x: &[T]) -> [[T; 4]; F] {
    let stride = a.stride();
    let mut sums = [[[T::ZERO; 4]; F]; 4];
    let mut rows = a.data().get(first..).unwrap_or(&[]);
    let (fours, rest) = x.as_chunks::<4>();
    for four in fours {
        for (sum, x) in sums.iter_mut().zip(four) {
            rows = add_row(rows, stride, *x, sum);
        }
    }
    let [p, q, r, s] = sums;
    let mut sum = core::array::from_fn(|f| [0, 1, 2, 3].map(|k| (p[f][k] + r[f][k]) + (q[f][k] + s[f][k])));
    for x in rest {
        rows = add_row(rows, stride, *x, &mut sum);
    }
    sum
}

/// Adds x times the first numbers of `rows`; the rows that follow.
#[inline(always)]
fn add_row<'a, T: Real, const F: usize>(rows: &'a [T], stride: usize, x: T, sums: &mut [[T; 4]; F]) -> &'a [T] {
    let Some(row) = rows.as_chunks::<4>().0.first_chunk::<F>() else { return &[] };
    for (sum, row) in sums.iter_mut().zip(row) {
        *sum = [0, 1, 2, 3].map(|k| row[k].mul_add(x, sum[k]));
    }
    rows.get(stride..).unwrap_or(&[])
}
