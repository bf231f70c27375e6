//! What a parameter changes while the impulses are held: forces, impulses on their bounds, and the constraints' offsets.

use nalgebra::Vector3;

use super::Derivatives;
use super::parameters::Parameter;
use super::system::REDUNDANT;
use crate::contact::reduced::Linear;
use crate::contact::{Constraint, Law, Mode, Source};
use crate::dynamics;
use crate::input::InputError;
use crate::linalg::{partial_dot, tree};
use crate::model::{Actuator, BodyId, Joint, Model, Range, Transmission, configuration};
use crate::scalar::Real;
use crate::spatial::{CompositeInertia, Force, Inertia, Symmetric3};
use crate::step::{Gradient, Step, StepInput, StepSettings};

/// Writes `term_force` = ∂(M a + b − τ), `term_impulse` = ∂λ and `term_rows` = R of one parameter.
pub(super) fn write<T: Real, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    parameter: Parameter,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let rows = work.assembly.rows();
    out.term_force.fill(T::ZERO);
    out.term_impulse[..rows].fill(T::ZERO);
    out.term_rows[..out.rank].fill(T::ZERO);
    match parameter {
        Parameter::Mass { body } => add_inertia(model, body, by_mass, work, out),
        Parameter::CenterOfMass { body, axis } => {
            add_inertia(model, body, |inertia| by_center(inertia, usize::from(axis)), work, out);
        }
        Parameter::Inertia { body, entry } => {
            add_inertia(model, body, |_| by_rotational(usize::from(entry)), work, out);
        }
        Parameter::Friction { pair } => add_friction(pair, settings, work, out),
        Parameter::Restitution { pair } => add_restitution(pair, input, work, out),
        Parameter::TimeStep => add_time(model, input, settings, work, out),
        Parameter::MotorGain { motor } => {
            let Some(actuator) = model.actuators.get(usize::from(motor)) else { return };
            let used = actuator.control_range.clamp(control_of(input, motor));
            add_motor(model, (input, settings.dt_s), (motor, [used, T::ZERO, T::ZERO]), work, out);
        }
        Parameter::MotorBias { motor, term } => {
            let terms = core::array::from_fn(|k| if k == usize::from(term) { T::ONE } else { T::ZERO });
            add_motor(model, (input, settings.dt_s), (motor, terms), work, out);
        }
    }
}

/// Whether the model has such a parameter.
pub(super) fn check<T: Real>(model: Model<'_, T>, parameter: Parameter) -> Result<(), InputError> {
    let within = |what: &'static str, index: usize, len: usize| {
        if index < len { Ok(()) } else { Err(InputError::UnknownIndex { what, index }) }
    };
    let body = |body: BodyId| {
        let unknown = InputError::UnknownIndex { what: "parameter's body", index: body.index() };
        model.body(body).map(|_| ()).ok_or(unknown)
    };
    let motor = |motor: u16| within("parameter's motor", usize::from(motor), model.actuators.len());
    match parameter {
        Parameter::Mass { body: id } => body(id),
        Parameter::CenterOfMass { body: id, axis } => {
            body(id).and_then(|()| within("centre of mass", usize::from(axis), 3))
        }
        Parameter::Inertia { body: id, entry } => body(id).and_then(|()| within("inertia", usize::from(entry), 6)),
        Parameter::Friction { pair } | Parameter::Restitution { pair } => {
            within("parameter's pair", usize::from(pair), model.pairs.len())
        }
        Parameter::TimeStep => Ok(()),
        Parameter::MotorGain { motor: index } => motor(index),
        Parameter::MotorBias { motor: index, term } => {
            motor(index).and_then(|()| within("motor's bias", usize::from(term), 3))
        }
    }
}

fn control_of<T: Real>(input: &StepInput<'_, T>, motor: u16) -> T {
    input.control.get(usize::from(motor)).copied().unwrap_or(T::ZERO)
}

/// ∂(M a + b): the force that a body takes per unit of the parameter, on the joints that carry it.
fn add_inertia<T: Real>(
    model: Model<'_, T>,
    body: BodyId,
    by_parameter: impl Fn(&Inertia<T>) -> CompositeInertia<T>,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let Some(stated) = model.body(body) else { return };
    let force = dynamics::inertial_force(body, &by_parameter(&stated.inertia), &work.dynamics);
    for dof in model.tree.runs(stated.v_range().end - 1).flatten() {
        out.term_force[dof] += work.dynamics.kinematics.axis[dof].dot(&force);
    }
}

/// The body keeps its centre of mass and its rotational inertia about it.
fn by_mass<T: Real>(inertia: &Inertia<T>) -> CompositeInertia<T> {
    Inertia::new(T::ONE, inertia.com, Symmetric3::ZERO).about_origin()
}

