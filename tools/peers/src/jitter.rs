//! How even the time of a step is: a long rollout of a robot that stands under a controller and is pushed.

use std::time::Instant;

use anyhow::{Context, Result};
use saltus::memory::{Arena, Block};
use saltus::model::{Actuator, Model, Transmission};
use saltus::spatial::Force;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_loaders::{LoadOptions, load};
use saltus_testkit::Random;
use serde::Serialize;

/// The robots that are pushed.
pub const ROBOTS: [&str; 1] = ["go1"];

const CONTACTS: usize = 32;
const DT_S: f64 = 0.002;
const STEPS: usize = 10_000;
/// The same rollout again: what one run has and another has not is the machine's doing.
const RUNS: usize = 5;
/// Of the controller, N·m/rad and N·m·s/rad.
const GAINS: [f64; 2] = [50.0, 1.0];
/// A push starts this often, and lasts this long, in steps.
const PUSHED_EVERY: usize = 250;
const PUSH_STEPS: usize = 50;
/// The most of a push along each axis, N.
const PUSH_N: f64 = 30.0;

/// One robot, as it is serialized. The plain keys are those of the run in the middle, by its p99.9, on the clock.
#[derive(Serialize)]
pub struct Row {
    pub robot: String,
    pub steps: usize,
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
    pub p999_over_p50: f64,
    /// Of the fastest time that each step took in any run: without what else the machine did.
    pub undisturbed: Percentiles,
    /// Most iterations of the solver in one step.
    pub most_iterations: u16,
    /// Steps whose solver did not reach its tolerance.
    pub not_converged: usize,
}

/// Of the time of a step.
#[derive(Clone, Copy, Serialize)]
pub struct Percentiles {
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
    pub p999_over_p50: f64,
}

impl Percentiles {
    fn of(mut times_us: Vec<f64>) -> Self {
        times_us.sort_by(f64::total_cmp);
        let at = |share: f64| times_us[((times_us.len() - 1) as f64 * share).round() as usize];
        let (p50_us, p999_us) = (at(0.5), at(0.999));
        Self { p50_us, p99_us: at(0.99), p999_us, max_us: at(1.0), p999_over_p50: p999_us / p50_us }
    }
}

/// Pushes a robot around, several times in the same way.
pub fn measure(robot: &str) -> Result<Row> {
    let loaded = load(robot, &LoadOptions::default())?;
    let model = loaded.model.model();
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Simulator::<f64>::blocks(dims)];
    let mut simulator = Simulator::new(model, StepSettings::with_dt(DT_S), dims, &mut Arena::new(&mut memory))?;
    let mut run = Run { times_us: Vec::new(), most_iterations: 0, not_converged: 0 };
    let (mut fastest, mut runs) = (vec![f64::INFINITY; STEPS], Vec::new());
    for _ in 0..RUNS {
        run = roll_out(model, &mut simulator)?;
        for (fastest, time) in fastest.iter_mut().zip(&run.times_us) {
            *fastest = fastest.min(*time);
        }
        runs.push(Percentiles::of(run.times_us));
    }
    runs.sort_by(|a, b| a.p999_us.total_cmp(&b.p999_us));
    let Percentiles { p50_us, p99_us, p999_us, max_us, p999_over_p50 } = runs[RUNS / 2];
    Ok(Row {
        robot: robot.to_string(),
        steps: STEPS,
        p50_us,
        p99_us,
        p999_us,
        max_us,
        p999_over_p50,
        undisturbed: Percentiles::of(fastest),
        most_iterations: run.most_iterations,
        not_converged: run.not_converged,
    })
}

struct Run {
    times_us: Vec<f64>,
    most_iterations: u16,
    not_converged: usize,
}

/// One rollout from `rest`; the same each time.
fn roll_out(model: Model<'_, f64>, simulator: &mut Simulator<'_, '_, f64>) -> Result<Run> {
    let rest = model.find_keyframe("rest").context("the robot has no keyframe \"rest\"")?;
    let (mut control, mut wrenches) = (rest.u.to_vec(), vec![Force::ZERO; model.bodies.len()]);
    let mut random = Random::new(7);
    let mut run = Run { times_us: Vec::with_capacity(STEPS), most_iterations: 0, not_converged: 0 };
    simulator.set_keyframe(&rest)?;
    for step in 0..STEPS {
        match step % PUSHED_EVERY {
            0 => wrenches[0].linear = [(); 3].map(|()| PUSH_N * random.signed()).into(),
            PUSH_STEPS => wrenches[0] = Force::ZERO,
            _ => {}
        }
        for ((control, actuator), &held) in control.iter_mut().zip(model.actuators).zip(rest.u) {
            *control = held + feedback(model, actuator, rest.q, simulator);
        }
        let begin = Instant::now();
        let report = simulator.step_with(&control, &[], &wrenches)?;
        run.times_us.push(begin.elapsed().as_secs_f64() * 1e6);
        run.most_iterations = run.most_iterations.max(report.outcome.iterations);
        run.not_converged += usize::from(!report.is_complete());
    }
    Ok(run)
}

/// Proportional to the error of the joint and to its speed.
fn feedback(model: Model<'_, f64>, actuator: &Actuator<f64>, rest: &[f64], simulator: &Simulator<'_, '_, f64>) -> f64 {
    let Transmission::Joint { dof, .. } = actuator.transmission else { return 0.0 };
    let Some(body) = model.bodies.iter().find(|body| body.first_v == dof) else { return 0.0 };
    let (q, [stiffness, damping]) = (usize::from(body.first_q), GAINS);
    stiffness * (rest[q] - simulator.q()[q]) - damping * simulator.v()[usize::from(dof)]
}
