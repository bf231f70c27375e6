//! Joint types and how many numbers each takes.

use nalgebra::Vector3;

use crate::scalar::Real;
#[cfg(feature = "alloc")]
use crate::spatial::vector::dot;

/// How a body may move against its parent. Velocities are those of the body, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint<T> {
    /// Turns about a unit axis. q: angle (rad).
    Revolute {
        /// In the body frame, which is the joint frame.
        axis: Vector3<T>,
    },
    /// Turns about a unit axis without end. q: (cos, sin), so that no angle grows until it loses digits.
    Continuous {
        /// In the body frame.
        axis: Vector3<T>,
    },
    /// Slides along a unit axis. q: displacement (m).
    Prismatic {
        /// In the body frame.
        axis: Vector3<T>,
    },
    /// Turns about a point. q: unit quaternion (x, y, z, w); v: angular velocity.
    Spherical,
    /// Slides in the joint's xy plane and turns about z. q: (x, y, cos, sin); v: (vx, vy, ωz) in the body frame.
    Planar,
    /// Moves freely. q: (position, quaternion x, y, z, w); v: (linear, angular) in the body frame.
    FreeFlyer,
}

impl<T: Real> Joint<T> {
    /// Configuration coordinates.
    pub const fn nq(&self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Continuous { .. } => 2,
            Self::Spherical | Self::Planar => 4,
            Self::FreeFlyer => 7,
        }
    }

    /// Degrees of freedom.
    pub const fn nv(&self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Continuous { .. } => 1,
            Self::Spherical | Self::Planar => 3,
            Self::FreeFlyer => 6,
        }
    }

    /// The axis scaled to length one exactly.
    #[cfg(feature = "alloc")]
    pub(super) fn with_unit_axis(mut self) -> Self {
        if let Self::Revolute { axis } | Self::Continuous { axis } | Self::Prismatic { axis } = &mut self {
            *axis /= dot(axis, axis).sqrt();
        }
        self
    }

    /// The same joint in another scalar type.
    pub fn cast<U: Real>(&self) -> Joint<U> {
        let cast = |axis: &Vector3<T>| axis.map(|x| U::from_f64(x.to_f64()));
        match self {
            Self::Revolute { axis } => Joint::Revolute { axis: cast(axis) },
            Self::Continuous { axis } => Joint::Continuous { axis: cast(axis) },
            Self::Prismatic { axis } => Joint::Prismatic { axis: cast(axis) },
            Self::Spherical => Joint::Spherical,
            Self::Planar => Joint::Planar,
            Self::FreeFlyer => Joint::FreeFlyer,
        }
    }
}
