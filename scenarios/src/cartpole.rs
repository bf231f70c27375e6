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
    observer_gain: 0.0,
};

pub const DOUBLE: Facts = Facts {
    name: "double-cartpole-swingup",
    about: "a cart swings up two poles, one on the other",
    robot: "double_cartpole",
    seconds: 20.0,
    horizon: 50,
    contacts: 1,
    period_s: 0.01,
    observer_gain: 0.0,
};

/// Figures of a task; weights are per second, and `_end` at the end of the plan.
struct Tuning {
    first_s: f64,
    growth: f64,
    iterations: u16,
    cart: [f64; 2],
    poles: [f64; 2],
    velocity: [f64; 2],
    control: f64,
    rail_margin_m: f64,
    rail: f64,
}

const ONE_POLE: Tuning = Tuning {
    first_s: 0.02,
    growth: 1.05,
    iterations: 1,
    cart: [0.5, 1.0],
    poles: [1.0, 10.0],
    velocity: [0.02, 0.5],
    control: 0.002,
    rail_margin_m: 0.3,
    rail: 1.0,
};

const TWO_POLES: Tuning = Tuning {
    first_s: 0.0185,
    growth: 1.0,
    iterations: 3,
    cart: [0.35, 8.2],
    poles: [6.5, 80.0],
    velocity: [0.15, 0.62],
    control: 0.0096,
    rail_margin_m: 0.22,
    rail: 2.4,
};

const fn tuning(scenario: Scenario) -> &'static Tuning {
    if matches!(scenario, Scenario::CartpoleSwingup) { &ONE_POLE } else { &TWO_POLES }
}

pub fn settings<T: Real>(scenario: Scenario) -> MpcSettings<T> {
    let (real, tuning) = (T::from_f64, tuning(scenario));
    let spacing = Spacing { first_s: real(tuning.first_s), growth: real(tuning.growth) };
    let mut settings = MpcSettings { spacing, ..MpcSettings::default() };
    settings.step.gradient = Gradient::Exact;
    settings.max_iterations = tuning.iterations;
    settings
}

pub fn terms<T: Real>(scenario: Scenario, model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let w = tuning(scenario);
    let upright = keyframe(model, "upright")?;
    let (cart, poles) = (Dofs::new(0, 1), Dofs::new(1, 2));
    let weigh = |residual, [along, end]: [f64; 2]| Term::new(residual, T::from_f64(along)).at_end(T::from_f64(end));
    Ok(collect(&[
        weigh(Residual::Posture { dofs: cart, reference: upright.q }, w.cart),
        weigh(Residual::Posture { dofs: poles, reference: upright.q }, w.poles),
        weigh(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, w.velocity),
        weigh(Residual::Control { reference: &[] }, [w.control, 0.0]),
        weigh(Residual::PositionLimits { margin: T::from_f64(w.rail_margin_m) }, [w.rail, 0.0]),
    ]))
}
