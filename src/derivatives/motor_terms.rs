//! What motors, springs and dampers add.

use super::Derivatives;
use crate::memory::{Values, within};
use crate::model::{Joint, Model, Transmission, configuration};
use crate::scalar::Real;
use crate::spatial::Force;
use crate::step::{Step, StepInput};

/// Z ← Z − ∂τ/∂(q, v).
pub(super) fn subtract<T: Real>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let nv = model.nv();
    let mut z = out.matrix();
    for body in model.bodies {
        for dof in body.v_range() {
            z[(dof, nv + dof)] -= work.by_velocity.at(dof);
        }
        match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Continuous { .. } => {
                let dof = usize::from(body.first_v);
                z[(dof, dof)] -= work.by_position.at(dof);
            }
            _ if within(work.by_position, body.v_range()).iter().any(|slope| *slope != T::ZERO) => {
                let slope = configuration::displacement_jacobian(&body.joint, within(input.q, body.q_range()));
                for (row, slopes) in body.v_range().zip(slope) {
                    for (column, slope) in body.v_range().zip(slopes) {
                        z[(row, column)] -= work.by_position.at(row) * slope;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Z ← Z − ∂τ/∂u.
pub(super) fn subtract_controls<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let nv = model.nv();
    let mut z = out.matrix();
    for_each(model, work, |k, dof, force| z[(dof, 2 * nv + k)] -= force);
}

/// Calls `visit` with each motor, a degree of freedom that it moves, and ∂τ/∂u there.
#[inline(always)]
pub(super) fn for_each<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, mut visit: impl FnMut(usize, usize, T)) {
    for motor in 0..model.nu() {
        visit_dofs(model, work, motor, |dof, force| visit(motor, dof, force));
    }
}

/// The same for one motor.
#[inline(always)]
pub(super) fn visit_dofs<T: Real>(
    model: Model<'_, T>,
    work: &Step<'_, T>,
    motor: usize,
    mut visit: impl FnMut(usize, T),
) {
    let Some(actuator) = model.actuators.get(motor) else { return };
    match actuator.transmission {
        Transmission::Joint { dof, .. } => {
            let dof = usize::from(dof);
            visit(dof, work.by_control.at(motor) * work.motor_share.at(dof));
        }
        Transmission::Frame { frame, gear } => {
            let Some(frame) = model.frames.get(frame.index()) else { return };
            let Some(body) = model.body(frame.body) else { return };
            let kinematics = &work.dynamics.kinematics;
            let placement = kinematics.placement.at(frame.body.index()) * frame.placement;
            let wrench = placement.act_force(&Force::from_array(gear.map(|gear| gear * work.by_control.at(motor))));
            for dof in model.tree.runs(body.v_range().end - 1).flatten() {
                visit(dof, kinematics.axis.at(dof).dot(&wrench));
            }
        }
    }
}
