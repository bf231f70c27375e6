//! Symmetric 3×3 matrices by their six numbers.

use core::ops::{Add, Sub};

use nalgebra::{Matrix3, Vector3};

use super::vector::dot;
use crate::scalar::Real;

/// A symmetric 3×3 matrix.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::spatial::Symmetric3;
///
/// let inertia = Symmetric3::diagonal(1.0, 2.0, 3.0);
/// assert_eq!(inertia.multiply(&Vector3::new(1.0, 1.0, 1.0)), Vector3::new(1.0, 2.0, 3.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Symmetric3<T> {
    pub xx: T,
    pub xy: T,
    pub xz: T,
    pub yy: T,
    pub yz: T,
    pub zz: T,
}

impl<T: Real> Symmetric3<T> {
    /// All zeros.
    pub const ZERO: Self = Self::diagonal(T::ZERO, T::ZERO, T::ZERO);

    /// A diagonal matrix.
    #[inline(always)]
    pub const fn diagonal(xx: T, yy: T, zz: T) -> Self {
        Self { xx, xy: T::ZERO, xz: T::ZERO, yy, yz: T::ZERO, zz }
    }

    /// m (c·c 1 − c cᵀ): rotational inertia of a point mass at c.
    #[inline(always)]
    pub fn point_mass(mass: T, c: &Vector3<T>) -> Self {
        let m = *c * mass;
        Self {
            xx: m.y.mul_add(c.y, m.z * c.z),
            xy: -(m.x * c.y),
            xz: -(m.x * c.z),
            yy: m.x.mul_add(c.x, m.z * c.z),
            yz: -(m.y * c.z),
            zz: m.x.mul_add(c.x, m.y * c.y),
        }
    }

    /// Product with a vector.
    #[inline(always)]
    pub fn multiply(&self, v: &Vector3<T>) -> Vector3<T> {
        Vector3::new(
            self.xz.mul_add(v.z, self.xy.mul_add(v.y, self.xx * v.x)),
            self.yz.mul_add(v.z, self.yy.mul_add(v.y, self.xy * v.x)),
            self.zz.mul_add(v.z, self.yz.mul_add(v.y, self.xz * v.x)),
        )
    }

    /// R S Rᵀ.
    #[inline(always)]
    pub fn rotated(&self, r: &Matrix3<T>) -> Self {
        let row = |i: usize| Vector3::new(r.data.0[0][i], r.data.0[1][i], r.data.0[2][i]);
        let (x, y, z) = (row(0), row(1), row(2));
        let (sx, sy, sz) = (self.multiply(&x), self.multiply(&y), self.multiply(&z));
        Self {
            xx: dot(&x, &sx),
            xy: dot(&x, &sy),
            xz: dot(&x, &sz),
            yy: dot(&y, &sy),
            yz: dot(&y, &sz),
            zz: dot(&z, &sz),
        }
    }

    /// All nine numbers.
    pub fn to_matrix(&self) -> Matrix3<T> {
        Matrix3::new(self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz)
    }

    /// The lower triangle of a matrix that is symmetric.
    pub fn from_matrix(m: &Matrix3<T>) -> Self {
        Self { xx: m.m11, xy: m.m21, xz: m.m31, yy: m.m22, yz: m.m32, zz: m.m33 }
    }

    /// The same matrix in another scalar type.
    pub fn cast<U: Real>(&self) -> Symmetric3<U> {
        let c = |x: T| U::from_f64(x.to_f64());
        Symmetric3 { xx: c(self.xx), xy: c(self.xy), xz: c(self.xz), yy: c(self.yy), yz: c(self.yz), zz: c(self.zz) }
    }
}

impl<T: Real> Add for Symmetric3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yy: self.yy + o.yy,
            yz: self.yz + o.yz,
            zz: self.zz + o.zz,
        }
    }
}

impl<T: Real> Sub for Symmetric3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self {
            xx: self.xx - o.xx,
            xy: self.xy - o.xy,
            xz: self.xz - o.xz,
            yy: self.yy - o.yy,
            yz: self.yz - o.yz,
            zz: self.zz - o.zz,
        }
    }
}
