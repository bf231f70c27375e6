//! Contacts with what stands still, where all that moves is one body and the joints that carry it.
//!
//! Both changes are then linear in what joint k gives the body: its axis Sₖ, and its drift Ψ̇ₖ = V_λ(k) × Sₖ after the
//! step. With Cₖ = C Sₖ the twist of the frame (see [`constraint_terms`](super::constraint_terms)),
//!
//! - ∂σ/∂qₖ = N Sₖ + A Ψ̇ₖ, with A the velocity at the point along the contact's axes and N = A (± [×V] − [U×] C),
//! - ∂(Jᵀλ)ⱼ/∂qₖ = ± Sⱼ · (T Sₖ + [j carries k] Sₖ ×* W), with T Sₖ = (Cₖ − Sₖ) ×* W.
//!
//! The offset's share of the gap has the rows of J, which are A Sₖ: it goes with N. [`GroundPoint`] has T and N.
//! T adds up over the points of a body, but for what the constraints take up: a force along rows that hold changes nothing but
//! their impulses. So of a point that sticks the torques about it are left, and of a patch that sticks nothing. The last term is
//! that of a wrench that moves with its body: the derivatives of inverse dynamics have it with the forces on the bodies.

use nalgebra::Vector3;

use super::Derivatives;
use super::chain_rows::Chain;
use super::frame_motion::{FrameMotion, OnPlane};
use super::ground_points::{AnyPoint, GroundPoint, PlanePoint, Turned};
use crate::collision::Contact;
use crate::contact::reduced::Linear;
use crate::contact::{Constraint, Source, tangents};
use crate::linalg::padded;
use crate::memory::{Values, run_mut, within};
use crate::model::{BodyId, Model};
use crate::scalar::Real;
use crate::spatial::vector::cross;
use crate::spatial::{Force, Motion};
use crate::step::{Step, StepSettings};

/// The moving body of a contact with what stands still, and +1 if it is the second one, −1 if it is the first.
pub(super) fn moving_side<T: Real>(model: Model<'_, T>, contact: &Contact<T>) -> Option<(BodyId, T)> {
    let (a, b) = contact.bodies(model);
    match (a.index(), b.index()) {
        (0, 1..) => Some((b, T::ONE)),
        (1.., 0) => Some((a, -T::ONE)),
        _ => None,
    }
}

/// Axes of a contact: across the normal, and along it.
#[inline(always)]
pub(super) fn axes_of<T: Real>(contact: &Contact<T>) -> [Vector3<T>; 3] {
    let [x, y] = tangents(&contact.at.normal);
    [x, y, contact.at.normal]
}

/// The force of a contact on the second side.
#[inline(always)]
pub(super) fn force_of<T: Real>(axes: &[Vector3<T>; 3], constraint: &Constraint<T>, impulses: &[T]) -> Vector3<T> {
    let impulse = within(impulses, constraint.rows());
    axes[0] * impulse.at(0) + axes[1] * impulse.at(1) + axes[2] * impulse.at(2)
}

/// Takes the wrenches of contacts with what stands still from the forces on the bodies.
pub(super) fn subtract_wrenches<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    (constraints, laws): (&[Constraint<T>], &[Linear<T>]),
    (contacts, impulses): (&[Contact<T>], &[T]),
    forces: &mut [Force<T>],
) {
    let rate = T::ONE / dt_s;
    let touching = constraints.iter().zip(laws).filter(|(c, _)| matches!(c.source, Source::Contact { .. }));
    for ((constraint, linear), contact) in touching.zip(contacts) {
        if linear.unknowns(&constraint.law) == 0 {
            continue;
        }
        let Some((body, sign)) = moving_side(model, contact) else { continue };
        let force = force_of(&axes_of(contact), constraint, impulses) * (sign * rate);
        forces.change(body.index(), |sum| *sum -= Force::at_point(force, &contact.at.position));
    }
}

