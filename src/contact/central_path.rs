//! The central path: the same laws with every complementarity product held at κ > 0, which is smooth.
//!
//! A contact has γ = λ_N and the slacks w and ψ, with γ w = κ and w = σ_N, and the friction pair (μ γ, λ_T), (ψ, σ_T)
//! of second-order cones with μ γ ψ + λ_T·σ_T = κ and μ γ σ_T + ψ λ_T = 0. As κ → 0 this is Signorini's condition and
//! Coulomb's law with maximum dissipation. Following it down leads to the middle of the set of solutions, where modes
//! are clear: the way out when Newton's modes cycle.

use super::outcome::natural_residual;
use super::{Constraint, Law, Problem, Scratch};
use crate::linalg::{MatMut, MatRef, lu, lu_solve, padded};
use crate::memory::{Values, copy, put, run, run_mut, within, within_mut};
use crate::scalar::Real;

/// How the path is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentralPath<T> {
    /// Newton steps at most; each factors a rows × rows matrix.
    pub max_iterations: u16,
    /// Complementarity products at its end, over those at its start.
    pub depth: T,
    /// What a step leaves of them when it goes through.
    pub decrease: T,
}

impl<T: Real> Default for CentralPath<T> {
    fn default() -> Self {
        let depth = if super::is_double::<T>() { 1e-19 } else { 1e-9 };
        Self { max_iterations: 50, depth: T::from_f64(depth), decrease: T::from_f64(0.1) }
    }
}

/// w and ψ of a constraint, with their steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slacks<T> {
    normal: T,
    slip: T,
    normal_step: T,
    slip_step: T,
}

impl<T: Real> CentralPath<T> {
    /// Moves `impulses` to the end of the path, or to where they solve the problem; `velocity` is their G λ + g. Gives the
    /// number of steps.
    pub(super) fn follow(
        &self,
        problem: &Problem<'_, T>,
        impulses: &mut [T],
        velocity: &mut [T],
        tolerance: T,
        scratch: &mut Scratch<'_, T>,
        stop: &mut impl FnMut() -> bool,
    ) -> u16 {
        let scale = start(problem, impulses, velocity, scratch.slacks);
        let mut length = T::ONE;
        for iteration in 0..self.max_iterations {
            let reached = complementarity(problem, &scale, impulses, velocity, scratch.slacks);
            let residual = natural_residual(problem, impulses, velocity);
            let deep = reached <= self.depth && length > T::from_f64(0.5);
            if deep || super::is_within(residual, impulses, tolerance) || stop() {
                return iteration;
            }
            let short = T::ONE - length;
            let kappa = reached * (short * short).max(self.decrease).min(T::from_f64(0.8));
            if !write_system(problem, kappa, &scale, impulses, velocity, scratch) {
                return iteration;
            }
            length = self.take_step(problem, kappa, &scale, impulses, velocity, scratch);
        }
        self.max_iterations
    }

    /// Along the step in `scratch.step`, as far as every cone allows.
    fn take_step(
        &self,
        problem: &Problem<'_, T>,
        kappa: T,
        scale: &Scale<T>,
        impulses: &mut [T],
        velocity: &mut [T],
        scratch: &mut Scratch<'_, T>,
    ) -> T {
        let rows = problem.rows();
        let step = run(scratch.step, 0, rows);
        // G Δλ, from the velocities at the end of the full step.
        for row in 0..rows {
            scratch.row.set(row, crate::linalg::partial_dot(run(problem.delassus.row(row), 0, rows), step));
        }
        let change = run(scratch.row, 0, rows);
        let mut length = T::ONE;
        for (constraint, slacks) in problem.constraints.iter().zip(&mut *scratch.slacks) {
            let view = View::new(constraint, impulses, velocity);
            let moved = View::new(constraint, step, change);
            let kappa = kappa * scale.of(constraint, problem);
            slacks.solve(&view, &moved, kappa);
            length = length.min(slacks.room(&view, &moved));
        }
        for row in 0..rows {
            impulses.change(row, |impulse| *impulse = length.mul_add(step.at(row), *impulse));
        }
        for slacks in run_mut(scratch.slacks, 0, problem.constraints.len()) {
            slacks.normal = length.mul_add(slacks.normal_step, slacks.normal);
            slacks.slip = length.mul_add(slacks.slip_step, slacks.slip);
        }
        problem.velocity(impulses, velocity);
        length
    }
}

