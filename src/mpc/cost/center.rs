//! Residuals of the robot as a whole: centre of mass and momentum.

use nalgebra::Vector3;

use super::Node;
use super::sink::Sink;
use crate::dynamics;
use crate::input::InputError;
use crate::linalg::MatMut;
use crate::memory::{Values, rest, run};
use crate::scalar::Real;
use crate::spatial::Force;
use crate::spatial::vector::cross;

/// Centre of mass, minus where it should be.
pub(super) fn position<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    reference: Vector3<T>,
    weights: [T; 3],
    sink: &mut S,
) -> Result<(), InputError> {
    let work = &node.step.dynamics;
    let apart = dynamics::center_of_mass(work).position_world - reference;
    sink.rows(apart.as_slice(), &weights, node.model.nv(), |out| dynamics::center_of_mass_jacobian(work, out))
}

/// Momentum, linear and about the centre of mass, minus what it should be.
pub(super) fn momentum<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    reference: [T; 6],
    weights: [T; 6],
    sink: &mut S,
) -> Result<(), InputError> {
    let momentum = dynamics::centroidal_momentum(&node.step.dynamics).to_array();
    let apart: [T; 6] = core::array::from_fn(|k| momentum[k] - reference[k]);
    sink.rows(&apart, &weights, 2 * node.model.nv(), |out| momentum_jacobian(node, out))
}

/// ∂(momentum)/∂(q, v), 6 × 2nv. A joint carries the momentum h of what hangs on it and meets the velocity of its parent
/// at another place: ∂h/∂q = S ×* h + I (v_λ × S), about a fixed point; the centre of mass moves on top of it.
fn momentum_jacobian<T: Real>(node: &Node<'_, '_, T>, mut out: MatMut<'_, T>) -> Result<(), InputError> {
    let (work, nv) = (&node.step.dynamics, node.model.nv());
    let mass = work.inertia.iter().skip(1).fold(T::ZERO, |sum, inertia| sum + inertia.mass);
    let total = work.momentum.iter().skip(1).fold(Force::ZERO, |sum, momentum| sum + *momentum);
    let center = dynamics::center_of_mass(work).position_world - work.kinematics.origin;
    for (index, body) in node.model.indexed_bodies() {
        let mut carried = Force::ZERO;
        for momentum in run(work.momentum, index, subtree(node, index)) {
            carried += *momentum;
        }
        for dof in body.v_range() {
            let (axis, unit) = (work.kinematics.axis.at(dof), work.unit_momentum.at(dof));
            let by_q = axis.cross_force(&carried) + work.composite.at(index) * work.kinematics.axis_drift.at(dof);
            let shift = cross(&(unit.linear / mass), &total.linear);
            let mut by_q = by_q.shifted_to(&center);
            by_q.angular -= shift;
            let by_v = unit.shifted_to(&center);
            for (row, (q, v)) in by_q.to_array().into_iter().zip(by_v.to_array()).enumerate() {
                (out[(row, dof)], out[(row, nv + dof)]) = (q, v);
            }
        }
    }
    Ok(())
}

/// Bodies in the subtree of a body, itself included: they are numbered one after the other.
fn subtree<T: Real>(node: &Node<'_, '_, T>, index: usize) -> usize {
    let bodies = node.model.bodies;
    1 + rest(bodies, index).iter().take_while(|body| body.parent.index() >= index).count()
}
