//! What the model does not know: a force on the degrees of freedom that explains how the robot really moved.
//!
//! A plan for a robot that is lighter than the real one presses too hard or falls short, for ever. The observer compares
//! where the robot was expected with where it is, and hands the missing force to the next plan: control without offset
//! (Pannocchia and Rawlings 2003, in the form of a force).

use crate::linalg::tree;
use crate::memory::carved;
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{NextState, Step, StepDims, StepError, StepInput, StepSettings, step};

carved! {
    /// An estimate of the force that the model lacks, and the memory to improve it.
    pub struct Observer<'a, T>(d: StepDims) {
        step: { Step },
        /// On each degree of freedom, N or N·m.
        force: [T; d.robot.nv],
        next_q: [T; d.robot.nq],
        next_v: [T; d.robot.nv],
        missing: [T; d.robot.nv],
    }
}

/// What happened between two measurements.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'s, T> {
    /// Configuration and velocity at the start.
    pub from: (&'s [T], &'s [T]),
    /// Mean of the controls in between.
    pub control: &'s [T],
    /// Velocity at the end.
    pub velocity: &'s [T],
    /// Seconds in between.
    pub dt_s: T,
}

impl<T: Real> Observer<'_, T> {
    /// The force, to be handed to [`Mpc::set_disturbance`](super::Mpc::set_disturbance).
    pub fn force(&self) -> &[T] {
        self.force
    }

    /// Forgets what was learned.
    pub fn reset(&mut self) {
        self.force.fill(T::ZERO);
        self.step.forget();
    }

    /// Moves the estimate by `gain` of what one passage would need: M (v − v_expected) / Δt. Near contact the ground takes
    /// up what is missing, or an impact comes sooner or later than expected; the estimate then stays as it is. One step.
    pub fn update(
        &mut self,
        model: Model<'_, T>,
        settings: &StepSettings<T>,
        passage: &Passage<'_, T>,
        gain: T,
    ) -> Result<(), StepError> {
        let (q, v) = passage.from;
        let settings = StepSettings { dt_s: passage.dt_s, substeps: 1, ..*settings };
        let input = StepInput { force: self.force, ..StepInput::new(q, v, passage.control) };
        let next = NextState { q: self.next_q, v: self.next_v };
        let report = step(model, &input, &settings, next, &mut self.step)?;
        if report.detected.kept > 0 {
            return Ok(());
        }
        for (expected, v) in self.next_v.iter_mut().zip(passage.velocity) {
            *expected = *v - *expected;
        }
        let mass = self.step.dynamics.mass_matrix_view(model.dims());
        tree::multiply(model.tree, mass, self.next_v, self.missing);
        for (force, missing) in self.force.iter_mut().zip(&*self.missing) {
            let moved = (gain / passage.dt_s).mul_add(*missing, *force);
            if moved.is_finite() {
                *force = moved;
            }
        }
        Ok(())
    }
}
