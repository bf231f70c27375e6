//! The velocity-dependent companion of the inertia, by which its derivatives are written.

use core::ops::AddAssign;

use nalgebra::{Matrix3, Vector3};

use super::vector::{cross, cross_add, dot, multiply, multiply_transposed, skew};
use super::{CompositeInertia, Force, Motion, Symmetric3};
use crate::scalar::Real;

/// 2B = (v ×*) I − I (v ×) + (I v) ×̄*, the body-level Coriolis matrix (Singh 2022), about a common origin.
///
/// For a rigid body its first block column vanishes and the rest is 12 numbers, which add up over bodies:
/// 2B = [0, −2 p̂; 0, İ − l̂], where (p, l) is the momentum I v and İ the rate of the rotational inertia.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coriolis<T> {
    /// 2 p: twice the linear momentum.
    pub twice_momentum: Vector3<T>,
    /// İ − l̂.
    pub moment: Matrix3<T>,
}

impl<T: Real> Coriolis<T> {
    /// Of a body with inertia `inertia`, velocity `velocity` and momentum `momentum` = inertia · velocity.
    #[inline(always)]
    pub fn new(inertia: &CompositeInertia<T>, velocity: &Motion<T>, momentum: &Force<T>) -> Self {
        let (v, w) = (&velocity.linear, &velocity.angular);
        let (mc, i) = (&inertia.first_moment, &inertia.second_moment);
        // ω̂ I − I ω̂ = A + Aᵀ with A = ω̂ I; the rest is the rate of the point-mass part, −(mc vᵀ + v mcᵀ) + 2 v·mc.
        let a = [
            cross(w, &Vector3::new(i.xx, i.xy, i.xz)),
            cross(w, &Vector3::new(i.xy, i.yy, i.yz)),
            cross(w, &Vector3::new(i.xz, i.yz, i.zz)),
        ];
        let moving = dot(v, mc);
        let trace = moving + moving;
        let rate = Symmetric3 {
            xx: a[0].x + a[0].x - (mc.x * v.x + v.x * mc.x) + trace,
            xy: a[0].y + a[1].x - (mc.x * v.y + v.x * mc.y),
            xz: a[0].z + a[2].x - (mc.x * v.z + v.x * mc.z),
            yy: a[1].y + a[1].y - (mc.y * v.y + v.y * mc.y) + trace,
            yz: a[1].z + a[2].y - (mc.y * v.z + v.y * mc.z),
            zz: a[2].z + a[2].z - (mc.z * v.z + v.z * mc.z) + trace,
        };
        Self { twice_momentum: momentum.linear + momentum.linear, moment: rate.to_matrix() - skew(&momentum.angular) }
    }

    /// 2B m + f.
    #[inline(always)]
    pub fn multiply_add(&self, m: &Motion<T>, f: &Force<T>) -> Force<T> {
        Force {
            linear: cross_add(&m.angular, &self.twice_momentum, &f.linear),
            angular: multiply(&self.moment, &m.angular) + f.angular,
        }
    }

    /// Angular part of (2B)ᵀ m; the linear part is zero.
    #[inline(always)]
    pub fn transposed_angular(&self, m: &Motion<T>) -> Vector3<T> {
        cross_add(&self.twice_momentum, &m.linear, &multiply_transposed(&self.moment, &m.angular))
    }
}

impl<T: Real> AddAssign for Coriolis<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.twice_momentum += other.twice_momentum;
        self.moment += other.moment;
    }
}

impl<T: Real> Default for Coriolis<T> {
    fn default() -> Self {
        Self { twice_momentum: Vector3::zeros(), moment: Matrix3::zeros() }
    }
}
