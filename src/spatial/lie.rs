//! Exponential and logarithm of rotations and placements, and their Jacobians.
//!
//! Tangent vectors live in the body frame: a rotation R moves to R·exp(φ). Every coefficient is a smooth function of
//! the *squared* angle, so values and derivatives (dual numbers included) are exact at zero.

use core::ops::Mul;

use nalgebra::{Matrix3, Vector3};

use super::vector::{compose, cross, dot, multiply, skew};
use super::{Motion, Placement};
use crate::scalar::Real;

/// A unit quaternion as it is stored in a configuration: (x, y, z, w).
pub type Quaternion<T> = [T; 4];

/// Stumpff functions cₙ(x) = Σₖ (−x)ᵏ / (2k + n)! of x = θ²: c₀ = cos θ, c₁ = sin θ / θ, c₂ = (1 − cos θ) / θ², …
#[derive(Clone, Copy, Debug)]
pub struct Stumpff<T> {
    c0: T,
    c1: T,
    c2: T,
    c3: T,
    c4: T,
    c5: T,
}

impl<T: Real> Stumpff<T> {
    /// At the squared angle `x`. Below one by series (9 terms reach f64 round-off), above by sine and cosine.
    pub fn new(x: T) -> Self {
        let (half, sixth) = (T::from_f64(0.5), T::from_f64(1.0 / 6.0));
        if x < T::ONE {
            let (c4, c5) = (series(x, 4), series(x, 5));
            let (c3, c2) = (sixth - x * c5, half - x * c4);
            Self { c0: T::ONE - x * c2, c1: T::ONE - x * c3, c2, c3, c4, c5 }
        } else {
            let angle = x.sqrt();
            let (sin, c0) = angle.sin_cos();
            let c1 = sin / angle;
            let (c2, c3) = ((T::ONE - c0) / x, (T::ONE - c1) / x);
            Self { c0, c1, c2, c3, c4: (half - c2) / x, c5: (sixth - c3) / x }
        }
    }

    /// (1 − θ/2 · cot(θ/2)) / θ², the curvature term of the inverse Jacobians; singular at θ = 2π.
    fn inverse_curvature(&self) -> T {
        (self.c3 - self.c4 - self.c4) / (self.c2 + self.c2)
    }
}

/// Σₖ (−x)ᵏ / (2k + n)!, nine terms by Horner's rule, for |x| < 1.
fn series<T: Real>(x: T, n: u32) -> T {
    const TERMS: u32 = 9;
    let mut factorial = (1..=n + 2 * (TERMS - 1)).fold(1.0, |product, k| product * f64::from(k));
    let mut sum = T::from_f64(1.0 / factorial);
    for k in (0..TERMS - 1).rev() {
        let top = f64::from(n + 2 * k + 2);
        factorial /= top * (top - 1.0);
        sum = T::from_f64(1.0 / factorial) - x * sum;
    }
    sum
}

/// Quaternion of a rotation vector (axis times angle).
pub fn exp_quaternion<T: Real>(phi: &Vector3<T>) -> Quaternion<T> {
    let half = T::from_f64(0.5);
    let s = Stumpff::new(dot(phi, phi) * half * half);
    let v = phi * (s.c1 * half);
    [v.x, v.y, v.z, s.c0]
}

/// Rotation vector, of length at most π, of a unit quaternion.
pub fn log_quaternion<T: Real>(q: &Quaternion<T>) -> Vector3<T> {
    /// Below this squared tangent of the half angle six terms of the arctangent series reach f64 round-off.
    const SERIES_BELOW: f64 = 1e-3;
    let (v, w) = (Vector3::new(q[0], q[1], q[2]), q[3]);
    let (v, w) = if w < T::ZERO { (-v, -w) } else { (v, w) };
    let square = dot(&v, &v);
    let two = T::from_f64(2.0);
    if square < T::from_f64(SERIES_BELOW) * w * w {
        let t = square / (w * w);
        let mut sum = T::ZERO;
        for k in (0..6).rev() {
            sum = T::from_f64(1.0 / f64::from(2 * k + 1)) - t * sum;
        }
        v * (two * sum / w)
    } else {
        let norm = square.sqrt();
        v * (two * norm.atan2(w) / norm)
    }
}

