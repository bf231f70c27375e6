//! Bakes the robots of the scenarios into Rust source, in f32: as their controllers believe them to be.

use std::path::PathBuf;
use std::{env, error, fs};

use saltus_loaders::{LoadOptions, bake, load};
use saltus_scenarios::prediction;

const ROBOTS: [&str; 4] = ["cartpole", "hopper", "quadrotor", "go1"];

fn main() -> Result<(), Box<dyn error::Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    for robot in ROBOTS {
        let model = prediction(robot, &load(robot, &LoadOptions::default())?.model).cast::<f32>();
        fs::write(out.join(robot).with_extension("rs"), bake(model.model(), robot))?;
    }
    // The built-in robots are part of the loaders, so a change there runs this again.
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}
