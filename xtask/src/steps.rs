//! Everything CI runs: the steps as data, and the runner.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::baked;
use crate::process::{cargo, root, stream};
use crate::setup::Need;
use crate::tally::{Counts, summary};
use crate::toolchain;

/// One named part of the check.
struct Step {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    /// A file without which the step would pass for the wrong reason.
    file: Option<&'static str>,
    builds: &'static [Build],
}

/// One build of a step.
enum Build {
    /// On the host, with these warning flags for rustdoc.
    Host { arguments: &'static [&'static str], rustdocflags: Option<&'static str> },
    /// For the Cortex-M7, with these parts of the standard library.
    Target { arguments: &'static [&'static str], libraries: &'static str },
    /// These robots, built-in or files, baked and built for the Cortex-M7.
    Baked { robots: &'static [&'static str] },
    /// `saltus hil` of a scenario.
    Hil { scenario: &'static str },
}

const fn host(arguments: &'static [&'static str]) -> Build {
    Build::Host { arguments, rustdocflags: None }
}

/// `saltus hil` of a scenario.
const fn hil(scenario: &'static str) -> Build {
    Build::Hil { scenario }
}

const STEPS: [Step; 11] = [
    Step {
        name: "format",
        about: "rustfmt has nothing to change",
        needs: &[Need::Rustfmt],
        file: None,
        builds: &[host(&["fmt", "--all", "--check"])],
    },
    Step {
        name: "clippy",
        about: "no warning in any target, nor in the core without features",
        needs: &[Need::Clippy],
        file: None,
        builds: &[
            host(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
            host(&["clippy", "--package", "saltus", "--no-default-features", "--", "-D", "warnings"]),
        ],
    },
    Step {
        name: "tests",
        about: "unit and integration tests",
        needs: &[],
        file: None,
        builds: &[host(&["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples"])],
    },
    Step {
        name: "doc-tests",
        about: "the examples in the documentation",
        needs: &[],
        file: None,
        builds: &[host(&["test", "--workspace", "--no-fail-fast", "--doc"])],
    },
    Step {
        name: "release-tests",
        about: "no allocation, in the build that ships",
        needs: &[],
        file: Some("tests/no_alloc.rs"),
        builds: &[host(&["test", "--release", "--package", "saltus", "--test", "no_alloc"])],
    },
    Step {
        name: "docs",
        about: "the documentation builds without a warning or a broken link",
        needs: &[],
        file: None,
        builds: &[Build::Host { arguments: &["doc", "--workspace", "--no-deps"], rustdocflags: Some("-D warnings") }],
    },
    Step {
        name: "target",
        about: "the core builds for the Cortex-M7, without and with alloc",
        needs: &[Need::Target],
        file: None,
        builds: &[
            Build::Target {
                arguments: &["build", "--package", "saltus", "--no-default-features", "--release"],
                libraries: "core",
            },
            Build::Target {
                // In release as well: a `core` built from source is then built once.
                arguments: &[
                    "check",
                    "--package",
                    "saltus",
                    "--no-default-features",
                    "--features",
                    "alloc",
                    "--release",
                ],
                libraries: "core,alloc",
            },
        ],
    },
    Step {
        name: "baked",
        about: "baked robots build for the Cortex-M7, as f32 in flash",
        needs: &[Need::Target],
        file: None,
        builds: &[Build::Baked {
            robots: &["cartpole", "go1", "loaders/tests/mjcf/everything.xml", "loaders/tests/mjcf/loops.xml"],
        }],
    },
    Step {
        name: "hil",
        about: "images on the emulated Cortex-M7: faults, panics, stack overruns, sizes, the same bits and counts",
        needs: &[Need::Target, Need::Emulator],
        file: Some("hil-tests/tests/target.rs"),
        builds: &[host(&[
            "test",
            "--release",
            "--package",
            "saltus-hil-tests",
            "--features",
            "target",
            "--test",
            "target",
        ])],
    },
    Step {
        name: "figures",
        about: "every scenario on the target, with the stored counts of instructions and sizes",
        needs: &[Need::Target, Need::Emulator],
        file: None,
        builds: &[
            hil("bench"),
            hil("cartpole-swingup"),
            hil("hopper-hop"),
            hil("quadrotor-takeoff"),
            hil("go1-stand"),
            hil("go1-push"),
        ],
    },
    Step {
        name: "examples",
        about: "every example builds in release",
        needs: &[],
        file: None,
        builds: &[host(&["build", "--workspace", "--examples", "--release"])],
    },
];

/// How one step went.
struct Report {
    name: &'static str,
    elapsed: Duration,
    counts: Counts,
    /// Why it failed, in a line.
    problem: Option<String>,
}

/// The names of the steps, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|step| step.name)
}

/// Prints the steps.
pub fn list() {
    for step in &STEPS {
        println!("{:<16}{}", step.name, step.about);
    }
}

/// Runs the steps named in `only`, or all of them if it is empty, and prints the summary. True if nothing failed.
pub fn run(only: &[String]) -> bool {
    let chosen = STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name));
    let reports: Vec<Report> = chosen.map(run_step).collect();
    let total = reports.iter().fold(Counts::default(), |sum, report| sum + report.counts);
    print_table(&reports);
    println!("{}", summary(total));
    total.failed == 0
}

/// Runs one step under its heading.
fn run_step(step: &Step) -> Report {
    println!("\n── {}: {}", step.name, step.about);
    let start = Instant::now();
    let (tests, problem) = match run_builds(step) {
        Ok((tests, true)) => (tests, None),
        Ok((tests, false)) => (tests, Some("a command failed; its output stands under the step's heading".to_owned())),
        Err(error) => (Counts::default(), Some(format!("{error:#}"))),
    };
    let counts = tests.of_step(problem.is_none());
    let report = Report { name: step.name, elapsed: start.elapsed(), counts, problem };
    println!("── {}", row(&report));
    report
}

/// Runs all commands of a step, even after one has failed: the tests counted, and whether all succeeded.
fn run_builds(step: &Step) -> Result<(Counts, bool)> {
    if let Some(file) = step.file.filter(|file| !root().join(file).exists()) {
        bail!("{file} is missing");
    }
    for need in step.needs {
        need.ensure()?;
    }
    let (mut tests, mut success) = (Counts::default(), true);
    for build in step.builds {
        let finished = match *build {
            Build::Host { arguments, rustdocflags } => {
                let flags = rustdocflags.map(|flags| ("RUSTDOCFLAGS", flags));
                stream(cargo().args(arguments).envs(flags))
            }
            Build::Target { arguments, libraries } => stream(&mut toolchain::cargo_for_target(arguments, libraries)?),
            Build::Baked { robots } => baked::build(robots),
            Build::Hil { scenario } => {
                stream(cargo().args(["run", "--release", "--package", "saltus-cli", "--", "hil", scenario]))
            }
        }?;
        tests = tests + Counts::in_output(&finished.stdout);
        success &= finished.success;
    }
    Ok((tests, success))
}

fn print_table(reports: &[Report]) {
    println!("\n{:<14} {:>9} {:>7} {:>7} {:>7}  result", "step", "time", "passed", "failed", "ignored");
    for report in reports {
        println!("{}", row(report));
    }
    println!();
}

fn row(report: &Report) -> String {
    let Report { name, elapsed, counts, problem } = report;
    let result = problem.as_ref().map_or("ok".to_owned(), |problem| format!("FAILED: {problem}"));
    let seconds = elapsed.as_secs_f64();
    format!("{name:<14} {seconds:>7.1} s {:>7} {:>7} {:>7}  {result}", counts.passed, counts.failed, counts.ignored)
}
