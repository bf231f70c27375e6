//! Spatial motion vectors: velocities and accelerations.

use nalgebra::Vector3;

use super::Force;
use super::pair::vector_space;
use super::vector::{cross, cross_add, dot};
use crate::scalar::Real;

/// Velocity or acceleration of a rigid body: linear part at the frame's origin, angular part.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::spatial::Motion;
///
/// let spin = Motion::new(Vector3::zeros(), Vector3::<f64>::z());
/// assert_eq!(spin.velocity_at(&Vector3::x()), Vector3::y());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<T> {
    /// Of the point at the frame's origin.
    pub linear: Vector3<T>,
    /// Of the whole body.
    pub angular: Vector3<T>,
}

impl<T: Real> Motion<T> {
    /// Rate of change of a motion `other` that is carried along by this one: self × other.
    #[inline(always)]
    pub fn cross(&self, other: &Self) -> Self {
        Self {
            linear: cross_add(&self.angular, &other.linear, &cross(&self.linear, &other.angular)),
            angular: cross(&self.angular, &other.angular),
        }
    }

    /// Rate of change of a force that is carried along by this motion: self ×* force.
    #[inline(always)]
    pub fn cross_force(&self, force: &Force<T>) -> Force<T> {
        Force {
            linear: cross(&self.angular, &force.linear),
            angular: cross_add(&self.angular, &force.angular, &cross(&self.linear, &force.linear)),
        }
    }

    /// Power of a force on this motion.
    #[inline(always)]
    pub fn dot(&self, force: &Force<T>) -> T {
        dot(&self.linear, &force.linear) + dot(&self.angular, &force.angular)
    }

    /// Velocity of the material point at `point`.
    #[inline(always)]
    pub fn velocity_at(&self, point: &Vector3<T>) -> Vector3<T> {
        cross_add(&self.angular, point, &self.linear)
    }

    /// The same motion seen from a frame with the same axes and its origin at `origin`.
    #[inline(always)]
    pub fn shifted_to(&self, origin: &Vector3<T>) -> Self {
        Self { linear: self.velocity_at(origin), angular: self.angular }
    }
}

vector_space!(Motion);
