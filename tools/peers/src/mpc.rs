//! One iteration of the optimizer against Crocoddyl's FDDP: the same robot, weights and horizon, in turns.
//!
//! Both sides keep a robot standing. Crocoddyl is told which feet are on the ground; ours finds out, at every node, in
//! the linearization and in the trial of a full step.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{Keyframe, Model, configuration};
use saltus::mpc::{
    Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, Report, Residual, Spacing, Start, Task, Term,
};
use saltus::step::StepDims;
use saltus_loaders::{LoadOptions, load};
use saltus_testkit::Random;
use serde::{Deserialize, Serialize};

use crate::python::Program;
use crate::report::median;

/// The robots that are timed.
pub const ROBOTS: [&str; 1] = ["go1"];

const FEET: [&str; 4] = ["FR_foot", "FL_foot", "RR_foot", "RL_foot"];
const HORIZON: usize = 20;
const DT_S: f64 = 0.02;
/// Room for contacts: feet, and what else may come near.
const CONTACTS: usize = 8;
/// Of the state along the way, the controls, and the state at the end.
const WEIGHTS: [f64; 3] = [50.0, 0.05, 1.0];
/// Solves until the plan has come to rest.
const SETTLE_SOLVES: usize = 300;
/// As in `crocoddyl_mpc.py`.
const WINDOWS: usize = 11;
const CALLS: usize = 10;
/// States that a pushed robot is measured in, and how far they are from rest: m or rad, and per second.
const PUSHES: usize = 8;
const PUSH: f64 = 0.02;
const PUSH_SPEED: f64 = 0.3;
/// What two readers of the same file may leave between the mass matrices, relative to the largest entry.
const AGREEMENT: f64 = 1e-9;

/// One robot and situation, as it is serialized.
#[derive(Serialize)]
pub struct Row {
    pub robot: String,
    /// `standing`: every solve is the one before again. `pushed`: every solve starts from another state.
    pub situation: &'static str,
    pub horizon: usize,
    pub nv: usize,
    /// One iteration: linearization, backward pass, one trial.
    pub ours_us: f64,
    pub crocoddyl_us: f64,
    pub ratio: f64,
    /// Least and largest ratio of a round.
    pub ratio_range: [f64; 2],
    pub backward_us_per_node: f64,
    pub crocoddyl_backward_us_per_node: f64,
    pub backward_ratio: f64,
    /// `solve` with one iteration: the same work, and what it does around it.
    pub crocoddyl_solve_us: f64,
}

/// What the peer is asked to do.
#[derive(Serialize)]
struct Ask<'a> {
    q: &'a [f64],
    v: &'a [f64],
    u: &'a [f64],
    dt_s: f64,
    horizon: usize,
    weights: [f64; 3],
    feet: [&'a str; 4],
}

/// What it says of its robot.
#[derive(Deserialize)]
struct Ready {
    nv: usize,
    mass_matrix: Vec<f64>,
}

#[derive(Clone, Copy, Deserialize)]
struct Peer {
    iteration_us: f64,
    backward_us_per_node: f64,
    solve_us: f64,
}

#[derive(Clone, Copy)]
struct Ours {
    iteration_us: f64,
    backward_us_per_node: f64,
}

/// Times a robot that stands and one that is pushed, the sides in turns.
pub fn time(peers_dir: &Path, robot: &str, rounds: u32) -> Result<Vec<Row>> {
    let loaded = load(robot, &LoadOptions::default())?;
    let model = loaded.model.model();
    let rest = model.find_keyframe("rest").expect("every built-in robot has one");
    let mut program = Program::start(peers_dir, "crocoddyl", "crocoddyl_mpc.py", robot)?;
    let ask = Ask { q: rest.q, v: rest.v, u: rest.u, dt_s: DT_S, horizon: HORIZON, weights: WEIGHTS, feet: FEET };
    let ready: Ready = program.ask(&serde_json::to_string(&ask)?)?;
    check_same_robot(model, &rest, &ready)?;
    let at_rest = (rest.q.to_vec(), rest.v.to_vec());
    let situations = [("standing", vec![at_rest]), ("pushed", pushed(model, &rest)?)];
    let mut rows = Vec::new();
    for (situation, states) in situations {
        let mut turns = Vec::new();
        for _ in 0..rounds {
            turns.push((ours(model, &rest, &states)?, program.ask::<Peer>("")?));
        }
        rows.push(row(robot, situation, model.nv(), &turns));
    }
    Ok(rows)
}

