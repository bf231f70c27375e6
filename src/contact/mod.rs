//! Impulses of contacts, limits, dry friction and loops: one problem, several solvers.
//!
//! [`assemble`] writes the problem σ = G λ + g from the model and the contacts; a [`Solver`] finds impulses that obey
//! Signorini's condition and Coulomb's law exactly (Simple 2025, Eq. 1): no relaxation, a cone and not a pyramid.

mod admm;
mod assembly;
mod bounded;
mod central_path;
mod constraint;
mod delassus;
mod frame;
mod gauss_seidel;
mod held;
mod newton;
mod outcome;
mod problem;
pub(crate) mod reduced;
mod rows;
mod smoothed;
mod solver;

use crate::linalg::partial_dot;
use crate::memory::{copy, run};
use crate::scalar::Real;

pub use admm::Admm;
pub use assembly::{Assembly, AssemblyDims, Situation, Stabilization, assemble};
pub use central_path::CentralPath;
pub use constraint::{Constraint, Law, Source};
pub use frame::tangents;
pub use gauss_seidel::GaussSeidel;
pub use newton::Newton;
pub use outcome::{Mode, Outcome, Residuals, SolverStatus, residuals};
pub use problem::Problem;
pub use solver::{ProblemDims, Scratch, Solution, Solver, Stop};

/// Whether T has the digits of `f64`.
pub(crate) fn is_double<T: Real>() -> bool {
    T::EPSILON < T::from_f64(1e-10)
}

/// Where solvers stop by default: a few digits above round-off.
fn default_tolerance<T: Real>() -> T {
    T::from_f64(if is_double::<T>() { 1e-10 } else { 1e-5 })
}

/// Whether an absolute residual is small against the largest impulse.
fn is_within<T: Real>(residual: T, impulses: &[T], tolerance: T) -> bool {
    residual <= tolerance * largest(impulses)
}

/// The largest number in size.
fn largest<T: Real>(numbers: &[T]) -> T {
    numbers.iter().fold(T::ZERO, |largest, x| largest.max(x.abs()))
}

/// Whether every number of the problem is finite.
fn is_finite<T: Real>(problem: &Problem<'_, T>, impulses: &[T]) -> bool {
    let (rows, g) = (problem.rows(), problem.delassus);
    let sum = |x: &[T]| partial_dot(x, x);
    let squares = match g.data().get(..rows * rows) {
        Some(all) if g.stride() == rows => sum(all),
        _ => (0..rows).fold(T::ZERO, |total, row| total + sum(run(g.row(row), 0, rows))),
    };
    (squares + sum(problem.free_velocity) + sum(impulses)).is_finite()
}

/// The answer to a problem that is no problem: nothing pushes.
fn give_up<T: Real>(
    problem: &Problem<'_, T>,
    impulses: &mut [T],
    velocity: &mut [T],
    modes: &mut [Mode],
) -> Outcome<T> {
    impulses.fill(T::ZERO);
    copy(velocity, problem.free_velocity);
    modes.fill(Mode::Break);
    Outcome { status: SolverStatus::NotFinite, ..Outcome::default() }
}
