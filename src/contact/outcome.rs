//! What a solver says about its answer.

use super::problem::{Triple, project_to_cone, project_to_law, tangential_norm, triple};
use super::{Constraint, Law, Problem};
use crate::scalar::Real;

/// How a constraint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// No impulse: the bodies separate, the joint is off its limit.
    #[default]
    Break,
    /// No velocity: the contact sticks, the joint rests on its limit or is held by dry friction, the loop is closed.
    Stick,
    /// The impulse is on its bound, against the motion.
    Slide,
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverStatus {
    /// The residual is within the tolerance.
    Converged,
    /// The bound on iterations came first; the best impulses found are given.
    #[default]
    IterationLimit,
    /// A number of the problem is not finite; the impulses are zero.
    NotFinite,
    /// It was told to stop; the best impulses found are given.
    Stopped,
}

/// How far impulses are from solving the problem. All in units of impulse and relative to the largest one, except
/// `complementarity`, which is relative to its square.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals<T> {
    /// Of the natural map λ − P(λ − ρ(σ + Γ(σ))): zero at solutions and nowhere else.
    pub natural: T,
    /// Distance of the impulses to their cones and bounds.
    pub primal: T,
    /// Distance of the velocities, corrected by Γ, to the dual cones.
    pub dual: T,
    /// |λ · (σ + Γ(σ))|.
    pub complementarity: T,
}

/// Status, work and quality of a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome<T> {
    /// Why it stopped.
    pub status: SolverStatus,
    /// Factorizations of Newton and of the central path, steps of ADMM, sweeps of Gauss–Seidel.
    pub iterations: u16,
    /// Gauss–Seidel sweeps.
    pub sweeps: u16,
    /// At the impulses that are given.
    pub residuals: Residuals<T>,
}

/// Residuals of `impulses`, for which `velocity` is G λ + g. O(rows).
pub fn residuals<T: Real>(problem: &Problem<'_, T>, impulses: &[T], velocity: &[T]) -> Residuals<T> {
    absolute_residuals(problem, impulses, velocity).relative_to(super::largest(impulses))
}

/// The same in units of impulse, and of its square.
pub(super) fn absolute_residuals<T: Real>(problem: &Problem<'_, T>, impulses: &[T], velocity: &[T]) -> Residuals<T> {
    let mut sum = Residuals::default();
    for constraint in problem.constraints {
        let rho = problem.stiffness(constraint);
        match constraint.law {
            Law::Contact { friction } => {
                let (lambda, sigma) = (triple(impulses, constraint), triple(velocity, constraint));
                sum.add_contact(lambda, sigma, friction, rho);
            }
            ref law => {
                let row = usize::from(constraint.first_row);
                let (Some(&lambda), Some(&sigma)) = (impulses.get(row), velocity.get(row)) else { continue };
                sum.add_row(lambda, sigma, law, rho);
            }
        }
    }
    sum
}

/// The natural-map residual alone, absolute; the solvers' measure of progress. O(rows).
pub(super) fn natural_residual<T: Real>(problem: &Problem<'_, T>, impulses: &[T], velocity: &[T]) -> T {
    problem
        .constraints
        .iter()
        .fold(T::ZERO, |worst, constraint| worse(worst, natural_error(problem, constraint, impulses, velocity)))
}

/// Whether the impulses are a solution, to the last bit. O(rows) at most.
pub(super) fn is_exact<T: Real>(problem: &Problem<'_, T>, impulses: &[T], velocity: &[T]) -> bool {
    let is_zero = |constraint| natural_error(problem, constraint, impulses, velocity) == T::ZERO;
    problem.constraints.iter().all(is_zero)
}

/// What a constraint adds to the natural-map residual.
#[inline(always)]
fn natural_error<T: Real>(problem: &Problem<'_, T>, constraint: &Constraint<T>, impulses: &[T], velocity: &[T]) -> T {
    let rho = problem.stiffness(constraint);
    match constraint.law {
        Law::Contact { friction } => {
            contact_error(triple(impulses, constraint), triple(velocity, constraint), friction, rho)
        }
        ref law => {
            let row = usize::from(constraint.first_row);
            let (Some(&lambda), Some(&sigma)) = (impulses.get(row), velocity.get(row)) else { return T::ZERO };
            (lambda - project_to_law(lambda - rho * sigma, law)).abs()
        }
    }
}

