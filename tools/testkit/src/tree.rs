//! Random robots.

use nalgebra::Vector3;
use saltus::model::{BodySpec, JointSpec, ModelBuilder, OwnedModel};
use saltus::spatial::{Inertia, Placement, Symmetric3};

use crate::Random;

/// A valid tree of `bodies` bodies with joints of every type, branching at random; the last body carries a frame "tip".
pub fn random_tree(seed: u64, bodies: usize) -> OwnedModel<f64> {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    for k in 0..bodies {
        let parent = match (random.uniform() * (k as f64 + 1.0)) as usize {
            0 => "world".to_string(),
            n => format!("body{}", n - 1),
        };
        let body = BodySpec::new(format!("body{k}"), random_joint(&mut random))
            .parent(parent)
            .placement(random_placement(&mut random))
            .inertia(random_inertia(&mut random))
            .armature(0.1 * random.uniform());
        builder = builder.body(body);
    }
    let last = format!("body{}", bodies - 1);
    builder = builder.frame("tip", last, random_placement(&mut random));
    builder.build().expect("random trees are valid")
}

fn random_joint(random: &mut Random) -> JointSpec {
    let axis = random_axis(random);
    match (random.uniform() * 8.0) as usize {
        0 => JointSpec::prismatic(axis),
        1 => JointSpec::continuous(axis),
        2 => JointSpec::spherical(),
        3 => JointSpec::planar(),
        4 => JointSpec::free_flyer(),
        _ => JointSpec::revolute(axis),
    }
}

fn random_axis(random: &mut Random) -> Vector3<f64> {
    loop {
        let axis = Vector3::new(random.signed(), random.signed(), random.signed());
        let square = axis.dot(&axis);
        if square > 0.01 {
            return axis / square.sqrt();
        }
    }
}

fn random_placement(random: &mut Random) -> Placement<f64> {
    let translation = Vector3::new(random.signed(), random.signed(), random.signed()) * 0.5;
    Placement::from_rpy(3.0 * random.signed(), 1.5 * random.signed(), 3.0 * random.signed(), translation)
}

/// Three point masses on the axes give principal moments that satisfy the triangle inequality by construction.
fn random_inertia(random: &mut Random) -> Inertia<f64> {
    let mass = 0.5 + 2.0 * random.uniform();
    let com = Vector3::new(random.signed(), random.signed(), random.signed()) * 0.2;
    let mut square = || mass * (0.01 + 0.04 * random.uniform());
    let (x, y, z) = (square(), square(), square());
    let turn = random_placement(random).rotation;
    Inertia::new(mass, com, Symmetric3::diagonal(y + z, x + z, x + y).rotated(&turn))
}
