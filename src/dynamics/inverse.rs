//! Inverse dynamics by the recursive Newton–Euler algorithm.

use super::{Dynamics, check_external, check_workspace, velocity_force};
use crate::input::{InputError, check_length};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Force, Motion};

/// Joint forces τ that give the joint accelerations `acceleration`: τ = M a + b − Jᵀ f. O(bodies).
///
/// `external` is empty, or has the wrench on each body in the body's own frame. Call [`update`](super::update) first.
pub fn inverse<T: Real>(
    model: Model<'_, T>,
    acceleration: &[T],
    external: &[Force<T>],
    torque: &mut [T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    check_length("acceleration", model.nv(), acceleration.len())?;
    check_length("torque", model.nv(), torque.len())?;
    check_external(&model, external)?;
    accelerate_bodies(model, |dof| acceleration[dof], external, work);
    project_forces(model, torque, work);
    for (dof, tau) in torque.iter_mut().enumerate() {
        *tau = model.dofs[dof].armature.mul_add(acceleration[dof], *tau);
    }
    Ok(())
}

/// Joint forces that hold the velocity constant: Coriolis, centrifugal, gravity and external ones. O(bodies).
pub fn bias<T: Real>(
    model: Model<'_, T>,
    external: &[Force<T>],
    torque: &mut [T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    check_length("torque", model.nv(), torque.len())?;
    check_external(&model, external)?;
    accelerate_bodies(model, |_| T::ZERO, external, work);
    project_forces(model, torque, work);
    Ok(())
}

/// Joint forces that hold the robot at rest against gravity. O(bodies).
pub fn gravity_force<T: Real>(
    model: Model<'_, T>,
    torque: &mut [T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    check_length("torque", model.nv(), torque.len())?;
    let lift = Motion { linear: -model.gravity, ..Motion::ZERO };
    work.acceleration.fill(lift);
    for index in 1..=model.bodies.len() {
        work.force[index] = work.inertia[index] * lift;
    }
    project_forces(model, torque, work);
    Ok(())
}

/// From the root: acceleration of each body (gravity as an upward acceleration of the world) and the force it takes.
pub(super) fn accelerate_bodies<T: Real>(
    model: Model<'_, T>,
    acceleration: impl Fn(usize) -> T,
    external: &[Force<T>],
    work: &mut Dynamics<'_, T>,
) {
    work.acceleration[0] = Motion { linear: -model.gravity, ..Motion::ZERO };
    for (index, body) in model.indexed_bodies() {
        let mut a = work.acceleration[body.parent.index()] + work.kinematics.bias[index];
        for dof in body.v_range() {
            a = work.kinematics.axis[dof].scale_add(acceleration(dof), &a);
        }
        work.acceleration[index] = a;
        work.force[index] = work.inertia[index] * a + velocity_force(work, index, external);
    }
}

/// To the root: joint force of each axis, then the force is handed to the parent.
fn project_forces<T: Real>(model: Model<'_, T>, torque: &mut [T], work: &mut Dynamics<'_, T>) {
    for (index, body) in model.indexed_bodies().rev() {
        let force = work.force[index];
        for dof in body.v_range() {
            torque[dof] = work.kinematics.axis[dof].dot(&force);
        }
        work.force[body.parent.index()] += force;
    }
}
