//! `saltus hil`: a Cortex-M7 image against a simulated robot.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use saltus_control::Scenario;
use saltus_hil_tests::bench;
use saltus_hil_tests::elf::Elf;
use saltus_hil_tests::faults::Rates;
use saltus_hil_tests::golden::{self, Figures, Verdict};
use saltus_hil_tests::image::Image;
use saltus_hil_tests::run::{Outcome, RunOptions, run as run_scenario};
use saltus_hil_tests::target::Qemu;
use serde::Serialize;

/// 2 ns an instruction: a part of 480 MHz, rounded, that takes one cycle for each.
const SHIFT: u32 = 1;

/// What to run.
#[derive(Args, Clone)]
pub struct Options {
    /// cartpole-swingup, hopper-hop, quadrotor-takeoff, go1-stand or go1-push; bench counts single steps.
    scenario: String,
    /// Time that a solve may take, in µs of virtual time; the scenario's own period without it.
    #[arg(long, value_name = "D")]
    deadline_us: Option<u32>,
    /// Faults of the link, both ways: shares of lost, duplicated, corrupt, late and nan frames; stall=TICK.
    #[arg(long, value_name = "LIST", default_value = "")]
    faults: Rates,
    /// Which of the scenario's starts and pushes; figures are stored for the first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Seconds of virtual time; the scenario's own duration without it.
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    /// Store the figures as the ones to expect.
    #[arg(long)]
    bless: bool,
    /// Write the image's log to a file, for `defmt-print -e IMAGE`.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    outcome: Outcome,
    ram_bytes: u64,
    flash_bytes: u64,
    panic_sites: usize,
    compiler: String,
}

/// Builds the image, runs it and judges it.
pub fn run(options: &Options) -> Result<()> {
    if options.scenario == "bench" {
        return run_bench(options);
    }
    let names = || saltus_control::ALL.map(|scenario| scenario.name()).join(", ");
    let scenario = saltus_control::find(&options.scenario)
        .with_context(|| format!("no scenario is called {:?}: {}, bench", options.scenario, names()))?;
    eprintln!("building {}", scenario.name());
    let image = Image::build(scenario.name())?;
    let elf = image.elf()?;
    name_panics(&elf);
    let mut qemu = Qemu::start(&image, SHIFT)?;
    let outcome = execute(options, &scenario, &mut qemu);
    if let Some(path) = &options.log {
        std::fs::write(path, qemu.log()).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("to read the log: defmt-print -e {} < {}", image.path.display(), path.display());
    }
    let outcome = outcome?;
    let problems = judge(options, &image, &elf, &outcome)?;
    let report = Report {
        outcome,
        ram_bytes: elf.ram_bytes,
        flash_bytes: elf.flash_bytes,
        panic_sites: elf.panic_count(),
        compiler: image.compiler,
    };
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        report.print();
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n       ")) }
}

fn execute(options: &Options, scenario: &Scenario, qemu: &mut Qemu) -> Result<Outcome> {
    let per_second = 1e6 / f64::from(scenario.tick_us);
    let ticks = options.seconds.map(|seconds| (seconds * per_second) as u32);
    let total = ticks.unwrap_or(scenario.ticks());
    let show = std::io::stderr().is_terminal();
    let settings = RunOptions { deadline_us: options.deadline_us, ticks, faults: options.faults, seed: options.seed };
    let outcome = run_scenario(scenario, &settings, qemu, |tick| {
        if show && tick.is_multiple_of(100) {
            eprint!("\r{}: tick {tick} of {total}  ", scenario.name());
            let _ = std::io::stderr().flush();
        }
    });
    if show {
        eprintln!();
    }
    outcome
}

/// What is not as it should be.
fn judge(options: &Options, image: &Image, elf: &Elf, outcome: &Outcome) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut expect = |good: bool, problem: String| {
        if !good {
            problems.push(problem);
        }
    };
    let stalled = options.faults.stall.is_some();
    expect(outcome.misses == 0, format!("{} deadlines missed ({} µs)", outcome.misses, outcome.deadline_us));
    if let Some(first) = &outcome.first_difference {
        expect(false, format!("the target differs from the host's computation, first at {first}"));
    }
    expect(elf.heap_symbols.is_empty(), format!("the image has a heap: {:?}", elf.heap_symbols));
    expect(outcome.faults.all_counted, format!("faults were not counted: {:?}", outcome.faults));
    if let Some(goal) = outcome.missed_goal.as_ref().filter(|_| !stalled) {
        expect(false, goal.clone());
    }
    let usual = options.faults == Rates::default() && options.seed == 0;
    if usual && options.deadline_us.is_none() && options.seconds.is_none() {
        let figures = figures(elf, outcome);
        problems.extend(compare(options, image, &figures)?);
    }
    Ok(problems)
}

