//! A line per simulated second.

use saltus_cli::closed_loop::{Moment, Options};

/// Simulated time between two lines.
const EVERY_S: f64 = 1.0;

/// What the line sums up.
pub struct Live {
    budget_us: Option<f64>,
    lines: u32,
    solves: u32,
    late: u32,
    solve_us: f64,
    worst_us: f64,
}

impl Live {
    /// Prints the head of the columns.
    pub fn begin(scenario: &str, seed: u64, options: &Options) -> Self {
        let budget_us = options.budget.map(|budget| budget.as_secs_f64() * 1e6);
        let budget = budget_us.map_or("without a time limit".to_string(), |us| format!("{us:.0} µs each"));
        let pace = if options.real_time { "in real time" } else { "as fast as it goes" };
        println!("{scenario}, seed {seed}, {pace}, solves {budget}\n");
        println!(
            "{:>6} {:>12}  {:<16} {:>11} {:>11} {:>11} {:>6} {:>9}",
            "time s", "cost", "status", "solve µs", "worst", "of budget", "late", "contacts"
        );
        Self { budget_us, lines: 0, solves: 0, late: 0, solve_us: 0.0, worst_us: 0.0 }
    }

    /// Takes in a moment, and prints when a second is over.
    pub fn show(&mut self, moment: &Moment<'_>) {
        if moment.solved {
            self.solves += 1;
            self.solve_us += moment.solve_us;
            self.worst_us = self.worst_us.max(moment.solve_us);
            self.late += u32::from(self.budget_us.is_some_and(|budget| moment.solve_us > budget));
        }
        // Half a step of grace: times are sums of steps.
        if moment.time_s + 1e-6 < f64::from(self.lines + 1) * EVERY_S {
            return;
        }
        let share = self.budget_us.filter(|budget| *budget > 0.0).map(|budget| 100.0 * self.worst_us / budget);
        println!(
            "{:>6.2} {:>12.4}  {:<16} {:>11.0} {:>11.0} {:>11} {:>6} {:>9}",
            moment.time_s,
            moment.report.cost,
            moment.report.status,
            self.solve_us / f64::from(self.solves.max(1)),
            self.worst_us,
            share.map_or("–".to_string(), |share| format!("{share:.0} %")),
            self.late,
            moment.contacts
        );
        self.lines += 1;
        (self.solves, self.late, self.solve_us, self.worst_us) = (0, 0, 0.0, 0.0);
    }
}
