//! Motors, springs and dampers: controls to forces.

use super::{Step, StepInput};
use crate::memory::{Values, copy, within, within_mut};
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
    let forces = work.force.iter_mut().zip(&mut *work.lag).zip(&mut *work.implicit_inertia);
    for (((force, lag), inertia), (x, v)) in forces.zip(work.by_position.iter_mut().zip(&mut *work.by_velocity)) {
        (*force, *lag, *inertia, *x, *v) = (T::ZERO, T::ZERO, T::ZERO, T::ZERO, T::ZERO);
    }
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
                work.by_control.set(k, response.by_control);
                work.pushed = true;
                *wrench += frame.placement.act_force(&Force::from_array(gear.map(|gear| gear * response.force)));
            }
        }
    }
    let state = work.displacement.iter().zip(&*work.v);
    let forces = work.force.iter_mut().zip(&mut *work.lag).zip(&mut *work.implicit_inertia);
    let slopes = work.by_position.iter_mut().zip(&mut *work.by_velocity).zip(&mut *work.motor_share);
    for (((parameters, (&displacement, &v)), ((force, lag), inertia)), ((by_position, by_velocity), share)) in
        model.dofs.iter().zip(state).zip(forces).zip(slopes)
    {
        let mut pull =
            Pull { force: *force, lag: *lag, inertia: *inertia, by_position: *by_position, by_velocity: *by_velocity };
        *share = pull.limit_effort(parameters, v);
        pull.add_passive_forces(parameters, displacement, v, dt_s);
        *force = pull.force - pull.lag * v;
        *by_velocity = pull.by_velocity - pull.lag;
        (*lag, *inertia, *by_position) = (pull.lag, pull.inertia, pull.by_position);
    }
    for (force, given) in work.force.iter_mut().zip(input.force) {
        *force += *given;
    }
}

/// Where each joint is, as its spring and its servo see it.
fn measure_displacements<T: Real>(model: Model<'_, T>, work: &mut Step<'_, T>) {
    for body in model.bodies {
        if let Joint::Revolute { .. } | Joint::Prismatic { .. } = body.joint {
            let (from, to) = (usize::from(body.first_q), usize::from(body.first_v));
            if let (Some(q), Some(out)) = (work.q.get(from), work.displacement.get_mut(to)) {
                *out = *q;
            }
            continue;
        }
        let sprung = within(model.dofs, body.v_range()).iter().any(|dof| dof.stiffness != T::ZERO);
        let (q, out) = (within(work.q, body.q_range()), within_mut(work.displacement, body.v_range()));
        match body.joint {
            Joint::Spherical | Joint::FreeFlyer | Joint::Planar if !sprung => out.fill(T::ZERO),
            ref joint => configuration::displacement(joint, q, out),
        }
    }
}

fn start_wrenches<T: Real>(input: &StepInput<'_, T>, work: &mut Step<'_, T>) {
    work.pushed = !input.external.is_empty();
    if input.external.is_empty() {
        work.wrench.fill(Force::ZERO);
    } else {
        copy(work.wrench, input.external);
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
    work.by_control.set(k, gear * response.by_control);
    let square = gear * gear;
    let (stiffness, damping) = (-(response.by_position * square), -(response.by_velocity * square));
    let (Some(force), Some(lag)) = (work.force.get_mut(dof), work.lag.get_mut(dof)) else { return };
    let (Some(inertia), Some(by_position), Some(by_velocity)) =
        (work.implicit_inertia.get_mut(dof), work.by_position.get_mut(dof), work.by_velocity.get_mut(dof))
    else {
        return;
    };
    let mut pull = Pull {
        force: gear.mul_add(response.force, *force),
        lag: *lag,
        inertia: *inertia,
        by_position: *by_position,
        by_velocity: *by_velocity,
    };
    pull.add_slopes(stiffness, damping, dt_s);
    (*force, *lag, *inertia) = (pull.force, pull.lag, pull.inertia);
    (*by_position, *by_velocity) = (pull.by_position, pull.by_velocity);
}

/// What pulls at one degree of freedom; the fields of [`Step`] of the same names say what they are.
struct Pull<T> {
    force: T,
    lag: T,
    inertia: T,
    by_position: T,
    by_velocity: T,
}

impl<T: Real> Pull<T> {
    /// Joint springs and dampers.
    #[inline(always)]
    fn add_passive_forces(&mut self, parameters: &DofParameters<T>, displacement: T, v: T, dt_s: T) {
        let stretch = displacement - parameters.spring_reference;
        self.force -= parameters.stiffness.mul_add(stretch, parameters.damping * v);
        self.add_slopes(parameters.stiffness, parameters.damping, dt_s);
    }

    /// Takes −K x − D v at the end of the step; what drives instead of holding back stays at its start.
    #[inline(always)]
    fn add_slopes(&mut self, stiffness: T, damping: T, dt_s: T) {
        self.by_position -= stiffness;
        self.by_velocity -= damping;
        let (stiffness, damping) = (stiffness.max(T::ZERO), damping.max(T::ZERO));
        self.inertia += dt_s * dt_s.mul_add(stiffness, damping);
        self.lag += dt_s * stiffness;
    }

    /// Motors give no more than the joint's effort limit, and no push beyond its speed limit: in the last tenth before
    /// it the push fades away. A motor that is held back so gives a force that is constant over the step. Returns what
    /// the limits leave of a change of the motors' force.
    #[inline(always)]
    fn limit_effort(&mut self, parameters: &DofParameters<T>, v: T) -> T {
        let limit = parameters.effort_limit;
        let force = self.force.max(-limit).min(limit);
        let mut share = if force == self.force { T::ONE } else { T::ZERO };
        let (speed, tenth) = (parameters.velocity_limit, T::from_f64(10.0));
        let mut fade = T::ONE;
        self.by_velocity *= share;
        if force * v > T::ZERO && speed.is_finite() {
            let left = tenth * (speed - v.abs()) / speed;
            fade = left.max(T::ZERO).min(T::ONE);
            share *= fade;
            self.by_velocity *= fade;
            if left > T::ZERO && left < T::ONE {
                self.by_velocity -= force.abs() * tenth / speed;
            }
        }
        self.by_position *= share;
        if share < T::ONE {
            self.force = force * fade;
            (self.lag, self.inertia) = (T::ZERO, T::ZERO);
        }
        share
    }
}