/// Says which functions of an image could panic; none should.
fn name_panics(elf: &Elf) {
    for (function, count) in &elf.panic_sites {
        eprintln!("note: {count} panic call sites in {function}");
    }
}

/// Compares with the stored figures, or stores them.
fn compare(options: &Options, image: &Image, figures: &Figures) -> Result<Vec<String>> {
    if options.bless {
        golden::bless(image, figures)?;
        return Ok(Vec::new());
    }
    Ok(match golden::compare(image, figures)? {
        Verdict::Same => Vec::new(),
        Verdict::Unknown => {
            eprintln!("note: no figures stored for {} with {}; --bless stores them", image.name, image.compiler);
            Vec::new()
        }
        Verdict::Changed(lines) => {
            let head = format!("figures changed by more than {} %; --bless accepts them", 100.0 * golden::TOLERANCE);
            std::iter::once(head).chain(lines).collect()
        }
    })
}

/// The figures of a run that may not change unnoticed.
fn figures(elf: &Elf, outcome: &Outcome) -> Figures {
    let mut figures: Figures = [
        ("solves", u64::from(outcome.solves)),
        ("instructions_p50", outcome.instructions_p50),
        ("instructions_max", outcome.instructions_max),
        ("tick_instructions_max", outcome.tick_instructions_max),
        ("main_stack_bytes", u64::from(outcome.main_stack_bytes)),
        ("handler_stack_bytes", u64::from(outcome.handler_stack_bytes)),
        ("ram_bytes", elf.ram_bytes),
        ("flash_bytes", elf.flash_bytes),
        ("panic_sites", elf.panic_count() as u64),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    figures.extend(outcome.stages.iter().map(|(name, value)| (format!("stages/{name}"), *value)));
    figures
}

fn run_bench(options: &Options) -> Result<()> {
    eprintln!("building bench");
    let image = Image::build("bench")?;
    let figures = bench::run(&image)?;
    name_panics(&image.elf()?);
    if options.json {
        println!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        println!("{:<32} {:>12}  instructions, or bytes", "figure", image.compiler);
        figures.iter().for_each(|(name, value)| println!("{name:<32} {value:>12}"));
    }
    let problems = compare(options, &image, &figures)?;
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n       ")) }
}

impl Report {
    fn print(&self) {
        let Outcome { ticks, solves, misses, deadline_us, .. } = self.outcome;
        println!("{}: {ticks} ticks, {solves} solves, {misses} misses of {deadline_us} µs", self.outcome.scenario);
        let line = |name: &str, value: u64| println!("  {name:<34} {value:>12}");
        line("instructions of a solve, median", self.outcome.instructions_p50);
        line("instructions of the worst solve", self.outcome.instructions_max);
        for (name, value) in &self.outcome.stages {
            line(&format!("  {name}, worst"), *value);
        }
        line("instructions of the worst tick", self.outcome.tick_instructions_max);
        line("RAM, bytes", self.ram_bytes);
        line("flash, bytes", self.flash_bytes);
        line("stack of the solver, bytes", u64::from(self.outcome.main_stack_bytes));
        line("stack of interrupts, bytes", u64::from(self.outcome.handler_stack_bytes));
        line("panic call sites", self.panic_sites as u64);
        println!("  the same bits as on the host: {}", if self.outcome.bit_exact { "yes" } else { "NO" });
        println!("  ticks by mode: {:?}", self.outcome.modes);
        if self.outcome.faults.to_target.injected.frames > self.outcome.faults.to_target.counted.received {
            println!("  faults: {:?}", self.outcome.faults);
        }
        if let Some(us) = self.outcome.damping_after_us {
            println!("  damping {us} µs after the last state");
        }
    }
}
