//! Projected Gauss–Seidel: constraint by constraint, the normal before the tangents.

use super::outcome::{natural_residual, residuals};
use super::problem::project_to_disc;
use super::reduced::Linear;
use super::{Law, Outcome, Problem, Scratch, Solution, Solver, SolverStatus, Stop};
use crate::memory::Values;
use crate::scalar::Real;

/// Projected Gauss–Seidel. Robust and cheap per sweep, slow in the end: for warm starts and as a fallback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussSeidel<T> {
    /// Natural-map residual over the largest impulse at which it stops.
    pub tolerance: T,
    /// Sweeps at most.
    pub max_sweeps: u16,
}

impl<T: Real> Default for GaussSeidel<T> {
    fn default() -> Self {
        Self { tolerance: super::default_tolerance(), max_sweeps: 500 }
    }
}

impl<T: Real> Solver<T> for GaussSeidel<T> {
    fn solve_until(
        &self,
        problem: &Problem<'_, T>,
        solution: Solution<'_, T>,
        scratch: &mut Scratch<'_, T>,
        stop: Stop<'_>,
    ) -> Outcome<T> {
        let Solution { impulses, velocity, modes } = solution;
        if !super::is_finite(problem, impulses) {
            return super::give_up(problem, impulses, velocity, modes);
        }
        let mut outcome = Outcome::default();
        problem.velocity(impulses, velocity);
        for _ in 0..self.max_sweeps {
            if stop() {
                outcome.status = SolverStatus::Stopped;
                break;
            }
            sweep(problem, impulses, velocity);
            outcome.sweeps += 1;
            if super::is_within(natural_residual(problem, impulses, velocity), impulses, self.tolerance) {
                // The sweeps carry the velocities along; what they gathered of rounding must not decide.
                problem.velocity(impulses, velocity);
                if super::is_within(natural_residual(problem, impulses, velocity), impulses, self.tolerance) {
                    outcome.status = SolverStatus::Converged;
                    break;
                }
            }
        }
        outcome.iterations = outcome.sweeps;
        for ((mode, linear), constraint) in modes.iter_mut().zip(&mut *scratch.linear).zip(problem.constraints) {
            *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
            *mode = linear.mode;
        }
        outcome.residuals = residuals(problem, impulses, velocity);
        outcome
    }
}

/// One pass over all constraints; `velocity` is G λ + g and stays so. O(rows · impulses that change).
pub(super) fn sweep<T: Real>(problem: &Problem<'_, T>, impulses: &mut [T], velocity: &mut [T]) {
    let g = problem.delassus;
    for constraint in problem.constraints {
        let row = usize::from(constraint.first_row);
        match constraint.law {
            Law::Contact { friction } => {
                let normal = row + 2;
                if g[(normal, normal)] > T::ZERO {
                    let target = impulses.at(normal) - velocity.at(normal) / g[(normal, normal)];
                    problem.set_impulse(normal, target.max(T::ZERO), impulses, velocity);
                }
                let rho = tangential_stiffness(g[(row, row)], g[(row, row + 1)], g[(row + 1, row + 1)]);
                let target = [0, 1].map(|k| impulses.at(row + k) - rho * velocity.at(row + k));
                let tangent = project_to_disc(target, friction * impulses.at(normal));
                for (k, tangent) in tangent.into_iter().enumerate() {
                    problem.set_impulse(row + k, tangent, impulses, velocity);
                }
            }
            ref law if g[(row, row)] > T::ZERO => {
                let target = super::problem::project_to_law(impulses.at(row) - velocity.at(row) / g[(row, row)], law);
                problem.set_impulse(row, target, impulses, velocity);
            }
            _ => {}
        }
    }
}

/// One over the larger eigenvalue of a symmetric 2 × 2 matrix.
#[inline(always)]
fn tangential_stiffness<T: Real>(a: T, b: T, c: T) -> T {
    let half = T::from_f64(0.5);
    let (mean, difference) = (half * (a + c), half * (a - c));
    let largest = mean + difference.mul_add(difference, b * b).sqrt();
    if largest > T::ZERO { T::ONE / largest } else { T::ZERO }
}
