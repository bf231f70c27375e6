//! `saltus run`: a controller and a plant in a loop, live or as fast as it goes.

mod largest_push;
mod live;
mod recorder;
mod summary;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use saltus::derivatives::Gradient;
use saltus::mpc::MOST_MEMBERS;
use saltus_cli::closed_loop::{self, Loop, PLANT_DT_S};
use saltus_loaders::task::{TaskSource, parse_gradient};
use saltus_loaders::{LoadOptions, load};
use saltus_scenarios::{Scenario, Verdict};

use live::Live;
use recorder::Recorder;
use summary::Summary;

/// What a shell expects of a command that was interrupted.
const INTERRUPTED: u8 = 130;

/// What to run, and how.
#[derive(Args, Clone)]
pub struct Options {
    /// What the robot should do (see `saltus list`).
    #[arg(default_value = "go1-push")]
    scenario: String,
    /// A task of one's own instead, from a TOML file (see docs/tasks.md).
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    task: Option<PathBuf>,
    /// The robot of the task, instead of the one that its file names: built-in, URDF or MJCF.
    #[arg(long, value_name = "MODEL", requires = "task")]
    robot: Option<PathBuf>,
    /// As fast as it goes, instead of in real time.
    #[arg(long)]
    headless: bool,
    /// Simulated seconds; as the scenario says without it.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Of the start, and of the direction of a push. Seed 0 starts undisturbed.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Run this many seeds, from --seed on.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seeds: u64,
    /// Time from one solve to the next, in steps of 2000; as the scenario says without it.
    #[arg(long, value_name = "MICROSECONDS", allow_negative_numbers = true)]
    period_us: Option<f64>,
    /// Time that a solve may take, the first one fifty times as long. Without it: in real time, the period of the controller; headless, as long as it
    /// takes, and then a run depends on its seed alone.
    #[arg(long, value_name = "MICROSECONDS", allow_negative_numbers = true)]
    budget_us: Option<f64>,
    /// Steps of the plan; as the scenario says without it.
    #[arg(long, value_name = "N")]
    horizon: Option<usize>,
    /// Threads that linearize the plan side by side; the plans are the same.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_MEMBERS as i64))]
    threads: u16,
    /// Derivative that the plan is made with: exact, relaxed[:kappa], aware or smoothed[:radius_m].
    #[arg(long, value_name = "KIND", value_parser = gradient)]
    gradient: Option<Gradient<f64>>,
    /// Size of the push, N·s; as the scenario says without it.
    #[arg(long, value_name = "NEWTON_SECONDS", allow_negative_numbers = true)]
    impulse: Option<f64>,
    /// Find the largest push that the robot survives in each of eight directions, by bisection. Headless.
    #[arg(long, conflicts_with_all = ["seeds", "impulse", "mcap"])]
    largest_push: bool,
    /// Record states, contacts and solves as MCAP, for Foxglove or Rerun.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    mcap: Option<PathBuf>,
    /// Print one JSON document instead of lines and tables.
    #[arg(long)]
    json: bool,
}

fn gradient(text: &str) -> Result<Gradient<f64>, String> {
    parse_gradient(text).map_err(|expected| format!("expected {expected}"))
}

