//! The robot argument that every command takes.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use saltus_loaders::{LoadOptions, Loaded, load};

/// Which robot, and how to read it.
#[derive(Args, Clone)]
pub struct RobotArguments {
    /// A built-in robot (see `saltus list`), or a URDF or MJCF file.
    #[arg(default_value = "go1")]
    robot: String,
    /// Let the root link of a URDF fly freely.
    #[arg(long)]
    free_flyer: bool,
    /// Folder to look for `package://` and relative mesh paths in; may be repeated.
    #[arg(long = "search", value_name = "DIR")]
    search_paths: Vec<PathBuf>,
    /// SRDF file whose disabled pairs do not collide.
    #[arg(long, value_name = "FILE")]
    srdf: Option<PathBuf>,
    /// Most vertices that the hull of a mesh may keep.
    #[arg(long, value_name = "N", default_value_t = LoadOptions::default().max_hull_vertices)]
    hull_vertices: usize,
    /// Mend impossible inertias, with a warning, instead of refusing them.
    #[arg(long)]
    balance_inertia: bool,
}

impl RobotArguments {
    /// As given on the command line.
    pub fn name(&self) -> &str {
        &self.robot
    }

    /// Reads the robot; what the model cannot hold is named on stderr.
    pub fn load(&self) -> Result<Loaded> {
        let options = LoadOptions {
            free_flyer: self.free_flyer,
            search_paths: self.search_paths.clone(),
            srdf: self.srdf.clone(),
            max_hull_vertices: self.hull_vertices,
            balance_inertia: self.balance_inertia,
            ..LoadOptions::default()
        };
        let loaded = load(&self.robot, &options)?;
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        Ok(loaded)
    }
}
