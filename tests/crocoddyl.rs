//! Smooth problems end at the optimum that Crocoddyl's FDDP finds; `tools/peers/crocoddyl_oracles.py` wrote the figures.

use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::kinematics::Target;
use saltus::memory::{Arena, Block};
use saltus::model::{ActuatorSpec, BodySpec, JointSpec, Model, ModelBuilder, OwnedModel};
use saltus::mpc::{
    Budget, Dofs, Measured, Moving, Mpc, MpcDims, MpcSettings, Nanos, Residual, Spacing, Status, Stopped, Task, Term,
};
use saltus::spatial::{Inertia, Symmetric3};
use saltus::step::{StepDims, StepSettings};
use saltus_testkit::builtin_robot;
use serde_json::Value;

/// Relative, of the cost. Both sides go on until nothing more is promised; 1e-6 is asked for, 2e-14 was measured.
const COST: f64 = 1e-9;
/// Relative, of controls and states: a cost that is flat to 1e-12 at its optimum fixes them to its square root.
const OPTIMUM: f64 = 1e-4;
const ITERATIONS: u16 = 1000;

fn figures(problem: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracles/crocoddyl.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all[problem].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// A term with its weights along the way and at the end.
fn term<'t>(residual: Residual<'t, f64>, weights: &Value) -> Term<'t, f64> {
    Term::new(residual, number(&weights[0])).at_end(number(&weights[1]))
}

/// Solves a problem from the controls that hold the robot, and compares where it ends.
fn check(model: Model<'_, f64>, figures: &Value, terms: &[Term<'_, f64>]) {
    let horizon = number(&figures["horizon"]) as usize;
    let dims = MpcDims::new(StepDims::of(model, 1), horizon, terms.len());
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let settings = MpcSettings {
        step: StepSettings { gradient: Gradient::Exact, ..StepSettings::default() },
        spacing: Spacing::even(number(&figures["dt_s"])),
        max_iterations: ITERATIONS,
        trials: 10,
        tolerance: 1e-14,
        ..MpcSettings::default()
    };
    let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
    mpc.reset(&numbers(&figures["hold"])).unwrap();
    let (q, v) = (numbers(&figures["q"]), numbers(&figures["v"]));
    let measured = Measured { time: Nanos(0), q: &q, v: &v };
    let budget = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };
    let report = mpc.solve(&Task::new(terms), measured, budget).unwrap();
    let expected = number(&figures["cost"]);
    println!("{} after {} iterations: {} and {expected}", report.status, report.iterations, report.cost);
    assert_eq!(report.status, Status::Converged);
    assert!((report.cost - expected).abs() <= COST * expected, "{} is not {expected}", report.cost);
    let plan = mpc.plan();
    let last_state = [plan.q(horizon), plan.v(horizon)].concat();
    for (ours, theirs) in
        [(plan.u(0), numbers(&figures["first_control"])), (&last_state, numbers(&figures["last_state"]))]
    {
        let size = theirs.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!((ours - theirs).abs() <= OPTIMUM * size, "{ours} is not {theirs}");
        }
    }
}

fn cartpole(figures: &Value) -> OwnedModel<f64> {
    let [cart, mass, length] = ["cart_kg", "pole_kg", "pole_m"].map(|name| number(&figures[name]));
    let about_center = mass * length * length / 12.0;
    let moment = Symmetric3::diagonal(about_center, about_center, 1e-4);
    let pole = Inertia::new(mass, Vector3::new(0.0, 0.0, 0.5 * length), moment);
    let cart = Inertia::new(cart, Vector3::zeros(), Symmetric3::diagonal(1.0, 1.0, 1.0));
    ModelBuilder::new()
        .body(BodySpec::new("cart", JointSpec::prismatic(Vector3::x())).inertia(cart))
        .body(BodySpec::new("pole", JointSpec::revolute(Vector3::y())).parent("cart").inertia(pole))
        .actuator(ActuatorSpec::joint("cart", "cart"))
        .build()
        .unwrap()
}

#[test]
fn a_cart_pole_swings_up_at_the_cost_that_crocoddyl_finds() {
    let figures = figures("cartpole");
    let robot = cartpole(&figures);
    let (goal, weights) = (numbers(&figures["q_goal"]), &figures["weights"]);
    let terms = [
        term(Residual::Posture { dofs: Dofs::ALL, reference: &goal }, &weights["posture"]),
        term(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, &weights["velocity"]),
        Term::new(Residual::Control { reference: &[] }, number(&weights["control"])),
    ];
    check(robot.model(), &figures, &terms);
}

#[test]
fn an_arm_reaches_out_at_the_cost_that_crocoddyl_finds() {
    let figures = figures("ur5");
    let robot = builtin_robot("ur5");
    let model = robot.model();
    let (q, hold, weights) = (numbers(&figures["q"]), numbers(&figures["hold"]), &figures["weights"]);
    let tool = Residual::Position {
        target: Target::Frame(model.find_frame("tool").unwrap()),
        reference: Moving::still(Vector3::from_vec(numbers(&figures["tool"]))),
        axes: [1.0; 3],
    };
    let terms = [
        term(Residual::Posture { dofs: Dofs::ALL, reference: &q }, &weights["posture"]),
        term(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, &weights["velocity"]),
        Term::new(Residual::Control { reference: &hold }, number(&weights["control"])),
        term(tool, &weights["tool"]),
    ];
    check(model, &figures, &terms);
}
