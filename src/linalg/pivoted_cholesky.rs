//! Cholesky factor of a semidefinite matrix, as far as its rank goes.

use super::rows::{Column, scale, subtract_rows, whole_pass};
use super::{MatMut, MatRef};
use crate::memory::{Values, exchange, rest, rest_mut, split_mut, within, within_mut};
use crate::scalar::Real;

/// A(order, order) = Uᵀ U on the first rows and columns that are independent, and how many those are. O(n · rank²).
///
/// `order` names the rows of A to take and is left in the order of the pivots; the rows of U go to `u`, on and above its
/// diagonal; what stands below it is spoiled. What is left of a row, over its own diagonal entry, is its pivot: the largest comes first, and none counts
/// that is not above `tolerance`. `scratch` is memory for two numbers per row.
///
/// Returns the rank and the smallest pivot that counts; one when there is none.
///
/// ```
/// use saltus::linalg::{MatMut, MatRef, pivoted_cholesky};
///
/// // The second row says the same as the first.
/// let a = [1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 9.0];
/// let (mut u, mut order) = ([0.0; 9], [0, 1, 2]);
/// let (a, factor) = (MatRef::new(&a, 3, 3), MatMut::new(&mut u, 3, 3));
/// let (rank, _) = pivoted_cholesky(a, &mut order, factor, 1e-12, &mut [0.0; 6]);
/// assert_eq!((rank, &order[..2], u[0], u[4]), (2, &[0, 2][..], 1.0, 3.0));
/// ```
pub fn pivoted_cholesky<T: Real>(
    a: MatRef<'_, T>,
    order: &mut [u16],
    mut u: MatMut<'_, T>,
    tolerance: T,
    scratch: &mut [T],
) -> (usize, T) {
    let (n, stride) = (order.len(), u.stride());
    let (left, inverses) = split_mut(scratch, n);
    for ((left, inverse), row) in left.iter_mut().zip(&mut *inverses).zip(&*order) {
        let diagonal = a[(usize::from(*row), usize::from(*row))];
        let positive = diagonal > T::ZERO && diagonal.is_finite();
        (*left, *inverse) = if positive { (T::ONE, T::ONE / diagonal) } else { (T::ZERO, T::ZERO) };
    }
    // Whole vectors: what they reach left of the diagonal and in the padding is never read.
    let (wide, mut smallest) = (u.full_cols(), T::ONE);
    let u = u.data_mut();
    for k in 0..n {
        let best = largest(rest(left, k)) + k;
        let counts = left.at(best) > tolerance;
        if !counts {
            return (k, smallest);
        }
        smallest = smallest.min(left.at(best));
        bring_up(k, best, (order, left, inverses), u, stride);
        let (above, row) = split_mut(u, k * stride);
        let source = a.row(usize::from(order.at(k)));
        for (entry, column) in within_mut(row, k..n).iter_mut().zip(rest(order, k)) {
            *entry = source.at(usize::from(*column));
        }
        subtract_rows(row, above, stride, whole_pass(k, wide)..wide, Column::new(above, k, stride).take(k));
        let pivot = row.at(k);
        if !(pivot > T::ZERO && pivot.is_finite()) {
            return (k, smallest);
        }
        scale(within_mut(row, k..n), T::ONE / pivot.sqrt());
        let later = rest_mut(left, k + 1).iter_mut().zip(rest(inverses, k + 1));
        for ((left, inverse), entry) in later.zip(within(row, k + 1..n)) {
            *left = (-(*entry * *inverse)).mul_add(*entry, *left);
        }
    }
    (n, smallest)
}

/// The best so far is looked up again for each comparison: kept in a register, every comparison would wait for the one
/// before, which cost the gradient of a Go1 a tenth of its time.
fn largest<T: Real>(numbers: &[T]) -> usize {
    let mut best = 0;
    for (k, x) in numbers.iter().enumerate() {
        if numbers.get(best).is_some_and(|most| x > most) {
            best = k;
        }
    }
    best
}

/// Brings what stands at place `other` to place `k`, in the rows of U above too.
fn bring_up<T: Real>(
    k: usize,
    other: usize,
    (order, left, inverses): (&mut [u16], &mut [T], &mut [T]),
    u: &mut [T],
    stride: usize,
) {
    if k == other {
        return;
    }
    exchange(order, k, other);
    exchange(left, k, other);
    exchange(inverses, k, other);
    for row in u.chunks_exact_mut(stride.max(1)).take(k) {
        exchange(row, k, other);
    }
}
