//! Which linear law each constraint is taken to have.

use super::Derivatives;
use super::jacobian::Softness;
use crate::contact::reduced::Linear;
use crate::contact::{Constraint, Law, Mode, Problem};
use crate::linalg::MatMut;
use crate::memory::{Values, copy, run, run_mut};
use crate::scalar::Real;
use crate::step::{Gradient, Step};

/// Sets the linear laws that a kind of gradient asks for.
pub(super) fn choose<T: Real>(gradient: &Gradient<T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let problem = work.assembly.problem();
    let count = problem.constraints.len();
    copy(run_mut(out.linear, 0, count), run(work.scratch.linear, 0, count));
    let softness = out.softness.iter_mut();
    let &Gradient::Relaxed { kappa } = gradient else {
        softness.take(count).for_each(|block| *block = [[T::ZERO; 3]; 3]);
        return;
    };
    for ((constraint, linear), block) in problem.constraints.iter().zip(&mut *out.linear).zip(softness) {
        let (first, rows) = (usize::from(constraint.first_row), constraint.law.rows());
        let z = |k: usize| {
            let at = |numbers: &[T]| run(numbers, first, rows).get(k).copied().unwrap_or(T::ZERO);
            at(work.impulses) - linear.stiffness * at(work.constraint_velocity)
        };
        *block = relaxed(constraint, linear.stiffness, [0, 1, 2].map(z), kappa);
        linear.mode = Mode::Stick;
    }
}

/// Contacts and limits hold where the loss falls by pressing, and break where it falls by parting; `along` is
/// D^(−½) L^(−ᵀ) ∂ℓ/∂v⁺.
pub(super) fn choose_by_loss<T: Real>(work: &Step<'_, T>, along: &[T], linear: &mut [Linear<T>]) {
    let (problem, half) = (work.assembly.problem(), work.assembly.half_solved());
    for (constraint, linear) in problem.constraints.iter().zip(linear) {
        if !matches!(constraint.law, Law::Contact { .. } | Law::Unilateral) {
            continue;
        }
        let row = constraint.rows().end - 1;
        let slope = (0..half.rows()).fold(T::ZERO, |sum, dof| half[(dof, row)].mul_add(along[dof], sum));
        match linear.mode {
            Mode::Break if slope > T::ZERO => linear.mode = Mode::Stick,
            Mode::Stick | Mode::Slide if slope < T::ZERO => linear.mode = Mode::Break,
            _ => {}
        }
    }
}

/// Adds what gives way to the system, whose equations are multiplied by ρ.
pub(super) fn soften<T: Real>(problem: &Problem<'_, T>, out: &Derivatives<'_, T>, mut matrix: MatMut<'_, T>) {
    for (k, constraint) in problem.constraints.iter().enumerate() {
        let (linear, block) = (&out.linear.at(k), &out.softness.at(k));
        let n = linear.unknowns(&constraint.law);
        if linear.mode != Mode::Stick {
            continue;
        }
        let first = usize::from(linear.first);
        for (i, block) in block.iter().enumerate().take(n) {
            for (x, block) in run_mut(matrix.row_mut(first + i), first, n).iter_mut().zip(block) {
                *x += linear.stiffness * *block;
            }
        }
    }
}

/// E of the central path at the point with the same z = λ − ρ σ as the solution.
fn relaxed<T: Real>(constraint: &Constraint<T>, rho: T, z: [T; 3], kappa: T) -> Softness<T> {
    let mut block = [[T::ZERO; 3]; 3];
    match constraint.law {
        Law::Unilateral => {
            let [gamma, slack] = relax_normal(z[0], rho, kappa);
            block[0][0] = slack / gamma;
        }
        Law::DryFriction { bound } => {
            let pair = FrictionPoint::new([z[0], T::ZERO], bound, rho, kappa);
            block[0][0] = pair.by_tangent()[0][0];
        }
        Law::Contact { friction } => {
            let [gamma, slack] = relax_normal(z[2], rho, kappa);
            block[2][2] = slack / gamma;
            let pair = FrictionPoint::new([z[0], z[1]], friction * gamma, rho, kappa);
            let (by_tangent, by_radius) = (pair.by_tangent(), pair.by_radius());
            for i in 0..2 {
                block[i] = [by_tangent[i][0], by_tangent[i][1], friction * by_radius[i]];
            }
        }
        Law::Bilateral => {}
    }
    block
}

