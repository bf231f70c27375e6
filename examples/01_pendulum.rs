//! A robot in twenty lines: build it, give it memory, ask for accelerations and their derivatives.
//!
//! `cargo run --release --example 01_pendulum`

use nalgebra::Vector3;
use saltus::dynamics::{self, Dynamics};
use saltus::linalg::{MatMut, MatRef};
use saltus::memory::{Arena, Block};
use saltus::model::{BodySpec, JointSpec, ModelBuilder};
use saltus::spatial::{Inertia, Placement};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bob = Inertia::solid_sphere(1.0, 0.05).moved_by(&Placement::translation(0.0, 0.0, -0.5));
    let robot = ModelBuilder::new()
        .body(BodySpec::new("upper", JointSpec::revolute(Vector3::y())).inertia(bob))
        .body(
            BodySpec::new("lower", JointSpec::revolute(Vector3::y()))
                .parent("upper")
                .placement(Placement::translation(0.0, 0.0, -0.5))
                .inertia(bob),
        )
        .build::<f64>()?;
    let model = robot.model();

    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())]; // all the memory there is
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims())?;

    let (q, v, torque) = ([0.3, -0.2], [1.0, 0.5], [0.1, 0.0]);
    let mut jacobian = [0.0; 2 * 6];
    dynamics::update(model, &q, &v, &mut work)?;
    dynamics::forward_derivatives(model, &torque, &[], MatMut::new(&mut jacobian, 2, 6), &mut work)?;

    let derivatives = MatRef::new(&jacobian, 2, 6);
    println!("acceleration {:.4?} rad/s²", work.joint_acceleration);
    println!("∂a/∂q {:.4}", derivatives.columns(0, 2).to_nalgebra());
    println!("∂a/∂v {:.4}", derivatives.columns(2, 2).to_nalgebra());
    println!("∂a/∂τ {:.4}", derivatives.columns(4, 2).to_nalgebra());
    Ok(())
}
