//! Contacts with what stands still, where all that moves is one body and the joints that carry it.
//!
//! Both changes are then linear in what joint k gives the body: its axis Sₖ, and its drift Ψ̇ₖ = V_λ(k) × Sₖ after the
//! step. With Cₖ = C Sₖ the twist of the frame (see [`constraint_terms`](super::constraint_terms)),
//!
//! - ∂σ/∂qₖ = N Sₖ + A Ψ̇ₖ, with A the velocity at the point along the contact's axes and N = A (± [×V] − [U×] C),
//! - ∂(Jᵀλ)ⱼ/∂qₖ = ± Sⱼ · (T Sₖ + [j carries k] Sₖ ×* W), with T Sₖ = (Cₖ − Sₖ) ×* W.
//!
//! T adds up over the points of a body. The last term is that of a wrench that moves with its body: it goes to the
//! derivatives of inverse dynamics with the external ones.

use nalgebra::Vector3;

use super::Derivatives;
use super::frame_motion::FrameMotion;
use crate::collision::Contact;
use crate::contact::reduced::Linear;
use crate::contact::{Constraint, Source, tangents};
use crate::linalg::tree::Tree;
use crate::linalg::{add_few_rows, padded};
use crate::memory::{Values, copy, first, rest_mut, run_mut, split_mut, within};
use crate::model::{BodyId, Model};
use crate::scalar::Real;
use crate::spatial::vector::{cross, dot, scale_add};
use crate::spatial::{Force, Motion};
use crate::step::Step;

/// The moving body of a contact with what stands still, and +1 if it is the second one, −1 if it is the first.
pub(super) fn moving_side<T: Real>(model: Model<'_, T>, contact: &Contact<T>) -> Option<(BodyId, T)> {
    let (a, b) = contact.bodies(model);
    match (a.index(), b.index()) {
        (0, 1..) => Some((b, T::ONE)),
        (1.., 0) => Some((a, -T::ONE)),
        _ => None,
    }
}

/// Axes of a contact, and its wrench on the second side.
pub(super) fn axes_and_wrench<T: Real>(
    contact: &Contact<T>,
    constraint: &Constraint<T>,
    impulses: &[T],
) -> ([Vector3<T>; 3], Force<T>) {
    let (position, normal) = (contact.at.position, contact.at.normal);
    let [x, y] = tangents(&normal);
    let impulse = within(impulses, constraint.rows());
    let force = x * impulse.at(0) + y * impulse.at(1) + normal * impulse.at(2);
    ([x, y, normal], Force { linear: force, angular: cross(&position, &force) })
}

/// Wrenches on the bodies, each in its own frame: those from outside, and those of contacts with what stands still.
/// Whether there are any.
pub(super) fn add_wrenches<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> bool {
    let mut any = work.pushed;
    copy(out.wrench, work.wrench);
    let problem = work.assembly.problem();
    let held = problem.constraints.iter().zip(&*out.linear).filter(|(c, _)| matches!(c.source, Source::Contact { .. }));
    for ((constraint, linear), contact) in held.zip(work.collision.contacts()) {
        if linear.unknowns(&constraint.law) == 0 {
            continue;
        }
        let Some((body, sign)) = moving_side(model, contact) else { continue };
        let (_, wrench) = axes_and_wrench(contact, constraint, work.impulses);
        let placement = &work.dynamics.kinematics.placement.at(body.index());
        out.wrench.change(body.index() - 1, |x| *x += placement.act_inverse_force(&(wrench * (sign / dt_s))));
        any = true;
    }
    any
}

/// T of a body, column by column, while its contacts are gone through.
pub(super) struct Turning<T> {
    body: BodyId,
    /// The last degree of freedom that moves it.
    last: usize,
    columns: [Force<T>; 6],
}

impl<T: Real> Turning<T> {
    /// Of no body.
    pub const NONE: Self = Self { body: BodyId::WORLD, last: 0, columns: [Force::ZERO; 6] };

    /// Of a body that nothing touches yet; the axes and drifts of its chain go to `out.axes`.
    #[inline(always)]
    pub fn of(model: Model<'_, T>, body: BodyId, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) -> Self {
        let last = model.body(body).and_then(|body| body.v_range().last()).unwrap_or_default();
        if WHOLE_ROWS {
            let (axes, drifts) = split_mut(out.axes, 6 * padded(model.nv()));
            write_chain(model.tree, last, work.dynamics.kinematics.axis, axes);
            write_chain(model.tree, last, out.drift_after, drifts);
        }
        Self { body, last, ..Self::NONE }
    }

    /// Whether it is that of `body`.
    pub fn is_of(&self, body: BodyId) -> bool {
        self.body == body
    }
}

