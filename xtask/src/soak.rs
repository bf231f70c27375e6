//! The long run of every built-in robot under random torques.

use anyhow::{Result, ensure};
use clap::Args;

use crate::process::{cargo, stream};

#[derive(Args)]
pub struct Options {
    /// Steps of 2 ms for each robot and each of f64 and f32.
    #[arg(long, default_value_t = 100_000)]
    steps: usize,
    /// This built-in robot only.
    #[arg(long, value_name = "NAME")]
    robot: Option<String>,
}

/// Builds and runs the soak in release; an error or an overflow in it is a failure.
pub fn run(options: &Options) -> Result<()> {
    let finished = stream(cargo().args(arguments(options)))?;
    ensure!(finished.success, "the soak failed; the table above says where");
    Ok(())
}

fn arguments(options: &Options) -> Vec<String> {
    let program = ["run", "--quiet", "--release", "--package", "saltus-testkit", "--bin", "soak", "--"];
    let steps = options.steps.to_string();
    program.map(str::to_owned).into_iter().chain([steps]).chain(options.robot.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_robot_reach_the_program() {
        let options = Options { steps: 7, robot: Some("go1".to_owned()) };
        assert_eq!(arguments(&options)[8..], ["7", "go1"]);
    }
}
