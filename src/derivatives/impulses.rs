//! How the impulses of contacts depend on state and controls.

use super::Derivatives;
use super::system::REDUNDANT;
use crate::contact::{Law, Mode};
use crate::memory::run;
use crate::scalar::Real;
use crate::step::Step;

impl<T: Real> Derivatives<'_, T> {
    /// Adds `scale` · ∂λ_N/∂(q, v, u) of constraint `index` of the step to `out`; nothing if it is no contact that holds,
    /// or one that only repeats others. `impulses_wanted` must have been set before.
    pub(crate) fn add_normal_impulse(&self, step: &Step<'_, T>, index: usize, scale: T, out: &mut [T]) {
        let (Some(constraint), Some(linear)) = (step.constraints().get(index), self.linear.get(index)) else { return };
        let unknown = match (&constraint.law, linear.mode) {
            (Law::Contact { .. }, Mode::Stick) => usize::from(linear.first) + 2,
            (Law::Contact { .. }, Mode::Slide) => usize::from(linear.first),
            _ => return,
        };
        // The symmetric system is solved in the order of its pivots, the other one in that of its unknowns.
        let row = if self.symmetric { self.place.get(unknown).copied().unwrap_or(REDUNDANT) } else { unknown as u16 };
        if row == REDUNDANT || usize::from(row) >= self.rank {
            return;
        }
        let stride = self.stride();
        for (out, x) in out.iter_mut().zip(run(self.rows, usize::from(row) * stride, stride)) {
            *out = (-scale).mul_add(*x, *out);
        }
    }
}
