//! Inverse dynamics by the recursive Newton–Euler algorithm.

use super::{Dynamics, check_external, check_workspace};
use crate::input::{InputError, check_length};
use crate::memory::Values;
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
    accelerate_bodies(model, |dof| acceleration.at(dof), external, work);
    project_forces(model, torque, work);
    for ((tau, dof), acceleration) in torque.iter_mut().zip(model.dofs).zip(acceleration) {
        *tau = dof.armature.mul_add(*acceleration, *tau);
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
    for (force, inertia) in work.force.iter_mut().zip(&*work.inertia) {
        *force = *inertia * lift;
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
    let Dynamics { kinematics, inertia, momentum, acceleration: accelerations, force: forces, .. } = work;
    accelerations.set(0, Motion { linear: -model.gravity, ..Motion::ZERO });
    for (index, body) in model.indexed_bodies() {
        let (Some(parent), Some(bias)) = (accelerations.get(body.parent.index()), kinematics.bias.get(index)) else {
            return;
        };
        let mut a = *parent + *bias;
        for dof in body.v_range() {
            let Some(axis) = kinematics.axis.get(dof) else { return };
            a = axis.scale_add(acceleration(dof), &a);
        }
        accelerations.set(index, a);
        let (Some(inertia), Some(momentum), Some(velocity)) =
            (inertia.get(index), momentum.get(index), kinematics.velocity.get(index))
        else {
            return;
        };
        let mut force = *inertia * a + velocity.cross_force(momentum);
        if let (Some(external), Some(placement)) = (external.get(index - 1), kinematics.placement.get(index)) {
            force -= placement.act_force(external);
        }
        forces.set(index, force);
    }
}

/// To the root: joint force of each axis, then the force is handed to the parent.
fn project_forces<T: Real>(model: Model<'_, T>, torque: &mut [T], work: &mut Dynamics<'_, T>) {
    for (index, body) in model.indexed_bodies().rev() {
        let Some(&force) = work.force.get(index) else { return };
        for dof in body.v_range() {
            let (Some(torque), Some(axis)) = (torque.get_mut(dof), work.kinematics.axis.get(dof)) else { return };
            *torque = axis.dot(&force);
        }
        work.force.change(body.parent.index(), |parent| *parent += force);
    }
}
