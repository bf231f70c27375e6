//! The `saltus` command.

mod robots;
mod simulate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Model-predictive control through contact.
///
/// Without a command it simulates the built-in arm and prints a summary.
#[derive(Parser)]
#[command(version, about)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a robot that swings freely, and report its energy and the time each step took.
    Simulate(simulate::Options),
    /// List the built-in robots.
    List,
}

fn main() -> ExitCode {
    let done = match Options::parse().command.unwrap_or(Command::Simulate(simulate::Options::default())) {
        Command::Simulate(options) => simulate::run(&options),
        Command::List => {
            robots::print_list();
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
