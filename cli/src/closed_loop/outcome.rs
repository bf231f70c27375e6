//! How a run went.

use std::collections::BTreeMap;

use saltus::mpc::{Report, Status, Times};
use saltus_scenarios::Verdict;

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether it did what it should.
    pub verdict: Verdict,
    /// Cost of the plans, averaged over the run.
    pub mean_cost: f64,
    /// How often a solve ended in which way.
    pub statuses: BTreeMap<String, u64>,
    /// How long the first solve took, before the robot moved.
    pub first_us: f64,
    /// How long each solve after it took.
    pub solve_us: Vec<f64>,
    /// Where the time of those went, all together.
    pub times: Times,
    /// Contact problems of the plans that ended at their bound.
    pub unsolved_contacts: u64,
    /// Simulated time at the end.
    pub time_s: f64,
    /// The watcher ended it.
    pub stopped: bool,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            verdict: Verdict::Success,
            mean_cost: 0.0,
            statuses: BTreeMap::new(),
            first_us: 0.0,
            solve_us: Vec::new(),
            times: Times::default(),
            unsolved_contacts: 0,
            time_s: 0.0,
            stopped: false,
        }
    }
}

impl Outcome {
    /// How many solves there were.
    pub fn solves(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Takes in the solve before the robot moves. Its time is its own.
    pub(super) fn note_first(&mut self, report: &Report<f64>, solve_us: f64) {
        self.count(report);
        self.first_us = solve_us;
    }

    /// Takes in any other solve.
    pub(super) fn note(&mut self, report: &Report<f64>, solve_us: f64) {
        self.count(report);
        self.solve_us.push(solve_us);
        let (sum, one) = (&mut self.times, &report.times);
        sum.rollout += one.rollout;
        sum.step += one.step;
        sum.derivatives += one.derivatives;
        sum.cost += one.cost;
        sum.backward += one.backward;
        sum.line_search += one.line_search;
        sum.total += one.total;
    }

    fn count(&mut self, report: &Report<f64>) {
        self.mean_cost += report.cost;
        *self.statuses.entry(name(report.status)).or_default() += 1;
        self.unsolved_contacts += u64::from(report.unsolved_contacts);
    }
}

/// A status as a key: `iteration_limit`.
fn name(status: Status) -> String {
    status.to_string().replace(' ', "_")
}
