//! The project's chores, run as `cargo xtask <command>`.

mod baked;
mod fuzz;
mod packages;
mod peers;
mod plots;
mod process;
mod setup;
mod soak;
mod steps;
mod tally;
mod toolchain;

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};

/// The project's chores: everything CI runs, machine set-up, side-by-side timings.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run everything CI runs, installing what a step needs.
    ///
    /// A failed step does not stop the others. The last line is `N passed, M failed`, counting tests, and one for each
    /// step that has no tests; the exit code is non-zero when M > 0.
    Test {
        /// Run this step only (may be given several times).
        #[arg(long, value_name = "STEP", value_parser = PossibleValuesParser::new(steps::names()))]
        only: Vec<String>,
        /// List the steps and run none.
        #[arg(long)]
        list: bool,
    },
    /// Make the machine ready for `test`: components, the Cortex-M7 target, its emulator.
    ///
    /// Uses rustup where it can and Debian packages where it cannot. Packages are installed as root only; otherwise the
    /// exact command is printed.
    Setup {
        /// Say what is missing and how it would be installed; change nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Time the library side by side with Pinocchio and MuJoCo on the same robots and the same machine.
    ///
    /// Also how even the time of a step is: percentiles over 20 s of a robot that is pushed. Builds a Python environment and a C++ program under target/peers first. Progress goes to stderr; stdout holds
    /// the result only.
    Peers(peers::Options),
    /// Measure what a step costs against the number of contacts and of bodies, and draw it into docs/.
    Plots,
    /// Fuzz the URDF and MJCF readers and the link, a minute each.
    ///
    /// Needs a nightly compiler; installs cargo-fuzz when it is missing.
    Fuzz(fuzz::Options),
    /// Simulate every built-in robot under random torques for 100 000 steps, in f64 and f32, and print what went wrong.
    Soak(soak::Options),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Chore::Test { list: true, .. } => {
            steps::list();
            Ok(true)
        }
        Chore::Test { only, list: false } => Ok(steps::run(&only)),
        Chore::Setup { dry_run } => Ok(setup::run(dry_run)),
        Chore::Peers(options) => peers::run(&options).map(|()| true),
        Chore::Plots => plots::run().map(|()| true),
        Chore::Fuzz(options) => fuzz::run(&options).map(|()| true),
        Chore::Soak(options) => soak::run(&options).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