/// γ and w with γ − ρ w = z and γ w = κ.
fn relax_normal<T: Real>(z: T, rho: T, kappa: T) -> [T; 2] {
    let half = T::from_f64(0.5);
    let root = (z * z + T::from_f64(4.0) * rho * kappa).sqrt();
    // The form without cancellation on either side.
    let gamma = if z > T::ZERO { half * (z + root) } else { (rho * kappa + rho * kappa) / (root - z) };
    let gamma = gamma.max(T::EPSILON * T::EPSILON);
    [gamma, kappa / gamma]
}

/// A point of the smoothed friction law λ_T = −R σ_T / ψ, ψ = c/2 + √(c²/4 + σ_T²), c = κ / R.
struct FrictionPoint<T> {
    /// λ_T / R.
    u: [T; 2],
    slip: [T; 2],
    psi: T,
    radius: T,
}

impl<T: Real> FrictionPoint<T> {
    /// The point with λ_T − ρ σ_T = z.
    fn new(z: [T; 2], radius: T, rho: T, kappa: T) -> Self {
        /// Newton's steps on a concave function from its left: each stays left of the root, and they soon square the error;
        /// three or four lead to rounding, far out some more.
        const STEPS: usize = 12;
        let radius = radius.max(T::EPSILON * T::EPSILON);
        let length = (z[0] * z[0] + z[1] * z[1]).sqrt();
        let quarter = T::from_f64(0.25);
        let (c, rounding) = (kappa / radius, T::from_f64(4.0) * T::EPSILON);
        let psi = |s: T| T::from_f64(0.5) * c + (quarter * c * c + s * s).sqrt();
        let mut s = ((length - radius) / rho).max(T::ZERO);
        for _ in 0..STEPS {
            let (p, root) = (psi(s), (quarter * c * c + s * s).sqrt());
            let value = radius * s / p + rho * s - length;
            if value.abs() <= rounding * length {
                break;
            }
            let slope = radius / p * (T::ONE - s * s / (p * root)) + rho;
            s = (s - value / slope).max(T::ZERO);
        }
        let direction = if length > T::ZERO { [z[0] / length, z[1] / length] } else { [T::ZERO; 2] };
        let share = (s / psi(s)).min(T::ONE - T::EPSILON);
        Self { u: direction.map(|d| d * share), slip: direction.map(|d| -(d * s)), psi: psi(s), radius }
    }

    /// (1 − u uᵀ)⁻¹ x / R.
    fn inverse(&self, x: [T; 2]) -> [T; 2] {
        let u = self.u;
        let along = (u[0] * x[0] + u[1] * x[1]) / (T::ONE - (u[0] * u[0] + u[1] * u[1]));
        [(x[0] + u[0] * along) / self.radius, (x[1] + u[1] * along) / self.radius]
    }

    /// −∂σ_T/∂λ_T.
    fn by_tangent(&self) -> [[T; 2]; 2] {
        let (u, s, psi) = (self.u, self.slip, self.psi);
        let first = self.inverse([psi - u[0] * s[0], -(u[1] * s[0])]);
        let second = self.inverse([-(u[0] * s[1]), psi - u[1] * s[1]]);
        [[first[0], second[0]], [first[1], second[1]]]
    }

    /// −∂σ_T/∂R.
    fn by_radius(&self) -> [T; 2] {
        self.inverse([0, 1].map(|k| self.slip[k] - self.psi * self.u[k]))
    }
}
