//! The simulation step against `mj_step`: the same robot standing in the same pose, in turns.
//!
//! The peer stands under the keyframe's controls, for as long as balance lasts; ours has servos besides, because it must
//! first leave the peer's soft ground. Neither costs anything to speak of.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, configuration};
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_cli::hold::holding_motors;
use saltus_loaders::{LoadOptions, load};
use serde::Serialize;

use crate::mujoco::{Peer, Settled};
use crate::report::median;

/// The robots that are timed.
pub const ROBOTS: [&str; 6] = ["go1", "h1", "humanoid", "ur5", "half_cheetah", "atlas"];

/// Room for contacts: feet, and what else may come near.
pub const CONTACTS: usize = 32;
/// As in `mujoco_step.py`: a window starts from the settled state and is short enough to stay there.
pub const WINDOW_STEPS: usize = 100;
pub const WINDOWS: usize = 11;
/// Steps until our robot stands still: a soft ground lets it go with some penetration.
pub const SETTLE_STEPS: usize = 1000;
/// What the stiff ground of one and the soft ground of the other may leave between the settled poses, rad or m.
const AGREEMENT: f64 = 0.02;

/// One robot, as it is serialized.
#[derive(Serialize)]
pub struct Row {
    pub robot: String,
    pub nv: usize,
    pub contacts: usize,
    pub mujoco_contacts: usize,
    pub ours_us: f64,
    pub mujoco_us: f64,
    pub ratio: f64,
    /// Least and largest ratio of a round.
    pub ratio_range: [f64; 2],
    /// Largest difference between the two settled configurations, rad or m.
    pub pose_difference: f64,
    /// Iterations of our solver per step, on average.
    pub iterations: f64,
}

/// Times a robot, the sides in turns.
pub fn time(peers_dir: &Path, robot: &str, rounds: u32) -> Result<Row> {
    let (mut peer, settled) = Peer::start(peers_dir, robot)?;
    let loaded = load(robot, &LoadOptions::default())?;
    let motors = holding_motors(loaded.model.model(), &settled.q);
    let model = Model { actuators: &motors, ..loaded.model.model() };
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Simulator::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let simulator = Simulator::new(model, StepSettings::with_dt(settled.dt_s), dims, &mut arena)?;
    let mut ours = Standing::settle(simulator, &settled)?;
    let pose_difference = check_pose(model, &settled.q, ours.simulator.q())?;
    let mut turns = Vec::new();
    for _ in 0..rounds {
        turns.push([ours.round()?, peer.step_us()?]);
    }
    let over = |value: &dyn Fn(&[f64; 2]) -> f64| turns.iter().map(value).collect::<Vec<f64>>();
    let ratios = over(&|[ours, peer]| ours / peer);
    let extreme = |pick: fn(f64, f64) -> f64| ratios.iter().copied().reduce(pick).unwrap_or(f64::NAN);
    Ok(Row {
        robot: robot.to_string(),
        nv: model.nv(),
        contacts: ours.contacts,
        mujoco_contacts: settled.contacts,
        ours_us: median(over(&|turn| turn[0])),
        mujoco_us: median(over(&|turn| turn[1])),
        ratio_range: [extreme(f64::min), extreme(f64::max)],
        ratio: median(ratios),
        pose_difference,
        iterations: ours.iterations,
    })
}

/// A simulator whose robot stands.
struct Standing<'m, 'a> {
    simulator: Simulator<'m, 'a, f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    control: Vec<f64>,
    contacts: usize,
    iterations: f64,
}

impl<'m, 'a> Standing<'m, 'a> {
    /// Goes on from where the peer settled until the robot stands by our laws.
    fn settle(mut simulator: Simulator<'m, 'a, f64>, settled: &Settled) -> Result<Self> {
        simulator.set_state(&settled.q, &settled.v)?;
        for _ in 0..SETTLE_STEPS {
            simulator.step(&settled.control)?;
        }
        let (q, v, control) = (simulator.q().to_vec(), simulator.v().to_vec(), settled.control.clone());
        let mut standing = Self { simulator, q, v, control, contacts: 0, iterations: 0.0 };
        standing.count()?;
        Ok(standing)
    }

    /// Contacts and iterations over a window.
    fn count(&mut self) -> Result<()> {
        self.simulator.set_state(&self.q, &self.v)?;
        let mut iterations = 0;
        for _ in 0..WINDOW_STEPS {
            let report = self.simulator.step(&self.control)?;
            (self.contacts, iterations) = (report.detected.kept, iterations + u32::from(report.outcome.iterations));
        }
        self.iterations = f64::from(iterations) / WINDOW_STEPS as f64;
        Ok(())
    }

    /// Microseconds per step in the fastest of the windows: what disturbs only slows down. A window's first step starts
    /// cold.
    fn round(&mut self) -> Result<f64> {
        let mut window = || -> Result<f64> {
            self.simulator.set_state(&self.q, &self.v)?;
            let begin = Instant::now();
            for _ in 0..WINDOW_STEPS {
                self.simulator.step(std::hint::black_box(&self.control))?;
            }
            Ok(begin.elapsed().as_secs_f64() * 1e6 / WINDOW_STEPS as f64)
        };
        window()?;
        (0..WINDOWS).try_fold(f64::INFINITY, |fastest, _| Ok(fastest.min(window()?)))
    }
}

/// Largest difference between two settled configurations; an error if they are not the same pose.
pub fn check_pose(model: Model<'_, f64>, a: &[f64], b: &[f64]) -> Result<f64> {
    let mut between = vec![0.0; model.nv()];
    configuration::difference(model, a, b, &mut between).context("the peer's state does not fit the model")?;
    let largest = between.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    ensure!(
        largest <= AGREEMENT,
        "the settled poses are {largest:.3} apart: the two sides would time different things"
    );
    Ok(largest)
}
