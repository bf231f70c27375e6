//! A quadrotor that takes off.

use nalgebra::Vector3;
use saltus::model::Model;
use saltus::mpc::{Dofs, Moving, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Terms, body, collect, keyframe};

pub const TAKEOFF: Facts = Facts {
    name: "quadrotor-takeoff",
    about: "a quadrotor rises from the ground and hovers at one metre",
    robot: "quadrotor",
    seconds: 4.0,
    horizon: 20,
    contacts: 8,
    period_s: 0.02,
    observer_gain: 0.0,
};

pub fn settings<T: Real>() -> MpcSettings<T> {
    MpcSettings { spacing: Spacing::even(T::from_f64(0.05)), ..MpcSettings::default() }
}

pub fn terms<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let (hover, hull) = (keyframe(model, "hover")?, body(model, "frame")?);
    let goal = Moving::still(Vector3::new(T::ZERO, T::ZERO, T::ONE));
    let level = [T::ZERO, T::ZERO, T::ZERO, T::ONE];
    let all = [T::ONE; 3];
    Ok(collect(&[
        Term::new(Residual::Position { target: hull, reference: goal, axes: all }, real(4.0)).at_end(real(20.0)),
        Term::new(Residual::Orientation { target: hull, reference: level, axes: all }, real(1.0)).at_end(real(2.0)),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, real(0.3)).at_end(real(2.0)),
        Term::new(Residual::Control { reference: hover.u }, real(0.02)),
    ]))
}
