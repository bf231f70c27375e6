//! The alternating direction method of multipliers, with an adaptive penalty (Simple 2025, Ref. 8).

use super::outcome::{natural_residual, residuals};
use super::problem::{project_to_cone, project_to_law, tangential_norm, triple};
use super::reduced::Linear;
use super::{Law, Outcome, Problem, Scratch, Solution, Solver, SolverStatus, Stop};
use crate::linalg::{MatMut, MatRef, ldlt, ldlt_solve, padded};
use crate::scalar::Real;

/// ADMM on the convex problem that the De Saxcé correction shifts: robust, of medium accuracy, no mode logic.
///
/// Each iteration costs a solve with the factor of G + (ρ + η) 1, which is renewed when the penalty ρ changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admm<T> {
    /// Natural-map residual over the largest impulse at which it stops.
    pub tolerance: T,
    /// Iterations at most.
    pub max_iterations: u16,
    /// First penalty ρ over the mean diagonal of G.
    pub penalty: T,
    /// η over the mean diagonal of G.
    pub proximal: T,
    /// Ratio of primal and dual residual beyond which ρ changes.
    pub balance: T,
    /// Iterations between two looks at that ratio.
    pub adapt_every: u16,
}

impl<T: Real> Default for Admm<T> {
    fn default() -> Self {
        Self {
            tolerance: super::default_tolerance(),
            max_iterations: 2000,
            penalty: T::from_f64(0.1),
            proximal: T::from_f64(1e-6),
            balance: T::from_f64(5.0),
            adapt_every: 10,
        }
    }
}

impl<T: Real> Solver<T> for Admm<T> {
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
        let rows = problem.rows();
        let mean = (0..rows).fold(T::ZERO, |sum, k| sum + problem.delassus[(k, k)]) / T::from_f64(rows.max(1) as f64);
        let scale = if mean > T::ZERO { mean } else { T::ONE };
        let (mut rho, eta) = (self.penalty * scale, self.proximal * scale);
        let mut outcome = Outcome::default();
        problem.velocity(impulses, velocity);
        scratch.projected[..rows].copy_from_slice(impulses);
        scratch.row[..rows].copy_from_slice(velocity);
        add_correction(problem, velocity, &mut scratch.row[..rows]);
        let mut factored = factorize(problem, rho + eta, scratch);
        for iteration in 1..=self.max_iterations {
            if !factored {
                break;
            }
            if stop() {
                outcome.status = SolverStatus::Stopped;
                break;
            }
            let (primal, dual) = iterate(problem, rho, eta, impulses, velocity, scratch);
            outcome.iterations = iteration;
            problem.velocity(&scratch.projected[..rows], velocity);
            let residual = natural_residual(problem, &scratch.projected[..rows], velocity);
            if super::is_within(residual, &scratch.projected[..rows], self.tolerance) {
                outcome.status = SolverStatus::Converged;
                break;
            }
            if iteration % self.adapt_every.max(1) == 0 {
                let next = self.adapted(rho, primal, dual, scale);
                if next != rho {
                    rho = next;
                    factored = factorize(problem, rho + eta, scratch);
                }
            }
        }
        impulses.copy_from_slice(&scratch.projected[..rows]);
        problem.velocity(impulses, velocity);
        for ((mode, linear), constraint) in modes.iter_mut().zip(&mut *scratch.linear).zip(problem.constraints) {
            *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
            *mode = linear.mode;
        }
        outcome.residuals = residuals(problem, impulses, velocity);
        outcome
    }
}

impl<T: Real> Admm<T> {
    /// The penalty that brings both residuals together, within a range that keeps the factor sound.
    fn adapted(&self, rho: T, primal: T, dual: T, scale: T) -> T {
        let factor = T::from_f64(3.0);
        let (least, most) = (T::from_f64(1e-7) * scale, T::from_f64(1e7) * scale);
        if primal > self.balance * dual {
            (rho * factor).min(most)
        } else if dual > self.balance * primal {
            (rho / factor).max(least)
        } else {
            rho
        }
    }
}

/// One iteration: x in `impulses`, y in `scratch.projected`, z in `scratch.row`. Gives the primal and dual residual.
fn iterate<T: Real>(
    problem: &Problem<'_, T>,
    rho: T,
    eta: T,
    impulses: &mut [T],
    correction: &mut [T],
    scratch: &mut Scratch<'_, T>,
) -> (T, T) {
    let rows = problem.rows();
    let (y, z, x) = (&mut scratch.projected[..rows], &mut scratch.row[..rows], &mut scratch.step[..rows]);
    correction.fill(T::ZERO);
    add_correction(problem, z, correction);
    for k in 0..rows {
        x[k] = z[k] - problem.free_velocity[k] - correction[k] + rho * y[k] + eta * impulses[k];
    }
    let factor = MatRef::with_stride(scratch.matrix, rows, rows, padded(rows));
    ldlt_solve(factor, MatMut::new(x, rows, 1));
    impulses.copy_from_slice(x);
    let mut dual = T::ZERO;
    for constraint in problem.constraints {
        let range = constraint.rows();
        let target = |k: usize| x[k] - z[k] / rho;
        match constraint.law {
            Law::Contact { friction } => {
                let first = range.start;
                let projected = project_to_cone([0, 1, 2].map(|k| target(first + k)), friction);
                for k in 0..3 {
                    dual = dual.max((projected[k] - y[first + k]).abs());
                    y[first + k] = projected[k];
                }
            }
            ref law => {
                let projected = project_to_law(target(range.start), law);
                dual = dual.max((projected - y[range.start]).abs());
                y[range.start] = projected;
            }
        }
    }
    let mut primal = T::ZERO;
    for k in 0..rows {
        z[k] -= rho * (x[k] - y[k]);
        primal = primal.max((x[k] - y[k]).abs());
    }
    // In units of impulse: the dual residual is ρ ‖Δy‖, and ρ z is a velocity.
    (primal, dual)
}

/// Adds Γ(σ) = (0, 0, μ ‖σ_T‖) to `out`.
fn add_correction<T: Real>(problem: &Problem<'_, T>, velocity: &[T], out: &mut [T]) {
    for constraint in problem.constraints {
        if let Law::Contact { friction } = constraint.law {
            out[usize::from(constraint.first_row) + 2] += friction * tangential_norm(&triple(velocity, constraint));
        }
    }
}

/// G + shift · 1 = Uᵀ D U in `scratch.matrix`; false if that failed.
fn factorize<T: Real>(problem: &Problem<'_, T>, shift: T, scratch: &mut Scratch<'_, T>) -> bool {
    let rows = problem.rows();
    let stride = padded(rows);
    for row in 0..rows {
        let out = &mut scratch.matrix[row * stride..][..rows];
        out.copy_from_slice(&problem.delassus.row(row)[..rows]);
        out[row] += shift;
    }
    ldlt(MatMut::with_stride(scratch.matrix, rows, rows, stride), T::ZERO).is_ok()
}
