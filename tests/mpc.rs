//! The optimizer against textbook answers, differences, and hostile input.

mod linear_quadratic;

use std::cell::Cell;

use nalgebra::Vector3;
use saltus::contact::GaussSeidel;
use saltus::derivatives::Gradient;
use saltus::kinematics::Target;
use saltus::memory::{Arena, Block};
use saltus::model::{GeometryId, Model, OwnedModel, configuration};
use saltus::mpc::{
    Budget, Clock, Dofs, Measured, Moving, Mpc, MpcDims, MpcError, MpcSettings, Nanos, Residual, Spacing, Start,
    Status, Stopped, Task, Term,
};
use saltus::step::{StepDims, StepSettings};
use saltus_cli::states;
use saltus_loaders::{LoadOptions, load};

const FOREVER: Budget<'static, Stopped> = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };

fn robot(name: &str) -> OwnedModel<f64> {
    load(name, &LoadOptions::default()).unwrap().model
}

fn settings() -> MpcSettings<f64> {
    MpcSettings {
        step: StepSettings { gradient: Gradient::Exact, ..StepSettings::default() },
        spacing: Spacing::even(0.02),
        max_iterations: 100,
        ..MpcSettings::default()
    }
}

fn measured<'s>(q: &'s [f64], v: &'s [f64]) -> Measured<'s, f64> {
    Measured { time: Nanos(0), q, v }
}

/// One of every residual that concerns the robot's motion; `floor` is a geometry that is touched.
fn every_residual<'m>(model: Model<'m, f64>, floor: Option<GeometryId>) -> Vec<(&'static str, Residual<'m, f64>)> {
    let foot = (0..model.frames.len()).last().map(|k| Target::Frame(saltus::model::FrameId::new(k as u16)));
    let body = Target::Body(model.body_ids().last().unwrap());
    let target = foot.unwrap_or(body);
    let reference = model.keyframe(0).unwrap();
    let moving = Moving { start: Vector3::new(0.1, -0.2, 0.3), rate: Vector3::new(1.0, 0.0, 0.5) };
    let mut all = vec![
        ("posture", Residual::Posture { dofs: Dofs::ALL, reference: reference.q }),
        ("velocity", Residual::Velocity { dofs: Dofs::new(1, 2), reference: &[] }),
        ("control", Residual::Control { reference: reference.u }),
        ("position", Residual::Position { target, reference: moving, axes: [1.0, 2.0, 3.0] }),
        (
            "orientation",
            Residual::Orientation {
                target: body,
                reference: [0.1, 0.2, 0.3, 0.927_361_849_549_570_4],
                axes: [1.0, 2.0, 0.5],
            },
        ),
        ("point velocity", Residual::PointVelocity { target, reference: moving.rate, axes: [1.0, 2.0, 3.0] }),
        ("center of mass", Residual::CenterOfMass { reference: moving, axes: [1.0, 2.0, 3.0] }),
        ("momentum", Residual::Momentum { reference: [0.1; 6], axes: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] }),
        ("slip", Residual::Slip { target, ground_m: -0.02, fade_m: 0.05 }),
        ("clearance", Residual::Clearance { target, ground_m: 0.0, height_m: 3.0 }),
        ("position limits", Residual::PositionLimits { margin: 0.7 }),
        ("velocity limits", Residual::VelocityLimits { margin: 0.5 }),
    ];
    if let Some(geometry) = floor {
        all.push(("normal force", Residual::NormalForce { geometry, reference_n: 10.0 }));
    }
    all
}

