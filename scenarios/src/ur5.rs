//! An arm that reaches, and one that presses.

use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::model::Model;
use saltus::mpc::{Dofs, Moving, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Scenario, Terms, collect, frame, keyframe};

pub const REACH: Facts = Facts {
    name: "ur5-reach",
    about: "an arm brings its tool to a point",
    robot: "ur5",
    seconds: 3.0,
    horizon: 20,
    contacts: 4,
    period_s: 0.02,
    observer_gain: 0.0,
};

pub const PRESS: Facts = Facts {
    name: "ur5-press",
    about: "an arm presses on the table with ten newtons",
    robot: "ur5",
    seconds: 4.0,
    horizon: 20,
    contacts: 4,
    period_s: 0.02,
    observer_gain: 0.2,
};

/// Where the tool should go, m.
pub const GOAL: [f64; 3] = [0.5, 0.3, 0.4];
/// How hard it should press, N.
pub const FORCE_N: f64 = 10.0;
/// Where it should press, m.
pub const SPOT: [f64; 2] = [0.5, 0.15];

pub fn settings<T: Real>(scenario: Scenario) -> MpcSettings<T> {
    let mut settings = MpcSettings { spacing: Spacing::even(T::from_f64(0.03)), ..MpcSettings::default() };
    if scenario == Scenario::Ur5Press {
        // The force is that of contacts that hold: little relaxed, and found by two iterations.
        settings.step.gradient = Gradient::Relaxed { kappa: T::from_f64(5e-5) };
        settings.max_iterations = 2;
    }
    settings
}

fn point<T: Real>([x, y, z]: [f64; 3]) -> Moving<T> {
    Moving::still(Vector3::new(T::from_f64(x), T::from_f64(y), T::from_f64(z)))
}

pub fn reach<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (rest, tool) = (keyframe(model, "rest")?, frame(model, "tool")?);
    let goal = Residual::Position { target: tool, reference: point(GOAL), axes: [T::ONE; 3] };
    Ok(collect(&[
        Term::new(goal, real(100.0)).at_end(real(100.0)),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, real(0.5)).at_end(real(1.0)),
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, real(0.02)),
        Term::new(Residual::Control { reference: rest.u }, real(1e-5)),
    ]))
}

pub fn press<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (rest, tool) = (keyframe(model, "rest")?, frame(model, "tool")?);
    let missing = Missing { what: "geometry", name: "flange" };
    let flange = model.find_geometry("flange").ok_or(missing)?;
    // Down to the table; what more it takes is the force's.
    let spot = point([SPOT[0], SPOT[1], 0.0]);
    let goal = Residual::Position { target: tool, reference: spot, axes: [T::ONE, T::ONE, real(0.2)] };
    let down = [T::ONE, T::ZERO, T::ZERO, T::ZERO];
    let force = Residual::NormalForce { geometry: flange, reference_n: real(FORCE_N) };
    Ok(collect(&[
        Term::new(goal, real(60.0)).at_end(real(20.0)),
        Term::new(Residual::Orientation { target: tool, reference: down, axes: [T::ONE, T::ONE, T::ZERO] }, real(20.0)),
        Term::new(force, real(3e-3)),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, real(0.5)).at_end(real(0.5)),
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, real(0.01)),
        Term::new(Residual::Control { reference: rest.u }, real(5e-6)),
    ]))
}
