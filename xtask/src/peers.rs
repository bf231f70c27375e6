//! Side-by-side timing with Pinocchio, MuJoCo and Crocoddyl: Python environments, the C++ program, then the comparison.
//!
//! Everything is made under `target/peers`. Progress goes to stderr, because stdout belongs to the result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::packages::{self, Package};
use crate::process::{cargo, command, must_succeed, probe, root, target_dir};

const REQUIREMENTS: &str = "tools/peers/requirements.txt";
/// Crocoddyl needs an older Pinocchio than the others, so it has an environment of its own.
const CROCODDYL: &str = "tools/peers/requirements-crocoddyl.txt";
const EXPORT: &str = "tools/peers/export_timing.py";
/// Dumps what Pinocchio makes of URDF files.
const LOADERS: &str = "tools/peers/loaders.py";
/// Dumps what MuJoCo makes of MJCF files.
const MJCF: &str = "tools/peers/mjcf.py";
const PROJECT: &str = "tools/peers/pinocchio_timing";

/// What a Python needs to make virtual environments; Debian ships it apart.
const VENV_PROBE: &str = "import ensurepip, venv";
const VENV: Package = Package { name: "python3-venv", provides: None };

/// The C++ side. Pinocchio, Eigen and all other headers come pinned with the wheels: a second Eigen would be a trap.
const CPP: [Package; 3] = [
    Package { name: "cmake", provides: Some("cmake") },
    Package { name: "g++", provides: Some("g++") },
    Package { name: "make", provides: Some("make") },
];

/// A table of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Rigid-body algorithms, with Pinocchio.
    Dynamics,
    /// The simulation step, with MuJoCo.
    Step,
    /// The Jacobian of the step, with MuJoCo's finite differences.
    Gradient,
    /// How even the time of our step is.
    Jitter,
    /// One iteration of the optimizer, with Crocoddyl.
    Mpc,
}

/// What to time, and how to show it.
#[derive(Args, Default)]
pub struct Options {
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
    /// Tables to make, comma-separated; all of them by default. Only `dynamics` needs a C++ compiler.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    only: Vec<Part>,
    /// Robots to time, comma-separated; all of them by default.
    #[arg(long, value_delimiter = ',', value_name = "ROBOT")]
    robots: Vec<String>,
    /// Rounds of measurement for each robot and algorithm.
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Compare what the loaders make of the peers' robot files, instead of timing.
    #[arg(long)]
    loaders: bool,
    /// Stop once the Python environments stand (all that tools/peers/oracles.py needs).
    #[arg(long)]
    env_only: bool,
}

/// Prepares both sides and runs the comparison.
pub fn run(options: &Options) -> Result<()> {
    let folder = target_dir().join("peers");
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);
    if options.env_only || !options.loaders && wanted(Part::Mpc) {
        python_environment(&folder.join("crocoddyl"), CROCODDYL)?;
    }
    if !options.env_only && !options.loaders && options.only == [Part::Mpc] {
        return compare(&folder, options);
    }
    let python = python_environment(&folder.join("venv"), REQUIREMENTS)?;
    if options.env_only {
        eprintln!("the environment is ready: {}", python.display());
        return Ok(());
    }
    if options.loaders {
        dump_loader_figures(&folder, &python)?;
        return compare(&folder, options);
    }
    if wanted(Part::Dynamics) {
        build_pinocchio_timing(&folder, &python)?;
        export_robots(&folder, &python)?;
    }
    compare(&folder, options)
}