/// Largest difference of a gradient to central differences of the cost, over the largest entry.
#[test]
fn gradients_of_every_residual_equal_differences_of_its_cost() {
    /// What central differences of 1e-6 leave, relative to the largest entry of the gradient.
    const TOLERANCE: f64 = 2e-6;
    const STEP: f64 = 1e-6;
    for name in ["go1", "ur5", "hopper", "quadrotor"] {
        let owned = robot(name);
        let model = owned.model();
        let floor = model.find_geometry("floor");
        let dims = MpcDims::new(StepDims::of(model, 16), 1, 1);
        let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
        let mut mpc = Mpc::new(model, settings(), dims, &mut Arena::new(&mut memory)).unwrap();
        for (what, residual) in every_residual(model, floor) {
            let terms = [Term::new(residual, 1.0)];
            let task = Task::new(&terms);
            let mut worst: f64 = 0.0;
            for state in states::sample(model, StepSettings::default(), 12, 7).unwrap() {
                let n = model.nv();
                let (_, quadratic) = mpc.expand(&task, measured(&state.q, &state.v), &state.u, 0.01).unwrap();
                let gradient = quadratic.gradient.to_vec();
                let size = gradient.iter().fold(1e-3_f64, |most, g| most.max(g.abs()));
                for (k, &slope) in gradient.iter().enumerate() {
                    let mut value = |sign: f64| {
                        let (mut q, mut v, mut u) = (state.q.clone(), state.v.clone(), state.u.clone());
                        if k < n {
                            let mut change = vec![0.0; n];
                            change[k] = sign * STEP;
                            configuration::integrate(model, &state.q, &change, &mut q).unwrap();
                        } else if k < 2 * n {
                            v[k - n] += sign * STEP;
                        } else {
                            u[k - 2 * n] += sign * STEP;
                        }
                        mpc.expand(&task, measured(&q, &v), &u, 0.01).unwrap().0
                    };
                    let difference = (value(1.0) - value(-1.0)) / (2.0 * STEP);
                    worst = worst.max((difference - slope).abs() / size);
                }
            }
            println!("{name:<10} {what:<16} {worst:.1e}");
            // A force has kinks where contacts change their mode; it has a test of its own.
            if what != "normal force" {
                assert!(worst < TOLERANCE, "{name} {what}: {worst:e}");
            }
        }
    }
}

#[test]
fn a_cart_pole_swings_up() {
    let owned = robot("cartpole");
    let model = owned.model();
    let (rest, upright) = (model.find_keyframe("rest").unwrap(), model.find_keyframe("upright").unwrap());
    let terms = [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: upright.q }, 1.0).at_end(100.0),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 0.1).at_end(10.0),
        Term::new(Residual::Control { reference: &[] }, 0.01),
    ];
    let dims = MpcDims::new(StepDims::of(model, 1), 100, 3);
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let settings = MpcSettings { max_iterations: 300, spacing: Spacing::even(0.03), ..settings() };
    let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
    let report = mpc.solve(&Task::new(&terms), measured(rest.q, rest.v), FOREVER).unwrap();
    println!("{report:?}");
    let end = mpc.plan().q(100);
    assert!(end[1].abs() < 0.05 && end[0].abs() < 0.5, "{end:?}");
    assert!((0..100).all(|k| mpc.plan().u(k)[0].abs() <= 10.0));
}

/// Where feet stick or slide, with exact gradients and four points at the most, the force on the ground has a derivative.
#[test]
fn gradients_of_the_normal_force_equal_differences_inside_a_mode() {
    /// A force is an impulse over the step: rounding grows by as much.
    const TOLERANCE: f64 = 1e-5;
    const STEP: f64 = 1e-7;
    let owned = robot("go1");
    let model = owned.model();
    let dims = MpcDims::new(StepDims::of(model, 16), 1, 1);
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let mut mpc = Mpc::new(model, settings(), dims, &mut Arena::new(&mut memory)).unwrap();
    let rest = model.find_keyframe("rest").unwrap();
    let foot = model.find_geometry("FR_foot").unwrap();
    let terms = [Term::new(Residual::NormalForce { geometry: foot, reference_n: 10.0 }, 1.0)];
    let task = Task::new(&terms);
    for speed in [0.0, 0.3] {
        let mut v = rest.v.to_vec();
        (v[0], v[1]) = (speed, 0.5 * speed);
        let mut q = rest.q.to_vec();
        q[2] -= 1e-4; // Off the edge of the rest band.
        let (value, quadratic) = mpc.expand(&task, measured(&q, &v), rest.u, 0.01).unwrap();
        let gradient = quadratic.gradient.to_vec();
        let size = gradient.iter().fold(1e-3_f64, |most, g| most.max(g.abs()));
        let n = model.nv();
        let mut worst: f64 = 0.0;
        for (k, &slope) in gradient.iter().enumerate() {
            let mut cost = |step: f64| {
                let (mut q1, mut v1, mut u1) = (q.clone(), v.clone(), rest.u.to_vec());
                if k < n {
                    let mut change = vec![0.0; n];
                    change[k] = step;
                    configuration::integrate(model, &q, &change, &mut q1).unwrap();
                } else if k < 2 * n {
                    v1[k - n] += step;
                } else {
                    u1[k - 2 * n] += step;
                }
                mpc.expand(&task, measured(&q1, &v1), &u1, 0.01).unwrap().0
            };
            let difference = (cost(STEP) - cost(-STEP)) / (2.0 * STEP);
            worst = worst.max((difference - slope).abs() / size);
        }
        println!("speed {speed}: cost {value:.3}, largest entry {size:.1e}, error {worst:.1e}");
        assert!(worst < TOLERANCE, "speed {speed}: {worst:e}");
    }
}

