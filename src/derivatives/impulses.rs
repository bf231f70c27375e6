//! How the impulses of contacts depend on state and controls.

use super::Derivatives;
use crate::contact::{Law, Mode};
use crate::linalg::MatRef;
use crate::scalar::Real;
use crate::step::Step;

impl<T: Real> Derivatives<'_, T> {
    /// Adds `scale` · ∂λ_N/∂(q, v, u) of constraint `index` of the step to `out`; nothing if it is no contact that holds.
    pub(crate) fn add_normal_impulse(&self, step: &Step<'_, T>, index: usize, scale: T, out: &mut [T]) {
        let (Some(constraint), Some(linear)) = (step.constraints().get(index), self.linear.get(index)) else { return };
        let unknown = match (&constraint.law, linear.mode) {
            (Law::Contact { .. }, Mode::Stick) => usize::from(linear.first) + 2,
            (Law::Contact { .. }, Mode::Slide) => usize::from(linear.first),
            _ => return,
        };
        if unknown >= self.unknowns {
            return;
        }
        let all = MatRef::with_stride(self.rows, self.unknowns, self.all().cols(), self.stride());
        for (out, x) in out.iter_mut().zip(all.row(unknown)) {
            *out = scale.mul_add(*x, *out);
        }
    }
}
