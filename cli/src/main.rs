//! The `saltus` command.

mod bake;
mod check;
mod hil;
mod inspect;
mod robot;
mod run;
mod simulate;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use saltus_scenarios::Scenario;

/// Model-predictive control through contact.
///
/// Without a command it runs `go1-push`: a quadruped that stands, is pushed and recovers.
#[derive(Parser)]
#[command(version, about)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a controller against a simulated robot, heavier and on more slippery ground than the plan believes.
    ///
    /// In real time with a line per second, or --headless as fast as it goes; a table at the end, also after Ctrl-C. Fails
    /// when a run does.
    Run(run::Options),
    /// Simulate a robot with contact, and report its energy, its contacts and the time each step took.
    Simulate(simulate::Options),
    /// List the scenarios and the built-in robots.
    List,
    /// Show what is in a robot: bodies, joints, shapes, pairs, motors, and the memory it takes.
    Inspect(inspect::Options),
    /// Compare the derivatives of the step with finite differences of the whole step.
    ///
    /// The states come from rollouts of 400 steps with random controls, each from the next keyframe and with motors that
    /// pull harder or less; every third one starts off its keyframe, so that penetrations and joint limits occur too. A
    /// state counts for every mode that occurs in it. Errors are relative to the largest entry of the block. A case that
    /// differs counts as `boundary` when a mode changes within the stencil of the difference, or the slopes to its two
    /// sides stay apart however short the step: there the step has no derivative. Any other case above 1e-6 fails.
    Check(check::Options),
    /// Write a robot as Rust source: a `static` for firmware.
    Bake(bake::Options),
    /// Run a controller as a Cortex-M7 image on an emulator, against a simulated robot.
    ///
    /// Builds the image if needed. Virtual time is instructions executed, 2 ns each, so the same run gives the same counts
    /// on any machine. Fails on one missed deadline, one bit that differs from the host's computation, one fault that was
    /// not counted, a robot that did not do its task, or a figure that changed by more than 2 %.
    Hil(hil::Options),
}

/// What a shell reports of a program that a closed pipe has ended.
const PIPE_CLOSED: i32 = 141;

fn main() -> ExitCode {
    end_quietly_when_nobody_reads();
    let command = Options::parse().command.or_else(|| Options::parse_from(["saltus", "run"]).command);
    let done = match command {
        Some(Command::Run(options)) => run::run(&options),
        Some(Command::Simulate(options)) => succeed(simulate::run(&options)),
        Some(Command::Inspect(options)) => succeed(inspect::run(&options)),
        Some(Command::Bake(options)) => succeed(bake::run(&options)),
        Some(Command::Check(options)) => succeed(check::run(&options)),
        Some(Command::Hil(options)) => succeed(hil::run(&options)),
        Some(Command::List) | None => succeed(list()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// `saltus list | head -1` ends when `head` does, as other programs do: `println!` would call it a panic.
fn end_quietly_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|text| text.starts_with("failed printing to stdout") && text.contains("Broken pipe")) {
            std::process::exit(PIPE_CLOSED);
        }
        usual(panic);
    }));
}

/// Commands that do what they say or give an error.
fn succeed(done: Result<()>) -> Result<ExitCode> {
    done.map(|()| ExitCode::SUCCESS)
}

fn list() -> Result<()> {
    println!("scenarios, for `saltus run`:");
    for scenario in Scenario::ALL {
        let facts = scenario.facts();
        println!("{:<24} {}", facts.name, facts.about);
    }
    println!("\nrobots, for every command that takes one:");
    for robot in saltus_loaders::BUILTIN {
        println!("{:<24} {}", robot.name, robot.about);
    }
    Ok(())
}