/// The size of impulses, by which κ is measured.
struct Scale<T> {
    impulse: T,
}

impl<T: Real> Scale<T> {
    /// κ of a constraint at the start of the path: impulse times velocity.
    fn of(&self, constraint: &Constraint<T>, problem: &Problem<'_, T>) -> T {
        self.impulse * self.impulse / problem.stiffness(constraint)
    }
}

/// Puts impulses and slacks into the middle of their cones.
fn start<T: Real>(
    problem: &Problem<'_, T>,
    impulses: &mut [T],
    velocity: &mut [T],
    slacks: &mut [Slacks<T>],
) -> Scale<T> {
    let mut largest = T::from_f64(1e-12);
    for constraint in problem.constraints {
        let rho = problem.stiffness(constraint);
        for row in constraint.rows() {
            largest = largest.max(rho * problem.free_velocity.at(row).abs()).max(impulses.at(row).abs());
        }
    }
    let scale = Scale { impulse: largest };
    for constraint in problem.constraints {
        let lambda = within_mut(impulses, constraint.rows());
        match constraint.law {
            Law::Contact { .. } => put(lambda, [T::ZERO, T::ZERO, largest]),
            Law::Unilateral => put(lambda, [largest]),
            Law::DryFriction { .. } | Law::Bilateral => put(lambda, [T::ZERO]),
        }
    }
    problem.velocity(impulses, velocity);
    for (constraint, slacks) in problem.constraints.iter().zip(slacks) {
        let view = View::new(constraint, impulses, velocity);
        let unit = largest / problem.stiffness(constraint);
        *slacks = Slacks {
            normal: view.normal_velocity.max(unit),
            slip: norm(view.slip) + unit,
            normal_step: T::ZERO,
            slip_step: T::ZERO,
        };
    }
    scale
}

/// Mean of the complementarity products, over that at the start.
fn complementarity<T: Real>(
    problem: &Problem<'_, T>,
    scale: &Scale<T>,
    impulses: &[T],
    velocity: &[T],
    slacks: &[Slacks<T>],
) -> T {
    let (mut sum, mut count) = (T::ZERO, T::ZERO);
    for (constraint, slacks) in problem.constraints.iter().zip(slacks) {
        let view = View::new(constraint, impulses, velocity);
        let unit = scale.of(constraint, problem);
        if matches!(view.law, Law::Contact { .. } | Law::Unilateral) {
            sum += view.normal * slacks.normal / unit;
            count += T::ONE;
        }
        if view.radius > T::ZERO {
            let power = view.tangent[0] * view.slip[0] + view.tangent[1] * view.slip[1];
            sum += (view.radius * slacks.slip + power) / unit;
            count += T::ONE;
        }
    }
    if count > T::ZERO { sum / count } else { T::ZERO }
}

/// (G + E) Δλ = r, factored and solved into `scratch.step`; false if that failed.
fn write_system<T: Real>(
    problem: &Problem<'_, T>,
    kappa: T,
    scale: &Scale<T>,
    impulses: &[T],
    velocity: &[T],
    scratch: &mut Scratch<'_, T>,
) -> bool {
    let rows = problem.rows();
    let stride = padded(rows);
    for row in 0..rows {
        copy(run_mut(scratch.matrix, row * stride, rows), run(problem.delassus.row(row), 0, rows));
    }
    let mut matrix = MatMut::with_stride(scratch.matrix, rows, rows, stride);
    for (constraint, slacks) in problem.constraints.iter().zip(&*scratch.slacks) {
        let view = View::new(constraint, impulses, velocity);
        let kappa = kappa * scale.of(constraint, problem);
        let (block, right) = slacks.linearize(&view, kappa);
        let first = usize::from(constraint.first_row);
        let n = constraint.law.rows();
        for i in 0..n {
            for j in 0..n {
                matrix[(first + i, first + j)] += block[i][j];
            }
            scratch.step.set(first + i, right.at(i));
        }
        if view.radius <= T::ZERO && n == 3 {
            // Without friction the tangential impulses are zero and stay so.
            for i in first..first + 2 {
                matrix.row_mut(i).fill(T::ZERO);
                matrix[(i, i)] = T::ONE;
                scratch.step.set(i, -impulses.at(i));
            }
        }
    }
    if lu(matrix, scratch.exchanges).is_err() {
        return false;
    }
    lu_solve(
        MatRef::with_stride(scratch.matrix, rows, rows, stride),
        scratch.exchanges,
        run_mut(scratch.step, 0, rows),
    );
    run(scratch.step, 0, rows).iter().all(|x| x.is_finite())
}

