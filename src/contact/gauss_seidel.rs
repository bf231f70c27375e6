//! Projected Gauss–Seidel: constraint by constraint, the normal before the tangents.

use super::outcome::{natural_residual, residuals};
use super::problem::project_to_disc;
use super::reduced::Linear;
use super::{Law, Outcome, Problem, Scratch, Solution, Solver, SolverStatus};
use crate::linalg::partial_dot;
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
    fn solve(&self, problem: &Problem<'_, T>, solution: Solution<'_, T>, scratch: &mut Scratch<'_, T>) -> Outcome<T> {
        let Solution { impulses, velocity, modes } = solution;
        if !super::is_finite(problem, impulses) {
            return super::give_up(problem, impulses, velocity, modes);
        }
        let mut outcome = Outcome::default();
        for _ in 0..self.max_sweeps {
            sweep(problem, impulses);
            outcome.sweeps += 1;
            problem.velocity(impulses, velocity);
            if super::is_within(natural_residual(problem, impulses, velocity), impulses, self.tolerance) {
                outcome.status = SolverStatus::Converged;
                break;
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

/// One pass over all constraints. O(rows²).
pub(super) fn sweep<T: Real>(problem: &Problem<'_, T>, impulses: &mut [T]) {
    let g = problem.delassus;
    let velocity = |row: usize, impulses: &[T]| problem.free_velocity[row] + partial_dot(g.row(row), impulses);
    for constraint in problem.constraints {
        let row = usize::from(constraint.first_row);
        match constraint.law {
            Law::Contact { friction } => {
                let normal = row + 2;
                if g[(normal, normal)] > T::ZERO {
                    let target = impulses[normal] - velocity(normal, impulses) / g[(normal, normal)];
                    impulses[normal] = target.max(T::ZERO);
                }
                let rho = tangential_stiffness(g[(row, row)], g[(row, row + 1)], g[(row + 1, row + 1)]);
                let target = [0, 1].map(|k| impulses[row + k] - rho * velocity(row + k, impulses));
                let tangent = project_to_disc(target, friction * impulses[normal]);
                impulses[row..row + 2].copy_from_slice(&tangent);
            }
            ref law if g[(row, row)] > T::ZERO => {
                let target = impulses[row] - velocity(row, impulses) / g[(row, row)];
                impulses[row] = super::problem::project_to_law(target, law);
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
