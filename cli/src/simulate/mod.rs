//! `saltus simulate`: a robot moves by the real step, with contact, and says how it went.

mod control;
mod method;
mod progress;
mod rollout;
pub mod summary;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use saltus::model::{Model, configuration};
use saltus::step::StepSettings;

use crate::robot::RobotArguments;
use control::Control;
use method::Method;

/// The keyframe to start from when none is named.
const REST: &str = "rest";

/// Step of the integrator when neither the command line nor the file says, s.
const DEFAULT_DT_S: f64 = 0.002;

/// What to simulate.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    robot: RobotArguments,
    /// Simulated seconds.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", allow_negative_numbers = true)]
    time: f64,
    /// Step of the integrator, in microseconds; as the file says, else 2000.
    #[arg(long, value_name = "MICROSECONDS", allow_negative_numbers = true)]
    dt_us: Option<f64>,
    /// Equal parts that a step is taken in.
    #[arg(long, default_value_t = 1, value_name = "N")]
    substeps: u16,
    /// What finds the contact impulses.
    #[arg(long, value_enum, default_value_t = Method::Newton)]
    solver: Method,
    /// Keyframe to start from; `rest` if the robot has it, else the neutral configuration.
    #[arg(long, value_name = "NAME")]
    keyframe: Option<String>,
    /// What the motors do.
    #[arg(long, value_enum, default_value_t = Control::Hold)]
    control: Control,
    /// Seed of random controls.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Contact points that there is room for; of more, the deepest are kept.
    #[arg(long, default_value_t = 64, value_name = "N")]
    contacts: usize,
    /// Record states, contacts and statistics of every millisecond or longer step as MCAP, for Foxglove or Rerun.
    #[arg(long, value_name = "FILE")]
    mcap: Option<PathBuf>,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// Where the robot starts, and with which controls.
struct Start {
    keyframe: Option<String>,
    q: Vec<f64>,
    v: Vec<f64>,
    control: Option<Vec<f64>>,
}

/// Simulates and prints.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.time > 0.0 && options.time.is_finite(), "--time must be above zero, found {}", options.time);
    ensure!(options.substeps > 0, "--substeps must be above zero");
    let loaded = options.robot.load()?;
    let dt_s = options.dt_us.map_or(loaded.timestep_s.unwrap_or(DEFAULT_DT_S), |us| us * 1e-6);
    ensure!(dt_s > 0.0 && dt_s.is_finite(), "--dt-us must be above zero, found {}", dt_s * 1e6);
    let model = loaded.model.model();
    let start = Start::of(model, options)?;
    let settings = StepSettings { substeps: options.substeps, ..StepSettings::with_dt(dt_s) };
    let summary = rollout::simulate(model, options, &start, settings.with_solver(options.solver.build()))?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        summary.print();
    }
    Ok(())
}

impl Start {
    fn of(model: Model<'_, f64>, options: &Options) -> Result<Self> {
        let name = options.keyframe.as_deref().unwrap_or(REST);
        if let Some(keyframe) = model.find_keyframe(name) {
            let control = Some(keyframe.u.to_vec());
            return Ok(Self { keyframe: Some(name.to_string()), q: keyframe.q.into(), v: keyframe.v.into(), control });
        }
        if options.keyframe.is_some() {
            let known: Vec<_> = (0..).map_while(|k| model.keyframe(k).map(|_| model.keyframe_name(k))).collect();
            let known =
                if known.is_empty() { "it has none".to_string() } else { format!("it has {}", known.join(", ")) };
            anyhow::bail!("{} has no keyframe \"{name}\"; {known}", options.robot.name());
        }
        let mut q = vec![0.0; model.nq()];
        configuration::neutral(model, &mut q).context("neutral configuration")?;
        Ok(Self { keyframe: None, q, v: vec![0.0; model.nv()], control: None })
    }
}
