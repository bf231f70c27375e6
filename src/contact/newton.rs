//! Semismooth Newton on the active modes: the default.

use super::gauss_seidel::sweep;
use super::held;
use super::outcome::{absolute_residuals, is_exact, natural_residual};
use super::reduced::{Linear, is_symmetric, number_unknowns, regularize, write_defect, write_symmetric, write_system};
use super::smoothed;
use super::{CentralPath, Mode, Outcome, Problem, Residuals, Scratch, Solution, Solver, SolverStatus, Stop};
use crate::linalg::{
    MatMut, MatRef, add_symmetric_product, cholesky_in_blocks, cholesky_solve_in_blocks, lu, lu_solve, padded,
};
use crate::memory::{Values, copy, run, run_mut, within, within_mut};
use crate::scalar::Real;

/// Newton's method on Alart and Curnier's function: one step after a few Gauss–Seidel sweeps, which is all that most
/// problems take; then, where no contact slides, the quadratic program that limits and dry friction are; then steps on
/// the same function with its kinks rounded, ever less (two searches, each after some more sweeps); and for what is left
/// the central path.
///
/// A small proximal term keeps the system regular where G is singular; steps are corrections of the exact residual, so
/// it costs no accuracy. At most [`Newton::most_factorizations`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton<T> {
    /// Natural-map residual over the largest impulse at which it stops; five times that where rounding of the
    /// velocities lets no solver get there, as in f32 when a light body slides at 20 m/s.
    pub tolerance: T,
    /// Added to the diagonal of the system, whose entries are near one.
    pub proximal: T,
    /// Newton iterations of each of the three searches: two with rounded kinks, and one after the central path.
    pub iterations: u16,
    /// Gauss–Seidel sweeps before the first iteration.
    pub sweeps: u16,
    /// The way out when both searches fail.
    pub path: CentralPath<T>,
}

/// A search with rounded kinks.
#[derive(Clone, Copy)]
struct Rounding {
    /// Sweeps before it.
    sweeps: u16,
    /// Halvings of a step that does not improve matters; then it is taken as it is.
    patience: u16,
    /// Width of the rounding over the residual, at first.
    width: f64,
}

/// The first search insists on progress; the second, which meets what that gets stuck on, does not.
const ROUNDINGS: [Rounding; 2] =
    [Rounding { sweeps: 10, patience: 6, width: 1.0 }, Rounding { sweeps: 20, patience: 2, width: 3.0 }];
/// Sweeps at the end, when all failed.
const LAST_SWEEPS: u16 = 20;
/// Residual over the largest impulse of a warm start that needs no sweeps.
const CLOSE: f64 = 1e-3;
/// Residual over the tolerance that sweeps often take away.
const NEARLY: f64 = 100.0;
/// Tolerances that rounding of the velocities may take.
const ROUNDED: f64 = 5.0;
/// A step must take this share of what it promises off the error.
const ENOUGH: f64 = 0.1;
/// The width shrinks when the error is within this many of it, to the error or to this share.
const NEAR: f64 = 5.0;
const SHRINK: f64 = 0.1;
/// Slopes of bounded impulses below this share of the tolerance count as none.
const NOISE: f64 = 0.1;

impl<T: Real> Default for Newton<T> {
    fn default() -> Self {
        let proximal = if super::is_double::<T>() { 1e-10 } else { 1e-5 };
        Self {
            tolerance: super::default_tolerance(),
            proximal: T::from_f64(proximal),
            iterations: 14,
            sweeps: 2,
            path: CentralPath::default(),
        }
    }
}

impl<T> Newton<T> {
    /// The bound on factorizations.
    pub const fn most_factorizations(&self) -> u16 {
        let first = if self.iterations > 0 { 1 } else { 0 };
        2 * first + 3 * self.iterations + self.path.max_iterations
    }
}

