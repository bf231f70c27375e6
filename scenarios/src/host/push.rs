//! What pushes the robot.

use nalgebra::Vector3;

use crate::Scenario;

/// A force on a body for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Which body.
    pub body: &'static str,
    /// When it begins.
    pub start_s: f64,
    /// How long it lasts.
    pub duration_s: f64,
    /// In world axes, at the body's origin, N.
    pub force_world: Vector3<f64>,
}

/// When a push begins and how long it lasts.
const START_S: f64 = 0.5;
const DURATION_S: f64 = 0.1;

/// The push of a run, if the scenario has one; `impulse_ns` instead of the scenario's own.
///
/// Seeds go around: eight directions for the quadruped, forward and backward and the diagonals between for the humanoid.
pub fn pushes(scenario: Scenario, seed: u64, impulse_ns: Option<f64>) -> Option<Push> {
    let (body, impulse) = match scenario {
        Scenario::Go1Push => ("trunk", 6.0),
        Scenario::H1Balance => ("pelvis", 8.0),
        _ => return None,
    };
    let angle = (seed % 8) as f64 * core::f64::consts::FRAC_PI_4;
    let force = impulse_ns.unwrap_or(impulse) / DURATION_S;
    let force_world = Vector3::new(force * angle.cos(), force * angle.sin(), 0.0);
    Some(Push { body, start_s: START_S, duration_s: DURATION_S, force_world })
}
