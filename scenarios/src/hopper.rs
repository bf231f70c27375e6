//! A leg that hops.

use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::model::Model;
use saltus::mpc::{Dofs, Moving, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Terms, body, collect, keyframe};

pub const HOP: Facts = Facts {
    name: "hopper-hop",
    about: "a one-legged robot hops three metres in five seconds",
    robot: "hopper",
    seconds: 5.0,
    horizon: 20,
    contacts: 2,
    period_s: 0.01,
    observer_gain: 0.0,
};

/// How fast it should go, m/s.
pub const SPEED: f64 = 0.95;
/// How high its torso should be, m.
const HEIGHT: f64 = 1.3;

pub fn settings<T: Real>() -> MpcSettings<T> {
    let real = T::from_f64;
    let spacing = Spacing { first_s: real(0.0155), growth: real(1.04) };
    let mut settings = MpcSettings { spacing, ..MpcSettings::default() };
    settings.step.gradient = Gradient::Relaxed { kappa: real(7e-3) };
    settings.step.contact_margin_m = real(0.08);
    settings
}

pub fn terms<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (rest, target) = (keyframe(model, "rest")?, body(model, "torso")?);
    let forward = Vector3::new(real(SPEED), T::ZERO, T::ZERO);
    let path = Moving { start: Vector3::new(T::ZERO, T::ZERO, real(HEIGHT)), rate: forward };
    let (pitch, joints, turning) = (Dofs::new(2, 1), Dofs::new(3, 3), Dofs::new(2, 4));
    let place = Residual::Position { target, reference: path, axes: [real(0.01), T::ZERO, T::ONE] };
    let speed = Residual::PointVelocity { target, reference: forward, axes: [T::ONE, T::ZERO, T::ZERO] };
    Ok(collect(&[
        Term::new(place, real(19.0)).at_end(real(7.5)),
        Term::new(speed, real(17.0)).at_end(real(6.7)),
        Term::new(Residual::Posture { dofs: pitch, reference: rest.q }, real(16.0)).at_end(real(1.5)),
        Term::new(Residual::Posture { dofs: joints, reference: rest.q }, real(1.5)),
        Term::new(Residual::Velocity { dofs: turning, reference: &[] }, real(0.009)).at_end(real(0.52)),
        Term::new(Residual::Control { reference: &[] }, real(0.02)),
        Term::new(Residual::PositionLimits { margin: real(0.1) }, real(0.1)),
    ]))
}