impl<T: Real<Plain = T>> Turning<T> {
    /// Adds a point: its part of T, and its rows of R.
    pub fn add(
        &mut self,
        model: Model<'_, T>,
        work: &Step<'_, T>,
        (constraint, linear, contact, sign): (&Constraint<T>, &Linear<T>, &Contact<T>, T),
        motion: &FrameMotion<T>,
        out: &mut Derivatives<'_, T>,
    ) {
        let (axes, wrench) = axes_and_wrench(contact, constraint, work.impulses);
        let kinematics = &work.dynamics.kinematics;
        let point = Point { axes, position: contact.at.position, sign };
        let deviations = Deviations::of(motion, sign);
        for (column, change) in self.columns.iter_mut().zip(deviations.turned(&wrench)) {
            *column += change * sign;
        }
        let n = linear.unknowns(&constraint.law);
        if (0..n).all(|k| out.row_start(linear, k).is_none()) {
            return;
        }
        let slopes = point.slopes(&deviations, &out.velocity_after.at(self.body.index()));
        let drift = core::mem::take(&mut out.drift_after);
        self.add_rows(model, (constraint, linear), &slopes, (kinematics.axis, drift), out);
        let restitution = work.assembly.offset_slopes()[1].at(constraint.rows().end - 1);
        if restitution > T::ZERO {
            // What bounces has a share of the normal velocity before the step.
            let mut slopes = point.slopes(&deviations, &kinematics.velocity.at(self.body.index()));
            for slope in &mut slopes {
                *slope = [T::ZERO, T::ZERO, slope[2] * restitution, T::ZERO];
            }
            let (drifts, before) = (6 * padded(model.nv()), &*kinematics.axis_drift);
            if WHOLE_ROWS {
                write_chain(model.tree, self.last, before, rest_mut(out.axes, drifts));
            }
            self.add_rows(model, (constraint, linear), &slopes, (kinematics.axis, before), out);
            if WHOLE_ROWS {
                write_chain(model.tree, self.last, drift, rest_mut(out.axes, drifts));
            }
        }
        out.drift_after = drift;
    }

    /// ∂σ/∂q along the chain: N and A, column by column, times the axes and their drifts.
    fn add_rows(
        &self,
        model: Model<'_, T>,
        (constraint, linear): (&Constraint<T>, &Linear<T>),
        slopes: &[[T; 4]; 12],
        (axes, drifts): (&[Motion<T>], &[Motion<T>]),
        out: &mut Derivatives<'_, T>,
    ) {
        let (n, stride) = (linear.unknowns(&constraint.law), padded(model.nv()));
        let mut factors = [[T::ZERO; 12]; 3];
        for (k, [x, y, z, _]) in slopes.iter().enumerate() {
            let mut equations = [T::ZERO; 3];
            linear.equations(&constraint.law, &[*x, *y, *z], &mut equations);
            for i in 0..3 {
                factors[i][k] = equations[i];
            }
        }
        let starts = [0, 1, 2].map(|i| if i < n { out.row_start(linear, i) } else { None });
        if WHOLE_ROWS {
            for (start, factors) in starts.iter().zip(&factors) {
                let Some(start) = start else { continue };
                add_few_rows(run_mut(out.rows, *start, stride), factors, (out.axes, stride));
            }
            return;
        }
        // The same sums in the same order.
        for dof in model.tree.runs(self.last).flatten() {
            let (Some(axis), Some(drift)) = (axes.get(dof), drifts.get(dof)) else { return };
            let (axis, drift) = (axis.to_array(), drift.to_array());
            for (start, factors) in starts.iter().zip(&factors) {
                let Some(entry) = start.and_then(|start| out.rows.get_mut(start + dof)) else { continue };
                let chain = axis.iter().chain(&drift);
                *entry = factors.iter().zip(chain).fold(*entry, |sum, (factor, x)| factor.mul_add(*x, sum));
            }
        }
    }

    /// Z ← Z − Sᵀ T S / Δt along the chain of the body, unless there is none or Z is not wanted. O(depth²).
    pub fn finish(&self, model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
        if out.held || self.is_of(BodyId::WORLD) {
            return;
        }
        let (wide, stride, axes) = (out.stride(), padded(model.nv()), &*work.dynamics.kinematics.axis);
        let (last, turned) = (self.last, self.rows(-T::ONE / dt_s));
        for row in model.tree.runs(last).flatten() {
            // Sⱼᵀ T, then its products with the axes of the chain.
            let Some(axis) = axes.get(row) else { return };
            let mut left = [T::ZERO; LANES];
            for (x, row) in axis.to_array().iter().zip(&turned) {
                left = core::array::from_fn(|k| x.mul_add(row[k], left[k]));
            }
            let (line, left) = (run_mut(out.velocity, row * wide, wide), first::<T, 6>(&left));
            if WHOLE_ROWS {
                add_few_rows(run_mut(line, 0, stride), &left, (out.axes, stride));
                continue;
            }
            // The same sums in the same order, without the columns of other chains.
            for dofs in model.tree.runs(last) {
                for (z, axis) in line.iter_mut().zip(axes).skip(dofs.start).take(dofs.len()) {
                    *z = left.iter().zip(axis.to_array()).fold(*z, |sum, (left, x)| left.mul_add(x, sum));
                }
            }
        }
    }

    /// T times `scale` by rows, in whole vectors.
    fn rows(&self, scale: T) -> [[T; LANES]; 6] {
        let columns = self.columns.map(|column| column.to_array());
        core::array::from_fn(|i| core::array::from_fn(|k| columns.get(k).map_or(T::ZERO, |column| column[i] * scale)))
    }
}

