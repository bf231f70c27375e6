//! The MuJoCo side: a Python program that times `mj_step` and `mjd_transitionFD` in C, one answer for each line it is sent.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

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

/// A running program, ended when dropped.
pub struct Peer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the program on a robot of `models/`; returns it with the state that it settled in.
    pub fn start(peers_dir: &Path, robot: &str) -> Result<(Self, Settled)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = peers_dir.join("venv/bin/python");
        let mut child = Command::new(&python)
            .arg(root.join("tools/peers/mujoco_step.py"))
            .arg(root.join("models").join(PathBuf::from(robot).with_extension("xml")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}: `cargo xtask peers --env-only` makes it", python.display()))?;
        let requests = child.stdin.take().context("the peer has no input")?;
        let answers = BufReader::new(child.stdout.take().context("the peer has no output")?);
        let mut peer = Self { child, requests, answers };
        let settled = peer.answer()?;
        Ok((peer, settled))
    }

    /// Microseconds per step.
    pub fn step_us(&mut self) -> Result<f64> {
        self.ask("step")
    }

    /// Microseconds per Jacobian of the step, by finite differences.
    pub fn gradient_us(&mut self) -> Result<f64> {
        self.ask("gradient")
    }

    fn ask(&mut self, request: &str) -> Result<f64> {
        writeln!(self.requests, "{request}").context("the peer listens no more")?;
        Ok(self.answer::<Time>()?.us)
    }

    fn answer<A: DeserializeOwned>(&mut self) -> Result<A> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).context("the peer's answer is not as expected; its output above says why")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It has nothing to lose, and an error here has no one to go to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
