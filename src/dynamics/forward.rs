//! Forward dynamics: by the articulated body algorithm, and through the factor of the mass matrix.

use super::{Dynamics, DynamicsError, bias, check_external, check_workspace, factorize, mass_matrix, velocity_force};
use crate::input::check_length;
use crate::linalg::tree;
use crate::memory::Values;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Force, Motion};

/// Joint accelerations that the joint forces `torque` give, by the articulated body algorithm. O(bodies).
///
/// `external` is empty, or has the wrench on each body in the body's own frame. Call [`update`](super::update) first.
/// Joints with several degrees of freedom are taken out one axis at a time, which is the same elimination as by blocks.
pub fn forward<T: Real>(
    model: Model<'_, T>,
    torque: &[T],
    external: &[Force<T>],
    acceleration: &mut [T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), DynamicsError> {
    check_workspace(&model, work)?;
    check_length("torque", model.nv(), torque.len())?;
    check_length("acceleration", model.nv(), acceleration.len())?;
    check_external(&model, external)?;
    for index in 1..=model.bodies.len() {
        work.scratch.articulated.set(index, work.inertia.at(index).into());
        work.force.set(index, velocity_force(work, index, external));
    }
    eliminate_joints(model, torque, work)?;
    accelerate_joints(model, acceleration, work);
    Ok(())
}

/// From the leaves: what each body feels like to its parent when its joint is free to move.
fn eliminate_joints<T: Real>(
    model: Model<'_, T>,
    torque: &[T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), DynamicsError> {
    let Dynamics { kinematics, force, scratch, .. } = work;
    for (index, body) in model.indexed_bodies().rev() {
        let mut inertia = scratch.articulated.at(index);
        let mut bias_force = force.at(index);
        for dof in body.v_range().rev() {
            let axis = kinematics.axis.at(dof);
            let u = inertia.multiply(&axis);
            let axis_inertia = axis.dot(&u) + model.dofs.at(dof).armature;
            if !(axis_inertia > T::ZERO && axis_inertia.is_finite()) {
                return Err(DynamicsError::SingularMassMatrix { dof });
            }
            let inverse = T::ONE / axis_inertia;
            let remaining = torque.at(dof) - axis.dot(&bias_force);
            inertia.eliminate(&u, inverse);
            bias_force = u.scale_add(remaining * inverse, &bias_force);
            scratch.articulated_axis.set(dof, u);
            scratch.inverse_axis_inertia.set(dof, inverse);
            scratch.axis_force.set(dof, remaining);
        }
        let parent = body.parent.index();
        if parent > 0 {
            let handed = bias_force + inertia.multiply(&kinematics.bias.at(index));
            force.change(parent, |force| *force += handed);
            scratch.articulated.change(parent, |carried| carried.add(&inertia));
        }
    }
    Ok(())
}

/// From the root: accelerations, now that the parent's is known.
fn accelerate_joints<T: Real>(model: Model<'_, T>, acceleration: &mut [T], work: &mut Dynamics<'_, T>) {
    work.acceleration.set(0, Motion { linear: -model.gravity, ..Motion::ZERO });
    for (index, body) in model.indexed_bodies() {
        let mut a = work.acceleration.at(body.parent.index()) + work.kinematics.bias.at(index);
        for dof in body.v_range() {
            let scratch = &work.scratch;
            let free = scratch.axis_force.at(dof) - a.dot(&scratch.articulated_axis.at(dof));
            let along = free * scratch.inverse_axis_inertia.at(dof);
            acceleration.set(dof, along);
            a = work.kinematics.axis.at(dof).scale_add(along, &a);
        }
        work.acceleration.set(index, a);
    }
}

/// The same as [`forward`], through the mass matrix and its factor, which stay in `work`. O(nv · depth²).
pub fn forward_factored<T: Real>(
    model: Model<'_, T>,
    torque: &[T],
    external: &[Force<T>],
    acceleration: &mut [T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), DynamicsError> {
    check_length("torque", model.nv(), torque.len())?;
    check_length("acceleration", model.nv(), acceleration.len())?;
    bias(model, external, acceleration, work)?;
    mass_matrix(model, work)?;
    factorize(model, work)?;
    for (a, tau) in acceleration.iter_mut().zip(torque) {
        *a = *tau - *a;
    }
    tree::solve_vector(model.tree, work.factor_view(model.dims()), work.inverse_pivots, acceleration);
    Ok(())
}
