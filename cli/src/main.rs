//! The `saltus` command.

mod bake;
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
    /// Write a robot as Rust source: a `static` for firmware.
    Bake(bake::Options),
}

fn main() -> ExitCode {
    let done = match Options::parse().command.unwrap_or(Command::Simulate(simulate::Options::default())) {
        Command::Simulate(options) => simulate::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Bake(options) => bake::run(&options),
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