impl<T: Real> Solver<T> for Newton<T> {
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
        let mut search = Search {
            problem,
            impulses,
            velocity,
            scratch,
            best: None,
            outcome: Outcome::default(),
            measured: Residuals::default(),
            stage: Stage::Leap,
            stop,
            stopped: false,
        };
        if search.rests_without_impulses() {
            copy(search.velocity, problem.free_velocity);
            search.measure();
            return search.finish(self.tolerance, modes);
        }
        let warm = search.exact_residual();
        let mut solved = search.is_within(warm, self.tolerance);
        if !solved {
            if !search.is_close(warm, self.tolerance) {
                search.sweep(self.sweeps);
            }
            solved = search.iterate(self, self.iterations.min(1));
        }
        solved = solved || search.hold_contacts(self);
        for rounding in &ROUNDINGS {
            solved = solved || search.iterate_rounded(self, rounding);
        }
        if !solved && !search.must_stop() {
            search.follow_path(self);
            solved = search.iterate(self, self.iterations);
        }
        if !solved {
            search.return_to_best();
        }
        if !solved && !search.stopped {
            search.sweep(LAST_SWEEPS);
            search.problem.velocity(search.impulses, search.velocity);
        }
        if !solved {
            search.measure();
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
    /// In units of impulse, at the impulses that were looked at last.
    measured: Residuals<T>,
    stage: Stage,
    stop: Stop<'s>,
    /// What `stop` said last.
    stopped: bool,
}

/// Half a unit in the last place of the largest free velocity, as an impulse: no solver gets below it.
fn rounding<T: Real>(problem: &Problem<'_, T>) -> T {
    let largest = problem.constraints.iter().fold(T::ZERO, |largest, constraint| {
        largest.max(problem.stiffness(constraint) * super::largest(within(problem.free_velocity, constraint.rows())))
    });
    T::from_f64(0.5) * T::EPSILON * largest
}

/// What the search is at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first step, from the warm start.
    Leap,
    /// The laws are rounded.
    Rounded,
    /// The central path was followed: only the last digits are missing.
    Polish,
}

