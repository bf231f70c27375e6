//! The Pinocchio side: a C++ program, built against the packaged library and, apart, for our instruction set.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::report::{Times, median};

/// Batches over all states in one turn.
const BATCHES: &str = "11";

/// The program and its input.
pub struct Peer {
    programs: PathBuf,
    robot: PathBuf,
    states: PathBuf,
}

#[derive(Deserialize)]
struct Output {
    aba_us: Vec<f64>,
    aba_world_us: Vec<f64>,
    aba_derivatives_us: Vec<f64>,
    rnea_us: Vec<f64>,
    rnea_derivatives_us: Vec<f64>,
    crba_us: Vec<f64>,
    crba_world_us: Vec<f64>,
}

impl Peer {
    /// For a robot that `export_timing.py` wrote.
    pub fn new(peers_dir: &Path, robot: &str) -> Self {
        let folder = peers_dir.join("robots");
        Self {
            programs: peers_dir.join("build"),
            robot: folder.join(format!("{robot}.json")),
            states: folder.join(format!("{robot}.states")),
        }
    }

    /// Median microseconds per call of each algorithm; where Pinocchio has two conventions, the faster one.
    pub fn round(&self, flavour: &str) -> Result<Times> {
        let program = self.programs.join(format!("pinocchio_timing_{flavour}"));
        let output = Command::new(&program)
            .args([&self.robot, &self.states])
            .arg(BATCHES)
            .output()
            .with_context(|| format!("cannot run {}: `cargo xtask peers` builds it", program.display()))?;
        ensure!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
        let output: Output = serde_json::from_slice(&output.stdout).context("the peer's answer is not as expected")?;
        Ok(Times {
            aba: median(output.aba_us).min(median(output.aba_world_us)),
            aba_derivatives: median(output.aba_derivatives_us),
            rnea: median(output.rnea_us),
            rnea_derivatives: median(output.rnea_derivatives_us),
            crba: median(output.crba_us).min(median(output.crba_world_us)),
        })
    }
}