/// I = I_c + m (c·c − c cᵀ).
fn by_center<T: Real>(inertia: &Inertia<T>, axis: usize) -> CompositeInertia<T> {
    let (m, c) = (inertia.mass, &inertia.com);
    let mut first_moment = Vector3::repeat(T::ZERO);
    first_moment[axis] = m;
    let entry = |i: usize, j: usize| {
        let mut sum = if i == j { c[axis] + c[axis] } else { T::ZERO };
        if i == axis {
            sum -= c[j];
        }
        if j == axis {
            sum -= c[i];
        }
        m * sum
    };
    let second_moment = Symmetric3 {
        xx: entry(0, 0),
        xy: entry(0, 1),
        yy: entry(1, 1),
        xz: entry(0, 2),
        yz: entry(1, 2),
        zz: entry(2, 2),
    };
    CompositeInertia { mass: T::ZERO, first_moment, second_moment }
}

fn by_rotational<T: Real>(entry: usize) -> CompositeInertia<T> {
    let on = |n: usize| if n == entry { T::ONE } else { T::ZERO };
    let second_moment = Symmetric3 { xx: on(0), xy: on(1), yy: on(2), xz: on(3), yz: on(4), zz: on(5) };
    CompositeInertia { mass: T::ZERO, first_moment: Vector3::repeat(T::ZERO), second_moment }
}

/// A sliding impulse is λ_N (μ d, 1): with μ its tangent grows by λ_N d.
fn add_friction<T: Real, S>(
    pair: u16,
    settings: &StepSettings<T, S>,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let compliance = settings.stabilization.compliance_m_n / (settings.dt_s * settings.dt_s);
    for (position, constraint) in work.constraints().iter().enumerate() {
        let (Law::Contact { friction }, Source::Contact { pair: of, .. }) = (constraint.law, constraint.source) else {
            continue;
        };
        let linear = out.linear[position];
        let (rows, normal) = (constraint.rows(), work.impulses[constraint.rows().end - 1]);
        if of != pair {
            continue;
        }
        if linear.mode == Mode::Slide {
            let grown = [linear.direction[0] * normal, linear.direction[1] * normal, T::ZERO];
            out.term_impulse[rows].copy_from_slice(&grown);
            add_rows(&linear, constraint, &grown.map(|x| compliance * x), out);
        } else if matches!(settings.gradient, Gradient::Relaxed { .. }) && friction > T::ZERO {
            // On the central path −∂σ/∂μ = λ_N ∂σ/∂(μ λ_N).
            let block = &out.softness[position];
            let grown = [0, 1].map(|i| block[i][2] * normal / friction);
            add_rows(&linear, constraint, &[grown[0], grown[1], T::ZERO], out);
        }
    }
}

/// What bounces leaves with e (J v)_N.
fn add_restitution<T: Real>(pair: u16, input: &StepInput<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (jacobian, slopes) = (work.assembly.jacobian_transposed(), work.assembly.offset_slopes()[1]);
    for (position, constraint) in work.constraints().iter().enumerate() {
        let row = constraint.rows().end - 1;
        if matches!(constraint.source, Source::Contact { pair: of, .. } if of == pair) && slopes[row] > T::ZERO {
            let before =
                input.v.iter().enumerate().fold(T::ZERO, |sum, (dof, v)| jacobian[(dof, row)].mul_add(*v, sum));
            let linear = out.linear[position];
            add_rows(&linear, constraint, &[T::ZERO, T::ZERO, before], out);
        }
    }
}

/// M̂ (w − v) = Δt (τ − b) + … with M̂ = M + Δt D + Δt² K and τ less Δt K v; what stabilizes is a gap over Δt.
fn add_time<T: Real, S>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    settings: &StepSettings<T, S>,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let (dt_s, rows) = (settings.dt_s, work.assembly.rows());
    for ((x, next), v) in out.term_scratch.iter_mut().zip(&*work.next_v).zip(input.v) {
        *x = (*next - *v) / dt_s;
    }
    tree::multiply(model.tree, work.dynamics.mass_matrix_view(model.dims()), out.term_scratch, out.term_force);
    let jacobian = work.assembly.jacobian_transposed();
    for (dof, force) in out.term_force.iter_mut().enumerate() {
        let (implicit, lag) = (work.implicit_inertia[dof], work.lag[dof]);
        let pressed = partial_dot(jacobian.row(dof), &work.impulses[..rows]) / dt_s;
        let gained = implicit.mul_add(out.term_scratch[dof], *force) - pressed;
        let later = lag.mul_add(input.v[dof], dt_s.mul_add(lag, implicit) * work.change[dof]);
        *force = -((gained - later) / dt_s);
    }
    let compliance = settings.stabilization.compliance_m_n / (dt_s * dt_s);
    for (position, constraint) in work.constraints().iter().enumerate() {
        let linear = out.linear[position];
        let range = constraint.rows();
        if let (Law::DryFriction { bound }, Mode::Slide) = (constraint.law, linear.mode) {
            out.term_impulse[range.start] = linear.direction[0] * bound / dt_s;
            continue;
        }
        let soft = matches!(constraint.law, Law::Contact { .. } | Law::Unilateral);
        let compliance = if soft { compliance } else { T::ZERO };
        let mut change = [T::ZERO; 3];
        for (k, row) in range.clone().enumerate() {
            let lambda = work.impulses[row];
            let gap = gap_velocity(row, compliance * lambda, settings.stabilization.max_recovery_speed, work);
            change[k] = -(gap + (compliance + compliance) * lambda) / dt_s;
        }
        add_rows(&linear, constraint, &change[..range.len()], out);
    }
}

