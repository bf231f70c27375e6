//! Rows of the constraint Jacobian: velocities of points and frames per velocity of the joints that carry them.

use nalgebra::Vector3;

use super::tangents;
use crate::collision::Contact;
use crate::kinematics::Kinematics;
use crate::memory::{Values, run_mut};
use crate::model::{BodyId, Closure, ClosureKind, Frame, Model};
use crate::scalar::Real;
use crate::spatial::vector::{column, cross_add, dot};
use crate::spatial::{Force, Motion, Placement};

/// Contacts whose rows are written together, and these rows: three vectors of f64; a Cortex-M7 has 32 registers in all.
const GROUP: usize = if cfg!(target_arch = "arm") { 1 } else { 4 };
const GROUP_ROWS: usize = 3 * GROUP;
/// Columns in which the rows of one contact are written: a vector, of which one column stays as it is.
const SINGLE: usize = if cfg!(target_arch = "arm") { 3 } else { 4 };

/// Where the rows of one constraint go: columns of Jᵀ, nv rows of `stride` numbers.
pub(super) struct Columns<'j, T> {
    pub jacobian: &'j mut [T],
    pub stride: usize,
    pub first: usize,
}

impl<T: Real> Columns<'_, T> {
    /// The row of one degree of freedom.
    #[inline(always)]
    pub fn write_unit(&mut self, dof: u16, sign: T) {
        self.jacobian.set(usize::from(dof) * self.stride + self.first, sign);
    }

    /// The rows of contacts between the same two bodies, three for each: velocity of the second body against the first,
    /// along the tangents and the normal. O(contacts · depth).
    #[inline(always)]
    pub fn write_contacts(&mut self, model: Model<'_, T>, kinematics: &Kinematics<'_, T>, contacts: &[Contact<T>]) {
        let Some((a, b)) = contacts.first().map(|contact| contact.bodies(model)) else { return };
        let mut groups = contacts.chunks_exact(GROUP);
        for group in &mut groups {
            self.write_group::<GROUP_ROWS>(model, kinematics, (a, b), group);
        }
        for contact in groups.remainder() {
            self.write_group::<SINGLE>(model, kinematics, (a, b), core::slice::from_ref(contact));
        }
    }

    /// Each row is a unit force at its point, so an entry is the power of that on an axis: all rows of a group at once, in
    /// `W` columns, of which one may be left over before the rows or after them.
    #[inline(always)]
    fn write_group<const W: usize>(
        &mut self,
        model: Model<'_, T>,
        kinematics: &Kinematics<'_, T>,
        (a, b): (BodyId, BodyId),
        contacts: &[Contact<T>],
    ) {
        let mut forces = [[T::ZERO; W]; 6];
        // The last of a matrix's columns have none after them.
        let before = usize::from(self.first + W > self.stride);
        for (contact, first) in contacts.iter().zip((before..W).step_by(3)) {
            let [x, y] = tangents(&contact.at.normal);
            for (k, axis) in [x, y, contact.at.normal].into_iter().enumerate() {
                let force = Force::at_point(axis, &contact.at.position).to_array();
                for (forces, number) in forces.iter_mut().zip(force) {
                    if let Some(place) = forces.get_mut(first + k) {
                        *place = number;
                    }
                }
            }
        }
        for (body, sign) in [(b, T::ONE), (a, -T::ONE)] {
            let Some(body) = model.body(body) else { continue };
            for run in model.tree.runs(body.v_range().end - 1) {
                let mut at = run.start * self.stride + self.first - before;
                for axis in kinematics.axis.get(run).unwrap_or(&[]) {
                    let Some(entries) = self.jacobian.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<W>()) else {
                        return;
                    };
                    at += self.stride;
                    let mut sums = *entries;
                    for (axis, forces) in axis.to_array().into_iter().zip(&forces) {
                        let axis = sign * axis;
                        for k in 0..W {
                            sums[k] = axis.mul_add(forces[k], sums[k]);
                        }
                    }
                    *entries = sums;
                }
            }
        }
        self.first += 3 * contacts.len();
    }

    /// The rows of a closure: velocity of its second frame against its first, along the axes of the world.
    pub fn write_closure(&mut self, model: Model<'_, T>, kinematics: &Kinematics<'_, T>, closure: &Closure<T>) {
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        for (frame, sign) in [(&closure.b, T::ONE), (&closure.a, -T::ONE)] {
            let point = kinematics.placement.at(frame.body.index()).act_point(&frame.placement.translation);
            self.add(model, kinematics, frame.body, sign, 0, &axes, |axis| axis.velocity_at(&point));
            if closure.kind == ClosureKind::Weld {
                self.add(model, kinematics, frame.body, sign, 3, &axes, |axis| axis.angular);
            }
        }
    }

    /// Adds a velocity that each joint of the chain to a body gives, along three axes, from row `row` on.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        model: Model<'_, T>,
        kinematics: &Kinematics<'_, T>,
        body: BodyId,
        sign: T,
        row: usize,
        axes: &[Vector3<T>; 3],
        velocity: impl Fn(&Motion<T>) -> Vector3<T>,
    ) {
        let Some(body) = model.body(body) else { return };
        let last = body.v_range().end - 1;
        for dof in model.tree.runs(last).flatten() {
            let velocity = velocity(&kinematics.axis.at(dof));
            let entries = run_mut(self.jacobian, dof * self.stride + self.first + row, 3);
            for (entry, axis) in entries.iter_mut().zip(axes) {
                *entry = sign.mul_add(dot(axis, &velocity), *entry);
            }
        }
    }
}

/// How far the second frame of a closure is from the first, along the world's axes: displacement, and the axis of the
/// rotation times the sine of its angle.
pub(super) fn closure_gap<T: Real>(kinematics: &Kinematics<'_, T>, closure: &Closure<T>) -> [T; 6] {
    let place = |frame: &Frame<T>| -> Placement<T> { kinematics.placement.at(frame.body.index()) * frame.placement };
    let (a, b) = (place(&closure.a), place(&closure.b));
    let turned = (0..3)
        .fold(Vector3::repeat(T::ZERO), |sum, k| cross_add(&column(&a.rotation, k), &column(&b.rotation, k), &sum));
    Motion { linear: b.translation - a.translation, angular: turned * T::from_f64(0.5) }.to_array()
}
