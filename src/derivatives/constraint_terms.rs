//! What the motion of constraints adds: ∂(Jᵀλ)/∂q to the dynamics, and ∂(J v⁺ + offset)/∂(q, v) to the constraints.
//!
//! A constraint has a frame and a wrench W on its second side. When joint k moves by one, the frame moves by a twist Cₖ,
//! and the wrench with it: Cₖ ×* W. A joint axis Sⱼ moves with the joints k that carry it, so
//!
//! - ∂(Jᵀλ)ⱼ/∂qₖ = ± Sⱼ · ((Cₖ − [k carries j] Sₖ) ×* W),
//! - ∂σ/∂qₖ = axes · (± Sₖ × (V − V_λ(k)) − Cₖ × U) at the point,
//!
//! with V the velocity of the side that k moves, V_λ(k) that of the body before joint k, and U that between the sides.

use nalgebra::Vector3;

use super::Derivatives;
use super::frame_motion::FrameMotion;
use super::ground_terms::{Touch, Turning, axes_of, force_of, moving_side};
use super::jacobian::{Entry, row_of};
use crate::collision::Contact;
use crate::contact::reduced::Linear;
use crate::contact::{Constraint, Mode, Source};
use crate::memory::{Values, first, run, run_mut, within, within_mut};
use crate::model::{BodyId, Closure, ClosureKind, Frame, Model};
use crate::scalar::Real;
use crate::spatial::vector::{column, cross, dot};
use crate::spatial::{Force, Motion};
use crate::step::{Step, StepSettings};

/// Adds the terms of all constraints that hold: to `out.velocity` (divided by −Δt) and to `out.rows`.
#[inline(never)] // Else all terms share the registers of one function.
pub(super) fn write<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    settings: &StepSettings<T, S>,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) {
    let laws = core::mem::take(&mut out.linear);
    let constraints = work.assembly.problem().constraints;
    if constraints.iter().zip(&*laws).any(|(c, linear)| linear.unknowns(&c.law) > 0) {
        propagate_velocity(model, work, out);
        write_held(model, settings, work, laws, out);
    }
    out.linear = laws;
}

/// The terms of constraints whose laws are `laws`.
#[inline(always)]
fn write_held<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    settings: &StepSettings<T, S>,
    work: &Step<'_, T>,
    laws: &[Linear<T>],
    out: &mut Derivatives<'_, T>,
) {
    let mut contacts = work.collision.contacts().iter();
    let mut turning = Turning::none(model, settings.dt_s);
    for (position, (constraint, linear)) in work.assembly.problem().constraints.iter().zip(laws).enumerate() {
        let contact = if matches!(constraint.source, Source::Contact { .. }) { contacts.next() } else { None };
        if linear.unknowns(&constraint.law) == 0 {
            continue;
        }
        match constraint.source {
            Source::Contact { .. } => {
                let Some(contact) = contact else { continue };
                let Some((body, sign)) = moving_side(model, contact) else {
                    add_contact(model, settings, work, (constraint, linear, contact), out);
                    continue;
                };
                if !turning.is_of(body) {
                    turning.finish(work, out);
                    turning.start(model, body, work, out);
                }
                let absorbed = out.absorbed.at(position);
                turning.add(model, settings, work, &Touch { constraint, linear, contact, sign, absorbed }, out);
            }
            Source::Closure { index, row: 0 } => {
                add_offset(model, work, (constraint, linear), false, out);
                let Some(closure) = model.closures.get(usize::from(index)) else { continue };
                let rows = linear_of(laws, position, closure.kind);
                add_closure(model, work, (constraint, &rows, closure), settings.dt_s, out);
            }
            _ => add_offset(model, work, (constraint, linear), false, out),
        }
    }
    turning.finish(work, out);
}

