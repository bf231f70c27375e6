//! Motors, springs and dampers: controls to forces.

use super::{Step, StepInput};
use crate::model::{Actuator, DofParameters, Joint, Model, Transmission, configuration};
use crate::scalar::Real;
use crate::spatial::Force;

/// Sets `work.force`, `work.wrench` and `work.implicit_inertia` from the controls and the state. O(nv + motors).
///
/// A force that is linear in position and velocity is taken at the end of the step: it gives Δt D + Δt² K to the
/// inertia, and the forces here are those at the start plus −Δt K v. A motor at its limit gives a constant force.
pub(super) fn apply<T: Real>(model: Model<'_, T>, input: &StepInput<'_, T>, dt_s: T, work: &mut Step<'_, T>) {
    measure_displacements(model, work);
    start_wrenches(input, work);
    work.force.fill(T::ZERO);
    work.lag.fill(T::ZERO);
    work.implicit_inertia.fill(T::ZERO);
    work.by_position.fill(T::ZERO);
    work.by_velocity.fill(T::ZERO);
    work.by_control.fill(T::ZERO);
    for (k, actuator) in model.actuators.iter().enumerate() {
        let control = input.control.get(k).copied().unwrap_or(T::ZERO);
        match actuator.transmission {
            Transmission::Joint { dof, gear } => {
                pull_joint(actuator, (k, control), (usize::from(dof), gear), dt_s, work);
            }
            Transmission::Frame { frame, gear } => {
                let Some(frame) = model.frames.get(frame.index()) else { continue };
                let Some(wrench) = frame.body.index().checked_sub(1).and_then(|k| work.wrench.get_mut(k)) else {
                    continue;
                };
                let response = actuator.response(control, T::ZERO, T::ZERO);
                work.by_control[k] = response.by_control;
                *wrench += frame.placement.act_force(&Force::from_array(gear.map(|gear| gear * response.force)));
            }
        }
    }
    for (dof, parameters) in model.dofs.iter().enumerate() {
        limit_effort(parameters, dof, work);
        add_passive_forces(parameters, dof, dt_s, work);
        work.force[dof] -= work.lag[dof] * work.v[dof];
        work.by_velocity[dof] -= work.lag[dof];
    }
    for (force, given) in work.force.iter_mut().zip(input.force) {
        *force += *given;
    }
}

/// Where each joint is, as its spring and its servo see it.
fn measure_displacements<T: Real>(model: Model<'_, T>, work: &mut Step<'_, T>) {
    for body in model.bodies {
        let sprung = model.dofs[body.v_range()].iter().any(|dof| dof.stiffness != T::ZERO);
        let (q, out) = (&work.q[body.q_range()], &mut work.displacement[body.v_range()]);
        match body.joint {
            Joint::Spherical | Joint::FreeFlyer | Joint::Planar if !sprung => out.fill(T::ZERO),
            ref joint => configuration::displacement(joint, q, out),
        }
    }
}

fn start_wrenches<T: Real>(input: &StepInput<'_, T>, work: &mut Step<'_, T>) {
    if input.external.is_empty() {
        work.wrench.fill(Force::ZERO);
    } else {
        work.wrench.copy_from_slice(input.external);
    }
}

/// A motor on one degree of freedom.
#[inline(always)]
fn pull_joint<T: Real>(
    actuator: &Actuator<T>,
    (k, control): (usize, T),
    (dof, gear): (usize, T),
    dt_s: T,
    work: &mut Step<'_, T>,
) {
    let (Some(&x), Some(&v)) = (work.displacement.get(dof), work.v.get(dof)) else { return };
    let response = actuator.response(control, gear * x, gear * v);
    work.force[dof] = gear.mul_add(response.force, work.force[dof]);
    work.by_control[k] = gear * response.by_control;
    let square = gear * gear;
    let (stiffness, damping) = (-(response.by_position * square), -(response.by_velocity * square));
    add_slopes(stiffness, damping, dof, dt_s, work);
}

/// Joint springs and dampers.
#[inline(always)]
fn add_passive_forces<T: Real>(parameters: &DofParameters<T>, dof: usize, dt_s: T, work: &mut Step<'_, T>) {
    let stretch = work.displacement[dof] - parameters.spring_reference;
    let force = parameters.stiffness.mul_add(stretch, parameters.damping * work.v[dof]);
    work.force[dof] -= force;
    add_slopes(parameters.stiffness, parameters.damping, dof, dt_s, work);
}

/// Takes −K x − D v at the end of the step; what drives instead of holding back stays at its start.
#[inline(always)]
fn add_slopes<T: Real>(stiffness: T, damping: T, dof: usize, dt_s: T, work: &mut Step<'_, T>) {
    work.by_position[dof] -= stiffness;
    work.by_velocity[dof] -= damping;
    let (stiffness, damping) = (stiffness.max(T::ZERO), damping.max(T::ZERO));
    work.implicit_inertia[dof] += dt_s * dt_s.mul_add(stiffness, damping);
    work.lag[dof] += dt_s * stiffness;
}

/// Motors give no more than the joint's effort limit, and no push beyond its speed limit: in the last tenth before it
/// the push fades away. A motor that is held back so gives a force that is constant over the step.
#[inline(always)]
fn limit_effort<T: Real>(parameters: &DofParameters<T>, dof: usize, work: &mut Step<'_, T>) {
    let (limit, v) = (parameters.effort_limit, work.v[dof]);
    let force = work.force[dof].max(-limit).min(limit);
    let mut share = if force == work.force[dof] { T::ONE } else { T::ZERO };
    let (speed, tenth) = (parameters.velocity_limit, T::from_f64(10.0));
    let mut fade = T::ONE;
    work.by_velocity[dof] *= share;
    if speed.is_finite() && force * v > T::ZERO {
        let left = tenth * (speed - v.abs()) / speed;
        fade = left.max(T::ZERO).min(T::ONE);
        share *= fade;
        work.by_velocity[dof] *= fade;
        if left > T::ZERO && left < T::ONE {
            work.by_velocity[dof] -= force.abs() * tenth / speed;
        }
    }
    work.by_position[dof] *= share;
    work.motor_share[dof] = share;
    if share < T::ONE {
        work.force[dof] = force * fade;
        (work.lag[dof], work.implicit_inertia[dof]) = (T::ZERO, T::ZERO);
    }
}