/// Makes `venv` and installs pinned requirements, once for each change of them. Returns its Python.
fn python_environment(venv: &Path, requirements: &str) -> Result<PathBuf> {
    let wanted = fs::read_to_string(root().join(requirements))
        .with_context(|| format!("cannot read {requirements}, which pins the peers"))?;
    let python = venv.join("bin/python");
    let stamp = venv.join("requirements.stamp");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    if probe(command("python3").args(["-c", VENV_PROBE])).is_none() {
        packages::ensure(&[VENV])?;
    }
    // A fresh environment each time: pip leaves behind what the requirements no longer name.
    must_succeed(command("python3").args(["-m", "venv", "--clear"]).arg(venv))?;
    must_succeed(command(&python).args(["-m", "pip", "install", "--requirement", requirements]))?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// Builds the C++ program against the Pinocchio of the wheel.
fn build_pinocchio_timing(folder: &Path, python: &Path) -> Result<()> {
    packages::ensure(&CPP)?;
    let build = folder.join("build");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", wheel_prefix(python)?.display());
    let mut configure = command("cmake");
    configure.arg("-S").arg(PROJECT).arg("-B").arg(&build).args(["-DCMAKE_BUILD_TYPE=Release", &prefix]);
    must_succeed(&mut configure)?;
    // One job for each core: left to itself, make starts all of them at once.
    let jobs = std::thread::available_parallelism().map_or(1, usize::from).to_string();
    must_succeed(command("cmake").arg("--build").arg(&build).args(["--parallel", &jobs]))
}

/// Where the wheel keeps its headers, libraries and CMake files.
fn wheel_prefix(python: &Path) -> Result<PathBuf> {
    let script = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let packages = probe(command(python).args(["-c", script]))
        .with_context(|| format!("{} does not run: delete its environment and try again", python.display()))?;
    let prefix = Path::new(&packages).join("cmeel.prefix");
    ensure!(prefix.is_dir(), "{} is missing: does {REQUIREMENTS} still name `pin`?", prefix.display());
    Ok(prefix)
}

/// Writes the robots and the states they are timed in, the same for both sides.
fn export_robots(folder: &Path, python: &Path) -> Result<()> {
    must_succeed(command(python).arg(EXPORT).arg(folder.join("robots")))
}

/// Writes what the peers make of their robot files.
fn dump_loader_figures(folder: &Path, python: &Path) -> Result<()> {
    must_succeed(command(python).arg(LOADERS).arg(folder.join("loaders/urdf.json")))?;
    must_succeed(command(python).arg(MJCF).arg("--dump").arg(folder.join("loaders/mjcf.json")))
}

/// Runs the Rust side, which starts the C++ side in turns with itself.
fn compare(folder: &Path, options: &Options) -> Result<()> {
    let mut run = cargo();
    run.args(["run", "--quiet", "--release", "--package", "saltus-peers", "--", "--peers-dir"]).arg(folder);
    run.args(arguments(options));
    let status = run.stdout(Stdio::inherit()).status().context("cannot start cargo")?;
    ensure!(status.success(), "the comparison failed ({status}); its output above says why");
    Ok(())
}

/// The options that the comparison understands as well.
fn arguments(options: &Options) -> Vec<String> {
    let mut arguments = Vec::new();
    if options.json {
        arguments.push("--json".to_owned());
    }
    if options.loaders {
        arguments.push("--loaders".to_owned());
    }
    if !options.only.is_empty() {
        let parts = options.only.iter().filter_map(Part::to_possible_value);
        let names: Vec<String> = parts.map(|part| part.get_name().to_owned()).collect();
        arguments.extend(["--only".to_owned(), names.join(",")]);
    }
    if !options.robots.is_empty() {
        arguments.extend(["--robots".to_owned(), options.robots.join(",")]);
    }
    if let Some(rounds) = options.rounds {
        arguments.extend(["--rounds".to_owned(), rounds.to_string()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_reach_the_comparison() {
        let robots = vec!["arm".to_owned(), "dog".to_owned()];
        let only = vec![Part::Step, Part::Jitter];
        let options = Options { json: true, only, robots, rounds: Some(5), loaders: true, env_only: false };
        let expected = ["--json", "--loaders", "--only", "step,jitter", "--robots", "arm,dog", "--rounds", "5"];
        assert_eq!(arguments(&options), expected);
    }

    #[test]
    fn defaults_are_left_to_the_comparison() {
        let options = Options::default();
        assert!(arguments(&options).is_empty());
    }
}
