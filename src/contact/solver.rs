//! What all solvers share: the trait, the answer and the scratch memory.

use super::bounded::Program;
use super::{Mode, Outcome, Problem};
use crate::linalg::padded;
use crate::memory::carved;
use crate::scalar::Real;

/// A method that finds the impulses of a [`Problem`], in bounded time.
pub trait Solver<T: Real> {
    /// Improves `solution.impulses`, whatever they are on entry (a warm start, or zero), and sets the rest of it.
    ///
    /// Asks `stop` before each iteration; when that says true it ends at once, with the best impulses so far and
    /// [`SolverStatus::Stopped`](super::SolverStatus::Stopped).
    fn solve_until(
        &self,
        problem: &Problem<'_, T>,
        solution: Solution<'_, T>,
        scratch: &mut Scratch<'_, T>,
        stop: Stop<'_>,
    ) -> Outcome<T>;

    /// The same, to the end.
    fn solve(&self, problem: &Problem<'_, T>, solution: Solution<'_, T>, scratch: &mut Scratch<'_, T>) -> Outcome<T> {
        self.solve_until(problem, solution, scratch, &mut || false)
    }
}

/// Says whether to stop; it may look at a clock, which the solvers do not know.
pub type Stop<'s> = &'s mut dyn FnMut() -> bool;

/// The answer, as long as the problem at hand.
#[derive(Debug)]
pub struct Solution<'s, T> {
    /// λ, one per row.
    pub impulses: &'s mut [T],
    /// σ = G λ + g, one per row.
    pub velocity: &'s mut [T],
    /// One per constraint.
    pub modes: &'s mut [Mode],
}

/// What the memory of a problem is sized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemDims {
    /// Constraints that fit.
    pub constraints: usize,
    /// Rows that fit.
    pub rows: usize,
}

impl ProblemDims {
    /// Numbers in a rows × rows matrix, padding included.
    pub const fn square(self) -> usize {
        self.rows * padded(self.rows)
    }

    /// Constraints of one row that fit, if all contacts that fit are there: each of those has three.
    pub(super) const fn bounded(self) -> usize {
        self.constraints.saturating_sub(self.rows.saturating_sub(self.constraints) / 2)
    }
}

carved! {
    /// Memory that the solvers work in.
    pub struct Scratch<'a, T>(d: ProblemDims) {
        /// Reduced or regularized system, and its factor.
        pub(crate) matrix: [T; d.square()],
        /// Row exchanges of the factor.
        pub(crate) exchanges: [u16; d.rows],
        /// Right-hand side and step of the reduced system.
        pub(crate) step: [T; d.rows],
        /// A combination of rows of G.
        pub(crate) row: [T; padded(d.rows)],
        /// The best impulses so far.
        pub(super) best: [T; d.rows],
        /// y of ADMM.
        pub(super) projected: [T; d.rows],
        /// Slacks of each constraint on the central path.
        pub(super) slacks: [super::central_path::Slacks<T>; d.constraints],
        /// Linearized law of each constraint.
        pub(crate) linear: [super::reduced::Linear<T>; d.constraints],
        /// Limits and dry friction while contacts hold.
        pub(super) program: { Program(d) },
    }
}
