//! The MuJoCo side: a Python program that times `mj_step` and `mjd_transitionFD` in C.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::python::Program;

/// A robot that stands, in saltus' coordinates.
#[derive(Deserialize)]
pub struct Settled {
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// What holds it there.
    pub control: Vec<f64>,
    /// Time step of the model.
    pub dt_s: f64,
    /// Contacts that MuJoCo has in this state.
    pub contacts: usize,
}

#[derive(Deserialize)]
struct Time {
    us: f64,
}

/// The running program.
pub struct Peer(Program);

impl Peer {
    /// Starts the program on a robot of `models/`; returns it with the state that it settled in.
    pub fn start(peers_dir: &Path, robot: &str) -> Result<(Self, Settled)> {
        let mut program = Program::start(peers_dir, "venv", "mujoco_step.py", robot)?;
        let settled = program.answer()?;
        Ok((Self(program), settled))
    }

    /// Microseconds per step.
    pub fn step_us(&mut self) -> Result<f64> {
        Ok(self.0.ask::<Time>("step")?.us)
    }

    /// Microseconds per Jacobian of the step, by centred differences.
    pub fn gradient_us(&mut self) -> Result<f64> {
        Ok(self.0.ask::<Time>("gradient")?.us)
    }

    /// The same by one-sided differences.
    pub fn one_sided_gradient_us(&mut self) -> Result<f64> {
        Ok(self.0.ask::<Time>("gradient one-sided")?.us)
    }
}
