//! Where a frame is: rotation and translation.

use core::ops::Mul;

use nalgebra::{Matrix3, Vector3};

use super::vector::{compose, cross_add, multiply, multiply_transposed};
use super::{Force, Motion};
use crate::scalar::Real;

/// Placement of a frame B in a frame A: maps coordinates in B to coordinates in A.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use saltus::spatial::Placement;
///
/// let quarter_turn = Matrix3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
/// let elbow = Placement::new(quarter_turn, Vector3::new(1.0, 0.0, 0.0));
/// assert_eq!(elbow.act_point(&Vector3::x()), Vector3::new(1.0, 1.0, 0.0));
/// assert_eq!(elbow * elbow.inverse(), Placement::IDENTITY);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement<T> {
    /// Axes of B, as columns, in A.
    pub rotation: Matrix3<T>,
    /// Origin of B in A.
    pub translation: Vector3<T>,
}

impl<T: Real> Placement<T> {
    /// Two frames that coincide.
    pub const IDENTITY: Self = Self {
        rotation: Matrix3::new(T::ONE, T::ZERO, T::ZERO, T::ZERO, T::ONE, T::ZERO, T::ZERO, T::ZERO, T::ONE),
        translation: Vector3::new(T::ZERO, T::ZERO, T::ZERO),
    };

    /// From its two parts; `rotation` must be orthonormal.
    #[inline(always)]
    pub const fn new(rotation: Matrix3<T>, translation: Vector3<T>) -> Self {
        Self { rotation, translation }
    }

    /// The same axes, moved by (x, y, z).
    #[inline(always)]
    pub const fn translation(x: T, y: T, z: T) -> Self {
        Self { rotation: Self::IDENTITY.rotation, translation: Vector3::new(x, y, z) }
    }

    /// Rotation by roll, pitch and yaw about the fixed x, y and z axes (radians), as URDF writes it.
    pub fn from_rpy(roll: T, pitch: T, yaw: T, translation: Vector3<T>) -> Self {
        let ((sr, cr), (sp, cp), (sy, cy)) = (roll.sin_cos(), pitch.sin_cos(), yaw.sin_cos());
        let rotation = Matrix3::new(
            cy * cp,
            cy * sp * sr - sy * cr,
            cy * sp * cr + sy * sr,
            sy * cp,
            sy * sp * sr + cy * cr,
            sy * sp * cr - cy * sr,
            -sp,
            cp * sr,
            cp * cr,
        );
        Self { rotation, translation }
    }

    /// Placement of A in B.
    #[inline]
    pub fn inverse(&self) -> Self {
        Self {
            rotation: self.rotation.transpose(),
            translation: -multiply_transposed(&self.rotation, &self.translation),
        }
    }

    /// Coordinates in A of a point given in B.
    #[inline(always)]
    pub fn act_point(&self, point: &Vector3<T>) -> Vector3<T> {
        multiply(&self.rotation, point) + self.translation
    }

    /// Coordinates in B of a point given in A.
    #[inline(always)]
    pub fn act_inverse_point(&self, point: &Vector3<T>) -> Vector3<T> {
        multiply_transposed(&self.rotation, &(point - self.translation))
    }

    /// A motion given in B, expressed in A.
    #[inline(always)]
    pub fn act_motion(&self, motion: &Motion<T>) -> Motion<T> {
        let angular = multiply(&self.rotation, &motion.angular);
        let linear = multiply(&self.rotation, &motion.linear);
        Motion { linear: cross_add(&self.translation, &angular, &linear), angular }
    }

    /// A motion given in A, expressed in B.
    #[inline(always)]
    pub fn act_inverse_motion(&self, motion: &Motion<T>) -> Motion<T> {
        let linear = motion.velocity_at(&self.translation);
        Motion {
            linear: multiply_transposed(&self.rotation, &linear),
            angular: multiply_transposed(&self.rotation, &motion.angular),
        }
    }

    /// A force given in B, expressed in A.
    #[inline(always)]
    pub fn act_force(&self, force: &Force<T>) -> Force<T> {
        let linear = multiply(&self.rotation, &force.linear);
        let angular = multiply(&self.rotation, &force.angular);
        Force { linear, angular: cross_add(&self.translation, &linear, &angular) }
    }

    /// A force given in A, expressed in B.
    #[inline(always)]
    pub fn act_inverse_force(&self, force: &Force<T>) -> Force<T> {
        let shifted = force.shifted_to(&self.translation);
        Force {
            linear: multiply_transposed(&self.rotation, &shifted.linear),
            angular: multiply_transposed(&self.rotation, &shifted.angular),
        }
    }

    /// The same placement in another scalar type.
    pub fn cast<U: Real>(&self) -> Placement<U> {
        Placement {
            rotation: self.rotation.map(|x| U::from_f64(x.to_f64())),
            translation: self.translation.map(|x| U::from_f64(x.to_f64())),
        }
    }
}

impl<T: Real> Default for Placement<T> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl<T: Real> Mul for Placement<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { rotation: compose(&self.rotation, &other.rotation), translation: self.act_point(&other.translation) }
    }
}
