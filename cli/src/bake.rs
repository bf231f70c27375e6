//! `saltus bake`: a robot as Rust source for firmware.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::robot::RobotArguments;

/// What to bake.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    robot: RobotArguments,
    /// Scalar type of the model.
    #[arg(long, value_enum, default_value_t = Scalar::F32)]
    scalar: Scalar,
    /// File to write; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scalar {
    F32,
    F64,
}

/// Writes the source.
pub fn run(options: &Options) -> Result<()> {
    let model = options.robot.load()?.model;
    let source = match options.scalar {
        Scalar::F32 => saltus_loaders::bake(model.cast::<f32>().model(), options.robot.name()),
        Scalar::F64 => saltus_loaders::bake(model.model(), options.robot.name()),
    };
    match &options.output {
        Some(path) => std::fs::write(path, source).with_context(|| format!("cannot write {}", path.display())),
        None => {
            print!("{source}");
            Ok(())
        }
    }
}
