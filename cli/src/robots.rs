//! The built-in robots.

use anyhow::{Context, Result};
use nalgebra::Vector3;
use saltus::model::{BodySpec, JointSpec, ModelBuilder, OwnedModel};
use saltus::spatial::{Inertia, Placement, Symmetric3};

/// A robot that needs no file.
pub struct Builtin {
    /// What the command line calls it.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    build: fn() -> ModelBuilder,
}

/// All of them.
pub const BUILTIN: [Builtin; 3] = [
    Builtin { name: "pendulum", about: "a rod on a hinge", build: pendulum },
    Builtin { name: "cartpole", about: "a pole that turns freely on a cart", build: cartpole },
    Builtin { name: "ur5", about: "the six-axis arm of Universal Robots", build: ur5 },
];

/// The built-in robot of that name; an unknown name lists the known ones.
pub fn load(name: &str) -> Result<OwnedModel<f64>> {
    let known = || BUILTIN.map(|robot| robot.name).join(", ");
    let robot = BUILTIN
        .iter()
        .find(|robot| robot.name == name)
        .with_context(|| format!("no robot is called \"{name}\"; known are: {}", known()))?;
    Ok((robot.build)().build()?)
}

/// Prints names and what they are.
pub fn print_list() {
    for robot in BUILTIN {
        println!("{:<10} {}", robot.name, robot.about);
    }
}

fn pendulum() -> ModelBuilder {
    let rod = Inertia::solid_box(1.0, &Vector3::new(0.02, 0.02, 1.0)).moved_by(&Placement::translation(0.0, 0.0, -0.5));
    ModelBuilder::new().body(BodySpec::new("rod", JointSpec::revolute(Vector3::y())).inertia(rod))
}

fn cartpole() -> ModelBuilder {
    let pole = Inertia::solid_box(0.1, &Vector3::new(0.02, 0.02, 1.0)).moved_by(&Placement::translation(0.0, 0.0, 0.5));
    ModelBuilder::new()
        .body(
            BodySpec::new("cart", JointSpec::prismatic(Vector3::x()))
                .inertia(Inertia::solid_box(1.0, &Vector3::new(0.3, 0.2, 0.1)))
                .position_limits(-2.0, 2.0)
                .effort_limit(20.0),
        )
        .body(BodySpec::new("pole", JointSpec::continuous(Vector3::y())).parent("cart").inertia(pole).actuated(false))
}

/// Lengths, masses and cylinder inertias as the manufacturer's ROS description gives them.
fn ur5() -> ModelBuilder {
    use core::f64::consts::{FRAC_PI_2, PI, TAU};
    let pitched = |x, y, z| Placement::from_rpy(0.0, FRAC_PI_2, 0.0, Vector3::new(x, y, z));
    let link = |mass, com_z, radial, axial| {
        Inertia::new(mass, Vector3::new(0.0, 0.0, com_z), Symmetric3::diagonal(radial, radial, axial))
    };
    let joint = |name, parent, axis, placement, inertia, limit: f64, effort: f64| {
        BodySpec::new(name, JointSpec::revolute(axis))
            .parent(parent)
            .placement(placement)
            .inertia(inertia)
            .position_limits(-limit, limit)
            .velocity_limit(if effort > 100.0 { 3.15 } else { 3.2 })
            .effort_limit(effort)
    };
    let (y, z) = (Vector3::y(), Vector3::z());
    let at = Placement::translation;
    ModelBuilder::new()
        .body(joint("shoulder", "world", z, at(0.0, 0.0, 0.089159), link(3.7, 0.0, 0.0102675, 0.00666), TAU, 150.0))
        .body(joint(
            "upper_arm",
            "shoulder",
            y,
            pitched(0.0, 0.13585, 0.0),
            link(8.393, 0.28, 0.22689, 0.0151),
            TAU,
            150.0,
        ))
        .body(joint("forearm", "upper_arm", y, at(0.0, -0.1197, 0.425), link(2.275, 0.25, 0.049443, 0.0041), PI, 150.0))
        .body(joint("wrist_1", "forearm", y, pitched(0.0, 0.0, 0.39225), link(1.219, 0.0, 0.111173, 0.2194), TAU, 28.0))
        .body(joint("wrist_2", "wrist_1", z, at(0.0, 0.093, 0.0), link(1.219, 0.0, 0.111173, 0.2194), TAU, 28.0))
        .body(joint("wrist_3", "wrist_2", y, at(0.0, 0.0, 0.09465), link(0.1879, 0.0, 0.017136, 0.0338), TAU, 28.0))
        .frame("tool", "wrist_3", at(0.0, 0.0823, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_robot_builds() {
        for robot in BUILTIN {
            load(robot.name).unwrap();
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = load("r2d2").unwrap_err().to_string();
        assert_eq!(message, "no robot is called \"r2d2\"; known are: pendulum, cartpole, ur5");
    }
}
