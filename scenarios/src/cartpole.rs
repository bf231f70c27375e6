//! Carts that swing up one pole or two.

use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::model::Model;
use saltus::mpc::{Dofs, Moving, MpcSettings, Residual, Spacing, Term};
use saltus::scalar::Real;

use super::{Facts, Missing, Scenario, Terms, body, collect, frame, keyframe};

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
    seconds: 30.0,
    horizon: 60,
    contacts: 1,
    period_s: 0.01,
    observer_gain: 0.0,
};

/// Figures of a task; weights are per second along the way, and at the end of the plan.
struct Tuning {
    first_s: f64,
    growth: f64,
    iterations: u16,
    cart: [f64; 2],
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
    velocity: [0.02, 0.5],
    control: 0.002,
    rail_margin_m: 0.3,
    rail: 1.0,
};

/// Of the angle of a single pole.
const POLE: [f64; 2] = [1.0, 10.0];

const TWO_POLES: Tuning = Tuning {
    first_s: 0.009,
    growth: 1.02,
    iterations: 4,
    cart: [0.093, 0.617],
    velocity: [0.038, 2.33],
    control: 0.0685,
    rail_margin_m: 0.22,
    rail: 1.34,
};

/// Of two poles: where the joint between them and the tip should be, and of the second one's speed, or it goes on spinning
/// on top of the first.
const ELBOW: [f64; 2] = [0.567, 21.43];
const TIP: [f64; 2] = [19.73, 11.7];
const SPIN: [f64; 2] = [0.3, 6.0];
/// How much places sideways count, relative to heights.
const SIDEWAYS: f64 = 0.124;
/// Heights of the two when both poles are up, m.
const ELBOW_M: f64 = 3.0;
const TIP_M: f64 = 4.0;

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
    let (cart, pole) = (Dofs::new(0, 1), Dofs::new(1, 1));
    let mut terms = collect(&[
        weigh(Residual::Posture { dofs: cart, reference: upright.q }, w.cart),
        weigh(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, w.velocity),
        weigh(Residual::Control { reference: &[] }, [w.control, 0.0]),
        weigh(Residual::PositionLimits { margin: T::from_f64(w.rail_margin_m) }, [w.rail, 0.0]),
    ]);
    let more = match scenario {
        Scenario::CartpoleSwingup => collect(&[weigh(Residual::Posture { dofs: pole, reference: upright.q }, POLE)]),
        _ => two_poles(model)?,
    };
    // There is room: `MOST_TERMS` is more than these.
    terms.extend(more);
    Ok(terms)
}

/// Places, not angles: two poles go around, and whole turns must not count.
fn two_poles<T: Real>(model: Model<'_, T>) -> Result<Terms<'_, T>, Missing> {
    let at = |height: f64| Moving::still(Vector3::new(T::ZERO, T::ZERO, T::from_f64(height)));
    let axes = [T::from_f64(SIDEWAYS), T::ZERO, T::ONE];
    let second = Dofs::new(2, 1);
    Ok(collect(&[
        weigh(Residual::Position { target: body(model, "pole_2")?, reference: at(ELBOW_M), axes }, ELBOW),
        weigh(Residual::Position { target: frame(model, "tip")?, reference: at(TIP_M), axes }, TIP),
        weigh(Residual::Velocity { dofs: second, reference: &[] }, SPIN),
    ]))
}

fn weigh<T: Real>(residual: Residual<'_, T>, [along, end]: [f64; 2]) -> Term<'_, T> {
    Term::new(residual, T::from_f64(along)).at_end(T::from_f64(end))
}
