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
    contacts: 4,
    period_s: 0.02,
};

/// How fast it should go, m/s.
pub const SPEED: f64 = 0.9;

pub fn settings<T: Real>() -> MpcSettings<T> {
    let mut settings = MpcSettings { spacing: Spacing::even(T::from_f64(0.025)), ..MpcSettings::default() };
    settings.step.gradient = Gradient::Relaxed { kappa: T::from_f64(1e-2) };
    settings.step.contact_margin_m = T::from_f64(0.05);
    settings
}

pub fn terms<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (rest, torso) = (keyframe(model, "rest")?, body(model, "torso")?);
    let path =
        Moving { start: Vector3::new(T::ZERO, T::ZERO, real(1.25)), rate: Vector3::new(real(SPEED), T::ZERO, T::ZERO) };
    let forward = Vector3::new(real(SPEED), T::ZERO, T::ZERO);
    let along = [T::ONE, T::ZERO, T::ZERO];
    Ok(collect(&[
        Term::new(Residual::Position { target: torso, reference: path, axes: [T::ONE, T::ZERO, real(3.0)] }, real(5.0))
            .at_end(real(5.0)),
        Term::new(Residual::PointVelocity { target: torso, reference: forward, axes: along }, real(5.0)),
        Term::new(Residual::Posture { dofs: Dofs::new(2, 1), reference: rest.q }, real(10.0)).at_end(real(3.0)),
        Term::new(Residual::Posture { dofs: Dofs::new(3, 3), reference: rest.q }, real(0.5)),
        Term::new(Residual::Velocity { dofs: Dofs::new(2, 4), reference: &[] }, real(0.02)).at_end(real(0.1)),
        Term::new(Residual::Control { reference: &[] }, real(0.5)),
        Term::new(Residual::PositionLimits { margin: real(0.1) }, real(0.1)),
    ]))
}
