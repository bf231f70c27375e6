//! Spatial force vectors: wrenches and momenta.

use nalgebra::Vector3;

use super::pair::vector_space;
use super::vector::cross;
use crate::scalar::Real;

/// Wrench or momentum: linear part, and angular part about the frame's origin.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::spatial::Force;
///
/// let push = Force::at_point(Vector3::<f64>::y(), &Vector3::x());
/// assert_eq!(push.angular, Vector3::z());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force<T> {
    /// Force, or linear momentum.
    pub linear: Vector3<T>,
    /// Torque, or angular momentum, about the frame's origin.
    pub angular: Vector3<T>,
}

impl<T: Real> Force<T> {
    /// A pure force whose line of action passes through `point`.
    #[inline(always)]
    pub fn at_point(force: Vector3<T>, point: &Vector3<T>) -> Self {
        Self { linear: force, angular: cross(point, &force) }
    }

    /// The same wrench about another point, with the same axes.
    #[inline(always)]
    pub fn shifted_to(&self, origin: &Vector3<T>) -> Self {
        Self { linear: self.linear, angular: self.angular - cross(origin, &self.linear) }
    }
}

vector_space!(Force);
