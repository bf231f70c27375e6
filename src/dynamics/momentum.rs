//! Centre of mass and centroidal momentum.

use nalgebra::Vector3;

use super::Dynamics;
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::scalar::Real;
use crate::spatial::{CompositeInertia, Force};

/// Where the mass is and how it moves, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CenterOfMass<T> {
    /// Kilograms.
    pub mass: T,
    /// Metres.
    pub position_world: Vector3<T>,
    /// Metres per second.
    pub velocity_world: Vector3<T>,
}

/// Centre of mass of all bodies and its velocity. Call [`update`](super::update) first. O(bodies).
pub fn center_of_mass<T: Real>(work: &Dynamics<'_, T>) -> CenterOfMass<T> {
    let (inertia, momentum) = totals(work);
    CenterOfMass {
        mass: inertia.mass,
        position_world: inertia.first_moment / inertia.mass + work.kinematics.origin,
        velocity_world: momentum.linear / inertia.mass,
    }
}

/// 3 × nv: the velocity of the centre of mass is J v. Call [`mass_matrix`](super::mass_matrix) first. O(nv).
pub fn center_of_mass_jacobian<T: Real>(work: &Dynamics<'_, T>, mut out: MatMut<'_, T>) -> Result<(), InputError> {
    check_length("jacobian rows", 3, out.rows())?;
    check_length("jacobian columns", work.unit_momentum.len(), out.cols())?;
    let (inertia, _) = totals(work);
    for (dof, momentum) in work.unit_momentum.iter().enumerate() {
        for (i, x) in momentum.linear.iter().enumerate() {
            out[(i, dof)] = *x / inertia.mass;
        }
    }
    Ok(())
}

/// Momentum of all bodies: linear, and angular about the centre of mass, in world axes. O(bodies).
pub fn centroidal_momentum<T: Real>(work: &Dynamics<'_, T>) -> Force<T> {
    let (inertia, momentum) = totals(work);
    momentum.shifted_to(&(inertia.first_moment / inertia.mass))
}

/// 6 × nv: the centroidal momentum is A v. Call [`mass_matrix`](super::mass_matrix) first. O(nv).
pub fn centroidal_map<T: Real>(work: &Dynamics<'_, T>, mut out: MatMut<'_, T>) -> Result<(), InputError> {
    check_length("map rows", 6, out.rows())?;
    check_length("map columns", work.unit_momentum.len(), out.cols())?;
    let (inertia, _) = totals(work);
    let center = inertia.first_moment / inertia.mass;
    for (dof, momentum) in work.unit_momentum.iter().enumerate() {
        for (i, x) in momentum.shifted_to(&center).to_array().into_iter().enumerate() {
            out[(i, dof)] = x;
        }
    }
    Ok(())
}

/// Inertia and momentum of all bodies together, in the working frame.
fn totals<T: Real>(work: &Dynamics<'_, T>) -> (CompositeInertia<T>, Force<T>) {
    let mut sum = (CompositeInertia::ZERO, Force::ZERO);
    for (inertia, momentum) in work.inertia.iter().zip(&*work.momentum).skip(1) {
        sum.0 += *inertia;
        sum.1 += *momentum;
    }
    sum
}
