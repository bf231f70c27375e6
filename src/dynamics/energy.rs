//! Kinetic and potential energy.

use super::Dynamics;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::vector::dot;

/// ½ Σ v · I v over the bodies, J. Rotors (armature) are not bodies: add ½ Σ armature v². Call
/// [`update`](super::update) first.
pub fn kinetic_energy<T: Real>(work: &Dynamics<'_, T>) -> T {
    let bodies = work.kinematics.velocity.iter().zip(&*work.momentum).skip(1);
    bodies.fold(T::ZERO, |sum, (velocity, momentum)| sum + velocity.dot(momentum)) * T::from_f64(0.5)
}

/// −Σ m g · c over the bodies, J; zero at the world's origin. Call [`update`](super::update) first.
pub fn potential_energy<T: Real>(model: Model<'_, T>, work: &Dynamics<'_, T>) -> T {
    work.inertia
        .iter()
        .skip(1)
        .fold(T::ZERO, |sum, body| sum - dot(&model.gravity, &(body.first_moment + work.kinematics.origin * body.mass)))
}
