//! `saltus check`: are the derivatives of the step what finite differences of it say?

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use saltus::memory::{Arena, Block as MemoryBlock};
use saltus::model::Model;
use saltus::step::{StepDims, StepInput, StepSettings};
use saltus_cli::differences::{Block, Checker, Comparison, TOLERANCE};
use saltus_cli::states::{CONTACTS, State, sample};
use saltus_loaders::{BUILTIN, LoadOptions, load};
use serde::Serialize;

use crate::robot::RobotArguments;

/// What to check.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    robot: RobotArguments,
    /// Check every built-in robot.
    #[arg(long, conflicts_with_all = ["robot", "state"])]
    all: bool,
    /// States to compare, of each robot.
    #[arg(long, default_value_t = 200, value_name = "N")]
    states: usize,
    /// Of the random controls that lead to the states.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Compare this state alone: a JSON file {"q": […], "v": […], "u": […]}.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Duration of a step, in microseconds.
    #[arg(long, default_value_t = 2000.0, value_name = "MICROSECONDS")]
    dt_us: f64,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// Errors of the states in which a mode occurs.
#[derive(Clone, Serialize)]
struct Errors {
    cases: usize,
    median_rel_error: f64,
    /// Of the cases that no mode boundary explains.
    max_rel_error: f64,
    /// Cases that differ because a mode changes within the stencil of the difference.
    boundary: usize,
}

#[derive(Serialize)]
struct Report {
    robot: String,
    states: usize,
    modes: BTreeMap<&'static str, Errors>,
    blocks: BTreeMap<&'static str, Errors>,
    all: Errors,
    worst: String,
    pass: bool,
}

/// All robots of `--all`.
#[derive(Serialize)]
struct Reports {
    robots: Vec<Report>,
    pass: bool,
}

/// Compares and prints; an error when a derivative is wrong.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.states > 0, "--states must be above zero");
    ensure!(options.dt_us > 0.0 && options.dt_us.is_finite(), "--dt-us must be above zero, found {}", options.dt_us);
    let reports = if options.all { check_all(options)? } else { vec![check_one(options)?] };
    let failed: Vec<_> = reports.iter().filter(|report| !report.pass).map(|report| report.robot.clone()).collect();
    if options.json && options.all {
        println!("{}", serde_json::to_string_pretty(&Reports { robots: reports, pass: failed.is_empty() })?);
    } else if options.json {
        println!("{}", serde_json::to_string_pretty(&reports[0])?);
    }
    if !failed.is_empty() {
        bail!(
            "the derivatives of {} differ by more than {TOLERANCE:.0e} where no mode changes; try a shorter --dt-us, and \
             report the robot and the seed if they still differ",
            failed.join(", ")
        );
    }
    Ok(())
}

fn check_all(options: &Options) -> Result<Vec<Report>> {
    let mut reports = Vec::new();
    for robot in BUILTIN {
        let loaded = load(robot.name, &LoadOptions::default())?;
        reports.push(check(robot.name, loaded.model.model(), options)?);
    }
    Ok(reports)
}

fn check_one(options: &Options) -> Result<Report> {
    let loaded = options.robot.load()?;
    check(options.robot.name(), loaded.model.model(), options)
}

fn check(robot: &str, model: Model<'_, f64>, options: &Options) -> Result<Report> {
    let settings = StepSettings::with_dt(options.dt_us * 1e-6);
    let states = match &options.state {
        Some(path) => vec![read_state(path, model)?],
        None => sample(model, settings, options.states, options.seed)?,
    };
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![MemoryBlock::EMPTY; Checker::blocks(dims)];
    let mut checker = Checker::new(model, settings, dims, &mut Arena::new(&mut memory))?;
    let shows_progress = std::io::stderr().is_terminal();
    let mut comparisons = Vec::with_capacity(states.len());
    for (k, state) in states.iter().enumerate() {
        if shows_progress {
            eprint!("\r{robot}: state {} of {} ", k + 1, states.len());
        }
        let compared = checker.compare(&StepInput::new(&state.q, &state.v, &state.u));
        comparisons.push(compared.with_context(|| format!("{robot}, state {k} of seed {}", options.seed))?);
    }
    if shows_progress {
        eprint!("\r\x1b[K");
    }
    let report = Report::new(robot, model, &comparisons);
    if !options.json {
        report.print(options);
    }
    Ok(report)
}

fn read_state(path: &PathBuf, model: Model<'_, f64>) -> Result<State> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let state: State = serde_json::from_str(&text).with_context(|| format!("{} is not a state", path.display()))?;
    let (nq, nv) = (model.nq(), model.nv());
    ensure!(state.q.len() == nq, "{}: q has {} numbers, the robot {nq}", path.display(), state.q.len());
    ensure!(state.v.len() == nv, "{}: v has {} numbers, the robot {nv}", path.display(), state.v.len());
    Ok(state)
}

impl Errors {
    /// Of errors, each with whether a boundary explains it.
    fn of(cases: impl Iterator<Item = (f64, bool)>) -> Self {
        let cases: Vec<(f64, bool)> = cases.collect();
        let mut sorted: Vec<f64> = cases.iter().map(|(error, _)| *error).collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            cases: cases.len(),
            median_rel_error: sorted.get(sorted.len() / 2).copied().unwrap_or(0.0),
            max_rel_error: cases.iter().filter(|case| !case.1).fold(0.0, |worst, case| case.0.max(worst)),
            boundary: cases.iter().filter(|case| case.1).count(),
        }
    }

    fn print(&self, name: &str) {
        let Self { cases, median_rel_error, max_rel_error, boundary } = self;
        if *cases > 0 {
            println!("{name:<10} {cases:>7} {median_rel_error:>10.1e} {max_rel_error:>10.1e} {boundary:>9}");
        }
    }
}

impl Report {
    fn new(robot: &str, model: Model<'_, f64>, comparisons: &[Comparison]) -> Self {
        let mut modes = BTreeMap::new();
        for (index, (name, _)) in comparisons[0].modes.named().into_iter().enumerate() {
            let cases = comparisons.iter().filter(|comparison| comparison.modes.named()[index].1);
            modes.insert(name, Errors::of(cases.map(|comparison| (comparison.error(), comparison.boundary))));
        }
        let mut blocks = BTreeMap::new();
        for (index, block) in Block::ALL.into_iter().enumerate() {
            let errors = comparisons.iter().map(|comparison| {
                let error = comparison.errors[index];
                (error, comparison.boundary && error > TOLERANCE)
            });
            blocks.insert(block.name(), Errors::of(errors));
        }
        let unexplained = comparisons.iter().filter(|comparison| !comparison.boundary);
        let worst = unexplained.max_by(|a, b| a.error().total_cmp(&b.error())).unwrap_or(&comparisons[0]);
        Self {
            robot: robot.to_string(),
            states: comparisons.len(),
            modes,
            blocks,
            all: Errors::of(comparisons.iter().map(|comparison| (comparison.error(), comparison.boundary))),
            worst: worst.worst.describe(model),
            pass: comparisons.iter().all(Comparison::passes),
        }
    }

    fn print(&self, options: &Options) {
        println!("{}: {} states of seed {}, steps of {} µs", self.robot, self.states, options.seed, options.dt_us);
        println!("{:<10} {:>7} {:>10} {:>10} {:>9}", "mode", "states", "median", "max", "boundary");
        self.modes.iter().for_each(|(name, errors)| errors.print(name));
        self.blocks.iter().for_each(|(name, errors)| errors.print(name));
        self.all.print("all");
        println!("worst      {}", self.worst);
        println!("{}\n", if self.pass { "pass" } else { "FAIL" });
    }
}