/// A constraint's impulses and velocities as a normal pair and a friction pair; one of them may be missing.
#[derive(Clone, Copy)]
struct View<T> {
    law: Law<T>,
    /// γ.
    normal: T,
    /// (G λ + g)_N.
    normal_velocity: T,
    /// λ_T.
    tangent: [T; 2],
    /// σ_T.
    slip: [T; 2],
    /// μ γ, or the bound of dry friction.
    radius: T,
}

impl<T: Real> View<T> {
    #[inline(always)]
    fn new(constraint: &Constraint<T>, impulses: &[T], velocity: &[T]) -> Self {
        let (lambda, sigma) = (within(impulses, constraint.rows()), within(velocity, constraint.rows()));
        let o = T::ZERO;
        let none =
            Self { law: constraint.law, normal: o, normal_velocity: o, tangent: [o; 2], slip: [o; 2], radius: o };
        match constraint.law {
            Law::Contact { friction } => Self {
                normal: lambda.at(2),
                normal_velocity: sigma.at(2),
                tangent: [lambda.at(0), lambda.at(1)],
                slip: [sigma.at(0), sigma.at(1)],
                radius: friction * lambda.at(2),
                ..none
            },
            Law::Unilateral => Self { normal: lambda.at(0), normal_velocity: sigma.at(0), ..none },
            Law::DryFriction { bound } => {
                Self { tangent: [lambda.at(0), o], slip: [sigma.at(0), o], radius: bound, ..none }
            }
            Law::Bilateral => Self { slip: [sigma.at(0), o], ..none },
        }
    }

    /// μ, where the radius depends on the normal impulse.
    fn friction(&self) -> T {
        match self.law {
            Law::Contact { friction } => friction,
            _ => T::ZERO,
        }
    }
}

impl<T: Real> Slacks<T> {
    /// E and r of the constraint's rows: Δσ + E Δλ = r.
    #[inline(always)]
    fn linearize(&self, view: &View<T>, kappa: T) -> ([[T; 3]; 3], [T; 3]) {
        let o = T::ZERO;
        let mut block = [[o; 3]; 3];
        let mut right = [o; 3];
        let normal = [self.normal / view.normal, kappa / view.normal - view.normal_velocity];
        match view.law {
            Law::Bilateral => right[0] = -view.slip[0],
            Law::Unilateral => (block[0][0], right[0]) = (normal[0], normal[1]),
            Law::DryFriction { .. } | Law::Contact { .. } => {
                let pair = self.linearize_friction(view, kappa);
                for i in 0..2 {
                    block[i][0] = pair.by_tangent[i][0];
                    block[i][1] = pair.by_tangent[i][1];
                    block[i][2] = pair.by_radius[i] * view.friction();
                    right[i] = pair.right[i];
                }
                (block[2][2], right[2]) = (normal[0], normal[1]);
            }
        }
        (block, right)
    }