/// What of a wrench on a body the rows of its contact take up, whatever it is: it makes no difference to v⁺.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Absorbed {
    #[default]
    Nothing,
    /// Forces at the point.
    Forces,
    /// All, because the body cannot move.
    Wrenches,
}

/// A contact that holds: its law, and +1 if the body is its second side, −1 if it is the first.
pub(super) struct Touch<'s, T> {
    pub constraint: &'s Constraint<T>,
    pub linear: &'s Linear<T>,
    pub contact: &'s Contact<T>,
    pub sign: T,
    pub absorbed: Absorbed,
}

impl<T: Real> Touch<'_, T> {
    /// B A: along which directions its equations take the velocity of the body at the point.
    #[inline(always)]
    fn directions(&self, axes: &[Vector3<T>; 3]) -> [Vector3<T>; 3] {
        let [x, y, z] = axes;
        let mut directions = [Vector3::repeat(T::ZERO); 3];
        for k in 0..3 {
            let mut equations = [T::ZERO; 3];
            self.linear.equations(&self.constraint.law, &[x[k], y[k], z[k]], &mut equations);
            for i in 0..3 {
                directions[i][k] = equations[i] * self.sign;
            }
        }
        directions
    }

    /// Whether other points of a patch say it all.
    #[inline(always)]
    fn says_nothing(&self, out: &Derivatives<'_, T>) -> bool {
        self.absorbed == Absorbed::Wrenches && (0..3).all(|i| out.row_start(self.linear, i).is_none())
    }

    /// The equation of the normal velocity.
    #[inline(always)]
    fn normal_equation(&self) -> usize {
        if self.linear.unknowns(&self.constraint.law) == 3 { 2 } else { 0 }
    }
}

/// What the contacts of a body add, while they are gone through.
pub(super) struct Turning<'m, T> {
    body: BodyId,
    chain: Chain<'m>,
    /// −1/Δt.
    rate: T,
    /// −T/Δt.
    turned: Turned<T>,
    /// What all of its contacts absorb.
    absorbed: Absorbed,
}

impl<'m, T: Real<Plain = T>> Turning<'m, T> {
    /// Of no body.
    pub fn none(model: Model<'m, T>, dt_s: T) -> Self {
        let chain = Chain { tree: model.tree, last: 0 };
        let turned = [[T::ZERO; 6]; 6];
        Self { body: BodyId::WORLD, chain, rate: -T::ONE / dt_s, turned, absorbed: Absorbed::Wrenches }
    }

    /// Goes on to `body`, which nothing touches yet; the axes and drifts of its chain go to `out.axes`.
    #[inline(always)]
    pub fn start(&mut self, model: Model<'_, T>, body: BodyId, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
        let last = model.body(body).and_then(|body| body.v_range().last()).unwrap_or_default();
        (self.body, self.chain.last, self.turned) = (body, last, [[T::ZERO; 6]; 6]);
        self.absorbed = Absorbed::Wrenches;
        self.chain.write(work.dynamics.kinematics.axis, out.drift_after, out.axes);
    }

    /// Whether it is that of `body`.
    pub fn is_of(&self, body: BodyId) -> bool {
        self.body == body
    }

    /// Adds a contact: its part of T, and its rows of R.
    #[inline(always)]
    pub fn add<S>(
        &mut self,
        model: Model<'_, T>,
        settings: &StepSettings<T, S>,
        work: &Step<'_, T>,
        touch: &Touch<'_, T>,
        out: &mut Derivatives<'_, T>,
    ) {
        if touch.says_nothing(out) {
            return;
        }
        let at = &touch.contact.at;
        match OnPlane::of(model, touch.contact) {
            Some(OnPlane { height, second }) if second == (touch.sign < T::ZERO) => {
                self.add_point(work, touch, &PlanePoint::new(at.position, at.normal, height), out);
            }
            _ => self.add_any(model, settings, work, touch, out),
        }
    }

