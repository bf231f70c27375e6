//! Inertia of a body that carries movable ones.

use nalgebra::{Matrix3, Vector3};

use super::vector::{column, multiply, multiply_transposed, skew};
use super::{CompositeInertia, Force, Motion, Symmetric3};
use crate::scalar::Real;

/// A symmetric 6×6 matrix [linear, coupling; couplingᵀ, angular], as it arises when joints below are free to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T> {
    /// Force per linear acceleration.
    pub linear: Symmetric3<T>,
    /// Force per angular acceleration.
    pub coupling: Matrix3<T>,
    /// Torque per angular acceleration.
    pub angular: Symmetric3<T>,
}

impl<T: Real> ArticulatedInertia<T> {
    /// Force of an acceleration.
    #[inline(always)]
    pub fn multiply(&self, m: &Motion<T>) -> Force<T> {
        Force {
            linear: self.linear.multiply(&m.linear) + multiply(&self.coupling, &m.angular),
            angular: multiply_transposed(&self.coupling, &m.linear) + self.angular.multiply(&m.angular),
        }
    }

    /// Takes one joint out: self − u uᵀ / d.
    #[inline(always)]
    pub fn eliminate(&mut self, u: &Force<T>, inverse: T) {
        let (l, a) = (u.linear * -inverse, u.angular * -inverse);
        add_outer(&mut self.linear, &l, &u.linear);
        add_outer(&mut self.angular, &a, &u.angular);
        for k in 0..3 {
            let updated = super::vector::scale_add(&l, u.angular[k], &column(&self.coupling, k));
            self.coupling.data.0[k] = updated.into();
        }
    }

    /// Adds another one.
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        self.linear = self.linear + other.linear;
        self.coupling += other.coupling;
        self.angular = self.angular + other.angular;
    }
}

#[inline(always)]
fn add_outer<T: Real>(s: &mut Symmetric3<T>, a: &Vector3<T>, b: &Vector3<T>) {
    s.xx = a.x.mul_add(b.x, s.xx);
    s.xy = a.x.mul_add(b.y, s.xy);
    s.xz = a.x.mul_add(b.z, s.xz);
    s.yy = a.y.mul_add(b.y, s.yy);
    s.yz = a.y.mul_add(b.z, s.yz);
    s.zz = a.z.mul_add(b.z, s.zz);
}

impl<T: Real> From<CompositeInertia<T>> for ArticulatedInertia<T> {
    #[inline(always)]
    fn from(body: CompositeInertia<T>) -> Self {
        Self {
            linear: Symmetric3::diagonal(body.mass, body.mass, body.mass),
            coupling: -skew(&body.first_moment),
            angular: body.second_moment,
        }
    }
}

impl<T: Real> Default for ArticulatedInertia<T> {
    fn default() -> Self {
        Self { linear: Symmetric3::ZERO, coupling: Matrix3::zeros(), angular: Symmetric3::ZERO }
    }
}
