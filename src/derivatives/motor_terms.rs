//! What motors, springs and dampers add.

use super::Derivatives;
use crate::model::{Joint, Model, Transmission, configuration};
use crate::scalar::Real;
use crate::spatial::Force;
use crate::step::{Step, StepInput};

/// Z ← Z − ∂τ/∂(q, v, u).
#[inline(never)]
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
            z[(dof, nv + dof)] -= work.by_velocity[dof];
        }
        match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Continuous { .. } => {
                let dof = usize::from(body.first_v);
                z[(dof, dof)] -= work.by_position[dof];
            }
            _ if work.by_position[body.v_range()].iter().any(|slope| *slope != T::ZERO) => {
                let slope = configuration::displacement_jacobian(&body.joint, &input.q[body.q_range()]);
                for (i, row) in body.v_range().enumerate() {
                    for (j, column) in body.v_range().enumerate() {
                        z[(row, column)] -= work.by_position[row] * slope[i][j];
                    }
                }
            }
            _ => {}
        }
    }
    for (k, actuator) in model.actuators.iter().enumerate() {
        match actuator.transmission {
            Transmission::Joint { dof, .. } => {
                let dof = usize::from(dof);
                z[(dof, 2 * nv + k)] -= work.by_control[k] * work.motor_share[dof];
            }
            Transmission::Frame { frame, gear } => {
                let Some(frame) = model.frames.get(frame.index()) else { continue };
                let Some(body) = model.body(frame.body) else { continue };
                let kinematics = &work.dynamics.kinematics;
                let placement = kinematics.placement[frame.body.index()] * frame.placement;
                let wrench = placement.act_force(&Force::from_array(gear.map(|gear| gear * work.by_control[k])));
                for dof in model.tree.runs(body.v_range().end - 1).flatten() {
                    z[(dof, 2 * nv + k)] -= kinematics.axis[dof].dot(&wrench);
                }
            }
        }
    }
}
