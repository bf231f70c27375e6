//! Linear robots with quadratic costs, where Riccati's equation and a bounded least-squares problem have the answer.

use nalgebra::{DMatrix, DVector, Vector3};
use saltus::memory::{Arena, Block};
use saltus::model::{ActuatorSpec, BodySpec, JointSpec, ModelBuilder, OwnedModel};
use saltus::mpc::{Dofs, Mpc, MpcDims, MpcSettings, Residual, Spacing, Start, Status, Task, Term};
use saltus::spatial::Inertia;
use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};

use super::{FOREVER, measured, settings};

const HORIZON: usize = 30;

/// Two carts in a row, the second on a spring to the ground, each with a motor.
fn carts(bound: f64) -> OwnedModel<f64> {
    let cart =
        |name: &str, axis| BodySpec::new(name, JointSpec::prismatic(axis)).inertia(Inertia::solid_sphere(1.5, 0.2));
    ModelBuilder::new()
        .body(cart("first", Vector3::x()).damping(0.3))
        .body(cart("second", Vector3::new(0.6, 0.8, 0.0)).parent("first").spring(4.0, 0.2))
        .actuator(ActuatorSpec::joint("first", "first").control_range(-bound, bound))
        .actuator(ActuatorSpec::joint("second", "second").control_range(-bound, bound))
        .build::<f64>()
        .unwrap()
}

/// x⁺ = A x + B u + c of a step of `dt_s`, from the step itself.
fn linear_step(robot: &OwnedModel<f64>, dt_s: f64) -> (DMatrix<f64>, DMatrix<f64>, DVector<f64>) {
    let model = robot.model();
    let dims = StepDims::of(model, 1);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims)];
    let mut work = Step::carve(&mut Arena::new(&mut memory), dims).unwrap();
    let mut at = |x: &[f64; 6]| {
        let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
        let input = StepInput::new(&x[..2], &x[2..4], &x[4..]);
        step(model, &input, &StepSettings::with_dt(dt_s), NextState { q: &mut q, v: &mut v }, &mut work).unwrap();
        DVector::from_vec(vec![q[0], q[1], v[0], v[1]])
    };
    let offset = at(&[0.0; 6]);
    let mut columns = Vec::new();
    for k in 0..6 {
        let mut x = [0.0; 6];
        x[k] = 1.0;
        columns.push(at(&x) - &offset);
    }
    let all = DMatrix::from_columns(&columns);
    (all.columns(0, 4).into(), all.columns(4, 2).into(), offset)
}

fn terms() -> [Term<'static, f64>; 3] {
    [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: &[0.5, -0.3] }, 2.0).at_end(7.0),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 0.3).at_end(1.0),
        Term::new(Residual::Control { reference: &[] }, 0.05),
    ]
}

/// Duration, A, B and c of a step.
type Linear = (f64, DMatrix<f64>, DMatrix<f64>, DVector<f64>);

/// The answer to a linear-quadratic problem.
struct Optimum {
    controls: Vec<DVector<f64>>,
    states: Vec<DVector<f64>>,
    gains: Vec<DMatrix<f64>>,
}

/// Riccati's recursion in plain matrices, from `x0`.
fn riccati(steps: &[Linear], x0: &DVector<f64>) -> Optimum {
    let goal = DVector::from_vec(vec![0.5, -0.3, 0.0, 0.0]);
    let weigh = |q: f64, v: f64| DMatrix::from_diagonal(&DVector::from_vec(vec![q, q, v, v]));
    let mut p = weigh(7.0, 1.0);
    let mut r = -(&p * &goal);
    let mut laws = Vec::new();
    for (dt_s, a, b, c) in steps.iter().rev() {
        let next = &p * c + &r;
        let h = DMatrix::identity(2, 2) * (0.05 * dt_s) + b.transpose() * &p * b;
        let inverse = h.try_inverse().unwrap();
        let gain = -(&inverse * b.transpose() * &p * a);
        let push = -(&inverse * b.transpose() * &next);
        let cost = weigh(2.0 * dt_s, 0.3 * dt_s);
        r = -(&cost * &goal) + a.transpose() * &next + a.transpose() * &p * b * &push;
        p = &cost + a.transpose() * &p * a + a.transpose() * &p * b * &gain;
        laws.push((gain, push));
    }
    laws.reverse();
    let (mut x, mut states, mut controls) = (x0.clone(), vec![x0.clone()], Vec::new());
    for ((gain, push), (_, a, b, c)) in laws.iter().zip(steps) {
        let u = gain * &x + push;
        x = a * &x + b * &u + c;
        controls.push(u);
        states.push(x.clone());
    }
    Optimum { controls, states, gains: laws.into_iter().map(|(gain, _)| gain).collect() }
}

