//! One iteration of the optimizer against Crocoddyl's FDDP: the same robot, weights and horizon, in turns.
//!
//! Both sides keep a robot standing. Crocoddyl is told which feet are on the ground; ours finds out, at every node, in
//! the linearization and in the trial of a full step. Crocoddyl knows no dry friction in joints, nor other contacts than
//! those it is given: ours is timed with the prediction that the scenarios plan with, which has neither, and with the
//! whole robot, which has both.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{Keyframe, Model};
use saltus::mpc::{
    Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, Residual, Spacing, Start, Status, Task, Term, Times,
};
use saltus::step::StepDims;
use saltus_loaders::{LoadOptions, load};
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
const SETTLE_SOLVES: usize = 100;
/// Solves that are timed, each from where the plan before it leads, one step later.
const TICKS: usize = 25;
/// The same rollout again: the fastest run of each tick counts, for what disturbs only slows down.
const RUNS: usize = 8;
/// Sideways velocity of the trunk after a push of 6 N s, m/s.
const PUSH_M_S: f64 = 0.47;
/// What two readers of the same file may leave between the mass matrices, relative to the largest entry.
const AGREEMENT: f64 = 1e-9;

/// One robot and situation, as it is serialized.
#[derive(Serialize)]
pub struct Row {
    pub robot: String,
    /// Of ours: the `prediction` of the scenarios, feet and ground alone, or the `whole` robot with its dry friction.
    pub model: &'static str,
    /// `standing`, or the half second after a `pushed` robot was hit.
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
    let prediction = saltus_scenarios::prediction(robot, &loaded.model);
    let mut rows = Vec::new();
    for (name, model) in [("prediction", prediction.model()), ("whole", model)] {
        for (situation, push) in [("standing", 0.0), ("pushed", PUSH_M_S)] {
            let mut turns = Vec::new();
            for _ in 0..rounds {
                turns.push((ours(model, &rest, push)?, program.ask::<Peer>("")?));
            }
            rows.push(row(robot, (name, situation), model.nv(), &turns));
        }
    }
    Ok(rows)
}

fn row(robot: &str, (model, situation): (&'static str, &'static str), nv: usize, turns: &[(Ours, Peer)]) -> Row {
    let over = |value: &dyn Fn(&(Ours, Peer)) -> f64| turns.iter().map(value).collect::<Vec<f64>>();
    let ratios = over(&|(ours, peer)| ours.iteration_us / peer.iteration_us);
    let extreme = |pick: fn(f64, f64) -> f64| ratios.iter().copied().reduce(pick).unwrap_or(f64::NAN);
    Row {
        robot: robot.to_string(),
        model,
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

/// One turn of ours: microseconds per solve and per node of its backward pass, on average over the ticks.
fn ours(model: Model<'_, f64>, rest: &Keyframe<'_, f64>, push: f64) -> Result<Ours> {
    let mut fastest = [[u64::MAX; 2]; TICKS];
    for _ in 0..RUNS {
        for (fastest, times) in fastest.iter_mut().zip(rollout(model, rest, push)?) {
            *fastest = [fastest[0].min(times.total), fastest[1].min(times.backward)];
        }
    }
    let mean_us = |which: usize| fastest.iter().map(|tick| tick[which] as f64 * 1e-3).sum::<f64>() / TICKS as f64;
    Ok(Ours { iteration_us: mean_us(0), backward_us_per_node: mean_us(1) / HORIZON as f64 })
}

/// A robot that stands, is pushed, and follows its plans, one iteration for each step.
fn rollout(model: Model<'_, f64>, rest: &Keyframe<'_, f64>, push: f64) -> Result<[Times; TICKS]> {
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
    let budget = Budget { clock: &clock, deadline: Nanos::NEVER };
    let (mut q, mut v, mut time) = (rest.q.to_vec(), rest.v.to_vec(), Nanos(0));
    for _ in 0..SETTLE_SOLVES {
        mpc.solve(&task, Measured { time, q: &q, v: &v }, budget)?;
    }
    v[1] += push;
    let mut times = [Times::default(); TICKS];
    for tick in &mut times {
        let report = mpc.solve(&task, Measured { time, q: &q, v: &v }, budget)?;
        ensure!(report.status == Status::IterationLimit, "a solve ended with \"{}\"", report.status);
        *tick = report.times;
        q.copy_from_slice(mpc.plan().q(1));
        v.copy_from_slice(mpc.plan().v(1));
        time = time.after_s(DT_S);
    }
    Ok(times)
}
