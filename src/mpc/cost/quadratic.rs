//! The expansion of a cost at a node.

use core::marker::PhantomData;

use super::super::MpcDims;
use super::MOST_ROWS;
use crate::linalg::{MatMut, MatRef, padded};
use crate::memory::carved;
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
        let (gradient, hessian) = numbers.split_at_mut_checked(self.gradient.len()).unwrap_or((&mut [], &mut []));
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
        if !self.coupled {
            out.fill(T::ZERO);
            return;
        }
        let h = self.hessian();
        for (k, row) in out.chunks_exact_mut(padded(states)).enumerate() {
            for (j, x) in row.iter_mut().enumerate().take(states) {
                *x = h[(j, states + k)];
            }
        }
    }

    pub(super) fn rows_mut(&mut self, rows: usize, columns: usize) -> MatMut<'_, T> {
        let stride = padded(self.variables());
        MatMut::with_stride(self.rows, rows, columns.min(stride), stride)
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
        let stride = padded(self.variables());
        let columns = columns.min(self.variables());
        self.coupled |= columns == self.variables();
        for ((row, &residual), &weight) in self.rows.chunks_exact(stride).zip(residual).zip(weights) {
            if weight == T::ZERO {
                continue;
            }
            for i in 0..columns {
                let slope = weight * row[i];
                if slope == T::ZERO {
                    continue;
                }
                self.gradient[i] = slope.mul_add(residual, self.gradient[i]);
                let out = &mut self.hessian[i * stride..][i..columns];
                for (h, x) in out.iter_mut().zip(&row[i..columns]) {
                    *h = slope.mul_add(*x, *h);
                }
            }
        }
    }
}