fn planned(robot: &OwnedModel<f64>, settings: MpcSettings<f64>, check: impl Fn(&Mpc<'_, '_, f64>, Status)) {
    let model = robot.model();
    let dims = MpcDims::new(StepDims::of(model, 1), HORIZON, 3);
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
    let terms = terms();
    let report = mpc.solve(&Task::new(&terms), measured(&[0.1, 0.4], &[-0.2, 0.6]), FOREVER).unwrap();
    check(&mpc, report.status);
}

#[test]
fn one_iteration_is_riccatis_solution() {
    const TOLERANCE: f64 = 1e-10;
    let robot = carts(1e6);
    let spacing: Spacing<f64> = Spacing { first_s: 0.01, growth: 1.05 };
    let steps: Vec<_> = (0..HORIZON as i32)
        .map(|k| {
            let dt_s = spacing.first_s * spacing.growth.powi(k);
            let (a, b, c) = linear_step(&robot, dt_s);
            (dt_s, a, b, c)
        })
        .collect();
    let Optimum { controls, states, gains } = riccati(&steps, &DVector::from_vec(vec![0.1, 0.4, -0.2, 0.6]));
    for start in [Start::Rollout, Start::Gaps] {
        let mut settings = MpcSettings { spacing, start, max_iterations: 1, ..settings() };
        (settings.regularization.initial, settings.regularization.least) = (0.0, 0.0);
        planned(&robot, settings, |mpc, _| {
            let mut worst: f64 = 0.0;
            for k in 0..HORIZON {
                for i in 0..2 {
                    worst = worst.max((mpc.plan().u(k)[i] - controls[k][i]).abs());
                    worst = worst.max((mpc.plan().q(k + 1)[i] - states[k + 1][i]).abs());
                    worst = worst.max((mpc.plan().v(k + 1)[i] - states[k + 1][2 + i]).abs());
                    for j in 0..4 {
                        worst = worst.max((mpc.plan().gain(k)[(i, j)] - gains[k][(i, j)]).abs());
                    }
                }
            }
            println!("{start:?}: {worst:e}");
            assert!(worst < TOLERANCE, "{start:?}: {worst:e}");
        });
    }
}

/// The same problem as one over all controls, min ½ uᵀ H u + gᵀ u within bounds, solved by coordinate descent to
/// rounding: slow, and independent of the backward pass.
fn bounded(robot: &OwnedModel<f64>, dt_s: f64, bound: f64) -> Vec<f64> {
    let (a, b, c) = linear_step(robot, dt_s);
    let goal = DVector::from_vec(vec![0.5, -0.3, 0.0, 0.0]);
    let n = 2 * HORIZON;
    let (mut h, mut g) = (DMatrix::identity(n, n) * (0.05 * dt_s), DVector::zeros(n));
    let (mut x, mut by_u) = (DVector::from_vec(vec![0.1, 0.4, -0.2, 0.6]), DMatrix::zeros(4, n));
    for k in 0..=HORIZON {
        let (q, v) = if k == HORIZON { (7.0, 1.0) } else { (2.0 * dt_s, 0.3 * dt_s) };
        let w = DMatrix::from_diagonal(&DVector::from_vec(vec![q, q, v, v]));
        h += by_u.transpose() * &w * &by_u;
        g += by_u.transpose() * &w * (&x - &goal);
        if k < HORIZON {
            by_u = &a * &by_u;
            by_u.view_mut((0, 2 * k), (4, 2)).copy_from(&b);
            x = &a * &x + &c;
        }
    }
    let mut u = DVector::<f64>::zeros(n);
    for _ in 0..200_000 {
        let mut moved: f64 = 0.0;
        for i in 0..n {
            let slope = g[i] + h.row(i).transpose().dot(&u);
            let next = (u[i] - slope / h[(i, i)]).clamp(-bound, bound);
            moved = moved.max((next - u[i]).abs());
            u[i] = next;
        }
        if moved < 1e-15 {
            break;
        }
    }
    u.as_slice().to_vec()
}

#[test]
fn with_bounds_it_is_the_solution_of_the_quadratic_program() {
    const TOLERANCE: f64 = 1e-7; // Where the curvature is 1e-3, the cost cannot tell controls apart by less.
    let bound = 2.0;
    let robot = carts(bound);
    let expected = bounded(&robot, 0.02, bound);
    let held = expected.iter().filter(|u| u.abs() == bound).count();
    assert!(held > 5 && held < 2 * HORIZON - 5, "{held} controls at their bound do not test much");
    planned(&robot, MpcSettings { tolerance: 1e-15, ..settings() }, |mpc, status| {
        let mut worst: f64 = 0.0;
        for k in 0..HORIZON {
            for i in 0..2 {
                worst = worst.max((mpc.plan().u(k)[i] - expected[2 * k + i]).abs());
            }
        }
        println!("{status}, {held} at their bound: {worst:e}");
        assert!(worst < TOLERANCE, "{worst:e}");
    });
}
