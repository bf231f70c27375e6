//! Times saltus and Pinocchio on the same robots and states, in turns, and prints the ratios; or compares what the
//! loaders make of the peers' robot files.
//!
//! `cargo xtask peers` prepares the environment, the C++ program and the states, then runs this.

mod loaders;
mod ours;
mod pinocchio;
mod report;

use std::fmt::Display;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use serde::Serialize;

/// The robots that are exported for timing.
const ROBOTS: [&str; 3] = ["ur5", "go1", "g1"];

/// Times saltus and Pinocchio in turns; times of one run compare, times of two runs do not.
#[derive(Parser)]
struct Options {
    /// Where `cargo xtask peers` keeps the environment, the programs and the states.
    #[arg(long, value_name = "DIR", default_value = "target/peers")]
    peers_dir: PathBuf,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    /// Compare what the loaders make of the peers' robot files, instead of timing.
    #[arg(long)]
    loaders: bool,
    /// Robots to time, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "ROBOT", default_values_t = ROBOTS.map(String::from))]
    robots: Vec<String>,
    /// Turns that each side gets; the median counts.
    #[arg(long, default_value_t = 15)]
    rounds: u32,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if options.loaders {
        return print(&options, &loaders::compare(&options.peers_dir.join("loaders"))?);
    }
    let mut report = report::Report::default();
    for robot in &options.robots {
        eprintln!("timing {robot} ({} rounds)", options.rounds);
        let robot = time_robot(&options, robot).with_context(|| format!("robot {robot}"))?;
        report.dynamics.push(robot);
    }
    print(&options, &report)
}

fn print(options: &Options, report: &(impl Serialize + Display)) -> Result<()> {
    if options.json {
        println!("{}", serde_json::to_string_pretty(report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}

/// One robot: the sides take turns, so that what disturbs the machine disturbs both.
fn time_robot(options: &Options, name: &str) -> Result<report::Robot> {
    let folder = options.peers_dir.join("robots");
    let mut ours = ours::Timing::new(&folder.join(format!("{name}.json")), &folder.join(format!("{name}.states")))?;
    let peer = pinocchio::Peer::new(&options.peers_dir, name);
    let mut robot = report::Robot::new(name, ours.nv());
    for _ in 0..options.rounds {
        robot.add_round(ours.round()?, peer.round("packaged")?, peer.round("native")?);
    }
    Ok(robot)
}
