//! A plan on its way from the solver to the tick.

use super::Policy;
use crate::input::InputError;
use crate::memory::carved;
use crate::model::Model;
use crate::mpc::{MpcDims, Nanos, Plan, PolicyScratch};
use crate::scalar::Real;

carved! {
    /// A copy of the solver's plan, and memory to follow it in: a slot of a [`TripleBuffer`](super::TripleBuffer).
    pub struct PlanSlot<'a, T>(d: MpcDims) {
        plan: { Plan },
        scratch: { PolicyScratch(d.step.robot) },
        filled: (bool),
    }
}

impl<T: Real> PlanSlot<'_, T> {
    /// Takes over a plan of the same size. O(numbers of the plan).
    pub fn fill(&mut self, plan: &Plan<'_, T>) -> Result<(), InputError> {
        self.plan.copy_from(plan)?;
        self.filled = true;
        Ok(())
    }

    /// The plan, once there is one.
    pub fn plan(&self) -> Option<&Plan<'_, T>> {
        self.filled.then_some(&self.plan)
    }

    /// This slot as a policy, once it holds a plan.
    pub fn policy(&mut self) -> Option<&mut Self> {
        self.filled.then_some(self)
    }
}

impl<T: Real> Policy<T> for PlanSlot<'_, T> {
    fn start(&self) -> Nanos {
        self.plan.start()
    }

    fn end(&self) -> Nanos {
        self.plan.start().after_s(self.plan.duration_s())
    }

    fn control(&mut self, model: Model<'_, T>, at: Nanos, state: (&[T], &[T]), u: &mut [T]) -> Result<(), InputError> {
        self.plan.control(model, at, state, u, &mut self.scratch)
    }
}
