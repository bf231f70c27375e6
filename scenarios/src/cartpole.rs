//! Carts that swing up one pole or two.

use saltus::derivatives::Gradient;
use saltus::model::Model;
use saltus::mpc::{Dofs, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Scenario, Terms, collect, keyframe};

pub const SINGLE: Facts = Facts {
    name: "cartpole-swingup",
    about: "a cart swings its pole up and keeps it there",
    robot: "cartpole",
    seconds: 6.0,
    horizon: 30,
    contacts: 1,
    period_s: 0.02,
};

pub const DOUBLE: Facts = Facts {
    name: "double-cartpole-swingup",
    about: "a cart swings up two poles, one on the other",
    robot: "double_cartpole",
    seconds: 10.0,
    horizon: 50,
    contacts: 1,
    period_s: 0.02,
};

pub fn settings<T: Real>(scenario: Scenario) -> MpcSettings<T> {
    let mut settings = MpcSettings::default();
    let dt_s = if scenario == Scenario::CartpoleSwingup { 0.04 } else { 0.03 };
    settings.spacing = Spacing::even(T::from_f64(dt_s));
    settings.step.gradient = Gradient::Exact;
    settings
}

pub fn terms<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let real = T::from_f64;
    let upright = keyframe(model, "upright")?;
    Ok(collect(&[
        Term::new(Residual::Posture { dofs: Dofs::new(0, 1), reference: upright.q }, real(0.5)).at_end(real(1.0)),
        Term::new(Residual::Posture { dofs: Dofs::new(1, 2), reference: upright.q }, real(1.0)).at_end(real(10.0)),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, real(0.02)).at_end(real(0.5)),
        Term::new(Residual::Control { reference: &[] }, real(0.002)),
        Term::new(Residual::PositionLimits { margin: real(0.3) }, real(1.0)),
    ]))
}
