//! A Python program that speaks JSON lines: one answer for each line that it is sent.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// A running program, ended when dropped.
pub struct Program {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a script of this folder on a robot of `models/`, in one of the environments of `peers_dir`.
    pub fn start(peers_dir: &Path, environment: &str, script: &str, robot: &str) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = peers_dir.join(environment).join("bin/python");
        let mut child = Command::new(&python)
            .arg(root.join("tools/peers").join(script))
            .arg(root.join("models").join(robot).with_extension("xml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}: `cargo xtask peers` makes it", python.display()))?;
        let requests = child.stdin.take().context("the peer has no input")?;
        let answers = BufReader::new(child.stdout.take().context("the peer has no output")?);
        Ok(Self { child, requests, answers })
    }

    /// Sends a line and reads the answer.
    pub fn ask<A: DeserializeOwned>(&mut self, line: &str) -> Result<A> {
        writeln!(self.requests, "{line}").context("the peer listens no more")?;
        self.answer()
    }

    /// Reads an answer.
    pub fn answer<A: DeserializeOwned>(&mut self) -> Result<A> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).context("the peer's answer is not as expected; its output above says why")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has nothing to lose, and an error here has no one to go to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