/// Rotation vector, of length at most π, of a rotation matrix.
pub fn log_rotation<T: Real>(r: &Matrix3<T>) -> Vector3<T> {
    log_quaternion(&matrix_to_quaternion(r))
}

/// Unit quaternion of a rotation matrix, from its largest component (Shepperd 1978).
pub fn matrix_to_quaternion<T: Real>(r: &Matrix3<T>) -> Quaternion<T> {
    let (one, half) = (T::ONE, T::from_f64(0.5));
    let trace = r[(0, 0)] + r[(1, 1)] + r[(2, 2)];
    if trace > T::ZERO {
        let root = (trace + one).sqrt();
        let scale = half / root;
        let turn = |i: usize, j: usize| (r[(i, j)] - r[(j, i)]) * scale;
        return [turn(2, 1), turn(0, 2), turn(1, 0), half * root];
    }
    let mut i = if r[(1, 1)] > r[(0, 0)] { 1 } else { 0 };
    if r[(2, 2)] > r[(i, i)] {
        i = 2;
    }
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let root = (one + r[(i, i)] - r[(j, j)] - r[(k, k)]).max(T::EPSILON).sqrt();
    let scale = half / root;
    let mut q = [T::ZERO; 4];
    q[i] = half * root;
    q[j] = (r[(j, i)] + r[(i, j)]) * scale;
    q[k] = (r[(k, i)] + r[(i, k)]) * scale;
    q[3] = (r[(k, j)] - r[(j, k)]) * scale;
    q
}

/// Quaternion product a b.
pub fn multiply_quaternions<T: Real>(a: &Quaternion<T>, b: &Quaternion<T>) -> Quaternion<T> {
    let (u, v) = (Vector3::new(a[0], a[1], a[2]), Vector3::new(b[0], b[1], b[2]));
    let w = a[3] * b[3] - dot(&u, &v);
    let xyz = v * a[3] + u * b[3] + cross(&u, &v);
    [xyz.x, xyz.y, xyz.z, w]
}

/// Conjugate: the inverse of a unit quaternion.
pub fn conjugate<T: Real>(q: &Quaternion<T>) -> Quaternion<T> {
    [-q[0], -q[1], -q[2], q[3]]
}

/// Rotation matrix of a unit quaternion.
#[inline(always)]
pub fn quaternion_to_matrix<T: Real>(q: &Quaternion<T>) -> Matrix3<T> {
    let [x, y, z, w] = *q;
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let one = T::ONE;
    Matrix3::new(
        one - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        one - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        one - (xx + yy),
    )
}

/// Rotation by an angle about a unit axis.
#[inline(always)]
pub fn axis_rotation<T: Real>(axis: &Vector3<T>, sin: T, cos: T) -> Matrix3<T> {
    let k = T::ONE - cos;
    let (kx, ky, kz) = (axis.x * k, axis.y * k, axis.z * k);
    let (sx, sy, sz) = (axis.x * sin, axis.y * sin, axis.z * sin);
    Matrix3::new(
        kx.mul_add(axis.x, cos),
        kx.mul_add(axis.y, -sz),
        kx.mul_add(axis.z, sy),
        kx.mul_add(axis.y, sz),
        ky.mul_add(axis.y, cos),
        ky.mul_add(axis.z, -sx),
        kx.mul_add(axis.z, -sy),
        ky.mul_add(axis.z, sx),
        kz.mul_add(axis.z, cos),
    )
}

/// Translation of exp(ξ) in SE(3): V(φ) ρ.
pub fn exp_translation<T: Real>(xi: &Motion<T>) -> Vector3<T> {
    multiply(&left_jacobian_rotation(&xi.angular), &xi.linear)
}

/// Logarithm in SE(3) of the placement with rotation `q` and translation `p`.
pub fn log_placement<T: Real>(q: &Quaternion<T>, p: &Vector3<T>) -> Motion<T> {
    let angular = log_quaternion(q);
    Motion { linear: multiply(&inverse_left_jacobian_rotation(&angular), p), angular }
}