impl<T: Real> Search<'_, '_, '_, T> {
    /// Whether zero impulses are a solution, exactly; they have no size that a residual could be compared with.
    fn rests_without_impulses(&mut self) -> bool {
        let zero = run_mut(self.scratch.best, 0, self.impulses.len());
        zero.fill(T::ZERO);
        let rests = is_exact(self.problem, zero, self.problem.free_velocity);
        if rests {
            self.impulses.fill(T::ZERO);
        }
        rests
    }

    /// The residual of the impulses as they are, with their velocities computed anew.
    fn exact_residual(&mut self) -> T {
        self.problem.velocity(self.impulses, self.velocity);
        self.measure();
        self.measured.natural
    }

    /// All residuals of the impulses, whose velocities are known.
    fn measure(&mut self) {
        self.measured = absolute_residuals(self.problem, self.impulses, self.velocity);
    }

    fn is_within(&self, residual: T, tolerance: T) -> bool {
        let within = |tolerance: T| super::is_within(residual, self.impulses, tolerance);
        within(tolerance) || within(T::from_f64(ROUNDED) * tolerance) && residual <= rounding(self.problem)
    }

    /// Whether the warm start is so good that the modes need no sweeps to be right, but not so good that sweeps may do.
    fn is_close(&self, residual: T, tolerance: T) -> bool {
        let within = |tolerance: T| super::is_within(residual, self.impulses, tolerance);
        within(T::from_f64(CLOSE)) && !within(T::from_f64(NEARLY) * tolerance)
    }

    /// Asks whether to go on; not again once the answer was no.
    fn must_stop(&mut self) -> bool {
        self.stopped = self.stopped || (self.stop)();
        self.stopped
    }

    fn sweep(&mut self, sweeps: u16) {
        for _ in 0..sweeps {
            sweep(self.problem, self.impulses, self.velocity);
        }
        self.outcome.sweeps += sweeps;
    }

    /// Newton iterations; true when the residual is within the tolerance.
    fn iterate(&mut self, settings: &Newton<T>, iterations: u16) -> bool {
        for iteration in 0..=iterations {
            let residual = natural_residual(self.problem, self.impulses, self.velocity);
            if self.confirms(residual, settings.tolerance) {
                return true;
            }
            self.remember(residual);
            if iteration == iterations || self.must_stop() || !self.take_step(self.proximal(settings, residual)) {
                break;
            }
            self.problem.velocity(self.impulses, self.velocity);
        }
        false
    }

    /// Whether a residual is within the tolerance, and still is once the velocities are computed anew: sweeps and steps
    /// carry them along, with a little rounding each.
    fn confirms(&mut self, residual: T, tolerance: T) -> bool {
        self.is_within(residual, tolerance) && {
            let exact = self.exact_residual();
            self.is_within(exact, tolerance)
        }
    }

    /// The proximal term of an iteration. The first step goes for the solution at once; later ones tread more carefully
    /// the farther off they are (Levenberg and Marquardt), which keeps singular directions from running away.
    fn proximal(&self, settings: &Newton<T>, residual: T) -> T {
        let careful = match self.stage {
            Stage::Leap => T::ZERO,
            Stage::Rounded => self.relative(residual) * self.relative(residual).sqrt(),
            Stage::Polish => self.relative(residual),
        };
        settings.proximal.max(careful.min(T::from_f64(0.1)))
    }

    fn relative(&self, residual: T) -> T {
        let largest = super::largest(self.impulses);
        if largest > T::ZERO { residual / largest } else { T::ONE }
    }

    /// Limits and dry friction while every contact holds as it does at the best impulses so far; nothing where one slides.
    /// True when the residual is within the tolerance.
    fn hold_contacts(&mut self, settings: &Newton<T>) -> bool {
        if self.must_stop() {
            return false;
        }
        self.return_to_best();
        let tolerance = T::from_f64(NOISE) * settings.tolerance * super::largest(self.impulses);
        let terms = [tolerance, settings.proximal];
        let Self { problem, impulses, velocity, scratch, .. } = self;
        if !held::solve(problem, terms, (impulses, velocity), scratch) {
            return false;
        }
        self.outcome.iterations += 1;
        let residual = self.exact_residual();
        if self.is_within(residual, settings.tolerance) {
            return true;
        }
        self.remember(residual);
        false
    }

    /// Steps on the rounded laws, from the best impulses so far; true when the residual is within the tolerance.
    fn iterate_rounded(&mut self, settings: &Newton<T>, rounding: &Rounding) -> bool {
        if self.must_stop() {
            return false;
        }
        self.stage = Stage::Rounded;
        self.return_to_best();
        self.sweep(rounding.sweeps);
        let mut width = None;
        for iteration in 0..=settings.iterations {
            let residual = natural_residual(self.problem, self.impulses, self.velocity);
            if self.confirms(residual, settings.tolerance) {
                return true;
            }
            self.remember(residual);
            let widest = T::from_f64(0.5) * super::largest(self.impulses);
            let now = *width.get_or_insert(T::from_f64(rounding.width) * residual.min(widest));
            let proximal = self.proximal(settings, residual);
            if iteration == settings.iterations || iteration > 0 && self.must_stop() {
                break;
            }
            let Some(before) = self.solve_rounded(now, proximal) else { break };
            let error = self.take_rounded_step(now, before, rounding.patience);
            if error <= T::from_f64(NEAR) * now {
                width = Some(error.min(T::from_f64(SHRINK) * now));
            }
        }
        false
    }

    /// Δλ into `scratch.projected` and G Δλ into `scratch.row`; the error that they are to take away. None if the system
    /// could not be factored.
    fn solve_rounded(&mut self, width: T, proximal: T) -> Option<T> {
        const DECIDED: u16 = u16::MAX;
        let Self { problem, impulses, velocity, scratch, outcome, .. } = self;
        let linear = run_mut(scratch.linear, 0, problem.constraints.len());
        let number = |index: usize, first: Option<usize>| {
            linear.change(index, |linear| linear.first = first.map_or(DECIDED, |k| k as u16))
        };
        let unknowns = smoothed::decide(problem, width, impulses, velocity, number);
        let first = |index: usize| Some(linear.at(index).first).filter(|k| *k != DECIDED).map(usize::from);
        let (stride, step) = (padded(unknowns), run_mut(scratch.step, 0, unknowns));
        let (point, rows) = ((&**impulses, &**velocity), run_mut(scratch.exchanges, 0, unknowns));
        let error = smoothed::write_system(problem, width, point, first, rows, scratch.matrix, step, scratch.row);
        let mut matrix = MatMut::with_stride(scratch.matrix, unknowns, unknowns, stride);
        regularize(matrix.reborrow(), proximal);
        outcome.iterations += 1;
        if lu(matrix, scratch.exchanges).is_err() {
            return None;
        }
        lu_solve(MatRef::with_stride(scratch.matrix, unknowns, unknowns, stride), scratch.exchanges, step);
        let whole = run_mut(scratch.projected, 0, problem.rows());
        whole.fill(T::ZERO);
        for (index, constraint) in problem.constraints.iter().enumerate() {
            if let Some(at) = first(index) {
                copy(within_mut(whole, constraint.rows()), run(step, at, constraint.law.rows()));
            }
        }
        let change = run_mut(scratch.row, 0, whole.len());
        change.fill(T::ZERO);
        add_symmetric_product(change, problem.delassus, whole);
        Some(error)
    }

    /// Goes as far along Δλ as makes the error of the rounded laws smaller; the error there.
    fn take_rounded_step(&mut self, width: T, before: T, patience: u16) -> T {
        let Self { problem, impulses, velocity, scratch, .. } = self;
        let rows = problem.rows();
        let (step, change) = (run(scratch.projected, 0, rows), run(scratch.row, 0, rows));
        let error = |length: T| smoothed::error(problem, width, (&**impulses, &**velocity), (step, change), length);
        let (mut length, mut after) = (T::ONE, error(T::ONE));
        for _ in 1..patience {
            if after <= (T::ONE - T::from_f64(ENOUGH) * length) * before {
                break;
            }
            length *= T::from_f64(0.5);
            after = error(length);
        }
        for (impulse, step) in impulses.iter_mut().zip(step) {
            *impulse = length.mul_add(*step, *impulse);
        }
        for (sigma, change) in velocity.iter_mut().zip(change) {
            *sigma = length.mul_add(*change, *sigma);
        }
        after
    }

    /// Starts anew from a point near the central path.
    fn follow_path(&mut self, settings: &Newton<T>) {
        let Self { problem, impulses, velocity, scratch, stop, stopped, .. } = self;
        let mut ask = || {
            *stopped = *stopped || stop();
            *stopped
        };
        let iterations = settings.path.follow(problem, impulses, velocity, settings.tolerance, scratch, &mut ask);
        self.outcome.iterations += iterations;
        self.stage = Stage::Polish;
    }

    /// One Newton step; false if the system could not be factored.
    fn take_step(&mut self, proximal: T) -> bool {
        let Self { problem, impulses, velocity, scratch, outcome, .. } = self;
        let linear = run_mut(scratch.linear, 0, problem.constraints.len());
        for (linear, constraint) in linear.iter_mut().zip(problem.constraints) {
            *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
        }
        for (linear, constraint) in linear.iter().zip(problem.constraints) {
            let confined = linear.confined(constraint, impulses);
            for (row, impulse) in constraint.rows().zip(confined) {
                problem.set_impulse(row, impulse, impulses, velocity);
            }
        }
        let unknowns = number_unknowns(problem.constraints, linear);
        let (stride, step) = (padded(unknowns), run_mut(scratch.step, 0, unknowns));
        outcome.iterations += 1;
        if is_symmetric(problem.constraints, linear) {
            let rows = run_mut(scratch.exchanges, 0, unknowns);
            write_symmetric(problem, linear, (velocity, proximal), rows, scratch.matrix, step);
            if cholesky_in_blocks(MatMut::with_stride(scratch.matrix, unknowns, unknowns, stride)).is_err() {
                return false;
            }
            cholesky_solve_in_blocks(MatRef::with_stride(scratch.matrix, unknowns, unknowns, stride), step);
        } else {
            write_system(problem, linear, unknowns, scratch.matrix, scratch.row);
            write_defect(problem, linear, impulses, velocity, step);
            let mut matrix = MatMut::with_stride(scratch.matrix, unknowns, unknowns, stride);
            regularize(matrix.reborrow(), proximal);
            if lu(matrix, scratch.exchanges).is_err() {
                return false;
            }
            lu_solve(MatRef::with_stride(scratch.matrix, unknowns, unknowns, stride), scratch.exchanges, step);
        }
        for (linear, constraint) in linear.iter().zip(problem.constraints) {
            let n = linear.unknowns(&constraint.law);
            let x = run(step, usize::from(linear.first), n);
            if n > 0 {
                linear.scatter_add(&constraint.law, x, within_mut(impulses, constraint.rows()));
            }
        }
        true
    }

    /// Keeps the impulses if they are the best so far.
    fn remember(&mut self, residual: T) {
        if self.best.is_none_or(|best| residual < best) {
            self.best = Some(residual);
            copy(run_mut(self.scratch.best, 0, self.impulses.len()), self.impulses);
        }
    }

    fn return_to_best(&mut self) {
        if self.best.is_some() {
            copy(self.impulses, run(self.scratch.best, 0, self.impulses.len()));
            self.problem.velocity(self.impulses, self.velocity);
        }
    }

    /// Modes of the impulses, whose velocities and residuals are known.
    fn finish(mut self, tolerance: T, modes: &mut [Mode]) -> Outcome<T> {
        let Self { problem, impulses, velocity, scratch, .. } = &mut self;
        for ((mode, linear), constraint) in modes.iter_mut().zip(&mut *scratch.linear).zip(problem.constraints) {
            *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
            *mode = linear.mode;
        }
        self.outcome.residuals = self.measured.relative_to(super::largest(self.impulses));
        let residual = self.outcome.residuals.natural;
        if self.stopped {
            self.outcome.status = SolverStatus::Stopped;
        } else if residual <= tolerance || self.is_within(residual * super::largest(self.impulses), tolerance) {
            self.outcome.status = SolverStatus::Converged;
        }
        self.outcome
    }
}
