//! Every built-in robot under random torques, in f64 and f32. `cargo xtask soak` runs fifty times as long.

use saltus_testkit::{SoakReport, builtin_robots, soak};

/// Two episodes: small torques and large ones, each with a phase in which nothing drives the robot.
const STEPS: usize = 2000;
/// Penetration that no steady contact exceeds, nor 99 % of all that lasted for more than 50 steps, m.
const STEADY_PENETRATION: f64 = 1e-3;
/// Share of steps that may miss the solver's tolerance, if they say so; the rate itself is held by `tests/contact.rs`.
const UNCONVERGED: f64 = 0.01;
/// What a passive robot's energy may gain over its least, relative to its kinetic energy plus 1 J: the recovery of
/// penetrations, and velocity products that are taken at the start of the step.
const GAIN: f64 = 0.1;
/// No joint of a robot of these sizes and motors gets faster, rad/s or m/s.
const FASTEST: f64 = 2000.0;

fn check(name: &str, kind: &str, report: &SoakReport) {
    let context = format!("{name} in {kind}: {report:?}");
    assert_eq!((report.steps, report.errors, report.overflows), (STEPS, 0, 0), "{context}");
    assert!(report.iterations.0 <= report.iterations.1, "{context}");
    assert!(report.unconverged as f64 <= UNCONVERGED * STEPS as f64, "{context}");
    assert!(report.steady_m < STEADY_PENETRATION && report.lasting_m[0] < STEADY_PENETRATION, "{context}");
    assert!(report.fastest < FASTEST, "{context}");
    assert!(report.gain[1] < GAIN, "{context}");
}

#[test]
fn every_robot_survives_random_torques_in_f64() {
    for (name, robot) in builtin_robots() {
        check(name, "f64", &soak::<f64>(&robot, STEPS, 2));
    }
}

#[test]
fn every_robot_survives_random_torques_in_f32() {
    for (name, robot) in builtin_robots() {
        check(name, "f32", &soak::<f32>(&robot, STEPS, 2));
    }
}