/// What stabilization adds to J v⁺, where it is a gap over Δt: not of a bounce, nor at the recovery's largest speed.
fn gap_velocity<T: Real>(row: usize, given_way: T, most: T, work: &Step<'_, T>) -> T {
    /// The offset is what remains of sums of that many digits less.
    const ROUNDING: f64 = 1e4;
    let [_, bounces] = work.assembly.offset_slopes();
    let jacobian = work.assembly.jacobian_transposed();
    let moved = work.next_v.iter().enumerate().fold(T::ZERO, |sum, (dof, v)| jacobian[(dof, row)].mul_add(*v, sum));
    let offset = work.constraint_velocity[row] - moved - given_way;
    let noise = T::EPSILON * T::from_f64(ROUNDING) * (T::ONE + moved.abs());
    let constant = bounces[row] > T::ZERO || (offset.abs() - most).abs() <= noise || offset.abs() <= noise;
    if constant { T::ZERO } else { offset }
}

/// R of a constraint.
fn add_rows<T: Real>(linear: &Linear<T>, constraint: &Constraint<T>, change: &[T], out: &mut Derivatives<'_, T>) {
    let (n, mut equations) = (linear.unknowns(&constraint.law), [T::ZERO; 3]);
    if n == 0 {
        return;
    }
    linear.equations(&constraint.law, change, &mut equations[..n]);
    for (k, equation) in equations[..n].iter().enumerate() {
        let place = out.place[usize::from(linear.first) + k];
        if place != REDUNDANT {
            out.term_rows[usize::from(place)] += *equation;
        }
    }
}

/// A motor's force f + a x + b ẋ with `terms` = ∂(f, a, b); at the end of the step where it holds back.
fn add_motor<T: Real>(
    model: Model<'_, T>,
    (input, dt_s): (&StepInput<'_, T>, T),
    (motor, terms): (u16, [T; 3]),
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let Some(actuator) = model.actuators.get(usize::from(motor)) else { return };
    let control = control_of(input, motor);
    match actuator.transmission {
        Transmission::Frame { frame, gear } => {
            let Some(frame) = model.frames.get(frame.index()) else { return };
            let Some(body) = model.body(frame.body) else { return };
            if !moves_freely(actuator, control, T::ZERO, T::ZERO) {
                return;
            }
            let placement = work.dynamics.kinematics.placement[frame.body.index()] * frame.placement;
            let wrench = placement.act_force(&Force::from_array(gear.map(|gear| gear * terms[0])));
            for dof in model.tree.runs(body.v_range().end - 1).flatten() {
                out.term_force[dof] -= work.dynamics.kinematics.axis[dof].dot(&wrench);
            }
        }
        Transmission::Joint { dof, gear } => {
            let dof = usize::from(dof);
            let (Some(x), Some(&v)) = (displacement(model, input.q, dof), input.v.get(dof)) else { return };
            if !moves_freely(actuator, control, gear * x, gear * v) {
                return;
            }
            let (square, share) = (gear * gear, work.motor_share[dof]);
            let pull = square.mul_add(terms[1].mul_add(x, terms[2] * v), gear * terms[0]);
            let mut force = share * pull;
            // Only a motor within the joint's limits acts at the end of the step, and only where it holds back.
            let at_end = share == T::ONE;
            let [_, per_position, per_velocity] = actuator.bias;
            if at_end && per_position < T::ZERO {
                force += terms[1] * square * dt_s * (v + dt_s * work.change[dof]);
            }
            if at_end && per_velocity < T::ZERO {
                force += terms[2] * square * dt_s * work.change[dof];
            }
            out.term_force[dof] -= force;
        }
    }
}

/// Whether the motor's own range leaves its force alone.
fn moves_freely<T: Real>(actuator: &Actuator<T>, control: T, position: T, velocity: T) -> bool {
    let free = Actuator { force_range: Range::symmetric(T::from_f64(f64::INFINITY)), ..*actuator };
    free.force(control, position, velocity) == actuator.force(control, position, velocity)
}

/// Of a degree of freedom from its neutral position.
fn displacement<T: Real>(model: Model<'_, T>, q: &[T], dof: usize) -> Option<T> {
    let body = model.bodies.iter().find(|body| body.v_range().contains(&dof))?;
    let mut all = [T::ZERO; 6];
    let turns = matches!(body.joint, Joint::Spherical | Joint::FreeFlyer | Joint::Planar);
    if turns && model.dofs[body.v_range()].iter().all(|dof| dof.stiffness == T::ZERO) {
        return Some(T::ZERO); // Such joints are measured only where they have a spring.
    }
    configuration::displacement(&body.joint, &q[body.q_range()], &mut all[..body.v_range().len()]);
    Some(all[dof - body.v_range().start])
}
