//! Impulses carried from one step to the next.

use crate::contact::{Constraint, Problem, ProblemDims, SolverStatus};
use crate::memory::carved;
use crate::scalar::Real;

carved! {
    /// The impulses of the last step and what they belonged to.
    pub struct Warm<'a, T>(d: ProblemDims) {
        constraints: [Constraint<T>; d.constraints],
        impulses: [T; d.rows],
        count: (usize),
    }
}

impl<T: Real> Warm<'_, T> {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Gives each constraint the impulse that the same one had; zero if it is new. O(constraints): both are in order.
    pub(super) fn recall(&self, constraints: &[Constraint<T>], impulses: &mut [T]) {
        let mut old = self.constraints[..self.count].iter().peekable();
        for constraint in constraints {
            while old.next_if(|old| old.source < constraint.source).is_some() {}
            let target = &mut impulses[constraint.rows()];
            match old.next_if(|old| old.source == constraint.source) {
                Some(old) => target.copy_from_slice(&self.impulses[old.rows()]),
                None => target.fill(T::ZERO),
            }
        }
    }

    /// Keeps the impulses of a solve that succeeded; one that failed is no start for the next.
    pub(super) fn remember(&mut self, problem: &Problem<'_, T>, status: SolverStatus, impulses: &[T]) {
        if status != SolverStatus::Converged {
            self.clear();
            return;
        }
        self.count = problem.constraints.len();
        self.constraints[..self.count].copy_from_slice(problem.constraints);
        self.impulses[..impulses.len()].copy_from_slice(impulses);
    }
}
