//! The problem: which impulses λ make the velocities σ = G λ + g obey all laws (Simple 2025, Eq. 1).

use super::{Constraint, Law};
use crate::linalg::{MatRef, add_symmetric_product};
use crate::memory::Values;
use crate::scalar::Real;

/// Constraints, the Delassus matrix G and the free velocity g.
///
/// Rank-deficient G is normal: four points under a flat foot, a loop closed twice.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'p, T> {
    /// The laws, in the order of their rows.
    pub constraints: &'p [Constraint<T>],
    /// G, rows × rows, both triangles: velocity per impulse, compliance included.
    pub delassus: MatRef<'p, T>,
    /// g: velocities without any impulse, with what stabilization and restitution ask for.
    pub free_velocity: &'p [T],
}

impl<T: Real> Problem<'_, T> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.free_velocity.len()
    }

    /// σ = G λ + g.
    pub fn velocity(&self, impulses: &[T], velocity: &mut [T]) {
        for (sigma, g) in velocity.iter_mut().zip(self.free_velocity) {
            *sigma = *g;
        }
        add_symmetric_product(velocity, self.delassus, impulses);
    }

    /// λ_row ← `impulse`, and σ with it. O(rows), or nothing if it is the same.
    #[inline(always)]
    pub(super) fn set_impulse(&self, row: usize, impulse: T, impulses: &mut [T], velocity: &mut [T]) {
        let change = impulse - impulses.at(row);
        if change != T::ZERO {
            impulses.set(row, impulse);
            // G is symmetric: its row is its column.
            for (sigma, g) in velocity.iter_mut().zip(self.delassus.row(row)) {
                *sigma = change.mul_add(*g, *sigma);
            }
        }
    }

    /// Impulse per velocity at a constraint, the others held: the step length of projections.
    pub(super) fn stiffness(&self, constraint: &Constraint<T>) -> T {
        let diagonal = |row: usize| self.delassus[(row, row)];
        let largest = constraint.rows().fold(T::ZERO, |largest, row| largest.max(diagonal(row)));
        if largest > T::ZERO { T::ONE / largest } else { T::ONE }
    }
}

/// A point of a three-row constraint: two tangents and the normal.
pub(super) type Triple<T> = [T; 3];

/// The three numbers of a contact's rows.
#[inline(always)]
pub(super) fn triple<T: Real>(x: &[T], constraint: &Constraint<T>) -> Triple<T> {
    let first = usize::from(constraint.first_row);
    match x.get(first..first + 3) {
        Some(&[a, b, c]) => [a, b, c],
        _ => [T::ZERO; 3],
    }
}

/// Length of the tangential part.
#[inline(always)]
pub(super) fn tangential_norm<T: Real>(x: &Triple<T>) -> T {
    x[0].mul_add(x[0], x[1] * x[1]).sqrt()
}

/// The nearest point of the friction cone ‖x_T‖ ≤ μ x_N.
#[inline(always)]
pub(super) fn project_to_cone<T: Real>(x: Triple<T>, friction: T) -> Triple<T> {
    let tangent = tangential_norm(&x);
    // Below the apex first: a cone without friction has no inside, and every point of its axis looks like one.
    if friction * tangent <= -x[2] {
        return [T::ZERO; 3];
    }
    if tangent <= friction * x[2] {
        return x;
    }
    let normal = (x[2] + friction * tangent) / (T::ONE + friction * friction);
    let scale = friction * normal / tangent;
    [x[0] * scale, x[1] * scale, normal]
}

/// The nearest point of the disc ‖x‖ ≤ radius.
#[inline(always)]
pub(super) fn project_to_disc<T: Real>(x: [T; 2], radius: T) -> [T; 2] {
    let square = x[0].mul_add(x[0], x[1] * x[1]);
    if square <= radius * radius {
        return x;
    }
    let scale = radius / square.sqrt();
    [x[0] * scale, x[1] * scale]
}

/// The admissible impulse of a one-row law that is nearest to `x`.
#[inline(always)]
pub(super) fn project_to_law<T: Real>(x: T, law: &Law<T>) -> T {
    match *law {
        Law::Unilateral => x.max(T::ZERO),
        Law::DryFriction { bound } => x.max(-bound).min(bound),
        Law::Bilateral | Law::Contact { .. } => x,
    }
}
