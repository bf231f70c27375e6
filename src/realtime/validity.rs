//! Whether a measured state can be believed.

use super::StateLimits;
use crate::input::{InputError, check_length};
use crate::model::{Joint, Model};
use crate::scalar::Real;

/// What is wrong with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// It belongs to another robot.
    Length(InputError),
    /// A number is NaN or infinite.
    NotFinite,
    /// A rotation is not of length one.
    NotNormalized,
    /// A coordinate is further out than it can be.
    Position,
    /// A speed is larger than it can be.
    Speed,
}

/// How far the squared length of a rotation may be from one: what a sensor's rounding gives.
const ROTATION_TOLERANCE: f64 = 1e-3;

impl<T: Real> StateLimits<T> {
    /// Checks a state. O(nq + nv).
    pub fn check(&self, model: Model<'_, T>, q: &[T], v: &[T]) -> Result<(), Invalid> {
        check_length("q", model.nq(), q.len()).map_err(Invalid::Length)?;
        check_length("v", model.nv(), v.len()).map_err(Invalid::Length)?;
        if !q.iter().chain(v).all(|x| x.is_finite()) {
            return Err(Invalid::NotFinite);
        }
        for (x, limit) in q.iter().zip(model.position_limits) {
            let beyond = (limit.lower - *x).max(*x - limit.upper);
            if x.abs() > self.max_position || beyond > self.position_margin {
                return Err(Invalid::Position);
            }
        }
        if v.iter().any(|x| x.abs() > self.max_speed) {
            return Err(Invalid::Speed);
        }
        if rotations_are_normalized(model, q) { Ok(()) } else { Err(Invalid::NotNormalized) }
    }
}

fn rotations_are_normalized<T: Real>(model: Model<'_, T>, q: &[T]) -> bool {
    model.bodies.iter().all(|body| {
        let skip = match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } => return true,
            Joint::Continuous { .. } | Joint::Spherical => 0,
            Joint::Planar => 2,
            Joint::FreeFlyer => 3,
        };
        let range = body.q_range();
        let rotation = q.get(range.start + skip..range.end).unwrap_or(&[]);
        let square = rotation.iter().fold(T::ZERO, |sum, x| x.mul_add(*x, sum));
        (square - T::ONE).abs() <= T::from_f64(ROTATION_TOLERANCE)
    })
}