/// Runs and prints; the exit code says whether every run succeeded.
pub fn run(options: &Options) -> Result<ExitCode> {
    check(options)?;
    let (name, job) = match &options.task {
        Some(path) => (path.display().to_string(), load_task(path, options)?),
        None => (options.scenario.clone(), Loop::new(find(&options.scenario)?)?),
    };
    let interrupted = on_interrupt()?;
    if options.largest_push {
        return largest_push::run(&job, &name, options, &interrupted);
    }
    let settings = loop_options(options, &job);
    if options.impulse.is_some() {
        ensure!(job.push_ns().is_some(), "--impulse: {name} has no push");
    }
    let mut summary = Summary::new(&name, settings.budget);
    for seed in options.seed..options.seed.saturating_add(options.seeds) {
        run_seed(&job, seed, &settings, options, &interrupted, &mut summary)?;
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    summary.print(options.json)?;
    Ok(match (summary.all_succeeded(), summary.was_stopped()) {
        (true, false) => ExitCode::SUCCESS,
        (true, true) => ExitCode::from(INTERRUPTED),
        (false, _) => ExitCode::FAILURE,
    })
}

/// One run, seen live or counted.
fn run_seed(
    job: &Loop,
    seed: u64,
    settings: &closed_loop::Options,
    options: &Options,
    interrupted: &AtomicBool,
    summary: &mut Summary,
) -> Result<()> {
    let alone = options.seeds == 1;
    let mut live = (alone && !options.json).then(|| Live::begin(summary.name(), seed, settings));
    let mut recorder = options.mcap.as_deref().map(Recorder::create).transpose()?;
    let mut unwritten = None;
    let outcome = job.run(seed, settings, |moment| {
        if let Some(live) = &mut live {
            live.show(moment);
        }
        if let Some(recorder) = &mut recorder {
            unwritten = recorder.record(moment).err();
        }
        unwritten.is_none() && !interrupted.load(Ordering::Relaxed)
    })?;
    if let Some(error) = unwritten {
        return Err(error);
    }
    recorder.map_or(Ok(()), Recorder::finish)?;
    if !alone && (!options.json || std::io::stderr().is_terminal()) {
        let verdict = match &outcome.verdict {
            _ if outcome.stopped => "stopped".to_string(),
            Verdict::Success => "success".to_string(),
            Verdict::Failure(reason) => format!("FAILURE: {reason}"),
        };
        eprintln!("seed {seed:>3}  {:>5.2} s  cost {:>10.4}  {verdict}", outcome.time_s, outcome.mean_cost);
    }
    summary.add(seed, outcome);
    Ok(())
}

fn check(options: &Options) -> Result<()> {
    if let Some(seconds) = options.seconds {
        ensure!(
            seconds >= PLANT_DT_S && seconds.is_finite(),
            "--seconds must be at least {PLANT_DT_S}, found {seconds}"
        );
    }
    if let Some(period) = options.period_us {
        ensure!(period > 0.0 && period.is_finite(), "--period-us must be above zero, found {period}");
    }
    if let Some(budget) = options.budget_us {
        ensure!(budget >= 0.0 && budget.is_finite(), "--budget-us must not be negative, found {budget}");
    }
    if let Some(impulse) = options.impulse {
        ensure!(impulse.is_finite(), "--impulse must be finite, found {impulse}");
    }
    ensure!(options.horizon != Some(0), "--horizon must be above zero");
    ensure!(options.seeds > 0, "--seeds must be above zero");
    Ok(())
}

/// The scenario of this name, or the names that there are.
fn find(name: &str) -> Result<Scenario> {
    let Some(scenario) = Scenario::named(name) else {
        let known: Vec<_> = Scenario::ALL.iter().map(|scenario| scenario.facts().name).collect();
        bail!("there is no scenario \"{name}\"; known are {}", known.join(", "));
    };
    Ok(scenario)
}

/// The task of a file, for the robot of the command line or of the file.
fn load_task(path: &Path, options: &Options) -> Result<Loop> {
    let source = TaskSource::read(path)?;
    let (named, free_flyer) = source.robot()?;
    let Some(robot) = options.robot.clone().or(named) else {
        bail!("{}: no robot; name one there (robot = \"go1\") or with --robot", path.display());
    };
    let loaded = load(&robot, &LoadOptions { free_flyer, ..LoadOptions::default() })?;
    for warning in &loaded.warnings {
        eprintln!("warning: {warning}");
    }
    Loop::of_task(&source, &loaded.model)
}

fn loop_options(options: &Options, job: &Loop) -> closed_loop::Options {
    let microseconds = |us: f64| Duration::from_secs_f64(us * 1e-6);
    let period_s = options.period_us.map_or(job.period_s(), |us| us * 1e-6);
    let period = (!options.headless).then(|| Duration::from_secs_f64(period_s));
    closed_loop::Options {
        seconds: options.seconds,
        budget: options.budget_us.map(microseconds).or(period),
        horizon: options.horizon,
        period_s: options.period_us.map(|us| us * 1e-6),
        threads: usize::from(options.threads),
        gradient: options.gradient,
        impulse_ns: options.impulse,
        direction: None,
        real_time: !options.headless,
    }
}

/// Set by Ctrl-C: the run then ends with its table.
fn on_interrupt() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || set.store(true, Ordering::Relaxed)).context("cannot listen to Ctrl-C")?;
    Ok(flag)
}
