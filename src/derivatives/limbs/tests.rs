//! A biped on its soles: which joints follow, and whether the Jacobian is that of products.

extern crate std;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

use nalgebra::Vector3;

use super::*;
use crate::derivatives::tests::with_memory;
use crate::derivatives::{differentiate, push_forward};
use crate::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, OwnedModel, Shape};
use crate::spatial::{Inertia, Placement};
use crate::step::{NextState, Step, StepInput, StepSettings, step};

/// Of entries up to one or so, after some hundred operations.
const TOLERANCE: f64 = 1e-11;
const SOLE: [f64; 3] = [0.1, 0.05, 0.02];
const LENGTH: f64 = 0.4;
/// Joints of the tail: enough for legs of five joints to be worth it.
const TAIL: usize = 4;

/// A trunk on two legs with so many joints each and flat soles, under a tail.
fn biped(joints: usize, dry_friction: f64) -> OwnedModel<f64> {
    let down = |z: f64| Placement::translation(0.0, 0.0, -z);
    let mut builder = ModelBuilder::new()
        .gravity(Vector3::new(0.0, 0.0, -9.81))
        .geometry("world", GeometrySpec::new("floor", Shape::HalfSpace).friction(1.0))
        .body(
            BodySpec::new("trunk", JointSpec::free_flyer())
                .inertia(Inertia::solid_box(10.0, &Vector3::new(0.2, 0.3, 0.4))),
        );
    for (side, y) in [("left", 0.15), ("right", -0.15)] {
        let mut parent = String::from("trunk");
        // From the ankle up: roll, pitch; knee; pitch, roll and yaw of the hip.
        let axes = [Vector3::x(), Vector3::y(), Vector3::y(), Vector3::y(), Vector3::x(), Vector3::z()];
        for (k, axis) in axes[..joints].iter().enumerate().rev() {
            let name = format!("{side}-{k}");
            let place = match k {
                _ if parent == "trunk" => Placement::translation(0.0, y, -0.2),
                1 | 2 => down(LENGTH),
                _ => down(0.01),
            };
            let mass = Inertia::solid_sphere(0.8, 0.06).moved_by(&down(0.1));
            let mut body =
                BodySpec::new(&name, JointSpec::revolute(*axis)).parent(&parent).placement(place).inertia(mass);
            if k == 2 {
                body = body.dry_friction(dry_friction);
            }
            if k == 0 {
                let sole = GeometrySpec::new(format!("{side}-sole"), Shape::Box { half_extents: SOLE.into() });
                body = body.geometry(sole.placement(down(0.05)).friction(1.0));
            }
            builder = builder.body(body);
            parent = name;
        }
    }
    let mut parent = String::from("trunk");
    for k in 0..TAIL {
        let (name, piece) = (format!("tail-{k}"), Inertia::solid_sphere(0.5, 0.1).moved_by(&down(0.3)));
        let joint = BodySpec::new(&name, JointSpec::revolute(Vector3::y())).parent(&parent).inertia(piece);
        builder = builder.body(joint.placement(Placement::translation(-0.1, 0.0, 0.0)));
        parent = name;
    }
    builder.build().expect("a robot")
}

/// On its soles, with bent knees and spread legs, one foot before the other: legs of five joints would else say one thing twice.
fn pose(joints: usize) -> Vec<f64> {
    let bends: [[f64; 2]; 2] = [[0.4, 0.4], [0.2, (2.0 * 0.4_f64.cos() - 0.2_f64.cos()).acos()]];
    let leg = (0.01 + 2.0 * LENGTH * 0.4_f64.cos() + 0.01) * 0.2_f64.cos();
    let height = 0.2 + 0.01 * (joints - 5) as f64 + leg + 0.05 + SOLE[2];
    let mut q = vec![0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0];
    for ([thigh, shank], roll) in bends.into_iter().zip([0.2, -0.2]) {
        q.extend(vec![0.0; joints - 5]);
        q.extend([roll, -thigh, thigh + shank, -shank, -roll]);
    }
    q.extend([0.1; TAIL]);
    q
}

/// Steps a biped and differentiates: how many joints follow, how many rows are left over, and how far columns of the
/// Jacobian are from products, which know nothing of limbs.
fn stand(joints: usize, dry_friction: f64) -> (usize, usize, f64) {
    let robot = biped(joints, dry_friction);
    with_memory(robot.model(), |work, out| compare(robot.model(), joints, work, out))
}

/// The same of a robot.
fn compare(
    model: Model<'_, f64>,
    joints: usize,
    work: &mut Step<'_, f64>,
    out: &mut Derivatives<'_, f64>,
) -> (usize, usize, f64) {
    let settings = StepSettings::<f64>::default();
    let (mut q, mut v, control) = (pose(joints), vec![0.0; model.nv()], vec![0.0; model.nu()]);
    let (mut next_q, mut next_v) = (q.clone(), v.clone());
    for _ in 0..3 {
        (q, v) = (next_q.clone(), next_v.clone());
        let next = NextState { q: &mut next_q, v: &mut next_v };
        step(model, &StepInput::new(&q, &v, &control), &settings, next, work).unwrap();
    }
    let input = StepInput::new(&q, &v, &control);
    differentiate(model, &input, &settings, work, out).unwrap();
    let following = if out.limb_rows == 0 { 0 } else { out.limbs.iter().map(|limb| limb.following().len()).sum() };
    let (rank, jacobian) = (out.rank, out.all().to_nalgebra().into_owned());
    let (mut change, mut worst) = (vec![0.0; model.nv()], 0.0_f64);
    for column in 0..jacobian.ncols() {
        let mut along = vec![0.0; jacobian.ncols()];
        along[column] = 1.0;
        push_forward(model, (&input, &settings), &along, &mut change, (work, out)).unwrap();
        let expected = jacobian.column(column);
        worst = change.iter().zip(expected.iter()).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
    }
    (following, rank, worst / jacobian.amax())
}

#[test]
fn legs_of_six_joints_follow_and_nothing_is_left_over() {
    let (following, left_over, apart) = stand(6, 0.0);
    assert_eq!((following, left_over), (12, 0));
    assert!(apart < TOLERANCE, "{apart:.1e}");
}

#[test]
fn legs_of_five_joints_leave_a_row_over_each() {
    let (following, left_over, apart) = stand(5, 0.0);
    assert_eq!((following, left_over), (10, 2));
    assert!(apart < TOLERANCE, "{apart:.1e}");
}

#[test]
fn a_knee_that_is_held_counts_among_the_rows_of_its_leg() {
    let (following, left_over, apart) = stand(6, 1e3);
    assert_eq!((following, left_over), (12, 2));
    assert!(apart < TOLERANCE, "{apart:.1e}");
}
