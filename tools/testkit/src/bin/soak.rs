//! Soaks the built-in robots, f64 and f32: `soak STEPS [ROBOT]`. Run by `cargo xtask soak`.

use std::process::ExitCode;
use std::time::Instant;

use saltus_testkit::{SoakReport, builtin_robots, soak};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(steps) = arguments.next().and_then(|steps| steps.parse().ok()) else {
        eprintln!("soak STEPS [ROBOT]");
        return ExitCode::FAILURE;
    };
    let only = arguments.next();
    println!(
        "{:<16} {:<5}{:>8}{:>7}{:>12}{:>10}{:>7}{:>6}{:>11}{:>12}{:>11}{:>11}{:>10}{:>9}{:>7}",
        "robot",
        "type",
        "steps",
        "errors",
        "unconverged",
        "overflows",
        "most",
        "of",
        "lasting mm",
        "deepest l.",
        "steady mm",
        "any mm",
        "fastest",
        "gain %",
        "µs"
    );
    let mut failures = 0;
    for (name, robot) in builtin_robots().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        for (kind, run) in [("f64", soak::<f64> as fn(_, _, _) -> _), ("f32", soak::<f32>)] {
            let start = Instant::now();
            let report: SoakReport = run(&robot, steps, 1);
            let micros = start.elapsed().as_secs_f64() * 1e6 / steps.max(1) as f64;
            println!("{}", row(name, kind, &report, micros));
            failures += report.errors + report.overflows;
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(name: &str, kind: &str, r: &SoakReport, micros: f64) -> String {
    format!(
        "{name:<16} {kind:<5}{:>8}{:>7}{:>12}{:>10}{:>7}{:>6}{:>11.4}{:>12.4}{:>11.4}{:>11.3}{:>10.1}{:>9.2}{micros:>7.1}",
        r.steps,
        r.errors,
        r.unconverged,
        r.overflows,
        r.iterations.0,
        r.iterations.1,
        1e3 * r.lasting_m[0],
        1e3 * r.lasting_m[1],
        1e3 * r.steady_m,
        1e3 * r.deepest_m,
        r.fastest,
        1e2 * r.gain[1],
    )
}
