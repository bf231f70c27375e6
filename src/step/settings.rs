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
    /// Where a joint or a free body would turn further in a part, the step is taken in more parts, up to
    /// [`StepSettings::MOST_PARTS`] times as many. Infinite by default: only a step in one part can be differentiated.
    ///
    /// Velocity products are taken at the start of a part. Beyond some 0.3 rad they feed energy, and contacts on what
    /// whirls so fast sink in by the curve of its way.
    pub max_turn_rad: T,
    /// Points closer than this take part in the contact problem, m.
    pub contact_margin_m: T,
    /// How constraints are held in place.
    pub stabilization: Stabilization<T>,
    /// What finds the impulses.
    pub solver: S,
    /// Which derivative [`differentiate`](crate::derivatives::differentiate) gives.
    pub gradient: Gradient<T>,
}

/// Kinds of derivative. The exact one can be the wrong one for an optimizer: a foot that rests does not move however it
/// is pulled, so nothing tells that it could be lifted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gradient<T> {
    /// Of the active modes (Simple 2025).
    #[default]
    Exact,
    /// Of the central path through the solution: contacts act at a distance and can let go. The step itself stays hard.
    Relaxed {
        /// Impulse times velocity, J, that complementarity is relaxed to.
        kappa: T,
    },
    /// In reverse mode, contacts are taken to hold or to break as the loss would have it, if that gives the larger
    /// gradient (Nimble 2021, Sec. IV-D); exact otherwise.
    ComplementarityAware,
    /// Exact, with normals and points of curved or cornered contacts averaged over random displacements.
    Smoothed {
        /// Displacements to average over.
        samples: u16,
        /// Their size, m; angles are as large over the distance of the shapes' centres.
        radius_m: T,
        /// The same seed gives the same displacements.
        seed: u32,
    },
}

impl<T: Real> Default for StepSettings<T> {
    fn default() -> Self {
        Self {
            dt_s: T::from_f64(0.002),
            substeps: 1,
            max_turn_rad: T::from_f64(f64::INFINITY),
            contact_margin_m: T::from_f64(0.01),
            stabilization: Stabilization::default(),
            solver: Newton::default(),
            gradient: Gradient::Exact,
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
    /// By how much `max_turn_rad` multiplies the parts of a step at most.
    pub const MOST_PARTS: u16 = 8;

    /// The same settings with another solver.
    pub fn with_solver<R>(self, solver: R) -> StepSettings<T, R> {
        StepSettings {
            dt_s: self.dt_s,
            substeps: self.substeps,
            max_turn_rad: self.max_turn_rad,
            contact_margin_m: self.contact_margin_m,
            stabilization: self.stabilization,
            solver,
            gradient: self.gradient,
        }
    }
}
