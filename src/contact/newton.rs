//! Semismooth Newton on the active modes: the default.

use super::gauss_seidel::sweep;
use super::outcome::{natural_residual, residuals};
use super::reduced::{Linear, number_unknowns, regularize, write_defect, write_system};
use super::{CentralPath, Mode, Outcome, Problem, Scratch, Solution, Solver, SolverStatus};
use crate::linalg::{MatMut, MatRef, lu, lu_solve, padded};
use crate::scalar::Real;

/// Newton's method on Alart and Curnier's function after a few Gauss–Seidel sweeps; when the modes cycle, once more
/// after some more sweeps, and then from the end of the central path.
///
/// A small proximal term keeps the system regular where G is singular; steps are corrections of the exact residual, so
/// it costs no accuracy. At most `3 · iterations + path.max_iterations` factorizations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton<T> {
    /// Natural-map residual over the largest impulse at which it stops.
    pub tolerance: T,
    /// Added to the diagonal of the system, whose entries are near one.
    pub proximal: T,
    /// Newton iterations of each of the three searches: at first, after more sweeps, after the central path.
    pub iterations: u16,
    /// Gauss–Seidel sweeps before the first iteration.
    pub sweeps: u16,
    /// The way out when the modes cycle.
    pub path: CentralPath<T>,
}

/// Sweeps after a search that failed: before the next one, and at the end.
const SECOND_SWEEPS: u16 = 20;

impl<T: Real> Default for Newton<T> {
    fn default() -> Self {
        let proximal = if super::is_double::<T>() { 1e-10 } else { 1e-5 };
        Self {
            tolerance: super::default_tolerance(),
            proximal: T::from_f64(proximal),
            iterations: 15,
            sweeps: 2,
            path: CentralPath::default(),
        }
    }
}

impl<T: Real> Solver<T> for Newton<T> {
    fn solve(&self, problem: &Problem<'_, T>, solution: Solution<'_, T>, scratch: &mut Scratch<'_, T>) -> Outcome<T> {
        let Solution { impulses, velocity, modes } = solution;
        if !super::is_finite(problem, impulses) {
            return super::give_up(problem, impulses, velocity, modes);
        }
        let mut search =
            Search { problem, impulses, velocity, scratch, best: None, outcome: Outcome::default(), polishing: false };
        if search.rests_without_impulses() {
            search.velocity.copy_from_slice(problem.free_velocity);
            return search.finish(self.tolerance, modes);
        }
        let mut solved = search.is_solved(self.tolerance);
        if !solved {
            search.sweep(self.sweeps);
            solved = search.iterate(self);
        }
        if !solved {
            // Admissible impulses: the sweeps project, which often breaks a cycle of modes.
            search.return_to_best();
            search.sweep(SECOND_SWEEPS);
            solved = search.iterate(self);
        }
        if !solved {
            search.follow_path(self);
            solved = search.iterate(self);
        }
        if !solved {
            search.return_to_best();
            search.sweep(SECOND_SWEEPS);
        }
        if !solved {
            search.problem.velocity(search.impulses, search.velocity);
        }
        search.finish(self.tolerance, modes)
    }
}

struct Search<'s, 'p, 'a, T> {
    problem: &'s Problem<'p, T>,
    impulses: &'s mut [T],
    velocity: &'s mut [T],
    scratch: &'s mut Scratch<'a, T>,
    /// Residual of `scratch.best`.
    best: Option<T>,
    outcome: Outcome<T>,
    /// The central path was followed: only the last digits are missing.
    polishing: bool,
}

