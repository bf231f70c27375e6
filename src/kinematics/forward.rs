//! Forward kinematics: from the root to the leaves.

use core::ops::Range;

use nalgebra::Vector3;

use super::Kinematics;
use crate::input::{InputError, check_length};
use crate::model::{Body, Joint, Model};
use crate::scalar::Real;
use crate::spatial::lie::{axis_rotation, quaternion_to_matrix};
use crate::spatial::vector::{column, compose, cross, multiply};
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
    out.placement[0] = Placement::IDENTITY;
    out.velocity[0] = Motion::ZERO;
    for (index, body) in model.indexed_bodies() {
        let parent = body.parent.index();
        let mut placement = joint_placement(body, &out.placement[parent], &q[body.q_range()]);
        if index == 1 {
            out.origin = placement.translation;
            out.placement[0].translation = -placement.translation;
            placement.translation = Vector3::zeros();
        }
        out.placement[index] = placement;
        set_axes(&body.joint, &placement, &mut out.axis[body.v_range()]);
        out.velocity[index] = move_axes(out, body.v_range(), out.velocity[parent], v);
        out.bias[index] = axis_bias(out, body.v_range(), v);
    }
    Ok(())
}

/// Placement of a body whose parent stands at `parent`.
#[inline(always)]
fn joint_placement<T: Real>(body: &Body<T>, parent: &Placement<T>, q: &[T]) -> Placement<T> {
    let fixed = *parent * body.placement;
    let turned = |axis: &Vector3<T>, sin: T, cos: T| {
        Placement::new(compose(&fixed.rotation, &axis_rotation(axis, sin, cos)), fixed.translation)
    };
    match &body.joint {
        Joint::Revolute { axis } => {
            let (sin, cos) = q[0].sin_cos();
            turned(axis, sin, cos)
        }
        Joint::Continuous { axis } => turned(axis, q[1], q[0]),
        Joint::Prismatic { axis } => Placement::new(fixed.rotation, fixed.act_point(&(axis * q[0]))),
        Joint::Spherical => {
            let rotation = quaternion_to_matrix(&[q[0], q[1], q[2], q[3]]);
            Placement::new(compose(&fixed.rotation, &rotation), fixed.translation)
        }
        Joint::Planar => {
            let rotation = axis_rotation(&Vector3::new(T::ZERO, T::ZERO, T::ONE), q[3], q[2]);
            fixed * Placement::new(rotation, Vector3::new(q[0], q[1], T::ZERO))
        }
        Joint::FreeFlyer => {
            let rotation = quaternion_to_matrix(&[q[3], q[4], q[5], q[6]]);
            fixed * Placement::new(rotation, Vector3::new(q[0], q[1], q[2]))
        }
    }
}

/// The columns S of the joint's motion subspace, for a body at `placement`.
#[inline(always)]
fn set_axes<T: Real>(joint: &Joint<T>, placement: &Placement<T>, axes: &mut [Motion<T>]) {
    let Placement { rotation, translation } = placement;
    let turn = |axis: Vector3<T>| Motion::new(cross(translation, &axis), axis);
    let slide = |axis: Vector3<T>| Motion::new(axis, Vector3::zeros());
    match joint {
        Joint::Revolute { axis } | Joint::Continuous { axis } => axes[0] = turn(multiply(rotation, axis)),
        Joint::Prismatic { axis } => axes[0] = slide(multiply(rotation, axis)),
        Joint::Spherical => {
            for k in 0..3 {
                axes[k] = turn(column(rotation, k));
            }
        }
        Joint::Planar => {
            axes[0] = slide(column(rotation, 0));
            axes[1] = slide(column(rotation, 1));
            axes[2] = turn(column(rotation, 2));
        }
        Joint::FreeFlyer => {
            for k in 0..3 {
                axes[k] = slide(column(rotation, k));
                axes[3 + k] = turn(column(rotation, k));
            }
        }
    }
}

/// Adds the joint's velocity to that of the parent, and sets how its axes move. Returns the body's velocity.
#[inline(always)]
fn move_axes<T: Real>(out: &mut Kinematics<'_, T>, dofs: Range<usize>, parent: Motion<T>, v: &[T]) -> Motion<T> {
    let mut velocity = parent;
    for k in dofs.clone() {
        velocity = out.axis[k].scale_add(v[k], &velocity);
        out.axis_drift[k] = parent.cross(&out.axis[k]);
    }
    // A single axis does not move itself.
    let single = dofs.len() == 1;
    for k in dofs {
        out.axis_rate[k] = if single { out.axis_drift[k] } else { velocity.cross(&out.axis[k]) };
    }
    velocity
}

/// Σ Ṡ v over a joint.
#[inline(always)]
fn axis_bias<T: Real>(out: &Kinematics<'_, T>, dofs: Range<usize>, v: &[T]) -> Motion<T> {
    dofs.fold(Motion::ZERO, |sum, k| out.axis_rate[k].scale_add(v[k], &sum))
}
