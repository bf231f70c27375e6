//! A humanoid that keeps its balance.

use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::model::Model;
use saltus::mpc::{Dofs, Moving, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Terms, body, collect, keyframe};

pub const BALANCE: Facts = Facts {
    name: "h1-balance",
    about: "a humanoid stands on both feet and holds against a push of 8 N s",
    robot: "h1",
    seconds: 4.0,
    horizon: 20,
    contacts: 8,
    period_s: 0.02,
    observer_gain: 0.0,
};

/// Height of the standing pelvis, m.
pub const HEIGHT: f64 = 1.0;

pub fn settings<T: Real>() -> MpcSettings<T> {
    let mut settings = MpcSettings { spacing: Spacing::even(T::from_f64(0.025)), ..MpcSettings::default() };
    settings.step.gradient = Gradient::Relaxed { kappa: T::from_f64(1e-3) };
    settings.step.contact_margin_m = T::from_f64(0.03);
    settings
}

pub fn terms<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (rest, pelvis) = (keyframe(model, "rest")?, body(model, "pelvis")?);
    let place = Moving::still(Vector3::new(T::ZERO, T::ZERO, real(HEIGHT)));
    let level = [T::ZERO, T::ZERO, T::ZERO, T::ONE];
    let joints = Dofs::new(6, 19);
    let all = [T::ONE; 3];
    Ok(collect(&[
        Term::new(Residual::Position { target: pelvis, reference: place, axes: all }, real(100.0)).at_end(real(50.0)),
        Term::new(Residual::Orientation { target: pelvis, reference: level, axes: all }, real(100.0))
            .at_end(real(50.0)),
        Term::new(Residual::Velocity { dofs: Dofs::new(0, 6), reference: &[] }, real(10.0)).at_end(real(20.0)),
        Term::new(Residual::Posture { dofs: joints, reference: rest.q }, real(10.0)).at_end(real(10.0)),
        Term::new(Residual::Velocity { dofs: joints, reference: &[] }, real(0.1)).at_end(real(0.2)),
        Term::new(Residual::Control { reference: rest.u }, real(1e-4)),
    ]))
}