    #[inline(never)] // Else it takes room from the points on planes.
    fn add_any<S>(
        &mut self,
        model: Model<'_, T>,
        settings: &StepSettings<T, S>,
        work: &Step<'_, T>,
        touch: &Touch<'_, T>,
        out: &mut Derivatives<'_, T>,
    ) {
        let motion = FrameMotion::of(model, touch.contact, work.collision.placement, settings);
        self.add_point(work, touch, &AnyPoint::new(touch.contact.at.position, &motion, touch.sign), out);
    }

    #[inline(always)]
    fn add_point(
        &mut self,
        work: &Step<'_, T>,
        touch: &Touch<'_, T>,
        point: &impl GroundPoint<T>,
        out: &mut Derivatives<'_, T>,
    ) {
        let (axes, normal) = (axes_of(touch.contact), touch.normal_equation());
        if !out.held && touch.absorbed < Absorbed::Wrenches {
            let force = force_of(&axes, touch.constraint, work.impulses) * (touch.sign * self.rate);
            point.add_turned(&force, touch.absorbed, &mut self.turned);
        }
        self.absorbed = self.absorbed.min(touch.absorbed);
        let (position, kinematics) = (&touch.contact.at.position, &work.dynamics.kinematics);
        let [by_gap, by_velocity] = work.assembly.offset_slopes().map(|x| x.at(touch.constraint.rows().end - 1));
        let carried = point.carried(out.velocity_after.at(self.body.index()));
        for (i, d) in touch.directions(&axes).iter().enumerate().take(touch.linear.unknowns(&touch.constraint.law)) {
            let Some(start) = out.row_start(touch.linear, i) else { continue };
            let along = Motion { linear: *d, angular: cross(position, d) }.to_array();
            let mut slopes = carried(d);
            if i == normal {
                let own = point.own_gap(touch.linear.stiffness * touch.sign);
                let gap = own.as_ref().unwrap_or(&along);
                slopes = core::array::from_fn(|k| by_gap.mul_add(gap[k], slopes[k]));
            }
            let line = run_mut(out.rows, start, padded(out.nv()));
            let motions = (&*kinematics.axis, &*out.drift_after);
            self.chain.add_axes_and_drifts(line, &[slopes, along], motions, out.axes);
        }
        if by_velocity != T::ZERO {
            self.add_bounce(work, touch, point, (&(axes[2] * touch.sign), by_velocity), out);
        }
    }

    /// What bounces has a share of the normal velocity before the step: by q, and by v.
    #[inline(never)]
    fn add_bounce(
        &self,
        work: &Step<'_, T>,
        touch: &Touch<'_, T>,
        point: &impl GroundPoint<T>,
        (normal, share): (&Vector3<T>, T),
        out: &mut Derivatives<'_, T>,
    ) {
        let (nv, kinematics) = (out.nv(), &work.dynamics.kinematics);
        let Some(row) = out.row_of(touch.linear, touch.normal_equation()) else { return };
        let d = normal * (touch.linear.stiffness * share);
        let along = Motion { linear: d, angular: cross(&touch.contact.at.position, &d) }.to_array();
        let slopes = point.carried(kinematics.velocity.at(self.body.index()))(&d);
        let motions = (&*kinematics.axis, &*kinematics.axis_drift);
        self.chain.add_by_one(run_mut(row, 0, nv), &[slopes, along], motions);
        self.chain.add_by_one(run_mut(row, nv, nv), &[along, [T::ZERO; 6]], motions);
    }

    /// Z ← Z − Sᵀ T S / Δt along the chain of the body, unless there is none or Z is not wanted. O(depth²).
    pub fn finish(&self, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
        if out.held || self.is_of(BodyId::WORLD) {
            return;
        }
        let (wide, axes, [.., a, b, c]) = (out.stride(), &*work.dynamics.kinematics.axis, self.turned);
        match self.absorbed {
            Absorbed::Nothing => self.chain.add_product(out.velocity, wide, &self.turned, axes, out.axes),
            Absorbed::Forces => self.chain.add_product(out.velocity, wide, &[a, b, c], axes, out.axes),
            Absorbed::Wrenches => {}
        }
    }
}

#[cfg(test)]
mod tests;
