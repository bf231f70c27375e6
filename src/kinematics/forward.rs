//! Forward kinematics: from the root to the leaves.

use nalgebra::{Matrix3, Vector3};

use super::Kinematics;
use crate::input::{InputError, check_length};
use crate::memory::{Values, first, put, run, run_mut};
use crate::model::{Body, Joint, Model};
use crate::scalar::Real;
use crate::spatial::lie::{axis_rotation, quaternion_to_matrix};
use crate::spatial::vector::{column, compose, cross, multiply, scale_add};
use crate::spatial::{Motion, Placement};

/// Places every body and moves it with velocity `v`. O(bodies).
///
/// Quaternions and (cos, sin) pairs in `q` are taken as they are: unit length is the caller's, through
/// [`normalize`](crate::model::configuration::normalize).
pub fn forward<T: Real>(model: Model<'_, T>, q: &[T], v: &[T], out: &mut Kinematics<'_, T>) -> Result<(), InputError> {
    check_length("q", model.nq(), q.len())?;
    check_length("v", model.nv(), v.len())?;
    check_length("kinematics", model.dims().with_world(), out.placement.len())?;
    check_length("kinematics", model.nv(), out.axis.len())?;
    let Kinematics { origin, placement: placements, velocity: velocities, bias: biases, .. } = out;
    let (axes, rates, drifts) = (&mut *out.axis, &mut *out.axis_rate, &mut *out.axis_drift);
    placements.set(0, Placement::IDENTITY);
    velocities.set(0, Motion::ZERO);
    for (index, body) in model.indexed_bodies() {
        let parent = body.parent.index();
        let (first, nv) = (usize::from(body.first_v), body.joint.nv());
        let (Some(placed), Some(moving)) = (placements.get(parent), velocities.get(parent)) else { continue };
        let mut placement = joint_placement(body, placed, run(q, usize::from(body.first_q), body.joint.nq()));
        let axes = Axes {
            axis: run_mut(axes, first, nv),
            rate: run_mut(rates, first, nv),
            drift: run_mut(drifts, first, nv),
            v: run(v, first, nv),
        };
        if index == 1 {
            *origin = placement.translation;
            placements.change(0, |world| world.translation = -placement.translation);
            placement.translation = Vector3::zeros();
        }
        set_axes(&body.joint, &placement, axes.axis);
        let (velocity, bias) = axes.moved_by(moving);
        placements.set(index, placement);
        velocities.set(index, velocity);
        biases.set(index, bias);
    }
    Ok(())
}

/// Placement of a body whose parent stands at `parent`.
#[inline(always)]
fn joint_placement<T: Real>(body: &Body<T>, parent: &Placement<T>, q: &[T]) -> Placement<T> {
    let fixed = *parent * body.placement;
    let turned = |axis: &Vector3<T>, sin: T, cos: T| {
        Placement::new(turned_about(&fixed.rotation, axis, sin, cos), fixed.translation)
    };
    match &body.joint {
        Joint::Revolute { axis } => {
            let [angle] = first(q);
            let (sin, cos) = angle.sin_cos();
            turned(axis, sin, cos)
        }
        Joint::Continuous { axis } => {
            let [cos, sin] = first(q);
            turned(axis, sin, cos)
        }
        Joint::Prismatic { axis } => {
            let [way] = first(q);
            Placement::new(fixed.rotation, fixed.act_point(&(axis * way)))
        }
        Joint::Spherical => {
            let rotation = quaternion_to_matrix(&first(q));
            Placement::new(compose(&fixed.rotation, &rotation), fixed.translation)
        }
        Joint::Planar => {
            let [x, y, cos, sin] = first(q);
            let rotation = axis_rotation(&Vector3::new(T::ZERO, T::ZERO, T::ONE), sin, cos);
            fixed * Placement::new(rotation, Vector3::new(x, y, T::ZERO))
        }
        Joint::FreeFlyer => {
            let [x, y, z, a, b, c, d] = first(q);
            fixed * Placement::new(quaternion_to_matrix(&[a, b, c, d]), Vector3::new(x, y, z))
        }
    }
}