/// The larger error; one that is not a number stays.
#[inline(always)]
fn worse<T: Real>(worst: T, error: T) -> T {
    if error <= worst || !worst.is_finite() { worst } else { error }
}

/// ‖λ − P(λ − ρ(σ + Γ(σ)))‖∞, Γ(σ) = (0, 0, μ ‖σ_T‖).
///
/// With z what is projected, z_N + μ ‖z_T‖ is where it goes along the cone. A light touch that slides fast makes that a
/// small difference of large numbers, of which f32 would keep no digit; ‖z_T‖ − ρ ‖σ_T‖ is therefore a quotient.
#[inline(always)]
fn contact_error<T: Real>(lambda: Triple<T>, sigma: Triple<T>, friction: T, rho: T) -> T {
    let [x, y, normal] = [0, 1, 2].map(|k| lambda[k] - rho * sigma[k]);
    let (tangent, slip) = (tangential_norm(&[x, y, normal]), rho * tangential_norm(&sigma));
    let square =
        lambda[0].mul_add(lambda[0] - (rho + rho) * sigma[0], lambda[1] * (lambda[1] - (rho + rho) * sigma[1]));
    let gained = if tangent + slip > T::ZERO { square / (tangent + slip) } else { T::ZERO };
    let along = friction.mul_add(gained, normal);
    if along <= T::ZERO {
        return distance(&lambda, &[T::ZERO; 3]);
    }
    let height = normal - friction * slip;
    if tangent <= friction * height {
        return distance(&lambda, &[x, y, height]);
    }
    let normal = along / (T::ONE + friction * friction);
    let scale = friction * normal / tangent;
    distance(&lambda, &[x * scale, y * scale, normal])
}

#[inline(always)]
fn distance<T: Real>(a: &Triple<T>, b: &Triple<T>) -> T {
    (a[0] - b[0]).abs().max((a[1] - b[1]).abs()).max((a[2] - b[2]).abs())
}

impl<T: Real> Residuals<T> {
    fn add_contact(&mut self, lambda: Triple<T>, sigma: Triple<T>, friction: T, rho: T) {
        self.natural = worse(self.natural, contact_error(lambda, sigma, friction, rho));
        self.primal = worse(self.primal, distance(&lambda, &project_to_cone(lambda, friction)));
        // The dual cone μ ‖x_T‖ ≤ x_N is polar to −K: what is outside of it is the projection of −x to K.
        let corrected = [sigma[0], sigma[1], sigma[2] + friction * tangential_norm(&sigma)];
        let outside = project_to_cone(corrected.map(|x| -x), friction);
        self.dual = worse(self.dual, rho * distance(&outside, &[T::ZERO; 3]));
        let power = (0..3).fold(T::ZERO, |sum, k| lambda[k].mul_add(corrected[k], sum));
        self.complementarity = worse(self.complementarity, (rho * power).abs());
    }

    fn add_row(&mut self, lambda: T, sigma: T, law: &Law<T>, rho: T) {
        self.natural = worse(self.natural, (lambda - project_to_law(lambda - rho * sigma, law)).abs());
        self.primal = worse(self.primal, (lambda - project_to_law(lambda, law)).abs());
        let (dual, power) = match *law {
            Law::Unilateral => ((-sigma).max(T::ZERO), lambda * sigma),
            // σ ≥ 0 only on the lower bound, σ ≤ 0 only on the upper one.
            Law::DryFriction { bound } => (T::ZERO, sigma.abs() * bound + lambda * sigma),
            Law::Bilateral | Law::Contact { .. } => (sigma.abs(), T::ZERO),
        };
        self.dual = worse(self.dual, rho * dual);
        self.complementarity = worse(self.complementarity, (rho * power).abs());
    }

    /// Over the largest impulse, or as they are if there is none.
    pub(super) fn relative_to(self, impulse: T) -> Self {
        if impulse > T::ZERO {
            Self {
                natural: self.natural / impulse,
                primal: self.primal / impulse,
                dual: self.dual / impulse,
                complementarity: self.complementarity / (impulse * impulse),
            }
        } else {
            self
        }
    }
}
