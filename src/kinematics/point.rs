//! Points fixed to bodies: velocity, Jacobian, and how the velocity depends on the configuration.

use nalgebra::Vector3;

use super::Kinematics;
use super::jacobian::write_columns;
use crate::input::InputError;
use crate::linalg::MatMut;
use crate::memory::Values;
use crate::model::{BodyId, Model};
use crate::scalar::Real;
use crate::spatial::vector::{cross, cross_add};

/// Velocity, in world axes, of the point at `point_body` in the body's frame.
pub fn point_velocity<T: Real>(
    kinematics: &Kinematics<'_, T>,
    body: BodyId,
    point_body: &Vector3<T>,
) -> Result<Vector3<T>, InputError> {
    let point = kinematics.body_placement(body)?.act_point(point_body);
    Ok(kinematics.velocity.at(body.index()).velocity_at(&point))
}

/// 3 × nv: the point's velocity, in world axes, is J v. It is also ∂(point velocity)/∂v. O(nv).
pub fn point_jacobian<T: Real>(
    model: Model<'_, T>,
    kinematics: &Kinematics<'_, T>,
    body: BodyId,
    point_body: &Vector3<T>,
    out: MatMut<'_, T>,
) -> Result<(), InputError> {
    let point = kinematics.body_placement(body)?.act_point(point_body);
    write_columns(model, body, out, |dof| kinematics.axis.at(dof).velocity_at(&point).into())
}

/// 3 × nv: ∂(velocity of the point in world axes)/∂q, the point staying fixed in the body. O(nv).
///
/// Turning joint k by δ carries the point along by s δ. What moves relative to the joint's parent turns with it; the
/// parent's own velocity field is merely met at another place: ∂u/∂q_k = ω_S × (u − u_λ) + ω_λ × s.
pub fn point_velocity_derivatives<T: Real>(
    model: Model<'_, T>,
    kinematics: &Kinematics<'_, T>,
    body: BodyId,
    point_body: &Vector3<T>,
    mut out: MatMut<'_, T>,
) -> Result<(), InputError> {
    let point = kinematics.body_placement(body)?.act_point(point_body);
    let velocity = kinematics.velocity.at(body.index()).velocity_at(&point);
    write_columns(model, body, out.reborrow(), |_| [T::ZERO; 3])?;
    let mut carrier = body;
    while let Some(joint) = model.body(carrier) {
        let parent = kinematics.velocity.at(joint.parent.index());
        let relative = velocity - parent.velocity_at(&point);
        for dof in joint.v_range() {
            let axis = kinematics.axis.at(dof);
            let carried = cross(&parent.angular, &axis.velocity_at(&point));
            let column = cross_add(&axis.angular, &relative, &carried);
            for (i, x) in column.iter().enumerate() {
                out[(i, dof)] = *x;
            }
        }
        carrier = joint.parent;
    }
    Ok(())
}