    /// Δσ_T + A Δλ_T + b ΔR = r, with the slack eliminated.
    #[inline(always)]
    fn linearize_friction(&self, view: &View<T>, kappa: T) -> FrictionPair<T> {
        let (r, psi, s, lambda) = (view.radius, self.slip, view.slip, view.tangent);
        let u = lambda.map(|x| x / r);
        // (1 − u uᵀ)⁻¹ = 1 + u uᵀ / (1 − u·u).
        let inverse = |x: [T; 2]| {
            let along = (u[0] * x[0] + u[1] * x[1]) / (T::ONE - (u[0] * u[0] + u[1] * u[1]));
            [u[0].mul_add(along, x[0]) / r, u[1].mul_add(along, x[1]) / r]
        };
        let open = kappa - r * psi - (lambda[0] * s[0] + lambda[1] * s[1]);
        let column = |j: usize| {
            let unit = [if j == 0 { psi } else { T::ZERO }, if j == 1 { psi } else { T::ZERO }];
            inverse([unit[0] - u[0] * s[j], unit[1] - u[1] * s[j]])
        };
        let (first, second) = (column(0), column(1));
        FrictionPair {
            by_tangent: [[first[0], second[0]], [first[1], second[1]]],
            by_radius: inverse([s[0] - psi * u[0], s[1] - psi * u[1]]),
            right: inverse([0, 1].map(|k| -(r * s[k] + psi * lambda[k]) - u[k] * open)),
        }
    }

    /// The steps of the slacks that go with a step of the impulses.
    #[inline(always)]
    fn solve(&mut self, view: &View<T>, step: &View<T>, kappa: T) {
        if view.normal > T::ZERO {
            self.normal_step = kappa / view.normal - self.normal - self.normal / view.normal * step.normal;
        }
        let r = view.radius;
        if r > T::ZERO {
            let (lambda, s) = (view.tangent, view.slip);
            let open = kappa - r * self.slip - (lambda[0] * s[0] + lambda[1] * s[1]);
            let turned = s[0] * step.tangent[0] + s[1] * step.tangent[1];
            let slid = lambda[0] * step.slip[0] + lambda[1] * step.slip[1];
            self.slip_step = (open - self.slip * view.friction() * step.normal - turned - slid) / r;
        }
    }

    /// The share of the step that stays within the cones.
    #[inline(always)]
    fn room(&self, view: &View<T>, step: &View<T>) -> T {
        let mut room = T::ONE;
        if matches!(view.law, Law::Contact { .. } | Law::Unilateral) {
            room = room.min(room_above_zero(view.normal, step.normal));
            room = room.min(room_above_zero(self.normal, self.normal_step));
        }
        if view.radius > T::ZERO {
            let radius_step = view.friction() * step.normal;
            room = room.min(room_in_cone(view.radius, view.tangent, radius_step, step.tangent));
            room = room.min(room_in_cone(self.slip, view.slip, self.slip_step, step.slip));
        }
        room
    }
}

struct FrictionPair<T> {
    by_tangent: [[T; 2]; 2],
    by_radius: [T; 2],
    right: [T; 2],
}

/// The share of the way to a boundary that a step may go.
const FRACTION_TO_BOUNDARY: f64 = 0.95;

#[inline(always)]
fn room_above_zero<T: Real>(x: T, step: T) -> T {
    if step < T::ZERO { (T::from_f64(FRACTION_TO_BOUNDARY) * x / -step).min(T::ONE) } else { T::ONE }
}

/// The largest t ≤ 1 for which ‖x + t Δx‖ < r + t Δr, times the fraction.
#[inline(always)]
fn room_in_cone<T: Real>(r: T, x: [T; 2], dr: T, dx: [T; 2]) -> T {
    let a = dr * dr - (dx[0] * dx[0] + dx[1] * dx[1]);
    let b = r * dr - (x[0] * dx[0] + x[1] * dx[1]);
    let c = (r * r - (x[0] * x[0] + x[1] * x[1])).max(T::ZERO);
    // The first positive root of a t² + 2 b t + c.
    let discriminant = b * b - a * c;
    let root = if discriminant < T::ZERO {
        T::ONE + T::ONE
    } else {
        let d = discriminant.sqrt();
        // c / (−b + d) is the smaller root when b < 0, and the only positive one when a < 0.
        let below = if b < T::ZERO || a < T::ZERO { c / (d - b) } else { -T::ONE };
        if below > T::ZERO { below } else { T::ONE + T::ONE }
    };
    let apex = if dr < T::ZERO { r / -dr } else { T::ONE + T::ONE };
    (T::from_f64(FRACTION_TO_BOUNDARY) * root.min(apex)).min(T::ONE)
}

#[inline(always)]
fn norm<T: Real>(x: [T; 2]) -> T {
    x[0].mul_add(x[0], x[1] * x[1]).sqrt()
}