/// Whether sums run over the whole row, not only over a chain: that pays where vectors are wide.
const WHOLE_ROWS: bool = !cfg!(target_arch = "arm");

/// The motions of a chain as columns of six rows, zero in the others.
fn write_chain<T: Real>(tree: Tree<'_>, last: usize, motions: &[Motion<T>], out: &mut [T]) {
    let stride = padded(motions.len());
    out.fill(T::ZERO);
    for run in tree.runs(last) {
        let Some(motions) = motions.get(run.clone()) else { return };
        for (dof, motion) in run.zip(motions) {
            let numbers = motion.to_array();
            for k in 0..6 {
                let Some(place) = out.get_mut(k * stride + dof) else { return };
                *place = numbers[k];
            }
        }
    }
}

/// Six numbers, in whole vectors where those are wide.
const LANES: usize = if cfg!(target_arch = "arm") { 6 } else { 8 };

/// Where a contact measures velocities.
struct Point<T> {
    axes: [Vector3<T>; 3],
    position: Vector3<T>,
    sign: T,
}

impl<T: Real<Plain = T>> Point<T> {
    /// Six columns of N and of A, for a body with velocity `velocity`; the other side stands still.
    #[inline(always)]
    fn slopes(&self, deviations: &Deviations<T>, velocity: &Motion<T>) -> [[T; 4]; 12] {
        let mut slopes = [[T::ZERO; 4]; 12];
        for (slope, change) in slopes.iter_mut().zip(deviations.carried(&(*velocity * -self.sign))) {
            *slope = self.measure(&change.velocity_at(&self.position));
        }
        let arms = self.axes.map(|axis| cross(&self.position, &axis) * self.sign);
        for k in 0..3 {
            slopes[6 + k] = [self.axes[0][k], self.axes[1][k], self.axes[2][k], T::ZERO].map(|x| x * self.sign);
            slopes[9 + k] = [arms[0][k], arms[1][k], arms[2][k], T::ZERO];
        }
        slopes
    }

    /// Along the axes.
    #[inline(always)]
    fn measure(&self, velocity: &Vector3<T>) -> [T; 4] {
        let [x, y, z] = &self.axes;
        [dot(x, velocity), dot(y, velocity), dot(z, velocity), T::ZERO]
    }
}

/// C − 1: how the frame of a contact moves otherwise than the body, per unit of the body's motion.
enum Deviations<T> {
    /// On a plane that stands still: a translation leaves the frame behind along the normal alone.
    OnPlane { normal: Vector3<T>, turns: [Motion<T>; 3] },
    /// Any.
    Curved([Motion<T>; 6]),
}

impl<T: Real<Plain = T>> Deviations<T> {
    /// Of the moving side: the second if `sign` is above zero.
    #[inline(always)]
    fn of(motion: &FrameMotion<T>, sign: T) -> Self {
        match motion {
            FrameMotion::OnPlane { center, normal, second } if *second == (sign < T::ZERO) => {
                let turns = core::array::from_fn(|k| {
                    let axis = unit::<T>(k).linear;
                    let arm = cross(&axis, center);
                    Motion { linear: scale_add(normal, -dot(normal, &arm), &arm), angular: -axis }
                });
                Self::OnPlane { normal: *normal, turns }
            }
            _ => {
                let mut all = [Motion::ZERO; 6];
                for (i, deviation) in all.iter_mut().enumerate() {
                    let relative = motion.of_second(&unit(i));
                    *deviation = if sign > T::ZERO { relative - unit(i) } else { -relative };
                }
                Self::Curved(all)
            }
        }
    }

    /// What each of them does to a wrench.
    #[inline(always)]
    fn turned(&self, wrench: &Force<T>) -> [Force<T>; 6] {
        match self {
            Self::OnPlane { normal, turns } => {
                let arm = cross(normal, &wrench.linear);
                let left = |k: usize| Force { linear: Vector3::repeat(T::ZERO), angular: arm * -normal[k] };
                let [x, y, z] = turns.map(|turn| turn.cross_force(wrench));
                [left(0), left(1), left(2), x, y, z]
            }
            Self::Curved(all) => all.map(|deviation| deviation.cross_force(wrench)),
        }
    }

    /// What each of them does to a motion.
    #[inline(always)]
    fn carried(&self, motion: &Motion<T>) -> [Motion<T>; 6] {
        match self {
            Self::OnPlane { normal, turns } => {
                let swept = cross(normal, &motion.angular);
                let left = |k: usize| Motion { linear: swept * -normal[k], angular: Vector3::repeat(T::ZERO) };
                let [x, y, z] = turns.map(|turn| turn.cross(motion));
                [left(0), left(1), left(2), x, y, z]
            }
            Self::Curved(all) => all.map(|deviation| deviation.cross(motion)),
        }
    }
}

/// The motion whose component `i` is one.
#[inline(always)]
fn unit<T: Real>(i: usize) -> Motion<T> {
    Motion::from_array(core::array::from_fn(|k| if k == i { T::ONE } else { T::ZERO }))
}