/// A clock that moves on by one with every look at it, and counts them.
struct Counting(Cell<u64>);

impl Clock for Counting {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos(self.0.get())
    }
}

/// Looks at the clock within the work of one node: what may still be done after the deadline.
const LOOKS_PER_NODE: u64 = 16;

#[test]
fn a_deadline_at_any_moment_ends_the_solve_within_one_node_and_leaves_a_whole_plan() {
    let owned = robot("cartpole");
    let model = owned.model();
    let (start, upright) = ([0.1, 2.5], model.find_keyframe("upright").unwrap());
    let terms = [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: upright.q }, 1.0).at_end(5.0),
        Term::new(Residual::Control { reference: &[] }, 0.1),
    ];
    let (task, horizon) = (Task::new(&terms), 6);
    let dims = MpcDims::new(StepDims::of(model, 1), horizon, 2);
    let solve = |deadline: u64| {
        let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
        let settings = MpcSettings { max_iterations: 3, tolerance: 0.0, ..settings() };
        let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
        let clock = Counting(Cell::new(0));
        let budget = Budget { clock: &clock, deadline: Nanos(deadline) };
        let report = mpc.solve(&task, measured(&start, &[0.0; 2]), budget).unwrap();
        let controls: Vec<f64> = (0..horizon).flat_map(|k| mpc.plan().u(k).to_vec()).collect();
        let states: Vec<f64> = (0..=horizon).flat_map(|k| [mpc.plan().q(k), mpc.plan().v(k)].concat()).collect();
        (report.status, clock.0.get(), (controls, states))
    };
    let (status, looks, last) = solve(u64::MAX);
    assert_eq!(status, Status::IterationLimit);
    let mut plans: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for deadline in 0..looks - 1 {
        let (status, used, plan) = solve(deadline);
        if status == Status::DeadlineReached {
            assert!(used <= deadline.max(1) + LOOKS_PER_NODE, "deadline {deadline}, {used} looks at the clock");
        }
        if plans.last() != Some(&plan) {
            plans.push(plan);
        }
    }
    // The start, the first rollout, and one plan for each iteration: never anything between them.
    println!("{looks} looks at the clock, {} plans", plans.len());
    assert_eq!(plans.len(), 5);
    assert_eq!(plans.last(), Some(&last));
}

#[test]
fn a_deadline_ends_a_contact_problem_between_its_iterations() {
    /// Of one contact problem: more than all other looks at the clock in a solve.
    const SWEEPS: u16 = 1000;
    let owned = robot("go1");
    let model = owned.model();
    let rest = model.find_keyframe("rest").unwrap();
    let terms = [Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, 1.0)];
    let dims = MpcDims::new(StepDims::of(model, 8), 2, 1);
    let settings = settings().with_solver(GaussSeidel { tolerance: 0.0, max_sweeps: SWEEPS });
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
    let deadline = u64::from(SWEEPS) / 2;
    let clock = Counting(Cell::new(0));
    let budget = Budget { clock: &clock, deadline: Nanos(deadline) };
    let report = mpc.solve(&Task::new(&terms), measured(rest.q, rest.v), budget).unwrap();
    assert_eq!(report.status, Status::DeadlineReached);
    assert!(clock.0.get() <= deadline + LOOKS_PER_NODE, "{} looks at the clock", clock.0.get());
}

