//! A quadruped that stands up, is pushed, and walks.

use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::model::Model;
use saltus::mpc::{Dofs, Moving, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Scenario, Terms, body, collect, frame, keyframe};

pub const STAND: Facts = Facts {
    name: "go1-stand",
    about: "a quadruped stands up from a crouch",
    robot: "go1",
    seconds: 2.0,
    horizon: 20,
    contacts: 8,
    period_s: 0.02,
};

pub const PUSH: Facts = Facts {
    name: "go1-push",
    about: "a standing quadruped is pushed, by 6 N s, and recovers",
    robot: "go1",
    seconds: 4.0,
    horizon: 20,
    contacts: 8,
    period_s: 0.02,
};

pub const WALK: Facts = Facts {
    name: "go1-walk",
    about: "a quadruped walks at 0.4 m/s; nobody gives it a gait",
    robot: "go1",
    seconds: 10.0,
    horizon: 20,
    contacts: 8,
    period_s: 0.02,
};

/// Height of the standing trunk, m.
pub const HEIGHT: f64 = 0.28;
/// How fast it walks, m/s.
pub const SPEED: f64 = 0.4;

const FEET: [&str; 4] = ["FR_foot", "FL_foot", "RR_foot", "RL_foot"];

pub fn settings<T: Real>(_: Scenario) -> MpcSettings<T> {
    let mut settings = MpcSettings { spacing: Spacing::even(T::from_f64(0.02)), ..MpcSettings::default() };
    settings.step.gradient = Gradient::Relaxed { kappa: T::from_f64(1e-3) };
    settings.step.contact_margin_m = T::from_f64(0.03);
    settings
}

pub fn terms<T: Real>(scenario: Scenario, model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (rest, trunk) = (keyframe(model, "rest")?, body(model, "trunk")?);
    let speed = if scenario == Scenario::Go1Walk { real(SPEED) } else { T::ZERO };
    let forward = Vector3::new(speed, T::ZERO, T::ZERO);
    let path = Moving { start: Vector3::new(T::ZERO, T::ZERO, real(HEIGHT)), rate: forward };
    let level = [T::ZERO, T::ZERO, T::ZERO, T::ONE];
    let (base, joints) = (Dofs::new(0, 6), Dofs::new(6, 12));
    let all = [T::ONE; 3];
    let mut terms = collect(&[
        Term::new(Residual::Position { target: trunk, reference: path, axes: [T::ONE, T::ONE, real(5.0)] }, real(20.0))
            .at_end(real(10.0)),
        Term::new(Residual::Orientation { target: trunk, reference: level, axes: all }, real(20.0)).at_end(real(10.0)),
        Term::new(Residual::PointVelocity { target: trunk, reference: forward, axes: all }, real(2.0))
            .at_end(real(2.0)),
        Term::new(Residual::Velocity { dofs: Dofs::new(3, 3), reference: &[] }, real(0.5)).at_end(real(0.5)),
        Term::new(Residual::Posture { dofs: joints, reference: rest.q }, real(1.0)).at_end(real(1.0)),
        Term::new(Residual::Velocity { dofs: joints, reference: &[] }, real(0.01)).at_end(real(0.01)),
        Term::new(Residual::Control { reference: rest.u }, real(1e-3)),
    ]);
    let _ = base;
    for name in FEET {
        let slip = Residual::Slip { target: frame(model, name)?, ground_m: real(0.023), fade_m: real(0.02) };
        let _ = terms.push(Term::new(slip, real(0.5)));
    }
    Ok(terms)
}
