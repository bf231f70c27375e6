//! What the runs say about themselves.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use saltus::mpc::Times;
use saltus_cli::closed_loop::Outcome;
use saltus_scenarios::Verdict;
use serde::Serialize;

use crate::simulate::summary::Percentiles;

/// All runs of a command.
pub struct Summary {
    scenario: String,
    budget: Option<Duration>,
    runs: Vec<(u64, Outcome)>,
}

/// As it is printed with `--json`.
#[derive(Serialize)]
struct Document<'s> {
    scenario: &'s str,
    seeds: usize,
    successes: usize,
    mean_cost: f64,
    statuses: BTreeMap<&'s str, u64>,
    solve_us: SolveTimes,
    /// The slowest of those before the robot moves.
    first_solve_us: f64,
    /// Mean of a solve.
    stages_us: BTreeMap<&'static str, f64>,
    /// Solves that took longer than the budget.
    late: usize,
    failures: Vec<Failure<'s>>,
}

/// Of all solves but the first of each run.
#[derive(Clone, Copy, Default, Serialize)]
struct SolveTimes {
    p50: f64,
    p99: f64,
    max: f64,
}

#[derive(Serialize)]
struct Failure<'s> {
    seed: u64,
    reason: &'s str,
}

impl Summary {
    /// Of no run yet.
    pub fn new(scenario: &str, budget: Option<Duration>) -> Self {
        Self { scenario: scenario.to_string(), budget, runs: Vec::new() }
    }

    /// What is run.
    pub fn name(&self) -> &str {
        &self.scenario
    }

    /// Takes in a run.
    pub fn add(&mut self, seed: u64, outcome: Outcome) {
        self.runs.push((seed, outcome));
    }

    /// No run failed; one that was stopped has neither succeeded nor failed.
    pub fn all_succeeded(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The user ended it.
    pub fn was_stopped(&self) -> bool {
        self.runs.iter().any(|(_, outcome)| outcome.stopped)
    }

    /// Prints the table, or one JSON document.
    pub fn print(&self, json: bool) -> Result<()> {
        let document = self.document();
        if json {
            println!("{}", serde_json::to_string_pretty(&document)?);
        } else {
            self.print_table(&document);
        }
        Ok(())
    }

    fn judged(&self) -> impl Iterator<Item = &(u64, Outcome)> {
        self.runs.iter().filter(|(_, outcome)| !outcome.stopped)
    }

    fn failures(&self) -> impl Iterator<Item = Failure<'_>> {
        self.judged().filter_map(|(seed, outcome)| match &outcome.verdict {
            Verdict::Success => None,
            Verdict::Failure(reason) => Some(Failure { seed: *seed, reason }),
        })
    }

    fn document(&self) -> Document<'_> {
        let mut statuses = BTreeMap::new();
        for (status, count) in self.runs.iter().flat_map(|(_, outcome)| &outcome.statuses) {
            *statuses.entry(status.as_str()).or_default() += count;
        }
        let solve_us: Vec<f64> = self.runs.iter().flat_map(|(_, outcome)| outcome.solve_us.iter().copied()).collect();
        let late = self.budget.map_or(0, |budget| {
            let budget_us = budget.as_secs_f64() * 1e6;
            solve_us.iter().filter(|us| **us > budget_us).count()
        });
        let solves = solve_us.len().max(1) as f64;
        let failures: Vec<_> = self.failures().collect();
        let seeds = self.judged().count();
        let costs: f64 = self.runs.iter().map(|(_, outcome)| outcome.mean_cost).sum();
        Document {
            scenario: &self.scenario,
            seeds,
            successes: seeds - failures.len(),
            mean_cost: costs / self.runs.len().max(1) as f64,
            statuses,
            solve_us: SolveTimes::of(solve_us),
            first_solve_us: self.runs.iter().fold(0.0, |worst: f64, (_, outcome)| worst.max(outcome.first_us)),
            stages_us: self.stages(solves),
            late,
            failures,
        }
    }

    /// Time of each stage, µs per solve.
    fn stages(&self, solves: f64) -> BTreeMap<&'static str, f64> {
        let sum = |stage: fn(&Times) -> u64| {
            self.runs.iter().map(|(_, outcome)| stage(&outcome.times) as f64).sum::<f64>() * 1e-3 / solves
        };
        [
            ("rollout", sum(|times| times.rollout)),
            ("step", sum(|times| times.step)),
            ("derivatives", sum(|times| times.derivatives)),
            ("cost", sum(|times| times.cost)),
            ("backward", sum(|times| times.backward)),
            ("line_search", sum(|times| times.line_search)),
            ("total", sum(|times| times.total)),
        ]
        .into()
    }

    fn print_table(&self, document: &Document<'_>) {
        let Document {
            seeds, successes, mean_cost, statuses, solve_us, first_solve_us, stages_us, late, failures, ..
        } = document;
        let SolveTimes { p50, p99, max } = solve_us;
        let solves: u64 = self.runs.iter().map(|(_, outcome)| outcome.solves()).sum();
        let simulated_s: f64 = self.runs.iter().map(|(_, outcome)| outcome.time_s).sum();
        println!();
        let counts: Vec<_> = statuses.iter().map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect();
        println!("solves         {solves} in {simulated_s:.2} s: {}", counts.join(", "));
        let budget = self
            .budget
            .map_or("no budget".to_string(), |budget| format!("budget {:.0}, {late} late", budget.as_secs_f64() * 1e6));
        println!("first solve    {first_solve_us:.0} µs, before the robot moves");
        println!("solve time     p50 {p50:.0} µs, p99 {p99:.0}, max {max:.0}; {budget}");
        println!("mean cost      {mean_cost:.4}");
        let unsolved: u64 = self.runs.iter().map(|(_, outcome)| outcome.unsolved_contacts).sum();
        println!("contact solver {unsolved} problems of the plans ended at their bound");
        println!("\n{:<14} {:>12} {:>7}", "stage", "µs per solve", "share");
        let total = stages_us["total"].max(f64::MIN_POSITIVE);
        for name in ["rollout", "step", "derivatives", "cost", "backward", "line_search"] {
            let us = stages_us[name];
            println!("{:<14} {us:>12.1} {:>5.1} %", name.replace('_', " "), 100.0 * us / total);
        }
        println!("{:<14} {:>12.1}\n", "total", stages_us["total"]);
        match (self.runs.as_slice(), failures.as_slice()) {
            ([(_, run)], _) if run.stopped => println!("stopped after {:.2} s, no verdict", run.time_s),
            ([_], []) => println!("success"),
            ([_], [failure, ..]) => println!("FAILURE: {}", failure.reason),
            _ => {
                println!("{successes} of {seeds} seeds succeeded");
                failures.iter().for_each(|failure| println!("seed {:>3}: {}", failure.seed, failure.reason));
            }
        }
    }
}

impl SolveTimes {
    fn of(solve_us: Vec<f64>) -> Self {
        if solve_us.is_empty() {
            return Self::default();
        }
        let Percentiles { p50, p99, max, .. } = Percentiles::of(solve_us);
        Self { p50, p99, max }
    }
}