/// V⁺ of each body, and the drift of each axis with it.
fn propagate_velocity<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let mut velocity = Motion::ZERO;
    out.velocity_after.set(0, velocity);
    for (index, body) in model.indexed_bodies() {
        let (parent, dofs) = (body.parent.index(), body.v_range());
        // That of the body before is at hand, and need not come from memory.
        let carrier = if parent + 1 == index { velocity } else { out.velocity_after.at(parent) };
        velocity = carrier;
        let axes = within(work.dynamics.kinematics.axis, dofs.clone()).iter().zip(within(work.next_v, dofs.clone()));
        for ((axis, v), drift) in axes.zip(within_mut(out.drift_after, dofs)) {
            *drift = carrier.cross(axis);
            velocity = axis.scale_add(*v, &velocity);
        }
        out.velocity_after.set(index, velocity);
    }
}

/// The offset's share of gaps and velocities: both have the rows of J.
fn add_offset<T: Real>(
    model: Model<'_, T>,
    work: &Step<'_, T>,
    (constraint, linear): (&Constraint<T>, &Linear<T>),
    own_gap: bool,
    out: &mut Derivatives<'_, T>,
) {
    let (nv, jacobian) = (model.nv(), work.assembly.jacobian_transposed());
    // Of the rows of a contact only the last one has a gap.
    let row = constraint.rows().end - 1;
    let equation = if linear.unknowns(&constraint.law) == 3 { 2 } else { 0 };
    // How the rotation between welded frames changes is not J exactly: the closure's own terms have it.
    let own_gap = own_gap || matches!(constraint.source, Source::Closure { row: 3.., .. });
    for (slopes, first) in work.assembly.offset_slopes().into_iter().zip([0, nv]) {
        let slope = slopes.get(row).map_or(T::ZERO, |slope| linear.stiffness * *slope);
        if slope == T::ZERO || own_gap && first == 0 {
            continue;
        }
        let Some(changes) = out.row_of(linear, equation) else { continue };
        let column = jacobian.data().chunks_exact(jacobian.stride().max(1)).filter_map(|line| line.get(row));
        for (change, j) in run_mut(changes, first, nv).iter_mut().zip(column) {
            *change = slope.mul_add(*j, *change);
        }
    }
}

/// The offset's share of a contact's gap, whose slopes by twists of the second side are `gap`.
fn add_gap<T: Real>(
    model: Model<'_, T>,
    work: &Step<'_, T>,
    (constraint, linear, contact): (&Constraint<T>, &Linear<T>, &Contact<T>),
    gap: &[T; 6],
    out: &mut Derivatives<'_, T>,
) {
    let slope = work.assembly.offset_slopes()[0].at(constraint.rows().end - 1);
    if slope == T::ZERO {
        return;
    }
    let ((first, second), n) = (contact.bodies(model), linear.unknowns(&constraint.law));
    Sides { first, second }.visit(model, |dof, _, _, sign| {
        let axis = work.dynamics.kinematics.axis.at(dof).to_array();
        let rate = gap.iter().zip(axis).fold(T::ZERO, |sum, (gap, x)| gap.mul_add(x, sum));
        let mut equations = [T::ZERO; 3];
        linear.equations(&constraint.law, &[T::ZERO, T::ZERO, sign * slope * rate], run_mut(&mut equations, 0, n));
        for (i, equation) in equations[..n].iter().enumerate() {
            if let Some(row) = out.row_of(linear, i) {
                row.change(dof, |x| *x += *equation);
            }
        }
    });
}

/// The two sides of a constraint, and what moves them against each other.
struct Sides {
    first: BodyId,
    second: BodyId,
}

impl Sides {
    /// Calls `visit` with every degree of freedom that moves one side only: (dof, one past its joint, parent, sign).
    #[inline(always)]
    fn visit<T: Real>(&self, model: Model<'_, T>, mut visit: impl FnMut(usize, usize, BodyId, T)) {
        let (mut a, mut b) = (self.first, self.second);
        // Parents have smaller numbers, so the larger one is never an ancestor of the other.
        while a != b {
            let (side, sign) = if b > a { (&mut b, T::ONE) } else { (&mut a, -T::ONE) };
            let Some(body) = model.body(*side) else { return };
            for dof in body.v_range() {
                visit(dof, body.v_range().end, body.parent, sign);
            }
            *side = body.parent;
        }
    }
}

