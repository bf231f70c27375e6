//! The largest push that a robot survives, in eight directions.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use saltus_cli::closed_loop::{self, Loop};
use saltus_scenarios::Verdict;
use serde::Serialize;

use super::{INTERRUPTED, Options, loop_options};

/// Directions, in eighths of a turn from forward to the left.
const DIRECTIONS: [&str; 8] =
    ["forward", "forward left", "left", "backward left", "backward", "backward right", "right", "forward right"];
/// Bisection ends when the push that is survived and the one that is not are this close, N·s.
const RESOLUTION_NS: f64 = 0.5;
/// How often a push that is survived is doubled before the search ends.
const DOUBLINGS: u32 = 5;

/// As it is printed with `--json`.
#[derive(Serialize)]
struct Document<'s> {
    scenario: &'s str,
    seed: u64,
    resolution_ns: f64,
    directions: Vec<Found>,
}

#[derive(Serialize)]
struct Found {
    direction: &'static str,
    /// The largest push that was survived; nothing if not even standing still was.
    survived_ns: Option<f64>,
    /// The smallest push above it that was not; nothing if all were survived.
    failed_ns: Option<f64>,
    /// Why that one failed.
    reason: Option<String>,
}

/// Searches and prints. Pushes need not fail in order: what is found is a push that is survived just below one that is
/// not, upwards of the scenario's own.
pub fn run(job: &Loop, name: &str, options: &Options, interrupted: &AtomicBool) -> Result<ExitCode> {
    let Some(nominal_ns) = job.push_ns() else { bail!("--largest-push: {name} has no push") };
    let settings = closed_loop::Options {
        budget: options.budget_us.map(|us| std::time::Duration::from_secs_f64(us * 1e-6)),
        real_time: false,
        ..loop_options(options, job)
    };
    if !options.json {
        println!("{name}, seed {}: largest push that it survives, within {RESOLUTION_NS} N·s\n", options.seed);
        println!("{:<16} {:>12} {:>12}  why", "direction", "survived N·s", "failed N·s");
    }
    let mut directions = Vec::new();
    for (k, direction) in DIRECTIONS.into_iter().enumerate() {
        let fails = |impulse_ns: f64| -> Result<Option<String>> {
            let settings = closed_loop::Options { impulse_ns: Some(impulse_ns), direction: Some(k as u64), ..settings };
            let outcome = job.run(options.seed, &settings, |_| !interrupted.load(Ordering::Relaxed))?;
            Ok(match outcome.verdict {
                Verdict::Failure(reason) => Some(reason),
                Verdict::Success => None,
            })
        };
        let found = search(direction, nominal_ns, fails)?;
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        if !options.json {
            found.print();
        }
        directions.push(found);
    }
    let complete = directions.len() == DIRECTIONS.len();
    let stands = directions.iter().all(|found| found.survived_ns.is_some_and(|ns| ns >= nominal_ns));
    if options.json {
        let document = Document { scenario: name, seed: options.seed, resolution_ns: RESOLUTION_NS, directions };
        println!("{}", serde_json::to_string_pretty(&document)?);
    }
    Ok(match (complete, stands) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::FAILURE,
    })
}

/// Doubles from `nominal_ns` until a push is too large, then halves the gap to it. `fails` says why a push fails.
fn search(
    direction: &'static str,
    nominal_ns: f64,
    mut fails: impl FnMut(f64) -> Result<Option<String>>,
) -> Result<Found> {
    let (mut survived_ns, mut failed) = (None, None);
    let mut impulse_ns = nominal_ns;
    for _ in 0..=DOUBLINGS {
        match fails(impulse_ns)? {
            None => survived_ns = Some(impulse_ns),
            Some(reason) => {
                failed = Some((impulse_ns, reason));
                break;
            }
        }
        impulse_ns *= 2.0;
    }
    if survived_ns.is_none() {
        match fails(0.0)? {
            None => survived_ns = Some(0.0),
            Some(reason) => failed = Some((0.0, reason)),
        }
    }
    while let (Some(low), Some((high, _))) = (survived_ns, &failed) {
        if high - low <= RESOLUTION_NS {
            break;
        }
        let middle = 0.5 * (low + high);
        match fails(middle)? {
            None => survived_ns = Some(middle),
            Some(reason) => failed = Some((middle, reason)),
        }
    }
    let (failed_ns, reason) = failed.unzip();
    Ok(Found { direction, survived_ns, failed_ns, reason })
}

impl Found {
    fn print(&self) {
        let number = |ns: Option<f64>| ns.map_or("–".to_string(), |ns| format!("{ns:.2}"));
        let Self { direction, survived_ns, failed_ns, reason } = self;
        let (survived, failed) = (number(*survived_ns), number(*failed_ns));
        println!("{direction:<16} {survived:>12} {failed:>12}  {}", reason.as_deref().unwrap_or(""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(limit_ns: f64) -> Found {
        search("left", 6.0, |ns| Ok((ns > limit_ns).then(|| "fell".to_string()))).unwrap()
    }

    #[test]
    fn bisection_encloses_the_limit() {
        for limit_ns in [0.1, 2.0, 6.0, 13.7, 100.0] {
            let Found { survived_ns, failed_ns, .. } = found(limit_ns);
            let (low, high) = (survived_ns.unwrap(), failed_ns.unwrap());
            assert!(low <= limit_ns && limit_ns < high && high - low <= RESOLUTION_NS, "{low} … {high} for {limit_ns}");
        }
    }

    #[test]
    fn a_search_ends_whatever_it_meets() {
        assert_eq!((found(f64::INFINITY).survived_ns, found(f64::INFINITY).failed_ns), (Some(192.0), None));
        assert_eq!((found(-1.0).survived_ns, found(-1.0).failed_ns), (None, Some(0.0)));
    }
}
