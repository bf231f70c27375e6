//! What contacts take up makes no difference to the Jacobian: with the change of the impulses asked for, nothing is left out.

extern crate std;
use std::vec;
use std::vec::Vec;

use nalgebra::{DMatrix, Vector3};

use super::*;
use crate::derivatives::differentiate;
use crate::derivatives::tests::with_memory;
use crate::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, OwnedModel, Shape};
use crate::spatial::{Inertia, Placement};
use crate::step::{NextState, StepInput, step};

/// Of the largest entry, after some hundred operations.
const TOLERANCE: f64 = 1e-12;
/// From the hip down to the ankle, and to the ground.
const LEG: f64 = 0.5;
const FOOT: f64 = 0.06;

/// A trunk on two legs of three joints, with these feet.
fn walker(foot: Shape<f64>) -> OwnedModel<f64> {
    let down = |z: f64| Placement::translation(0.0, 0.0, -z);
    let trunk = Inertia::solid_box(8.0, &Vector3::new(0.2, 0.3, 0.4));
    let mut builder = ModelBuilder::new()
        .gravity(Vector3::new(0.0, 0.0, -9.81))
        .geometry("world", GeometrySpec::new("floor", Shape::HalfSpace).friction(1.0))
        .body(BodySpec::new("trunk", JointSpec::free_flyer()).inertia(trunk));
    for (side, y) in [("left", 0.2), ("right", -0.2)] {
        let [hip, knee, ankle] = ["hip", "knee", "ankle"].map(|joint| std::format!("{side}-{joint}"));
        let places = [Placement::translation(0.0, y, -0.2), down(LEG / 2.0), down(LEG / 2.0)];
        let axes = [Vector3::x(), Vector3::y(), Vector3::y()];
        let mut parent = "trunk";
        for ((name, place), axis) in [&hip, &knee, &ankle].into_iter().zip(places).zip(axes) {
            let mass = Inertia::solid_sphere(0.9, 0.06).moved_by(&down(0.1));
            let mut body = BodySpec::new(name, JointSpec::revolute(axis)).parent(parent).placement(place).inertia(mass);
            if name == &ankle {
                body = body.geometry(GeometrySpec::new(name, foot).placement(down(0.04)).friction(1.0));
            }
            builder = builder.body(body);
            parent = name;
        }
    }
    builder.build().expect("a robot")
}

/// ∂v⁺/∂(q, v, u) of a step that moves, with or without the change of the impulses, and what its contacts absorb.
fn jacobian(robot: &OwnedModel<f64>, impulses_wanted: bool) -> (DMatrix<f64>, Vec<Absorbed>) {
    let (model, settings) = (robot.model(), StepSettings::<f64>::default());
    let mut q = vec![0.0, 0.0, 0.2 + LEG + FOOT, 0.0, 0.0, 0.0, 1.0];
    q.extend([0.0; 6]);
    // The trunk sways forward over shanks that turn, and over feet that do not.
    let (mut v, turn) = (vec![0.0; model.nv()], 0.1);
    v[0] = turn * LEG / 2.0;
    [7, 10].into_iter().for_each(|knee| (v[knee], v[knee + 1]) = (turn, -turn));
    let (from_q, from_v) = (q.clone(), v.clone());
    let input = StepInput::new(&from_q, &from_v, &[]);
    with_memory(model, |work, out| {
        out.impulses_wanted = impulses_wanted;
        step(model, &input, &settings, NextState { q: &mut q, v: &mut v }, work).unwrap();
        differentiate(model, &input, &settings, work, out).unwrap();
        let count = work.assembly.problem().constraints.len();
        (out.all().to_nalgebra().into_owned(), out.absorbed[..count].to_vec())
    })
}

#[test]
fn what_rows_take_up_makes_no_difference() {
    let half_extents = Vector3::new(0.1, 0.05, FOOT - 0.04);
    for (foot, expected) in
        [(Shape::Sphere { radius: FOOT - 0.04 }, Absorbed::Forces), (Shape::Box { half_extents }, Absorbed::Wrenches)]
    {
        let robot = walker(foot);
        let ((left_out, absorbed), (whole, nothing)) = (jacobian(&robot, false), jacobian(&robot, true));
        assert!(!absorbed.is_empty() && absorbed.iter().all(|one| *one == expected), "{absorbed:?}");
        assert!(nothing.iter().all(|one| *one == Absorbed::Nothing), "{nothing:?}");
        let apart = (&left_out - &whole).amax() / whole.amax();
        assert!(apart < TOLERANCE, "{expected:?}: {apart:.1e}");
    }
}