#[test]
fn control_rates_are_weighed_as_the_quadratic_program_has_it() {
    /// Where the promised decrease ends below rounding.
    const TOLERANCE: f64 = 1e-6;
    let rate = Residual::ControlRate;
    let smooth = linear_quadratic::with_rate(rate, 2e-5);
    println!("{smooth:e}");
    assert!(smooth < TOLERANCE, "{smooth:e}");
}

/// A step that is taken untried is the one of a trial up to what is not linear: half of the way, a quarter of the error.
#[test]
fn an_untried_step_leads_where_a_trial_does_to_first_order() {
    // Joints of one axis, and a free body whose axes turn.
    for name in ["cartpole", "quadrotor"] {
        let owned = robot(name);
        let model = owned.model();
        let hover = model.find_keyframe(if name == "quadrotor" { "hover" } else { "upright" }).unwrap();
        let terms = [
            Term::new(Residual::Posture { dofs: Dofs::ALL, reference: hover.q }, 1.0).at_end(5.0),
            Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 0.1).at_end(1.0),
            Term::new(Residual::Control { reference: hover.u }, 0.1),
        ];
        let dims = MpcDims::new(StepDims::of(model, 4), 10, terms.len());
        let step_to = |trials: u16, away: f64| {
            let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
            let settings = MpcSettings { max_iterations: 1, trials, ..settings() };
            let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
            mpc.reset(hover.u).unwrap();
            let (mut q, change) = (hover.q.to_vec(), vec![away; model.nv()]);
            configuration::integrate(model, hover.q, &change, &mut q).unwrap();
            let v: Vec<f64> = (0..model.nv()).map(|k| away * (1.0 + k as f64)).collect();
            let report = mpc.solve(&Task::new(&terms), measured(&q, &v), FOREVER).unwrap();
            assert_eq!(report.step_length, 1.0, "{name}: {report:?}");
            let plan = mpc.plan();
            (1..=10).flat_map(|k| [plan.q(k), plan.v(k)].concat()).collect::<Vec<f64>>()
        };
        let apart = |away: f64| {
            let (tried, untried) = (step_to(1, away), step_to(0, away));
            tried.iter().zip(&untried).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
        };
        let (far, near) = (apart(2e-3), apart(1e-3));
        assert!(far > 0.0 && near < 0.3 * far, "{name}: {far:e} {near:e}");
        assert!(far < 1e-3, "{name}: {far:e}");
    }
}

/// What a step taken untried is worth shows when the next solve follows it.
#[test]
fn solves_without_trials_end_at_the_plan_of_those_with_trials() {
    let owned = robot("cartpole");
    let model = owned.model();
    let upright = model.find_keyframe("upright").unwrap();
    let terms = [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: upright.q }, 1.0).at_end(10.0),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 0.02).at_end(0.5),
        Term::new(Residual::Control { reference: &[] }, 0.01),
    ];
    let (q, v) = ([0.1, 0.2], [0.0, -0.2]);
    let dims = MpcDims::new(StepDims::of(model, 1), 40, 3);
    let solve = |settings: MpcSettings<f64>, dims: MpcDims, times: usize| {
        let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
        let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
        (0..times).map(|_| mpc.solve(&Task::new(&terms), measured(&q, &v), FOREVER)).last().unwrap()
    };
    let base = MpcSettings { max_iterations: 1, ..settings() };
    for start in [Start::Rollout, Start::Gaps] {
        let untried = MpcSettings { trials: 0, start, ..base };
        let (tried, untried) = (solve(base, dims, 30).unwrap(), solve(untried, dims, 30).unwrap());
        assert_eq!((tried.status, untried.status), (Status::Converged, Status::Converged));
        assert!((untried.cost - tried.cost).abs() < 1e-8 * tried.cost, "{} {}", untried.cost, tried.cost);
    }
    let refused = solve(MpcSettings { trials: 0, ..base }, dims.without_kept_nodes(), 1);
    assert_eq!(refused.unwrap_err(), MpcError::Untried);
}
