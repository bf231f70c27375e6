//! Where a run starts.

use saltus::model::{Model, configuration};
use std::vec;
use std::vec::Vec;

use super::Random;
use crate::{Missing, Scenario, keyframe};

/// Configuration and velocity at the start; the same seed gives the same ones, and seed zero is undisturbed.
pub fn start(scenario: Scenario, model: Model<'_, f64>, seed: u64) -> Result<(Vec<f64>, Vec<f64>), Missing> {
    let mut q = keyframe(model, "rest")?.q.to_vec();
    if scenario == Scenario::Go1Stand {
        crouch(&mut q);
    }
    let mut random = Random::new(seed);
    let (position, speed) = if seed == 0 { (0.0, 0.0) } else { spread(scenario) };
    let mut offset: Vec<f64> = (0..model.nv()).map(|_| position * random.signed()).collect();
    let v: Vec<f64> = (0..model.nv()).map(|_| speed * random.signed()).collect();
    // A robot that stands starts where its feet are: joints vary, and it is lifted a little.
    let floating = model.bodies.first().is_some_and(|body| body.joint.nv() == 6);
    if scenario == Scenario::QuadrotorTakeoff {
        // On the ground and at rest, but anywhere and turned.
        offset[2..5].fill(0.0);
    } else if floating {
        offset[..6].fill(0.0);
        offset[2] = position.abs() * 0.3;
    }
    let mut moved = vec![0.0; model.nq()];
    // The lengths are the model's own.
    let _ = configuration::integrate(model, &q, &offset, &mut moved);
    q.copy_from_slice(&moved);
    Ok((q, v))
}

/// How far joints, and how fast velocities, are off at the start.
fn spread(scenario: Scenario) -> (f64, f64) {
    match scenario {
        Scenario::CartpoleSwingup | Scenario::DoubleCartpoleSwingup => (0.1, 0.1),
        Scenario::QuadrotorTakeoff => (0.3, 0.0),
        Scenario::Ur5Reach | Scenario::Ur5Press => (0.1, 0.1),
        Scenario::HopperHop => (0.005, 0.02),
        Scenario::Go1Stand | Scenario::Go1Push | Scenario::Go1Walk => (0.03, 0.05),
        Scenario::H1Balance => (0.005, 0.02),
    }
}

/// Thighs and calves folded, the trunk just above the ground.
fn crouch(q: &mut [f64]) {
    /// Of thigh and calf, m, and radius of the foot.
    const LEG: f64 = 0.213;
    const FOOT: f64 = 0.023;
    const THIGH: f64 = 1.25;
    q[2] = 2.0 * LEG * THIGH.cos() + FOOT;
    for leg in 0..4 {
        q[7 + 3 * leg..][..3].copy_from_slice(&[0.0, THIGH, -2.0 * THIGH]);
    }
}
