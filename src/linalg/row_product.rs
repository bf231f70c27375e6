//! Matrix products row by row: for few and wide rows, where tiles are seldom full.

use super::rows::{Column, subtract_rows};
use super::{MatMut, MatRef};
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
