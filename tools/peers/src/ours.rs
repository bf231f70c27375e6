//! The saltus side: the same states, the same batches.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use saltus::dynamics::{self, Dynamics};
use saltus::linalg::{MatMut, padded};
use saltus::memory::{Arena, Block, blocks_for};
use saltus::model::OwnedModel;
use saltus_testkit::RobotFile;

use crate::report::Times;

/// A robot with its states, ready to be timed.
pub struct Timing {
    model: OwnedModel<f64>,
    states: Vec<State>,
    memory: Vec<Block>,
}

struct State {
    q: Vec<f64>,
    v: Vec<f64>,
    torque: Vec<f64>,
    acceleration: Vec<f64>,
}

impl Timing {
    /// Reads the robot and its states.
    pub fn new(robot: &Path, states: &Path) -> Result<Self> {
        let model = RobotFile::read(robot)?.build()?;
        let bytes = std::fs::read(states).with_context(|| format!("cannot read {}", states.display()))?;
        let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|&eight| f64::from_le_bytes(eight)).collect();
        let (nq, nv) = (model.model().nq(), model.model().nv());
        ensure!(!numbers.is_empty() && numbers.len().is_multiple_of(nq + 3 * nv), "the states do not fit the robot");
        let states = numbers
            .chunks(nq + 3 * nv)
            .map(|row| State {
                q: row[..nq].to_vec(),
                v: row[nq..][..nv].to_vec(),
                torque: row[nq + nv..][..nv].to_vec(),
                acceleration: row[nq + 2 * nv..].to_vec(),
            })
            .collect();
        let outputs = blocks_for::<f64>(nv) + blocks_for::<f64>(nv * padded(3 * nv));
        let memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.model().dims()) + outputs];
        Ok(Self { model, states, memory })
    }

    /// Degrees of freedom.
    pub fn nv(&self) -> usize {
        self.model.model().nv()
    }

    /// Median microseconds per call of each algorithm, kinematics included, as for the peer.
    pub fn round(&mut self) -> Result<Times> {
        let model = self.model.model();
        let (nv, states) = (model.nv(), &self.states);
        let mut arena = Arena::new(&mut self.memory);
        let mut work = Dynamics::carve(&mut arena, model.dims())?;
        let stride = padded(3 * nv);
        let vector = arena.slice(nv)?;
        let matrix = arena.slice(nv * stride)?;
        Ok(Times {
            aba: median_us(states, |s| {
                dynamics::update(model, &s.q, &s.v, &mut work)?;
                dynamics::forward(model, &s.torque, &[], vector, &mut work)
            })?,
            aba_derivatives: median_us(states, |s| {
                dynamics::update(model, &s.q, &s.v, &mut work)?;
                let out = MatMut::with_stride(matrix, nv, 3 * nv, stride);
                dynamics::forward_derivatives(model, &s.torque, &[], out, &mut work)
            })?,
            rnea: median_us(states, |s| {
                dynamics::update(model, &s.q, &s.v, &mut work)?;
                Ok(dynamics::inverse(model, &s.acceleration, &[], vector, &mut work)?)
            })?,
            rnea_derivatives: median_us(states, |s| {
                dynamics::update(model, &s.q, &s.v, &mut work)?;
                let out = MatMut::with_stride(matrix, nv, 2 * nv, stride);
                Ok(dynamics::inverse_derivatives(model, &s.acceleration, &[], out, &mut work)?)
            })?,
            crba: median_us(states, |s| {
                dynamics::update(model, &s.q, &s.v, &mut work)?;
                Ok(dynamics::mass_matrix(model, &mut work)?)
            })?,
        })
    }
}

/// Batches over all states whose median is taken, after one to warm up.
const BATCHES: usize = 11;

fn median_us(
    states: &[State],
    mut call: impl FnMut(&State) -> Result<(), dynamics::DynamicsError>,
) -> Result<f64, dynamics::DynamicsError> {
    let mut batch = || {
        let start = Instant::now();
        for state in states {
            call(std::hint::black_box(state))?;
        }
        Ok::<_, dynamics::DynamicsError>(start.elapsed().as_secs_f64() * 1e6 / states.len() as f64)
    };
    batch()?;
    let times = (0..BATCHES).map(|_| batch()).collect::<Result<Vec<_>, _>>()?;
    Ok(crate::report::median(times))
}
