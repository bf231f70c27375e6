//! Fuzzing the readers and the link: no input may make them panic, hang or allocate without bound.

use anyhow::{Context, Result};
use clap::Args;

use crate::process::{command, must_succeed, probe, root};

/// One target per format, in `fuzz/fuzz_targets`.
const TARGETS: [&str; 3] = ["urdf", "mjcf", "link"];

/// How long to fuzz.
#[derive(Args)]
pub struct Options {
    /// Seconds for each target.
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,
}

/// Runs every target; what it finds worth keeping goes into `fuzz/corpus`, what fails into `fuzz/artifacts`.
pub fn run(options: &Options) -> Result<()> {
    probe(command("cargo").args(["+nightly", "--version"]))
        .context("fuzzing needs a nightly compiler: rustup toolchain install nightly")?;
    if probe(command("cargo").args(["fuzz", "--version"])).is_none() {
        must_succeed(command("cargo").args(["install", "cargo-fuzz", "--locked"]))?;
    }
    for target in TARGETS {
        eprintln!("fuzzing {target} for {} s", options.seconds);
        let limit = format!("-max_total_time={}", options.seconds);
        let mut fuzz = command("cargo");
        fuzz.args(["+nightly", "fuzz", "run", target, "--", &limit, "-timeout=10", "-rss_limit_mb=2048"]);
        must_succeed(fuzz.current_dir(root()))?;
    }
    Ok(())
}
