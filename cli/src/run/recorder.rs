//! A recording of a run.

use std::path::Path;

use anyhow::Result;
use saltus_cli::closed_loop::Moment;
use saltus_cli::recording::{Recording, Solve, contact_rows};

/// Writes every step of the plant, and every solve.
pub struct Recorder(Recording);

impl Recorder {
    /// Starts a file, over what was there.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self(Recording::create(path)?))
    }

    /// Adds a moment.
    pub fn record(&mut self, moment: &Moment<'_>) -> Result<()> {
        let Moment { time_s, q, v, plant, .. } = *moment;
        self.0.state(time_s, q, v)?;
        self.0.contacts(time_s, &contact_rows(plant.model(), plant.work()))?;
        if moment.solved {
            let report = moment.report;
            let solve = Solve {
                status: report.status.to_string(),
                iterations: report.iterations,
                cost: report.cost,
                gap: report.gap,
                step_length: report.step_length,
                regularization: report.regularization,
                solve_us: moment.solve_us,
                u: moment.u,
            };
            self.0.solve(time_s, &solve)?;
        }
        Ok(())
    }

    /// Closes the file.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}
