//! How a step is taken.

use crate::contact::{Newton, Stabilization};
use crate::scalar::Real;

/// Settings of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings<T, S = Newton<T>> {
    /// Duration.
    pub dt_s: T,
    /// Equal parts that it is taken in.
    pub substeps: u16,
    /// Points closer than this take part in the contact problem, m.
    pub contact_margin_m: T,
    /// How constraints are held in place.
    pub stabilization: Stabilization<T>,
    /// What finds the impulses.
    pub solver: S,
}

impl<T: Real> Default for StepSettings<T> {
    fn default() -> Self {
        Self {
            dt_s: T::from_f64(0.002),
            substeps: 1,
            contact_margin_m: T::from_f64(0.01),
            stabilization: Stabilization::default(),
            solver: Newton::default(),
        }
    }
}

impl<T: Real> StepSettings<T> {
    /// Default settings with another duration.
    pub fn with_dt(dt_s: T) -> Self {
        Self { dt_s, ..Self::default() }
    }
}

impl<T, S> StepSettings<T, S> {
    /// The same settings with another solver.
    pub fn with_solver<R>(self, solver: R) -> StepSettings<T, R> {
        StepSettings {
            dt_s: self.dt_s,
            substeps: self.substeps,
            contact_margin_m: self.contact_margin_m,
            stabilization: self.stabilization,
            solver,
        }
    }
}