/// Right Jacobian of exp in SO(3): exp(φ + δ) ≈ exp(φ) exp(J δ).
pub fn right_jacobian_rotation<T: Real>(phi: &Vector3<T>) -> Matrix3<T> {
    left_jacobian_rotation(&-phi)
}

/// Inverse of [`right_jacobian_rotation`].
pub fn inverse_right_jacobian_rotation<T: Real>(phi: &Vector3<T>) -> Matrix3<T> {
    inverse_left_jacobian_rotation(&-phi)
}

fn left_jacobian_rotation<T: Real>(phi: &Vector3<T>) -> Matrix3<T> {
    let s = Stumpff::new(dot(phi, phi));
    let hat = skew(phi);
    Matrix3::identity() + hat * s.c2 + compose(&hat, &hat) * s.c3
}

fn inverse_left_jacobian_rotation<T: Real>(phi: &Vector3<T>) -> Matrix3<T> {
    let s = Stumpff::new(dot(phi, phi));
    let hat = skew(phi);
    Matrix3::identity() - hat * T::from_f64(0.5) + compose(&hat, &hat) * s.inverse_curvature()
}

/// A 6×6 matrix [diagonal, coupling; 0, diagonal] on (linear, angular): Jacobians and actions of SE(3).
#[derive(Clone, Copy, Debug)]
pub struct BlockTriangular<T> {
    /// Both diagonal blocks.
    pub diagonal: Matrix3<T>,
    /// How the angular part enters the linear one.
    pub coupling: Matrix3<T>,
}

impl<T: Real> BlockTriangular<T> {
    /// Entry (i, j), for i, j < 6.
    pub fn entry(&self, i: usize, j: usize) -> T {
        match (i < 3, j < 3) {
            (true, true) => self.diagonal[(i, j)],
            (true, false) => self.coupling[(i, j - 3)],
            (false, true) => T::ZERO,
            (false, false) => self.diagonal[(i - 3, j - 3)],
        }
    }
}

impl<T: Real> Mul<T> for BlockTriangular<T> {
    type Output = Self;
    fn mul(self, s: T) -> Self {
        Self { diagonal: self.diagonal * s, coupling: self.coupling * s }
    }
}

/// Right Jacobian of exp in SE(3) at ξ = (ρ, φ).
pub fn right_jacobian<T: Real>(xi: &Motion<T>) -> BlockTriangular<T> {
    left_jacobian(&-*xi)
}

/// Inverse of [`right_jacobian`].
pub fn inverse_right_jacobian<T: Real>(xi: &Motion<T>) -> BlockTriangular<T> {
    let minus = -*xi;
    let q = left_coupling(&minus);
    let inverse = inverse_left_jacobian_rotation(&minus.angular);
    BlockTriangular { diagonal: inverse, coupling: -compose(&compose(&inverse, &q), &inverse) }
}

/// Action on motions of the inverse of a placement: the derivative of q ⊕ v with respect to q.
pub fn inverse_action<T: Real>(placement: &Placement<T>) -> BlockTriangular<T> {
    let back = placement.rotation.transpose();
    BlockTriangular { diagonal: back, coupling: -compose(&back, &skew(&placement.translation)) }
}

fn left_jacobian<T: Real>(xi: &Motion<T>) -> BlockTriangular<T> {
    BlockTriangular { diagonal: left_jacobian_rotation(&xi.angular), coupling: left_coupling(xi) }
}

/// The off-diagonal block of the left Jacobian of SE(3) (Barfoot 2017, Eq. 7.86b).
fn left_coupling<T: Real>(xi: &Motion<T>) -> Matrix3<T> {
    let s = Stumpff::new(dot(&xi.angular, &xi.angular));
    let (r, p) = (skew(&xi.linear), skew(&xi.angular));
    let (pr, rp) = (compose(&p, &r), compose(&r, &p));
    let prp = compose(&pr, &p);
    let (ppr, rpp) = (compose(&p, &pr), compose(&rp, &p));
    let (prpp, pprp) = (compose(&prp, &p), compose(&p, &prp));
    let half = T::from_f64(0.5);
    let three = T::from_f64(3.0);
    r * half
        + (pr + rp + prp) * s.c3
        + (ppr + rpp - prp * three) * s.c4
        + (prpp + pprp) * ((s.c4 - three * s.c5) * half)
}
