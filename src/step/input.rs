//! What a step starts from, and the checks at the border.

use super::{Step, StepDims, StepError, StepSettings};
use crate::input::check_length;
use crate::memory::{rest, within};
use crate::model::{Joint, Model};
use crate::scalar::Real;
use crate::spatial::Force;

/// State, controls and outside forces.
#[derive(Clone, Copy, Debug)]
pub struct StepInput<'s, T> {
    /// Configuration.
    pub q: &'s [T],
    /// Velocity.
    pub v: &'s [T],
    /// One control per motor, or empty: all zero.
    pub control: &'s [T],
    /// A force on each degree of freedom beside the motors', or empty.
    pub force: &'s [T],
    /// A wrench on each body in the body's own frame, or empty.
    pub external: &'s [Force<T>],
}

impl<'s, T: Real> StepInput<'s, T> {
    /// A state and its controls, and nothing from outside.
    pub fn new(q: &'s [T], v: &'s [T], control: &'s [T]) -> Self {
        Self { q, v, control, force: &[], external: &[] }
    }

    /// Lengths of the arguments and of the workspace, but for its rows: those that it has are from a step that fitted.
    pub(crate) fn check_lengths(&self, model: Model<'_, T>, work: &Step<'_, T>) -> Result<(), StepError> {
        check_length("q", model.nq(), self.q.len())?;
        check_length("v", model.nv(), self.v.len())?;
        check_length("workspace coordinates", model.nq(), work.q.len())?;
        check_length("workspace velocities", model.nv(), work.v.len())?;
        check_length("workspace geometries", model.geometries.len(), work.collision.placement.len())?;
        check_optional("control", model.nu(), self.control.len())?;
        check_optional("force", model.nv(), self.force.len())?;
        check_optional("external", model.bodies.len(), self.external.len())
    }

    /// Lengths, finite numbers, rotations of length one.
    pub(super) fn check<S>(
        &self,
        model: Model<'_, T>,
        settings: &StepSettings<T, S>,
        next: &NextState<'_, T>,
        work: &Step<'_, T>,
    ) -> Result<(), StepError> {
        self.check_lengths(model, work)?;
        let needed = StepDims::of(model, 0).problem().rows;
        check_length("workspace rows", needed, needed.min(work.impulses.len()))?;
        check_length("next q", model.nq(), next.q.len())?;
        check_length("next v", model.nv(), next.v.len())?;
        for (what, numbers) in [("q", self.q), ("v", self.v), ("control", self.control), ("force", self.force)] {
            check_finite(what, numbers.iter().copied())?;
        }
        let wrenches = self.external.iter().flat_map(|f| f.linear.iter().chain(f.angular.iter()).copied());
        check_finite("external", wrenches)?;
        if !(settings.dt_s > T::ZERO && settings.dt_s.is_finite()) {
            return Err(StepError::TimeStep);
        }
        check_rotations(model, self.q)
    }
}

/// Where a step writes the new state.
#[derive(Debug)]
pub struct NextState<'s, T> {
    /// Configuration.
    pub q: &'s mut [T],
    /// Velocity.
    pub v: &'s mut [T],
}

fn check_optional(what: &'static str, expected: usize, got: usize) -> Result<(), StepError> {
    if got == 0 { Ok(()) } else { Ok(check_length(what, expected, got)?) }
}

fn check_finite<T: Real>(what: &'static str, mut numbers: impl Iterator<Item = T>) -> Result<(), StepError> {
    match numbers.position(|x| !x.is_finite()) {
        Some(index) => Err(StepError::NotFinite { what, index }),
        None => Ok(()),
    }
}

fn check_rotations<T: Real>(model: Model<'_, T>, q: &[T]) -> Result<(), StepError> {
    /// How far the squared length of a rotation may be from one: what a careless caller's rounding gives.
    const TOLERANCE: f64 = 1e-3;
    for body in model.bodies {
        let skip = match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } => continue,
            Joint::Continuous { .. } | Joint::Spherical => 0,
            Joint::Planar => 2,
            Joint::FreeFlyer => 3,
        };
        let rotation = rest(within(q, body.q_range()), skip);
        let square = rotation.iter().fold(T::ZERO, |sum, x| x.mul_add(*x, sum));
        if (square - T::ONE).abs() > T::from_f64(TOLERANCE) {
            return Err(StepError::NotNormalized { index: usize::from(body.first_q) + skip });
        }
    }
    Ok(())
}