/// R times the rotation about an axis. About one of the axes of R, as most joints turn, two columns change.
#[inline(always)]
fn turned_about<T: Real>(r: &Matrix3<T>, axis: &Vector3<T>, sin: T, cos: T) -> Matrix3<T> {
    let (o, [x, y, z]) = (T::ZERO, [column(r, 0), column(r, 1), column(r, 2)]);
    // a cos + b s and b cos − a s.
    let mix = |a: &Vector3<T>, b: &Vector3<T>, s: T| (scale_add(b, s, &(a * cos)), scale_add(a, -s, &(b * cos)));
    if axis.y == o && axis.z == o {
        let (y, z) = mix(&y, &z, axis.x * sin);
        Matrix3::from_columns(&[x, y, z])
    } else if axis.x == o && axis.z == o {
        let (z, x) = mix(&z, &x, axis.y * sin);
        Matrix3::from_columns(&[x, y, z])
    } else if axis.x == o && axis.y == o {
        let (x, y) = mix(&x, &y, axis.z * sin);
        Matrix3::from_columns(&[x, y, z])
    } else {
        compose(r, &axis_rotation(axis, sin, cos))
    }
}

/// The columns S of the joint's motion subspace, for a body at `placement`.
#[inline(always)]
fn set_axes<T: Real>(joint: &Joint<T>, placement: &Placement<T>, axes: &mut [Motion<T>]) {
    let Placement { rotation, translation } = placement;
    let turn = |axis: Vector3<T>| Motion::new(cross(translation, &axis), axis);
    let slide = |axis: Vector3<T>| Motion::new(axis, Vector3::zeros());
    let [x, y, z] = [column(rotation, 0), column(rotation, 1), column(rotation, 2)];
    match joint {
        Joint::Revolute { axis } | Joint::Continuous { axis } => put(axes, [turn(multiply(rotation, axis))]),
        Joint::Prismatic { axis } => put(axes, [slide(multiply(rotation, axis))]),
        Joint::Spherical => put(axes, [turn(x), turn(y), turn(z)]),
        Joint::Planar => put(axes, [slide(x), slide(y), turn(z)]),
        Joint::FreeFlyer => put(axes, [slide(x), slide(y), slide(z), turn(x), turn(y), turn(z)]),
    }
}

/// The axes of one joint, how they move, and the velocity along each.
struct Axes<'a, T> {
    axis: &'a mut [Motion<T>],
    rate: &'a mut [Motion<T>],
    drift: &'a mut [Motion<T>],
    v: &'a [T],
}

impl<T: Real> Axes<'_, T> {
    /// Adds the joint's velocity to that of the parent, and sets how the axes move. Returns the body's velocity, and
    /// Σ Ṡ v.
    #[inline(always)]
    fn moved_by(self, parent: &Motion<T>) -> (Motion<T>, Motion<T>) {
        // A single axis does not move itself.
        if let ([axis], [rate], [drift], [v]) = (&*self.axis, &mut *self.rate, &mut *self.drift, self.v) {
            *drift = parent.cross(axis);
            *rate = *drift;
            return (axis.scale_add(*v, parent), *rate * *v);
        }
        let mut velocity = *parent;
        for ((axis, drift), v) in self.axis.iter().zip(self.drift).zip(self.v) {
            velocity = axis.scale_add(*v, &velocity);
            *drift = parent.cross(axis);
        }
        let mut bias = Motion::ZERO;
        for ((axis, rate), v) in self.axis.iter().zip(self.rate).zip(self.v) {
            *rate = velocity.cross(axis);
            bias = rate.scale_add(*v, &bias);
        }
        (velocity, bias)
    }
}
