//! The `saltus` command.

mod bake;
mod check;
mod hil;
mod inspect;
mod robot;
mod simulate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Model-predictive control through contact.
///
/// Without a command it simulates the built-in quadruped and prints a summary.
#[derive(Parser)]
#[command(version, about)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a robot with contact, and report its energy, its contacts and the time each step took.
    Simulate(simulate::Options),
    /// List the built-in robots.
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

fn main() -> ExitCode {
    let done = match Options::parse().command.unwrap_or(Command::Simulate(simulate::Options::default())) {
        Command::Simulate(options) => simulate::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Bake(options) => bake::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Hil(options) => hil::run(&options),
        Command::List => {
            for robot in saltus_loaders::BUILTIN {
                println!("{:<16} {}", robot.name, robot.about);
            }
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
