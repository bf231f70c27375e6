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
    contacts: 4,
    period_s: 0.02,
    observer_gain: 0.0,
};

pub const PUSH: Facts = Facts {
    name: "go1-push",
    about: "a standing quadruped is pushed, by 6 N s, and recovers",
    robot: "go1",
    seconds: 4.0,
    horizon: 20,
    contacts: 4,
    period_s: 0.02,
    observer_gain: 0.0,
};

pub const WALK: Facts = Facts {
    name: "go1-walk",
    about: "a quadruped walks at 0.4 m/s; nobody gives it a gait",
    robot: "go1",
    seconds: 10.0,
    horizon: 20,
    contacts: 4,
    period_s: 0.01,
    observer_gain: 0.0,
};

/// Height of the standing trunk, m.
pub const HEIGHT: f64 = 0.28;
/// How fast it walks, m/s.
pub const SPEED: f64 = 0.4;

/// Height of a foot's centre when it stands, m.
const FOOT_M: f64 = 0.023;

const FEET: [&str; 4] = ["FR_foot", "FL_foot", "RR_foot", "RL_foot"];

/// Figures of a task; weights are per second, and `_end` at the end of the plan.
struct Tuning {
    dt_s: f64,
    /// Of the relaxed gradient: the larger, the farther feet feel the ground.
    kappa: f64,
    contact_margin_m: f64,
    /// Of the trunk's place: along the way, and of its height relative to sideways.
    along: f64,
    height: f64,
    position: f64,
    orientation: f64,
    velocity: f64,
    spin: f64,
    posture: f64,
    joint_speed: f64,
    control: f64,
    slip: f64,
    slip_fade_m: f64,
}

const STANDING: Tuning = Tuning {
    dt_s: 0.02,
    kappa: 1e-3,
    contact_margin_m: 0.03,
    along: 1.0,
    height: 5.0,
    position: 20.0,
    orientation: 20.0,
    velocity: 10.0,
    spin: 0.5,
    posture: 1.0,
    joint_speed: 0.01,
    control: 1e-3,
    slip: 0.5,
    slip_fade_m: 0.02,
};

const WALKING: Tuning = Tuning {
    dt_s: 0.03,
    kappa: 9e-3,
    contact_margin_m: 0.08,
    along: 0.3,
    height: 15.0,
    position: 32.0,
    orientation: 13.0,
    velocity: 33.0,
    spin: 0.6,
    posture: 0.12,
    joint_speed: 0.033,
    control: 5.5e-4,
    slip: 0.1,
    slip_fade_m: 0.03,
};

const fn tuning(scenario: Scenario) -> &'static Tuning {
    if matches!(scenario, Scenario::Go1Walk) { &WALKING } else { &STANDING }
}

pub fn settings<T: Real>(scenario: Scenario) -> MpcSettings<T> {
    let tuning = tuning(scenario);
    let mut settings = MpcSettings { spacing: Spacing::even(T::from_f64(tuning.dt_s)), ..MpcSettings::default() };
    settings.step.gradient = Gradient::Relaxed { kappa: T::from_f64(tuning.kappa) };
    settings.step.contact_margin_m = T::from_f64(tuning.contact_margin_m);
    settings
}

pub fn terms<T: Real>(scenario: Scenario, model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let (real, w) = (T::from_f64, tuning(scenario));
    let (rest, target) = (keyframe(model, "rest")?, body(model, "trunk")?);
    let speed = if scenario == Scenario::Go1Walk { real(SPEED) } else { T::ZERO };
    let forward = Vector3::new(speed, T::ZERO, T::ZERO);
    let path = Moving { start: Vector3::new(T::ZERO, T::ZERO, real(HEIGHT)), rate: forward };
    let level = [T::ZERO, T::ZERO, T::ZERO, T::ONE];
    let (turning, joints, all) = (Dofs::new(3, 3), Dofs::new(6, 12), [T::ONE; 3]);
    let place = Residual::Position { target, reference: path, axes: [real(w.along), T::ONE, real(w.height)] };
    let mut terms = collect(&[
        Term::new(place, real(w.position)).at_end(real(10.0)),
        Term::new(Residual::Orientation { target, reference: level, axes: all }, real(w.orientation))
            .at_end(real(10.0)),
        Term::new(Residual::PointVelocity { target, reference: forward, axes: all }, real(w.velocity))
            .at_end(real(2.0)),
        Term::new(Residual::Velocity { dofs: turning, reference: &[] }, real(w.spin)).at_end(real(0.5)),
        Term::new(Residual::Posture { dofs: joints, reference: rest.q }, real(w.posture)).at_end(real(1.0)),
        Term::new(Residual::Velocity { dofs: joints, reference: &[] }, real(w.joint_speed)).at_end(real(0.01)),
        Term::new(Residual::Control { reference: rest.u }, real(w.control)),
    ]);
    for name in FEET {
        let foot = frame(model, name)?;
        let slip = Residual::Slip { target: foot, ground_m: real(FOOT_M), fade_m: real(w.slip_fade_m) };
        // There is room: `MOST_TERMS` is more than these.
        let _ = terms.push(Term::new(slip, real(w.slip)));
    }
    Ok(terms)
}
