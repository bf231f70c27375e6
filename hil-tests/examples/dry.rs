//! Runs a scenario's controller on the host, without a target: `cargo run --release --example dry -- go1-stand 20`.
//!
//! The second argument is how many ticks a solve takes, the third how many step lengths it tries, the fourth how many
//! ticks are between solves; the fifth, `rollout`, lets it start by following the old plan, the sixth is the contact tolerance. For trying out before an image is built.
//!
//! `cargo run --release -p saltus-hil-tests --example dry -- cartpole-swingup 1 --seeds 240` runs it from so many starts, and
//! says from which of them it fails.

use anyhow::{Context, Result};
use saltus_hil_tests::in_process::InProcess;
use saltus_hil_tests::run::{Outcome, RunOptions, run};

fn main() -> Result<()> {
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    let seeds = match given.iter().position(|text| text == "--seeds") {
        Some(at) => given.drain(at..).nth(1).context("how many seeds?")?.parse()?,
        None => 0,
    };
    let mut arguments = given.into_iter();
    let name = arguments.next().context("which scenario?")?;
    let mut scenario = saltus_control::find(&name).with_context(|| format!("no scenario is called {name:?}"))?;
    let latency_ticks = arguments.next().map_or(Ok(1), |text| text.parse())?;
    if let Some(trials) = arguments.next() {
        scenario.trials = trials.parse()?;
    }
    if let Some(period) = arguments.next() {
        scenario.solve_ticks = period.parse()?;
    }
    if arguments.next().is_some_and(|start| start == "rollout") {
        scenario.start = saltus::mpc::Start::Rollout;
    }
    if let Some(tolerance) = arguments.next() {
        scenario.contact_tolerance = tolerance.parse()?;
    }
    let from = |seed: u64| -> Result<Outcome> {
        let mut target = InProcess::new(&scenario, latency_ticks)?;
        run(&scenario, &RunOptions { seed, ..RunOptions::default() }, &mut target, |_| ())
    };
    if seeds == 0 {
        println!("{}", serde_json::to_string_pretty(&from(0)?)?);
        return Ok(());
    }
    let mut failed = Vec::new();
    for seed in 0..seeds {
        if let Some(goal) = from(seed)?.missed_goal {
            failed.push(format!("{seed}: {goal}"));
        }
    }
    println!("{name}: {} of {seeds} reach their goal {failed:?}", seeds - failed.len() as u64);
    Ok(())
}
