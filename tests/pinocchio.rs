//! Values and derivatives equal Pinocchio's stored figures, on every robot and state.

use std::collections::BTreeMap;

use saltus::model::{Joint, Model};
use saltus::scalar::Real;
use saltus_testkit::{Oracle, evaluate, evaluate_regressor};

/// Largest error over the largest entry of a field. Two well-conditioned algorithms in f64 differ by rounding alone.
const TOLERANCE_F64: f64 = 1e-11;
/// The same in f32, whose ε is 5e8 times larger; error norm over norm of the field.
const TOLERANCE_F32: f64 = 2e-4;

#[test]
fn values_and_derivatives_equal_pinocchio_in_f64() {
    for robot in Oracle::ROBOTS {
        let oracle = Oracle::load(robot).unwrap();
        let worst = worst_errors(oracle.model.model(), &oracle, largest_error);
        assert_within(robot, &worst, TOLERANCE_F64);
    }
}

#[test]
fn values_and_derivatives_equal_pinocchio_in_f32() {
    for robot in Oracle::ROBOTS {
        let oracle = Oracle::load(robot).unwrap();
        let single = oracle.model.cast::<f32>();
        let worst = worst_errors(single.model(), &oracle, norm_error);
        assert_within(robot, &worst, TOLERANCE_F32);
    }
}

/// The worst relative error of each field over all states.
fn worst_errors<T: Real>(
    model: Model<'_, T>,
    oracle: &Oracle,
    error: fn(&[f64], &[f64]) -> f64,
) -> BTreeMap<&'static str, f64> {
    let mut worst = BTreeMap::new();
    for state in &oracle.states {
        let mut results = evaluate(model, state).unwrap();
        results.insert("regressor_probe", evaluate_regressor(model, state).unwrap());
        align_quaternion_signs(model, results.get_mut("integrate").unwrap(), state.get("integrate"));
        for (name, ours) in results {
            let theirs = state.get(name.trim_end_matches("_factored"));
            let worst = worst.entry(name).or_insert(0.0_f64);
            *worst = worst.max(error(&ours, theirs));
        }
    }
    worst
}

/// q and −q are the same orientation: take the sign that the figures have.
fn align_quaternion_signs<T: Real>(model: Model<'_, T>, ours: &mut [f64], theirs: &[f64]) {
    for body in model.bodies {
        let range = match body.joint {
            Joint::Spherical => body.q_range(),
            Joint::FreeFlyer => body.q_range().start + 3..body.q_range().end,
            _ => continue,
        };
        let dot: f64 = ours[range.clone()].iter().zip(&theirs[range.clone()]).map(|(a, b)| a * b).sum();
        if dot < 0.0 {
            ours[range].iter_mut().for_each(|x| *x = -*x);
        }
    }
}

fn largest_error(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(0.0, |m: f64, x| if x.is_nan() { x } else { m.max(x.abs()) })
    };
    let scale = largest(&mut theirs.iter().copied());
    largest(&mut ours.iter().zip(theirs).map(|(a, b)| a - b)) / if scale > 0.0 { scale } else { 1.0 }
}

fn norm_error(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
    let scale = norm(&mut theirs.iter().copied());
    norm(&mut ours.iter().zip(theirs).map(|(a, b)| a - b)) / if scale > 0.0 { scale } else { 1.0 }
}

fn assert_within(robot: &str, worst: &BTreeMap<&'static str, f64>, tolerance: f64) {
    let failures: Vec<_> = worst
        .iter()
        .filter(|(_, error)| error.is_nan() || **error > tolerance)
        .map(|(name, error)| format!("{name}: {error:.1e}"))
        .collect();
    assert!(failures.is_empty(), "{robot} differs from Pinocchio by more than {tolerance:e}: {failures:?}");
}