/// A contact between bodies that move: its frame moves as the collision function has it.
#[inline(never)] // Else it takes room from contacts with what stands still.
fn add_contact<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    settings: &StepSettings<T, S>,
    work: &Step<'_, T>,
    (constraint, linear, contact): (&Constraint<T>, &Linear<T>, &Contact<T>),
    out: &mut Derivatives<'_, T>,
) {
    let motion = FrameMotion::of(model, contact, work.collision.placement, settings);
    let own_gap = if let FrameMotion::Curved { gap, .. } = &motion { gap.as_ref() } else { None };
    add_offset(model, work, (constraint, linear), own_gap.is_some(), out);
    if let Some(gap) = own_gap {
        add_gap(model, work, (constraint, linear, contact), gap, out);
    }
    let (a, b) = contact.bodies(model);
    let (position, normal) = (contact.at.position, contact.at.normal);
    let axes = axes_of(contact);
    let wrench = Force::at_point(force_of(&axes, constraint, work.impulses), &position);
    let kinematics = &work.dynamics.kinematics;
    let after = |body: BodyId| out.velocity_after.at(body.index());
    let before = |body: BodyId| kinematics.velocity.at(body.index());
    let (u_after, u_before) = (after(b) - after(a), before(b) - before(a));
    let restitution = work.assembly.offset_slopes()[1].at(constraint.rows().end - 1);

    let n = linear.unknowns(&constraint.law);
    let mut count = 0;
    let stride = out.stride();
    let (entries, rows, place) = (&mut *out.entries, &mut *out.rows, &*out.place);
    let velocity_after = &*out.velocity_after;
    Sides { first: a, second: b }.visit(model, |dof, joint_end, parent, sign| {
        let axis = kinematics.axis.at(dof);
        let relative = motion.of_second(&axis);
        let (side, twist) = if sign > T::ZERO { (b, relative) } else { (a, axis - relative) };
        let rate = |velocity: &[Motion<T>], between: &Motion<T>| {
            let carried = velocity.at(side.index()) - velocity.at(parent.index());
            axis.cross(&carried) * sign - twist.cross(between)
        };
        let change = rate(velocity_after, &u_after).velocity_at(&position);
        let mut sigma = axes.map(|axis| dot(&axis, &change));
        if restitution > T::ZERO {
            sigma[2] += restitution * dot(&normal, &rate(kinematics.velocity, &u_before).velocity_at(&position));
        }
        let mut equations = [T::ZERO; 3];
        linear.equations(&constraint.law, &sigma, run_mut(&mut equations, 0, n));
        for i in 0..n {
            if let Some(row) = row_of(rows, place, stride, linear, i) {
                row.change(dof, |x| *x += equations.at(i));
            }
        }
        let (turned, carried) = (twist.cross_force(&wrench), axis.cross_force(&wrench));
        entries.set(count, Entry { dof, joint_end, sign, turned, carried });
        count += 1;
    });
    if !out.held {
        add_wrench_changes(work, count, settings.dt_s, out);
    }
}

/// ∂(Jᵀλ)/∂q of the entries, over −Δt.
fn add_wrench_changes<T: Real>(work: &Step<'_, T>, count: usize, dt_s: T, out: &mut Derivatives<'_, T>) {
    let stride = out.stride();
    let entries = run(out.entries, 0, count);
    let scale = -T::ONE / dt_s;
    for row in entries {
        let axis = work.dynamics.kinematics.axis.at(row.dof) * (row.sign * scale);
        let line = run_mut(out.velocity, row.dof * stride, stride);
        for entry in entries {
            let carries = entry.sign == row.sign && entry.dof < row.joint_end;
            let change = if carries { entry.turned - entry.carried } else { entry.turned };
            line.change(entry.dof, |x| *x += axis.dot(&change));
        }
    }
}

/// The linearized laws of all rows of a closure.
fn linear_of<T: Real>(laws: &[Linear<T>], first: usize, kind: ClosureKind) -> [Linear<T>; 6] {
    core::array::from_fn(|k| if k < kind.rows() { laws.at(first + k) } else { Linear::default() })
}

