//! Products of 3-vectors and 3×3 matrices in a fixed order of fused operations.
//!
//! nalgebra's operators give the same values but round after each product; these keep the instruction count down and
//! the bits equal between the host and the microcontroller.

use nalgebra::{Matrix3, Vector3};

use crate::scalar::Real;

/// a · b.
#[inline(always)]
pub fn dot<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> T {
    a.z.mul_add(b.z, a.y.mul_add(b.y, a.x * b.x))
}

/// a × b.
#[inline(always)]
pub fn cross<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Vector3<T> {
    Vector3::new(a.y.mul_add(b.z, -(a.z * b.y)), a.z.mul_add(b.x, -(a.x * b.z)), a.x.mul_add(b.y, -(a.y * b.x)))
}

/// a × b + c.
#[inline(always)]
pub fn cross_add<T: Real>(a: &Vector3<T>, b: &Vector3<T>, c: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        a.y.mul_add(b.z, (-a.z).mul_add(b.y, c.x)),
        a.z.mul_add(b.x, (-a.x).mul_add(b.z, c.y)),
        a.x.mul_add(b.y, (-a.y).mul_add(b.x, c.z)),
    )
}

/// v · s + w.
#[inline(always)]
pub fn scale_add<T: Real>(v: &Vector3<T>, s: T, w: &Vector3<T>) -> Vector3<T> {
    Vector3::new(v.x.mul_add(s, w.x), v.y.mul_add(s, w.y), v.z.mul_add(s, w.z))
}

/// R v.
#[inline(always)]
pub fn multiply<T: Real>(r: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        r.m13.mul_add(v.z, r.m12.mul_add(v.y, r.m11 * v.x)),
        r.m23.mul_add(v.z, r.m22.mul_add(v.y, r.m21 * v.x)),
        r.m33.mul_add(v.z, r.m32.mul_add(v.y, r.m31 * v.x)),
    )
}

/// Rᵀ v.
#[inline(always)]
pub fn multiply_transposed<T: Real>(r: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        r.m31.mul_add(v.z, r.m21.mul_add(v.y, r.m11 * v.x)),
        r.m32.mul_add(v.z, r.m22.mul_add(v.y, r.m12 * v.x)),
        r.m33.mul_add(v.z, r.m23.mul_add(v.y, r.m13 * v.x)),
    )
}

/// A B, for 3×3 matrices.
#[inline(always)]
pub fn compose<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_columns(&[multiply(a, &column(b, 0)), multiply(a, &column(b, 1)), multiply(a, &column(b, 2))])
}

/// Aᵀ B, for 3×3 matrices.
#[inline(always)]
pub fn compose_transposed<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_columns(&[
        multiply_transposed(a, &column(b, 0)),
        multiply_transposed(a, &column(b, 1)),
        multiply_transposed(a, &column(b, 2)),
    ])
}

/// Column k of a 3×3 matrix, for k < 3; the last one beyond.
#[inline(always)]
pub fn column<T: Real>(m: &Matrix3<T>, k: usize) -> Vector3<T> {
    let [x, y, z] = m.data.0;
    Vector3::from(match k {
        0 => x,
        1 => y,
        _ => z,
    })
}

/// The matrix of v ×.
#[inline(always)]
pub fn skew<T: Real>(v: &Vector3<T>) -> Matrix3<T> {
    let o = T::ZERO;
    Matrix3::new(o, -v.z, v.y, v.z, o, -v.x, -v.y, v.x, o)
}
