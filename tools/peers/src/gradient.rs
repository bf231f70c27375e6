//! The Jacobian of the step against MuJoCo's finite differences (`mjd_transitionFD`) and against its step, in turns.
//!
//! Differences are centred, as whoever wants their accuracy takes them; one-sided ones, at half the price, are timed too.
//! The robots stand as in [`step`](crate::step), contacts included. Ours is the time of `differentiate` after a step,
//! which it needs; that step is timed apart.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use saltus::derivatives::{Derivatives, differentiate};
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};
use saltus_cli::hold::holding_motors;
use saltus_loaders::{LoadOptions, load};
use serde::Serialize;

use crate::mujoco::{Peer, Settled};
use crate::report::median;
use crate::step::{CONTACTS, SETTLE_STEPS, WINDOW_STEPS, WINDOWS, check_pose};

/// One robot, as it is serialized.
#[derive(Serialize)]
pub struct Row {
    pub robot: String,
    pub nv: usize,
    pub contacts: usize,
    pub ours_us: f64,
    pub ours_step_us: f64,
    /// By centred differences.
    pub mujoco_fd_us: f64,
    /// By one-sided differences.
    pub mujoco_fd_one_sided_us: f64,
    pub mujoco_step_us: f64,
    pub ratio_fd: f64,
    pub ratio_fd_one_sided: f64,
    pub ratio_step: f64,
    /// Against our own step.
    pub ratio_own_step: f64,
}

/// Of one turn, microseconds.
struct Turn {
    ours: f64,
    ours_step: f64,
    peer_fd: f64,
    peer_fd_one_sided: f64,
    peer_step: f64,
}

/// Times a robot, the sides in turns.
pub fn time(peers_dir: &Path, robot: &str, rounds: u32) -> Result<Row> {
    let (mut peer, settled) = Peer::start(peers_dir, robot)?;
    let loaded = load(robot, &LoadOptions::default())?;
    let motors = holding_motors(loaded.model.model(), &settled.q);
    let model = Model { actuators: &motors, ..loaded.model.model() };
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let (work, jacobian) = (Step::carve(&mut arena, dims)?, Derivatives::carve(&mut arena, dims)?);
    let mut ours = Standing::settle(model, &settled, work, jacobian)?;
    check_pose(model, &settled.q, &ours.q)?;
    let mut turns = Vec::new();
    for _ in 0..rounds {
        let [ours_step, ours] = ours.round()?;
        turns.push(Turn {
            ours,
            ours_step,
            peer_fd: peer.gradient_us()?,
            peer_fd_one_sided: peer.one_sided_gradient_us()?,
            peer_step: peer.step_us()?,
        });
    }
    let over = |value: &dyn Fn(&Turn) -> f64| median(turns.iter().map(value).collect());
    Ok(Row {
        robot: robot.to_string(),
        nv: model.nv(),
        contacts: ours.work.collision.contacts().len(),
        ours_us: over(&|turn| turn.ours),
        ours_step_us: over(&|turn| turn.ours_step),
        mujoco_fd_us: over(&|turn| turn.peer_fd),
        mujoco_fd_one_sided_us: over(&|turn| turn.peer_fd_one_sided),
        mujoco_step_us: over(&|turn| turn.peer_step),
        ratio_fd: over(&|turn| turn.ours / turn.peer_fd),
        ratio_fd_one_sided: over(&|turn| turn.ours / turn.peer_fd_one_sided),
        ratio_step: over(&|turn| turn.ours / turn.peer_step),
        ratio_own_step: over(&|turn| turn.ours / turn.ours_step),
    })
}

/// A robot that stands.
struct Standing<'m, 'a> {
    model: Model<'m, f64>,
    settings: StepSettings<f64>,
    work: Step<'a, f64>,
    jacobian: Derivatives<'a, f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    control: Vec<f64>,
}

impl<'m, 'a> Standing<'m, 'a> {
    /// Goes on from where the peer settled until the robot stands by our laws.
    fn settle(
        model: Model<'m, f64>,
        settled: &Settled,
        work: Step<'a, f64>,
        jacobian: Derivatives<'a, f64>,
    ) -> Result<Self> {
        let (settings, control) = (StepSettings::with_dt(settled.dt_s), settled.control.clone());
        let (q, v) = (settled.q.clone(), settled.v.clone());
        let mut standing = Self { model, settings, work, jacobian, q, v, control };
        let (mut q, mut v) = (settled.q.clone(), settled.v.clone());
        for _ in 0..SETTLE_STEPS {
            standing.go_on(&mut q, &mut v)?;
        }
        (standing.q, standing.v) = (q, v);
        Ok(standing)
    }

    /// One step and its Jacobian; the time of each.
    fn go_on(&mut self, q: &mut [f64], v: &mut [f64]) -> Result<[Duration; 2]> {
        let Self { model, settings, work, jacobian, control, .. } = self;
        let (q_before, v_before) = (q.to_vec(), v.to_vec());
        let input = StepInput::new(&q_before, &v_before, control);
        let begin = Instant::now();
        step(*model, std::hint::black_box(&input), settings, NextState { q, v }, work)?;
        let middle = Instant::now();
        differentiate(*model, std::hint::black_box(&input), settings, work, jacobian)?;
        Ok([middle - begin, middle.elapsed()])
    }

    /// Microseconds per step and per Jacobian, each in the fastest of the windows.
    fn round(&mut self) -> Result<[f64; 2]> {
        let mut fastest = [f64::INFINITY; 2];
        for _ in 0..WINDOWS {
            let (mut q, mut v, mut window) = (self.q.clone(), self.v.clone(), [Duration::ZERO; 2]);
            self.work.forget();
            for _ in 0..WINDOW_STEPS {
                let took = self.go_on(&mut q, &mut v)?;
                window = [window[0] + took[0], window[1] + took[1]];
            }
            for (fastest, window) in fastest.iter_mut().zip(window) {
                *fastest = fastest.min(window.as_secs_f64() * 1e6 / WINDOW_STEPS as f64);
            }
        }
        Ok(fastest)
    }
}
