//! Baked robots compile for the Cortex-M7: a crate of its own under `target/`, as firmware would have it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::process::{Finished, cargo, root, stream, target_dir};
use crate::toolchain;

/// Bakes robots to `static`s in f32 and builds them against the core without features.
pub fn build(robots: &[&str]) -> Result<Finished> {
    let folder = target_dir().join("baked");
    let sources = folder.join("src");
    fs::create_dir_all(&sources).with_context(|| format!("cannot make {}", sources.display()))?;
    for robot in robots {
        let output = sources.join(module(robot)).with_extension("rs");
        let finished = stream(cargo().args(["run", "--package", "saltus-cli", "--", "bake", robot, "-o"]).arg(output))?;
        if !finished.success {
            return Ok(finished);
        }
    }
    write(&sources.join("lib.rs"), &library(robots))?;
    let manifest = folder.join("Cargo.toml");
    write(&manifest, &manifest_text(root()))?;
    // The same versions as here: nothing to resolve, hence nothing to fetch.
    write(&folder.join("Cargo.lock"), &fs::read_to_string(root().join("Cargo.lock"))?)?;
    let mut command = toolchain::cargo_for_target(&["build", "--release"], "core")?;
    stream(command.arg("--manifest-path").arg(manifest).env("CARGO_TARGET_DIR", target_dir()))
}

/// What a robot is called in Rust: its name, or that of its file.
fn module(robot: &str) -> &str {
    Path::new(robot).file_stem().and_then(|stem| stem.to_str()).unwrap_or(robot)
}

/// Not a member of any workspace, so that the features of its siblings do not reach the core.
fn manifest_text(saltus: &Path) -> String {
    format!(
        "[workspace]\n\n[package]\nname = \"baked\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\nsaltus = {{ path = {saltus:?}, default-features = false }}\n"
    )
}

/// Each robot as a module, and the memory of its simulation and its optimizer as `static`s whose size the compiler works out.
fn library(robots: &[&str]) -> String {
    let declare = |robot: &&str| {
        let (module, constant) = (module(robot), module(robot).to_uppercase());
        format!(
            "pub mod {module};\n\
             const {constant}_BLOCKS: usize = Simulator::<f32>::blocks({module}::step_dims(8));\n\
             pub static {constant}_MEMORY: [Block; {constant}_BLOCKS] = [Block::EMPTY; {constant}_BLOCKS];\n\
             const {constant}_MPC_BLOCKS: usize = Mpc::<f32>::blocks({module}::mpc_dims(8, 20, 8));\n\
             pub static {constant}_MPC_MEMORY: [Block; {constant}_MPC_BLOCKS] = [Block::EMPTY; {constant}_MPC_BLOCKS];\n"
        )
    };
    let modules: String = robots.iter().map(declare).collect();
    format!("#![no_std]\n#![deny(warnings)]\nuse saltus::{{memory::Block, mpc::Mpc, step::Simulator}};\n{modules}")
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_robot_is_a_module_with_memory() {
        let library = library(&["cartpole", "tests/four_bar.xml"]);
        assert!(library.contains("pub mod cartpole;\nconst CARTPOLE_BLOCKS: usize ="));
        assert!(library.contains("pub mod four_bar;\nconst FOUR_BAR_BLOCKS: usize ="));
    }

    #[test]
    fn the_core_has_no_features_there() {
        let manifest = manifest_text(Path::new("/some where"));
        assert!(manifest.contains("saltus = { path = \"/some where\", default-features = false }"));
    }
}