impl<T: Real> Search<'_, '_, '_, T> {
    /// Whether zero impulses are a solution, exactly; they have no size that a residual could be compared with.
    fn rests_without_impulses(&mut self) -> bool {
        let zero = &mut self.scratch.best[..self.impulses.len()];
        zero.fill(T::ZERO);
        let rests = natural_residual(self.problem, zero, self.problem.free_velocity) == T::ZERO;
        if rests {
            self.impulses.fill(T::ZERO);
        }
        rests
    }

    /// Whether the impulses are a solution as they are: a warm start at rest often is.
    fn is_solved(&mut self, tolerance: T) -> bool {
        self.problem.velocity(self.impulses, self.velocity);
        let residual = natural_residual(self.problem, self.impulses, self.velocity);
        super::is_within(residual, self.impulses, tolerance)
    }

    fn sweep(&mut self, sweeps: u16) {
        for _ in 0..sweeps {
            sweep(self.problem, self.impulses);
        }
        self.outcome.sweeps += sweeps;
    }

    /// Newton iterations; true when the residual is within the tolerance.
    fn iterate(&mut self, settings: &Newton<T>) -> bool {
        for iteration in 0..=settings.iterations {
            self.problem.velocity(self.impulses, self.velocity);
            let residual = natural_residual(self.problem, self.impulses, self.velocity);
            if super::is_within(residual, self.impulses, settings.tolerance) {
                return true;
            }
            self.remember(residual);
            if iteration == settings.iterations || !self.take_step(self.proximal(settings, iteration, residual)) {
                break;
            }
        }
        false
    }

    /// The proximal term of an iteration. The first two go for the solution at once; later ones tread more carefully the
    /// farther off they are (Levenberg and Marquardt), which keeps singular directions from running away.
    fn proximal(&self, settings: &Newton<T>, iteration: u16, residual: T) -> T {
        const BOLD_ITERATIONS: u16 = 2;
        let most = T::from_f64(0.1);
        let largest = super::largest(self.impulses);
        let relative = if largest > T::ZERO { residual / largest } else { T::ONE };
        let careful = if self.polishing {
            relative
        } else if iteration < BOLD_ITERATIONS {
            T::ZERO
        } else {
            relative * relative.sqrt()
        };
        settings.proximal.max(careful.min(most))
    }

    /// Starts anew from a point near the central path.
    fn follow_path(&mut self, settings: &Newton<T>) {
        let iterations =
            settings.path.follow(self.problem, self.impulses, self.velocity, settings.tolerance, self.scratch);
        self.outcome.iterations += iterations;
        self.polishing = true;
    }

    /// One Newton step; false if the system could not be factored.
    fn take_step(&mut self, proximal: T) -> bool {
        let Self { problem, impulses, velocity, scratch, outcome, .. } = self;
        let linear = &mut scratch.linear[..problem.constraints.len()];
        for (linear, constraint) in linear.iter_mut().zip(problem.constraints) {
            *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
        }
        for (linear, constraint) in linear.iter().zip(problem.constraints) {
            linear.confine(constraint, impulses);
        }
        problem.velocity(impulses, velocity);
        let unknowns = number_unknowns(problem.constraints, linear);
        let (stride, step) = (padded(unknowns), &mut scratch.step[..unknowns]);
        write_system(problem, linear, unknowns, scratch.matrix, scratch.row);
        write_defect(problem, linear, impulses, velocity, step);
        let mut matrix = MatMut::with_stride(scratch.matrix, unknowns, unknowns, stride);
        regularize(matrix.reborrow(), proximal);
        outcome.iterations += 1;
        if lu(matrix, scratch.exchanges).is_err() {
            return false;
        }
        let factor = MatRef::with_stride(scratch.matrix, unknowns, unknowns, stride);
        lu_solve(factor, scratch.exchanges, step);
        for (linear, constraint) in linear.iter().zip(problem.constraints) {
            let n = linear.unknowns(&constraint.law);
            let x = &step[usize::from(linear.first)..][..n];
            if n > 0 {
                linear.scatter_add(&constraint.law, x, &mut impulses[constraint.rows()]);
            }
        }
        true
    }

    /// Keeps the impulses if they are the best so far.
    fn remember(&mut self, residual: T) {
        if self.best.is_none_or(|best| residual < best) {
            self.best = Some(residual);
            self.scratch.best[..self.impulses.len()].copy_from_slice(self.impulses);
        }
    }

    fn return_to_best(&mut self) {
        if self.best.is_some() {
            self.impulses.copy_from_slice(&self.scratch.best[..self.impulses.len()]);
        }
    }

    /// Modes and residuals of the impulses, whose velocities are known.
    fn finish(mut self, tolerance: T, modes: &mut [Mode]) -> Outcome<T> {
        let Self { problem, impulses, velocity, scratch, .. } = &mut self;
        for ((mode, linear), constraint) in modes.iter_mut().zip(&mut *scratch.linear).zip(problem.constraints) {
            *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
            *mode = linear.mode;
        }
        self.outcome.residuals = residuals(problem, impulses, velocity);
        if self.outcome.residuals.natural <= tolerance {
            self.outcome.status = SolverStatus::Converged;
        }
        self.outcome
    }
}
