//! One node back, against the same in full matrices.

extern crate std;
use std::vec;

use nalgebra::{DMatrix, DVector, Vector3};

use super::*;
use crate::memory::{Arena, Block};
use crate::model::configuration::Argument;
use crate::model::{BodySpec, JointSpec, ModelBuilder, OwnedModel};
use crate::mpc::MpcDims;
use crate::spatial::Inertia;
use crate::step::{StepDims, advance_jacobian};

const CONTROLS: usize = 3;
const DT_S: f64 = 0.05;
/// Of products of some hundred numbers near one, over the largest.
const TOLERANCE: f64 = 1e-12;

/// Joints of one axis and of several, in an order that has each kind before and after the other.
fn robot() -> OwnedModel<f64> {
    let joints = [
        JointSpec::free_flyer(),
        JointSpec::revolute(Vector3::x()),
        JointSpec::spherical(),
        JointSpec::free_flyer(),
        JointSpec::prismatic(Vector3::y()),
        JointSpec::planar(),
        JointSpec::revolute(Vector3::z()),
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let solid = Inertia::solid_sphere(1.0, 0.1);
    let bodies = names.into_iter().zip(joints).map(|(name, joint)| BodySpec::new(name, joint).inertia(solid));
    bodies.fold(ModelBuilder::new(), ModelBuilder::body).build().unwrap()
}

/// Numbers between −1 and 1, the same every time.
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn random(rows: usize, cols: usize, next: &mut impl FnMut() -> f64) -> DMatrix<f64> {
    DMatrix::from_fn(rows, cols, |_, _| next())
}

fn definite(n: usize, next: &mut impl FnMut() -> f64) -> DMatrix<f64> {
    let root = random(n, n, next);
    &root * root.transpose() + DMatrix::identity(n, n)
}

/// Writes an expansion.
fn expand(quadratic: &mut Quadratic<'_, f64>, gradient: &DVector<f64>, hessian: &DMatrix<f64>) {
    quadratic.clear();
    let (g, mut h) = quadratic.parts_mut();
    g.copy_from_slice(gradient.as_slice());
    for i in 0..g.len() {
        (i..g.len()).for_each(|j| h[(i, j)] = hessian[(i, j)]);
    }
}

fn assert_close(what: &str, ours: &DMatrix<f64>, dense: &DMatrix<f64>) {
    let apart = (ours - dense).amax();
    assert!(apart <= TOLERANCE * dense.amax(), "{what} is {apart:e} apart");
}

#[test]
fn going_back_equals_the_riccati_step_in_full_matrices() {
    let owned = robot();
    let model = owned.model();
    let (nv, n, m) = (model.nv(), 2 * model.nv(), 2 * model.nv() + CONTROLS);
    let step = StepDims { controls: CONTROLS, ..StepDims::of(model, 1) };
    let dims = MpcDims::new(step, 1, 1);
    let mut memory = vec![Block::EMPTY; Backward::<f64>::blocks(dims) + Quadratic::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let mut backward = Backward::carve(&mut arena, dims).unwrap();
    let mut quadratic = Quadratic::carve(&mut arena, dims).unwrap();
    backward.bounds.lower.fill(f64::NEG_INFINITY);
    backward.bounds.upper.fill(f64::INFINITY);

    let mut next = numbers();
    let (mut value, mut slope) = (definite(n, &mut next), random(n, 1, &mut next));
    let mut end = DMatrix::zeros(m, m);
    end.view_mut((0, 0), (n, n)).copy_from(&value);
    let end_slope = DVector::from_fn(m, |i, _| if i < n { slope[i] } else { 0.0 });
    expand(&mut quadratic, &end_slope, &end);
    backward.start(&quadratic);

    // Twice, so that the value function that a node leaves is used as well; then with a control that is held.
    for held in [None, None, Some((1, 0.1))] {
        if let Some((control, at)) = held {
            (backward.bounds.lower[control], backward.bounds.upper[control]) = (at, at);
        }
        let (f, v_next) = (random(nv, m, &mut next), random(nv, 1, &mut next));
        let (cost, mut cost_slope) = (definite(m, &mut next), random(m, 1, &mut next));
        // State and control apart, as the expansion has it unless a residual couples them.
        let cost = DMatrix::from_fn(m, m, |i, j| if (i < n) == (j < n) { cost[(i, j)] } else { 0.0 });
        expand(&mut quadratic, &DVector::from_column_slice(cost_slope.as_slice()), &cost);
        let stride = padded(m);
        let mut rows = vec![0.0; nv * stride];
        (0..nv).for_each(|i| (0..m).for_each(|j| rows[i * stride + j] = f[(i, j)]));
        let (mut feedforward, mut gain) = (vec![0.0; CONTROLS], vec![0.0; CONTROLS * padded(n)]);
        let demand = Demand { dt_s: DT_S, regularization: 0.0, bound_iterations: 9 };
        let answer =
            Answer { feedforward: &mut feedforward, gain: MatMut::with_stride(&mut gain, CONTROLS, n, padded(n)) };
        let rows = MatRef::with_stride(&rows, nv, m, stride);
        backward.go_back(model, (rows, v_next.as_slice()), &mut quadratic, demand, answer).unwrap();

        // ∂x⁺/∂(x, u), and with it Q.
        let part = |argument| {
            let mut part = vec![0.0; nv * nv];
            advance_jacobian(model, DT_S, v_next.as_slice(), argument, MatMut::new(&mut part, nv, nv)).unwrap();
            DMatrix::from_row_slice(nv, nv, &part)
        };
        let mut along = DMatrix::zeros(n, m);
        along.view_mut((0, 0), (nv, nv)).copy_from(&part(Argument::From));
        let moved = along.rows(0, nv) + part(Argument::To) * &f;
        along.rows_mut(0, nv).copy_from(&moved);
        along.rows_mut(nv, nv).copy_from(&f);
        let q = &cost + along.transpose() * &value * &along;
        cost_slope += along.transpose() * &slope;
        let q_ux = q.view((n, 0), (CONTROLS, n)).clone_owned();
        // The row of a control that is held says so, in place of its optimality.
        let (mut q_uu, mut right) = (q.view((n, n), (CONTROLS, CONTROLS)).clone_owned(), q_ux.clone());
        let mut right_slope = cost_slope.rows(n, CONTROLS).clone_owned();
        if let Some((control, at)) = held {
            q_uu.row_mut(control).fill(0.0);
            q_uu[(control, control)] = 1.0;
            right.row_mut(control).fill(0.0);
            right_slope[control] = -at;
        }
        let inverse = q_uu.try_inverse().unwrap();
        let (k, forward) = (-&inverse * right, -&inverse * right_slope);
        value = q.view((0, 0), (n, n)) + q_ux.transpose() * &k;
        slope = cost_slope.rows(0, n) + q_ux.transpose() * &forward;

        let ours = DMatrix::from_fn(CONTROLS, n, |i, j| gain[i * padded(n) + j]);
        assert_close("the gain", &ours, &k);
        assert_close("the feedforward", &DMatrix::from_column_slice(CONTROLS, 1, &feedforward), &forward);
        assert_close("V_x", &DMatrix::from_column_slice(n, 1, backward.value.gradient), &slope);
        let whole = backward.value.hessian();
        let ours = DMatrix::from_fn(n, n, |i, j| whole[(i, j)]);
        assert_close("V_xx", &ours, &value);
    }
}

/// A chain of hinges.
fn chain(joints: usize) -> OwnedModel<f64> {
    let names = ["a", "b", "c"];
    let hinge = |name| BodySpec::new(name, JointSpec::revolute(Vector3::y())).inertia(Inertia::solid_sphere(1.0, 0.1));
    names.into_iter().take(joints).map(hinge).fold(ModelBuilder::new(), ModelBuilder::body).build().unwrap()
}

#[test]
fn a_few_joints_go_back_to_the_same_numbers_as_many() {
    for ((nv, nu), bound) in [(1, 1), (2, 1), (2, 2), (3, 1)].into_iter().zip([f64::INFINITY, 0.05].into_iter().cycle())
    {
        let owned = chain(nv);
        let model = owned.model();
        let (n, m) = (2 * nv, 2 * nv + nu);
        let dims = MpcDims::new(StepDims { controls: nu, ..StepDims::of(model, 1) }, 1, 1);
        let mut memory = vec![Block::EMPTY; Backward::<f64>::blocks(dims) + Quadratic::<f64>::blocks(dims)];
        let mut numbers_of = |many: bool| {
            let mut arena = Arena::new(&mut memory);
            let mut backward = Backward::carve(&mut arena, dims).unwrap();
            let mut quadratic = Quadratic::carve(&mut arena, dims).unwrap();
            backward.bounds.lower.fill(-bound);
            backward.bounds.upper.fill(bound);
            let mut next = numbers();
            let demand = Demand { dt_s: DT_S, regularization: 1e-6, bound_iterations: 5 };
            let (mut feedforward, mut gain) = (vec![0.0; nu], vec![0.0; nu * padded(n)]);
            expand(&mut quadratic, &DVector::from_fn(m, |_, _| next()), &definite(m, &mut next));
            backward.start(&quadratic);
            for coupled in [false, true] {
                expand(&mut quadratic, &DVector::from_fn(m, |_, _| next()), &definite(m, &mut next));
                let mut numbers: std::vec::Vec<f64> = quadratic.gradient.to_vec();
                numbers.extend(quadratic.parts_mut().1.data_mut().iter());
                let mut quadratic = quadratic.over(&mut numbers, coupled);
                let f = random(nv, m, &mut next).transpose();
                let f = MatRef::with_stride(f.as_slice(), nv, m, m);
                let answer =
                    |feedforward, gain| Answer { feedforward, gain: MatMut::with_stride(gain, nu, n, padded(n)) };
                if many {
                    backward.add_value_of_many(model, DT_S, (f, &[0.1; 3][..nv]), &mut quadratic);
                    backward.choose_controls(&mut quadratic, demand).unwrap();
                    let Answer { feedforward, gain } = answer(&mut feedforward, &mut gain);
                    feedforward.copy_from_slice(backward.bounds.x);
                    backward.update_gradient(&quadratic);
                    backward.write_gains(gain);
                    backward.update_hessian(f, &mut quadratic);
                } else {
                    let answer = answer(&mut feedforward, &mut gain);
                    backward.go_back(model, (f, &[0.1; 3][..nv]), &mut quadratic, demand, answer).unwrap();
                }
            }
            let value = backward.value.hessian();
            let numbers = (0..n).flat_map(|i| value.row(i)).chain(&*backward.value.gradient).copied().collect();
            [numbers, feedforward, gain]
        };
        let (few, many) = (numbers_of(false), numbers_of(true));
        assert!(few[1].iter().all(|x| *x != 0.0), "{nv} joints, {nu} motors: {few:?}");
        assert_eq!(few, many, "{nv} joints, {nu} motors");
    }
}