fn row(robot: &str, situation: &'static str, nv: usize, turns: &[(Ours, Peer)]) -> Row {
    let over = |value: &dyn Fn(&(Ours, Peer)) -> f64| turns.iter().map(value).collect::<Vec<f64>>();
    let ratios = over(&|(ours, peer)| ours.iteration_us / peer.iteration_us);
    let extreme = |pick: fn(f64, f64) -> f64| ratios.iter().copied().reduce(pick).unwrap_or(f64::NAN);
    Row {
        robot: robot.to_string(),
        situation,
        horizon: HORIZON,
        nv,
        ours_us: median(over(&|(ours, _)| ours.iteration_us)),
        crocoddyl_us: median(over(&|(_, peer)| peer.iteration_us)),
        ratio_range: [extreme(f64::min), extreme(f64::max)],
        ratio: median(ratios),
        backward_us_per_node: median(over(&|(ours, _)| ours.backward_us_per_node)),
        crocoddyl_backward_us_per_node: median(over(&|(_, peer)| peer.backward_us_per_node)),
        backward_ratio: median(over(&|(ours, peer)| ours.backward_us_per_node / peer.backward_us_per_node)),
        crocoddyl_solve_us: median(over(&|(_, peer)| peer.solve_us)),
    }
}

/// The mass matrix at rest must be the same on both sides.
fn check_same_robot(model: Model<'_, f64>, rest: &Keyframe<'_, f64>, ready: &Ready) -> Result<()> {
    let nv = model.nv();
    ensure!(ready.nv == nv, "the peer's robot has {} degrees of freedom, ours {nv}", ready.nv);
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims())?;
    dynamics::update(model, rest.q, rest.v, &mut work)?;
    dynamics::mass_matrix(model, &mut work)?;
    let ours = work.mass_matrix_view(model.dims());
    let largest = ready.mass_matrix.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    for i in 0..nv {
        for j in 0..=i {
            let apart = (ours[(i, j)] - ready.mass_matrix[i * nv + j]).abs();
            ensure!(apart <= AGREEMENT * largest, "the mass matrices are {apart:e} apart at ({i}, {j})");
        }
    }
    Ok(())
}

/// States around rest.
fn pushed(model: Model<'_, f64>, rest: &Keyframe<'_, f64>) -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
    let mut random = Random::new(11);
    let mut draw = |size: f64| -> Vec<f64> { (0..model.nv()).map(|_| size * (2.0 * random.uniform() - 1.0)).collect() };
    let mut states = Vec::new();
    for _ in 0..PUSHES {
        let mut q = rest.q.to_vec();
        configuration::integrate(model, rest.q, &draw(PUSH), &mut q)?;
        states.push((q, draw(PUSH_SPEED)));
    }
    Ok(states)
}

/// One turn of ours: microseconds per solve and per node of its backward pass, in the fastest of the windows.
fn ours(model: Model<'_, f64>, rest: &Keyframe<'_, f64>, states: &[(Vec<f64>, Vec<f64>)]) -> Result<Ours> {
    let dims = MpcDims::new(StepDims::of(model, CONTACTS), HORIZON, 3);
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    // One trial, however little there is to gain.
    let settings = MpcSettings {
        spacing: Spacing::even(DT_S),
        start: Start::Gaps,
        max_iterations: 1,
        trials: 1,
        tolerance: 0.0,
        ..MpcSettings::default()
    };
    let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory))?;
    let terms = [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, WEIGHTS[0]).at_end(WEIGHTS[2]),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, WEIGHTS[0]).at_end(WEIGHTS[2]),
        Term::new(Residual::Control { reference: rest.u }, WEIGHTS[1]),
    ];
    let task = Task::new(&terms);
    mpc.reset(rest.u)?;
    let began = Instant::now();
    let clock = || Nanos(began.elapsed().as_nanos() as u64);
    let mut solve = |call: usize| -> Result<Report<f64>> {
        let (q, v) = &states[call % states.len()];
        let measured = Measured { time: Nanos(0), q, v };
        Ok(mpc.solve(&task, measured, Budget { clock: &clock, deadline: Nanos::NEVER })?)
    };
    for call in 0..SETTLE_SOLVES {
        solve(call)?;
    }
    let calls = CALLS.next_multiple_of(states.len());
    let mut fastest = Ours { iteration_us: f64::INFINITY, backward_us_per_node: f64::INFINITY };
    for _ in 0..WINDOWS {
        let begin = Instant::now();
        let mut backward_ns = 0;
        for call in 0..calls {
            backward_ns += solve(call)?.times.backward;
        }
        fastest.iteration_us = fastest.iteration_us.min(begin.elapsed().as_secs_f64() * 1e6 / calls as f64);
        let per_node = backward_ns as f64 * 1e-3 / (calls * HORIZON) as f64;
        fastest.backward_us_per_node = fastest.backward_us_per_node.min(per_node);
    }
    Ok(fastest)
}
