//! The value function of a node, V + V_xᵀ δx + ½ δxᵀ V_xx δx, and what a step that leads there sees of it.

use super::super::{MpcDims, Quadratic};
use super::combine;
use crate::linalg::{MatMut, MatRef, add_symmetric_product, mirror, padded, partial_dot};
use crate::memory::{Values, carved, copy, run, run_mut};
use crate::scalar::Real;

carved! {
    /// Gradient and Hessian over (q, v).
    pub(super) struct Value<'a, T>(d: MpcDims) {
        /// V_x, 2nv.
        pub gradient: [T; d.state()],
        /// V_xx, whole, rows of `padded(2nv)`, and as much more as the last vector of V_vv may need.
        hessian: [T; (d.state() + 1) * padded(d.state())],
        /// V_xx times a gap.
        moved: [T; d.state()],
    }
}

impl<T: Real> Value<'_, T> {
    /// Numbers from one row of the Hessian to the next.
    pub fn stride(&self) -> usize {
        padded(self.gradient.len()).max(1)
    }

    /// Starts from the cost at the end.
    pub fn start(&mut self, end: &Quadratic<'_, T>) {
        let (n, stride) = (self.gradient.len(), self.stride());
        copy(self.gradient, run(end.gradient, 0, n));
        for (i, row) in self.hessian.chunks_exact_mut(stride).enumerate().take(n) {
            copy(run_mut(row, 0, n), run(end.hessian().row(i), 0, n));
        }
        self.mirror();
    }

    /// V_xx.
    #[cfg(test)]
    pub fn hessian(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.hessian, self.gradient.len(), self.gradient.len(), self.stride())
    }

    /// The same, to be written on and above the diagonal, and then [`mirror`](Self::mirror)ed.
    pub fn hessian_mut(&mut self) -> MatMut<'_, T> {
        let (n, stride) = (self.gradient.len(), self.stride());
        MatMut::with_stride(self.hessian, n, n, stride)
    }

    /// Copies what stands above the diagonal below it.
    pub fn mirror(&mut self) {
        mirror(self.hessian_mut());
    }

    /// Rows of V_xx with their padding, `count` of them from `first` on.
    pub fn rows(&self, (first, count): (usize, usize)) -> &[T] {
        run(self.hessian, first * self.stride(), count * self.stride())
    }

    /// Writes such rows, and the same columns.
    pub fn write_rows(&mut self, (first, count): (usize, usize), rows: &[T]) {
        let stride = self.stride();
        copy(run_mut(self.hessian, first * stride, count * stride), run(rows, 0, count * stride));
        for (i, row) in (first..first + count).zip(rows.chunks_exact(stride)) {
            for (x, column) in row.iter().zip(self.hessian.chunks_exact_mut(stride)) {
                column.set(i, *x);
            }
        }
    }

    /// Moves V to where the gap leads; the change of cost that this brings. O(nv²).
    pub fn cross_gap(&mut self, gap: &[T]) -> T {
        if gap.iter().all(|x| *x == T::ZERO) {
            return T::ZERO;
        }
        let half = T::from_f64(0.5);
        self.moved.fill(T::ZERO);
        let (n, stride) = (self.gradient.len(), self.stride());
        add_symmetric_product(self.moved, MatRef::with_stride(self.hessian, n, n, stride), gap);
        for (slope, moved) in self.gradient.iter_mut().zip(self.moved.iter_mut()) {
            let halfway = half.mul_add(*moved, *slope);
            *slope += *moved;
            *moved = halfway;
        }
        partial_dot(gap, self.moved)
    }

    /// W = V_vv + Δt (V_qv + V_vq) + Δt² V_qq and P = V_vq + Δt V_qq, in rows of `padded(nv)`; the padding of P is zero.
    /// O(nv²).
    pub fn project(&self, dt_s: T, weight: &mut [T], coupling: &mut [T]) {
        let (nv, stride) = (self.gradient.len() / 2, self.stride());
        let wide = padded(nv).max(1);
        // The last vector of a row of V_qv ends in the row that follows.
        let (by_q, by_v) = (self.rows((0, nv + 1)), self.rows((nv, nv + 1)));
        let rows = coupling.chunks_exact_mut(wide).zip(weight.chunks_exact_mut(wide)).take(nv);
        for (k, (p, w)) in rows.enumerate() {
            let (Some(upper), Some(lower)) = (by_q.get(k * stride..), by_v.get(k * stride..)) else { return };
            let blocks = (upper.get(..wide), upper.get(nv..nv + wide), lower.get(..wide), lower.get(nv..nv + wide));
            let (Some(qq), Some(qv), Some(vq), Some(vv)) = blocks else { return };
            let [qq, qv, vq, vv] = [qq, qv, vq, vv].map(|row| row.as_chunks::<4>().0);
            let out = p.as_chunks_mut::<4>().0.iter_mut().zip(w.as_chunks_mut::<4>().0);
            for (((((p, w), qq), qv), vq), vv) in out.zip(qq).zip(qv).zip(vq).zip(vv) {
                *p = combine(dt_s, qq, vq);
                *w = combine(dt_s, p, &combine(dt_s, qv, vv));
            }
            clear_end(p, wide - nv);
        }
    }
}

/// Zeros at the end of a row, at most three. One by one: a loop for a few numbers becomes a call.
#[inline(always)]
fn clear_end<T: Real>(row: &mut [T], count: usize) {
    let Some([_, b, c, d]) = row.last_chunk_mut::<4>() else { return };
    if count > 0 {
        *d = T::ZERO;
    }
    if count > 1 {
        *c = T::ZERO;
    }
    if count > 2 {
        *b = T::ZERO;
    }
}
