//! What a step says about itself.

use nalgebra::Vector3;

use crate::collision::{Contact, Detected};
use crate::contact::{Assembly, Mode, Outcome, SolverStatus};
use crate::scalar::Real;

/// Contacts, solver and quality of a step; of several parts, the worst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport<T> {
    /// Contacts found, and those that did not fit.
    pub detected: Detected,
    /// Rows of the constraint problem.
    pub rows: usize,
    /// Constraints that did not fit.
    pub dropped_constraints: usize,
    /// Deepest penetration at the start of the step, m.
    pub penetration_m: T,
    /// How the solver fared; converged when there was nothing to solve.
    pub outcome: Outcome<T>,
}

impl<T: Real> Default for StepReport<T> {
    fn default() -> Self {
        Self {
            detected: Detected::default(),
            rows: 0,
            dropped_constraints: 0,
            penetration_m: T::ZERO,
            outcome: Outcome { status: SolverStatus::Converged, ..Outcome::default() },
        }
    }
}

impl<T: Real> StepReport<T> {
    /// Whether the solver reached its tolerance and every contact and constraint fitted.
    pub fn is_complete(&self) -> bool {
        self.outcome.status == SolverStatus::Converged && self.dropped_constraints == 0 && self.detected.dropped == 0
    }

    pub(super) fn note_problem(&mut self, assembly: &Assembly<'_, T>, contacts: &[Contact<T>]) {
        self.rows = self.rows.max(assembly.rows());
        self.dropped_constraints = self.dropped_constraints.max(assembly.dropped());
        for contact in contacts {
            self.penetration_m = self.penetration_m.max(-contact.at.distance);
        }
    }

    pub(super) fn note_outcome(&mut self, outcome: &Outcome<T>) {
        let (iterations, sweeps) = (self.outcome.iterations, self.outcome.sweeps);
        let failed = self.outcome.status != SolverStatus::Converged;
        let worse = outcome.residuals.natural > self.outcome.residuals.natural;
        if !failed && (worse || outcome.status != SolverStatus::Converged) {
            self.outcome = *outcome;
        }
        self.outcome.iterations = iterations + outcome.iterations;
        self.outcome.sweeps = sweeps + outcome.sweeps;
    }
}

/// A contact as it was held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReport<T> {
    /// Pair, normal and distance, in the working frame.
    pub contact: Contact<T>,
    /// Where.
    pub position_world: Vector3<T>,
    /// On the second geometry of the pair, N·s.
    pub impulse_world: Vector3<T>,
    /// Breaking, sticking or sliding.
    pub mode: Mode,
}