/// A closure: a force at each side's own point along the world's axes, and a torque.
fn add_closure<T: Real<Plain = T>>(
    model: Model<'_, T>,
    work: &Step<'_, T>,
    (constraint, linear, closure): (&Constraint<T>, &[Linear<T>; 6], &Closure<T>),
    dt_s: T,
    out: &mut Derivatives<'_, T>,
) {
    let kinematics = &work.dynamics.kinematics;
    let first_row = usize::from(constraint.first_row);
    let impulse = run(work.impulses, first_row, closure.kind.rows());
    let force = Vector3::from(first::<T, 3>(impulse));
    let torque = Vector3::from(first::<T, 3>(impulse.get(3..6).unwrap_or(&[T::ZERO; 3])));
    let by_gap = work.assembly.offset_slopes()[0];
    let place = |frame: &Frame<T>| kinematics.placement.at(frame.body.index()) * frame.placement;
    let (place_a, place_b) = (place(&closure.a), place(&closure.b));
    let mut count = 0;
    Sides { first: closure.a.body, second: closure.b.body }.visit(model, |dof, joint_end, parent, sign| {
        let axis = kinematics.axis.at(dof);
        let (side, point) =
            if sign > T::ZERO { (closure.b.body, place_b.translation) } else { (closure.a.body, place_a.translation) };
        // The point moves with its body; the axes stay.
        let moved = axis.velocity_at(&point);
        let twist = Motion { linear: moved, angular: Vector3::repeat(T::ZERO) };
        let velocity = out.velocity_after.at(side.index());
        let carried = velocity - out.velocity_after.at(parent.index());
        let rate = axis.cross(&carried);
        let linear_rate = (rate.velocity_at(&point) + cross(&velocity.angular, &moved)) * sign;
        let mut changes = Motion { linear: linear_rate, angular: rate.angular * sign }.to_array();
        if closure.kind == ClosureKind::Weld {
            let turn = (0..3).fold(Vector3::repeat(T::ZERO), |sum, k| {
                let (x, y) = (column(&place_a.rotation, k), column(&place_b.rotation, k));
                let moved = if sign > T::ZERO {
                    cross(&x, &cross(&axis.angular, &y))
                } else {
                    cross(&cross(&axis.angular, &x), &y)
                };
                sum + moved
            });
            for (k, turn) in turn.iter().enumerate() {
                changes.change(3 + k, |x| *x += by_gap.at(first_row + 3 + k) * *turn * T::from_f64(0.5));
            }
        }
        for (k, l) in linear.iter().enumerate().take(closure.kind.rows()) {
            if l.mode == Mode::Stick
                && let Some(row) = out.row_of(l, 0)
            {
                row.change(dof, |x| *x += l.stiffness * changes.at(k));
            }
        }
        let wrench = Force { linear: force, angular: cross(&point, &force) + torque };
        let pull = Force { linear: force, angular: cross(&point, &force) };
        let (turned, carried) = (twist.cross_force(&pull), axis.cross_force(&wrench));
        out.entries.set(count, Entry { dof, joint_end, sign, turned, carried });
        count += 1;
    });
    if !out.held {
        add_closure_changes(work, count, dt_s, out);
    }
}

/// Like [`add_wrench_changes`], but each side has a point of its own, which only its own joints move.
fn add_closure_changes<T: Real>(work: &Step<'_, T>, count: usize, dt_s: T, out: &mut Derivatives<'_, T>) {
    let stride = out.stride();
    let entries = run(out.entries, 0, count);
    let scale = -T::ONE / dt_s;
    for row in entries {
        let axis = work.dynamics.kinematics.axis.at(row.dof) * (row.sign * scale);
        let line = run_mut(out.velocity, row.dof * stride, stride);
        for entry in entries.iter().filter(|entry| entry.sign == row.sign) {
            let change = if entry.dof < row.joint_end { entry.turned - entry.carried } else { entry.turned };
            line.change(entry.dof, |x| *x += axis.dot(&change));
        }
    }
}
