//! What a simulation says about itself.

use saltus::contact::SolverStatus;
use saltus::step::StepReport;
use serde::Serialize;

use super::control::Control;
use super::method::Method;

/// Everything, as it is printed.
#[derive(Serialize)]
pub struct Summary {
    pub robot: String,
    pub nv: usize,
    pub keyframe: Option<String>,
    pub control: Control,
    pub solver: Method,
    pub dt_s: f64,
    pub substeps: u16,
    pub contact_capacity: usize,
    pub simulated_s: f64,
    /// One per simulated second, and the start.
    pub seconds: Vec<Second>,
    pub steps: u64,
    pub real_time_factor: f64,
    pub step_us: Percentiles,
    pub solver_statuses: Statuses,
    pub worst_residual: f64,
    pub worst_penetration_m: f64,
    /// Over all steps.
    pub dropped_contacts: usize,
    /// Over all steps.
    pub dropped_constraints: usize,
    pub arena_bytes: usize,
}

/// Energies at the end of a second, and how its steps went.
#[derive(Clone, Copy, Serialize)]
pub struct Second {
    pub time_s: f64,
    pub kinetic_j: f64,
    pub potential_j: f64,
    pub total_j: f64,
    #[serde(flatten)]
    pub steps: Tally,
}

/// Steps, taken together.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Tally {
    /// Of the last step.
    pub contacts: usize,
    pub penetration_m: f64,
    pub iterations_mean: f64,
    pub iterations_max: u16,
    /// Worst of the natural map, relative to the largest impulse.
    pub residual: f64,
    #[serde(skip)]
    steps: u32,
}

/// How often the solver ended how.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Statuses {
    pub converged: u64,
    pub iteration_limit: u64,
    pub not_finite: u64,
}

/// Of the time of a step on the clock, µs.
#[derive(Clone, Copy, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Tally {
    /// Takes in a step.
    pub fn add(&mut self, report: &StepReport<f64>) {
        let iterations = report.outcome.iterations;
        self.steps += 1;
        self.contacts = report.detected.kept;
        self.penetration_m = self.penetration_m.max(report.penetration_m);
        self.iterations_mean += (f64::from(iterations) - self.iterations_mean) / f64::from(self.steps);
        self.iterations_max = self.iterations_max.max(iterations);
        self.residual = self.residual.max(report.outcome.residuals.natural);
    }
}

impl Statuses {
    /// Counts one.
    pub fn add(&mut self, status: SolverStatus) {
        match status {
            SolverStatus::Converged => self.converged += 1,
            // Nobody stops the solver of a simulation.
            SolverStatus::IterationLimit | SolverStatus::Stopped => self.iteration_limit += 1,
            SolverStatus::NotFinite => self.not_finite += 1,
        }
    }
}

impl Percentiles {
    /// Of at least one time.
    pub fn of(mut times_us: Vec<f64>) -> Self {
        times_us.sort_by(f64::total_cmp);
        let at = |share: f64| times_us[((times_us.len() - 1) as f64 * share).round() as usize];
        Self { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1.0) }
    }
}

impl Second {
    /// The head of the columns.
    pub fn print_head() {
        println!(
            "{:>7} {:>12} {:>12} {:>12} {:>8} {:>10} {:>15} {:>9}",
            "time s", "kinetic J", "potential J", "total J", "contacts", "depth mm", "iterations", "residual"
        );
        println!("{:>66} {:>15} {:>9}", "most", "mean, most", "worst");
    }

    pub fn print(&self) {
        let Self { time_s, kinetic_j, potential_j, total_j, steps } = self;
        print!("{time_s:>7.2} {kinetic_j:>12.5} {potential_j:>12.5} {total_j:>12.5}");
        if steps.steps == 0 {
            println!();
            return;
        }
        let Tally { contacts, penetration_m, iterations_mean, iterations_max, residual, .. } = steps;
        let iterations = format!("{iterations_mean:.2}, {iterations_max}");
        println!(" {contacts:>8} {:>10.4} {iterations:>15} {residual:>9.1e}", penetration_m * 1e3);
    }
}

impl Summary {
    /// The table at the end.
    pub fn print(&self) {
        let Percentiles { p50, p99, p999, max } = self.step_us;
        let Statuses { converged, iteration_limit, not_finite } = self.solver_statuses;
        println!();
        println!("steps              {} of {} µs, in {} part(s)", self.steps, self.dt_s * 1e6, self.substeps);
        println!("real-time factor   {:.0}", self.real_time_factor);
        println!("step time          p50 {p50:.2} µs, p99 {p99:.2}, p99.9 {p999:.2}, max {max:.2}");
        println!("solver             {converged} converged, {iteration_limit} at the limit, {not_finite} not finite");
        println!("worst residual     {:.1e} of the largest impulse", self.worst_residual);
        println!("worst penetration  {:.4} mm", self.worst_penetration_m * 1e3);
        println!(
            "dropped            {} contacts, {} constraints (--contacts {})",
            self.dropped_contacts, self.dropped_constraints, self.contact_capacity
        );
        println!("arena              {} bytes, none allocated after it", self.arena_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let Percentiles { p50, p99, p999, max } = Percentiles::of((0..=1000).rev().map(f64::from).collect());
        assert_eq!([p50, p99, p999, max], [500.0, 990.0, 999.0, 1000.0]);
    }
}
