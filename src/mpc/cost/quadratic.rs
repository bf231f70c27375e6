//! The expansion of a cost at a node.

use core::marker::PhantomData;

use super::super::MpcDims;
use super::MOST_ROWS;
use crate::linalg::{MatMut, MatRef, padded};
use crate::memory::{Values, carved, run, run_mut, split_mut};
use crate::scalar::Real;

carved! {
    /// Gradient and Hessian over (q, v, u), by tangent vectors. Written by the linearization, and by the backward pass on
    /// top of it.
    pub struct Quadratic<'a, T>(d: MpcDims) {
        /// 2nv + nu.
        pub gradient: [T; d.variables()],
        /// On and above the diagonal.
        hessian: [T; d.variables_square()],
        /// Jacobian of the residual at hand.
        rows: [T; MOST_ROWS * padded(d.variables())],
        /// Some residual depends on state and control at once.
        coupled: (bool),
    }
}

impl<T: Real> Quadratic<'_, T> {
    /// Nothing yet.
    pub(in super::super) fn clear(&mut self) {
        self.gradient.fill(T::ZERO);
        self.hessian.fill(T::ZERO);
        self.coupled = false;
    }

    /// Numbers of gradient and Hessian.
    pub(in super::super) const fn numbers(d: MpcDims) -> usize {
        d.variables() + d.variables_square()
    }

    /// An expansion whose gradient and Hessian are elsewhere, in [`numbers`](Self::numbers) numbers; it works in the
    /// memory of this one.
    pub(in super::super) fn over<'q>(&'q mut self, numbers: &'q mut [T], coupled: bool) -> Quadratic<'q, T> {
        let (gradient, hessian) = split_mut(numbers, self.gradient.len());
        Quadratic { gradient, hessian, rows: self.rows, coupled, _scalar: PhantomData }
    }

    /// Whether some residual depends on state and control at once.
    pub(in super::super) fn is_coupled(&self) -> bool {
        self.coupled
    }

    fn variables(&self) -> usize {
        self.gradient.len()
    }

    /// The Hessian, on and above the diagonal.
    pub fn hessian(&self) -> MatRef<'_, T> {
        let n = self.variables();
        MatRef::with_stride(self.hessian, n, n, padded(n))
    }

    /// Gradient and Hessian, to be written.
    pub(in super::super) fn parts_mut(&mut self) -> (&mut [T], MatMut<'_, T>) {
        let n = self.variables();
        (self.gradient, MatMut::with_stride(self.hessian, n, n, padded(n)))
    }

    /// Writes l_ux into `out`, nu × `states` with rows of `padded(states)`.
    pub(in super::super) fn read_crossed(&self, states: usize, out: &mut [T]) {
        let h = self.hessian();
        for (k, row) in out.chunks_exact_mut(padded(states).max(1)).enumerate() {
            for (j, x) in row.iter_mut().enumerate().take(states) {
                *x = h[(j, states + k)];
            }
        }
    }

    /// The rows of a residual's Jacobian over the first `columns` variables, all zero.
    pub(super) fn rows_mut(&mut self, rows: usize, columns: usize) -> MatMut<'_, T> {
        let stride = padded(self.variables());
        let mut rows = MatMut::with_stride(self.rows, rows, columns.min(stride), stride);
        rows.fill(T::ZERO);
        rows
    }

    #[inline(always)]
    pub(super) fn add_diagonal(&mut self, column: usize, slope: T, curvature: T) {
        let stride = padded(self.variables());
        if let (Some(g), Some(h)) = (self.gradient.get_mut(column), self.hessian.get_mut(column * (stride + 1))) {
            *g += slope;
            *h += curvature;
        }
    }

    /// Adds Jᵀ W r and Jᵀ W J of the rows at hand. O(rows · entries · columns).
    pub(super) fn add_rows(&mut self, residual: &[T], weights: &[T], columns: usize) {
        let (variables, stride) = (self.variables(), padded(self.variables()));
        let columns = columns.min(variables);
        self.coupled |= columns == variables;
        let mut weighted = [Row { slopes: &[], residual: T::ZERO, weight: T::ZERO }; MOST_ROWS];
        let mut count = 0;
        for ((slopes, &residual), &weight) in self.rows.chunks_exact_mut(stride.max(1)).zip(residual).zip(weights) {
            let Some(row) = weighted.get_mut(count).filter(|_| weight != T::ZERO) else { continue };
            // Blocks of four end in the padding.
            run_mut(slopes, columns, padded(columns) - columns).fill(T::ZERO);
            *row = Row { slopes, residual, weight };
            count += 1;
        }
        let (threes, rest) = run(&weighted, 0, count).as_chunks::<3>();
        let (twos, ones) = rest.as_chunks::<2>();
        for three in threes {
            add_squares(three, columns, self.gradient, self.hessian, stride);
        }
        for two in twos {
            add_squares(two, columns, self.gradient, self.hessian, stride);
        }
        for one in ones {
            add_squares(&[*one], columns, self.gradient, self.hessian, stride);
        }
    }
}

/// A row of a Jacobian, with the residual and its weight.
#[derive(Clone, Copy)]
struct Row<'r, T> {
    slopes: &'r [T],
    residual: T,
    weight: T,
}

/// Adds what some rows give, one after the other in every sum, in blocks of four columns from the diagonal on.
#[inline(always)]
fn add_squares<T: Real, const R: usize>(
    rows: &[Row<'_, T>; R],
    columns: usize,
    gradient: &mut [T],
    hessian: &mut [T],
    stride: usize,
) {
    for (i, gradient) in gradient.iter_mut().enumerate().take(columns) {
        let slopes = rows.map(|row| row.weight * row.slopes.at(i));
        if slopes.iter().all(|slope| *slope == T::ZERO) {
            continue;
        }
        for (slope, row) in slopes.iter().zip(rows) {
            *gradient = slope.mul_add(row.residual, *gradient);
        }
        let first = i / 4 * 4;
        let length = padded(columns) - first;
        let mut blocks = rows.map(|row| run(row.slopes, first, length).as_chunks::<4>().0.iter());
        for sum in run_mut(hessian, i * stride + first, length).as_chunks_mut::<4>().0 {
            for (slope, blocks) in slopes.iter().zip(&mut blocks) {
                let Some(block) = blocks.next() else { continue };
                for (sum, x) in sum.iter_mut().zip(block) {
                    *sum = slope.mul_add(*x, *sum);
                }
            }
        }
    }
}
