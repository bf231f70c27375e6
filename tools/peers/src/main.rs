//! Times saltus and its peers on the same robots and states, in turns, and prints the ratios: rigid-body algorithms with
//! Pinocchio, the simulation step and its derivatives with MuJoCo, how even our step is, and an iteration of the optimizer
//! with Crocoddyl; or compares what the loaders make of the peers' robot files.
//!
//! `cargo xtask peers` prepares the environment, the C++ program and the states, then runs this.

mod gradient;
mod jitter;
mod loaders;
mod mpc;
mod mujoco;
mod ours;
mod pinocchio;
mod python;
mod report;
mod step;

use std::fmt::Display;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use serde::Serialize;

/// The robots that are exported for timing.
const ROBOTS: [&str; 3] = ["ur5", "go1", "g1"];

/// A table of the report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Rigid-body algorithms, with Pinocchio.
    Dynamics,
    /// The simulation step, with MuJoCo.
    Step,
    /// The Jacobian of the step, with MuJoCo's finite differences.
    Gradient,
    /// How even the time of our step is.
    Jitter,
    /// One iteration of the optimizer, with Crocoddyl.
    Mpc,
}

/// Times saltus and its peers in turns; times of one run compare, times of two runs do not.
#[derive(Parser)]
struct Options {
    /// Where `cargo xtask peers` keeps the environment, the programs and the states.
    #[arg(long, value_name = "DIR", default_value = "target/peers")]
    peers_dir: PathBuf,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
    /// Compare what the loaders make of the peers' robot files, instead of timing.
    #[arg(long)]
    loaders: bool,
    /// Tables to make, comma-separated; all of them by default.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    only: Vec<Part>,
    /// Robots to time, comma-separated; all of them by default.
    #[arg(long, value_delimiter = ',', value_name = "ROBOT")]
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
    options.check_robots()?;
    let mut report = report::Report::default();
    for robot in options.chosen(Part::Dynamics, &ROBOTS) {
        eprintln!("timing the dynamics of {robot} ({} rounds)", options.rounds);
        report.dynamics.push(time_robot(&options, robot).with_context(|| format!("robot {robot}"))?);
    }
    for robot in options.chosen(Part::Step, &step::ROBOTS) {
        eprintln!("timing the step of {robot} ({} rounds)", options.rounds);
        let row = step::time(&options.peers_dir, robot, options.rounds);
        report.step.push(row.with_context(|| format!("robot {robot}"))?);
    }
    for robot in options.chosen(Part::Gradient, &step::ROBOTS) {
        eprintln!("timing the gradient of {robot} ({} rounds)", options.rounds);
        let row = gradient::time(&options.peers_dir, robot, options.rounds);
        report.gradient.push(row.with_context(|| format!("robot {robot}"))?);
    }
    for robot in options.chosen(Part::Jitter, &jitter::ROBOTS) {
        eprintln!("pushing {robot}");
        report.jitter.push(jitter::measure(robot).with_context(|| format!("robot {robot}"))?);
    }
    for robot in options.chosen(Part::Mpc, &mpc::ROBOTS) {
        eprintln!("timing the optimizer on {robot} ({} rounds)", options.rounds);
        let rows = mpc::time(&options.peers_dir, robot, options.rounds);
        report.mpc.extend(rows.with_context(|| format!("robot {robot}"))?);
    }
    print(&options, &report)
}

impl Options {
    /// The robots of a table that are asked for.
    fn chosen<'r>(&self, part: Part, robots: &[&'r str]) -> Vec<&'r str> {
        let wanted = self.only.is_empty() || self.only.contains(&part);
        let named = |robot: &&str| self.robots.is_empty() || self.robots.iter().any(|name| name == robot);
        robots.iter().copied().filter(named).filter(|_| wanted).collect()
    }

    fn check_robots(&self) -> Result<()> {
        let known: Vec<&str> =
            ROBOTS.iter().chain(&step::ROBOTS).chain(&jitter::ROBOTS).chain(&mpc::ROBOTS).copied().collect();
        for name in &self.robots {
            ensure!(known.contains(&name.as_str()), "no robot \"{name}\"; those timed are {}", known.join(", "));
        }
        Ok(())
    }
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
