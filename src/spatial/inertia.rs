//! Mass distribution: of one body, and of several together.

use core::ops::{Add, AddAssign, Mul};

use nalgebra::Vector3;

use super::vector::{cross, cross_add};
use super::{Force, Motion, Placement, Symmetric3};
use crate::scalar::Real;

/// Inertia of one rigid body in its own frame, as robot files give it.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::spatial::{Inertia, Symmetric3};
///
/// let rod = Inertia::new(2.0, Vector3::new(0.0, 0.0, 0.5), Symmetric3::diagonal(0.1, 0.1, 0.0));
/// assert_eq!(rod.about_origin().second_moment.xx, 0.1 + 2.0 * 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia<T> {
    /// Kilograms.
    pub mass: T,
    /// Centre of mass in the body frame, metres.
    pub com: Vector3<T>,
    /// Rotational inertia about the centre of mass along the body axes, kg·m².
    pub rotational: Symmetric3<T>,
}

impl<T: Real> Inertia<T> {
    /// No mass.
    pub const ZERO: Self =
        Self { mass: T::ZERO, com: Vector3::new(T::ZERO, T::ZERO, T::ZERO), rotational: Symmetric3::ZERO };

    /// From mass, centre of mass and rotational inertia about the centre of mass.
    #[inline(always)]
    pub const fn new(mass: T, com: Vector3<T>, rotational: Symmetric3<T>) -> Self {
        Self { mass, com, rotational }
    }

    /// A solid sphere centred on the body frame.
    pub fn solid_sphere(mass: T, radius: T) -> Self {
        let i = T::from_f64(0.4) * mass * radius * radius;
        Self::new(mass, Vector3::zeros(), Symmetric3::diagonal(i, i, i))
    }

    /// A solid box with full edge lengths `size`, centred on the body frame.
    pub fn solid_box(mass: T, size: &Vector3<T>) -> Self {
        let k = mass / T::from_f64(12.0);
        let (x, y, z) = (size.x * size.x, size.y * size.y, size.z * size.z);
        Self::new(mass, Vector3::zeros(), Symmetric3::diagonal(k * (y + z), k * (x + z), k * (x + y)))
    }

    /// The same body, `factor` times as dense.
    pub fn scaled(&self, factor: T) -> Self {
        let Symmetric3 { xx, xy, xz, yy, yz, zz } = self.rotational;
        let [xx, xy, xz, yy, yz, zz] = [xx, xy, xz, yy, yz, zz].map(|x| x * factor);
        Self::new(self.mass * factor, self.com, Symmetric3 { xx, xy, xz, yy, yz, zz })
    }

    /// The ten additive numbers about the origin of the body frame.
    pub fn about_origin(&self) -> CompositeInertia<T> {
        self.seen_from(&Placement::IDENTITY)
    }

    /// The ten additive numbers in a frame where the body has placement `body`.
    #[inline(always)]
    pub fn seen_from(&self, body: &Placement<T>) -> CompositeInertia<T> {
        let com = body.act_point(&self.com);
        CompositeInertia {
            mass: self.mass,
            first_moment: com * self.mass,
            second_moment: self.rotational.rotated(&body.rotation) + Symmetric3::point_mass(self.mass, &com),
        }
    }

    /// The same inertia given in a frame where the body's own frame has placement `body`.
    pub fn moved_by(&self, body: &Placement<T>) -> Self {
        Self { mass: self.mass, com: body.act_point(&self.com), rotational: self.rotational.rotated(&body.rotation) }
    }

    /// The same inertia in another scalar type.
    pub fn cast<U: Real>(&self) -> Inertia<U> {
        Inertia {
            mass: U::from_f64(self.mass.to_f64()),
            com: self.com.map(|x| U::from_f64(x.to_f64())),
            rotational: self.rotational.cast(),
        }
    }
}

impl<T: Real> Add for Inertia<T> {
    type Output = Self;
    /// Two bodies welded together, both given in the same frame.
    fn add(self, other: Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == T::ZERO {
            return Self { mass, com: Vector3::zeros(), rotational: self.rotational + other.rotational };
        }
        let com = (self.com * self.mass + other.com * other.mass) / mass;
        let steiner = |body: &Self| Symmetric3::point_mass(body.mass, &(body.com - com));
        let rotational = self.rotational + steiner(&self) + other.rotational + steiner(&other);
        Self { mass, com, rotational }
    }
}

/// Inertia about the origin of a common frame: ten numbers that simply add up over bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompositeInertia<T> {
    /// Σ m.
    pub mass: T,
    /// Σ m c.
    pub first_moment: Vector3<T>,
    /// Σ rotational inertia about the origin.
    pub second_moment: Symmetric3<T>,
}

impl<T: Real> CompositeInertia<T> {
    /// No mass.
    pub const ZERO: Self =
        Self { mass: T::ZERO, first_moment: Vector3::new(T::ZERO, T::ZERO, T::ZERO), second_moment: Symmetric3::ZERO };
}

impl<T: Real> Mul<Motion<T>> for CompositeInertia<T> {
    type Output = Force<T>;
    /// Momentum of a velocity, or force of an acceleration.
    #[inline(always)]
    fn mul(self, motion: Motion<T>) -> Force<T> {
        let (v, w) = (&motion.linear, &motion.angular);
        Force {
            linear: super::vector::scale_add(v, self.mass, &cross(w, &self.first_moment)),
            angular: cross_add(&self.first_moment, v, &self.second_moment.multiply(w)),
        }
    }
}

impl<T: Real> AddAssign for CompositeInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.mass += other.mass;
        self.first_moment += other.first_moment;
        self.second_moment = self.second_moment + other.second_moment;
    }
}

impl<T: Real> Default for Inertia<T> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<T: Real> Default for CompositeInertia<T> {
    fn default() -> Self {
        Self::ZERO
    }
}
