//! States of a robot in every mode: what it meets when it is driven at random.

use anyhow::Result;
use saltus::memory::{Arena, Block};
use saltus::model::{Model, configuration};
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_testkit::Random;
use serde::Deserialize;

/// Configuration, velocity and controls.
#[derive(Clone, Debug, Deserialize)]
pub struct State {
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// Controls; may be left out.
    #[serde(default)]
    pub u: Vec<f64>,
}

/// Contact points that a sampled step has room for.
pub const CONTACTS: usize = 48;
/// Steps of one rollout, and the most between two states that are kept.
const ROLLOUT_STEPS: usize = 400;
const STEPS_APART: f64 = 30.0;
/// Steps for which a control is held.
const CONTROL_STEPS: usize = 10;
/// Share of the control range that the rollouts use, one after the other.
const EFFORTS: [f64; 6] = [0.05, 0.1, 0.3, 0.6, 0.9, 0.0];
/// The robot as an MJCF file places it, often in the ground: used when there is no other keyframe.
const AS_PLACED: &str = "qpos0";
/// Every third rollout starts off its keyframe by so much, in m or rad and per second.
const OFFSET: f64 = 0.01;
const SPEED: f64 = 0.5;

/// `count` states from rollouts of `ROLLOUT_STEPS` steps with random controls, each from the next keyframe; the same
/// seed gives the same states.
///
/// Rollouts differ in how hard the motors pull. Every third one starts with joints and velocities off the keyframe, so
/// that penetrations and joint limits occur too. A robot without keyframes starts from random configurations.
pub fn sample(model: Model<'_, f64>, settings: StepSettings<f64>, count: usize, seed: u64) -> Result<Vec<State>> {
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Simulator::<f64>::blocks(dims)];
    let mut simulator = Simulator::new(model, settings, dims, &mut Arena::new(&mut memory))?;
    let mut random = Random::new(seed);
    let mut states = Vec::with_capacity(count);
    let mut rollout = 0;
    while states.len() < count {
        let (q, v) = start(model, rollout, &mut random)?;
        simulator.set_state(&q, &v)?;
        let effort = EFFORTS[rollout % EFFORTS.len()];
        let (mut u, mut until_kept) = (vec![0.0; model.nu()], 0);
        for step in 0..ROLLOUT_STEPS {
            if step % CONTROL_STEPS == 0 {
                draw_controls(model, effort, &mut random, &mut u);
            }
            if until_kept == 0 && states.len() < count {
                states.push(State { q: simulator.q().to_vec(), v: simulator.v().to_vec(), u: u.clone() });
                until_kept = 1 + (random.uniform() * STEPS_APART) as usize;
            }
            until_kept = until_kept.saturating_sub(1);
            if simulator.step(&u).is_err() {
                break;
            }
        }
        rollout += 1;
    }
    Ok(states)
}

fn start(model: Model<'_, f64>, rollout: usize, random: &mut Random) -> Result<(Vec<f64>, Vec<f64>)> {
    let all = || (0..).map_while(|k| Some((model.keyframe_name(k), model.keyframe(k)?)));
    let mut keyframes: Vec<_> = all().filter(|(name, _)| *name != AS_PLACED).collect();
    if keyframes.is_empty() {
        keyframes = all().collect();
    }
    let Some((_, keyframe)) = rollout.checked_rem(keyframes.len()).map(|k| keyframes[k]) else {
        return Ok((random.configuration(model), vec![0.0; model.nv()]));
    };
    if rollout % 3 != 2 {
        return Ok((keyframe.q.to_vec(), keyframe.v.to_vec()));
    }
    let offset: Vec<f64> = random.vector(model.nv()).iter().map(|x| OFFSET * x).collect();
    let mut q = vec![0.0; model.nq()];
    configuration::integrate(model, keyframe.q, &offset, &mut q)?;
    let v = keyframe.v.iter().map(|v| v + SPEED * random.signed()).collect();
    Ok((q, v))
}

fn draw_controls(model: Model<'_, f64>, effort: f64, random: &mut Random, u: &mut [f64]) {
    for (u, actuator) in u.iter_mut().zip(model.actuators) {
        let range = actuator.control_range;
        let (lower, upper) =
            if range.lower.is_finite() && range.upper.is_finite() { (range.lower, range.upper) } else { (-1.0, 1.0) };
        *u = 0.5 * (lower + upper) + 0.5 * effort * (upper - lower) * random.signed();
    }
}
