//! Runs a scenario's controller on the host, without a target: `cargo run --release --example dry -- go1-stand 20`.
//!
//! The second argument is how many ticks a solve takes, the third how many step lengths it tries, the fourth how many
//! ticks are between solves; the fifth, `rollout`, lets it start by following the old plan, the sixth is the contact tolerance. For trying out before an image is built.

use anyhow::{Context, Result};
use saltus_hil_tests::in_process::InProcess;
use saltus_hil_tests::run::{RunOptions, run};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
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
    let mut target = InProcess::new(&scenario, latency_ticks)?;
    let outcome = run(&scenario, &RunOptions::default(), &mut target, |_| ())?;
    println!("{}", serde_json::to_string_pretty(&outcome)?);
    Ok(())
}
