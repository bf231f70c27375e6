//! The scalar trait and its two machine implementations.

use core::fmt::{Debug, Display};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign, Scalar};
use num_traits::{One, Zero};

use super::square_root;

/// A real number: `f32`, `f64`, or a [`Dual`](crate::scalar::Dual) of either.
///
/// In `f32` every function gives the same bits on every target: transcendental functions come from `libm`, and
/// [`mul_add`](Real::mul_add) is a product and a sum, each rounded, which a Cortex-M7 does in one instruction (VMLA). In
/// `f64`, the type of workstations, it is one fused operation where the build has it (`std`, and x86-64-v3 or aarch64).
///
/// ```
/// use saltus::scalar::Real;
///
/// fn hypotenuse<T: Real>(a: T, b: T) -> T {
///     a.mul_add(a, b * b).sqrt()
/// }
/// assert_eq!(hypotenuse(3.0_f32, 4.0), 5.0);
/// ```
pub trait Real:
    Scalar
    + Copy
    + Default
    + Display
    + Debug
    + PartialOrd
    + Zero
    + One
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + ClosedAddAssign
    + ClosedSubAssign
    + ClosedMulAssign
    + ClosedDivAssign
    + Send
    + Sync
{
    /// The number without derivatives: itself for a machine number, the value for a dual one.
    type Plain: Real;

    /// Zero, as a constant.
    const ZERO: Self;
    /// One, as a constant.
    const ONE: Self;
    /// The distance from one to the next larger number.
    const EPSILON: Self;

    /// The number with this value that does not vary.
    fn constant(x: Self::Plain) -> Self;
    /// The value without its derivatives.
    fn plain(self) -> Self::Plain;
    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// The value as `f64` (for a dual number, of its real part).
    fn to_f64(self) -> f64;
    /// `self * a + b`; rounded once in `f64` where the target can, twice otherwise.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root; NaN below zero.
    fn sqrt(self) -> Self;
    /// Sine and cosine of an angle in radians.
    fn sin_cos(self) -> (Self, Self);
    /// Angle of the point (`x`, `self`), in (−π, π].
    fn atan2(self, x: Self) -> Self;
    /// Natural logarithm; NaN below zero.
    fn ln(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Neither infinite nor NaN (for a dual number, in both parts).
    fn is_finite(self) -> bool;

    /// The larger of two numbers; `self` when they do not compare.
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
    /// The smaller of two numbers; `self` when they do not compare.
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

macro_rules! machine_real {
    ($type:ident, $mul_add:path, $sqrt:path, $sincos:path, $atan2:path, $ln:path) => {
        impl Real for $type {
            type Plain = Self;

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $type::EPSILON;

            #[inline(always)]
            fn constant(x: Self) -> Self {
                x
            }
            #[inline(always)]
            fn plain(self) -> Self {
                self
            }
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                $mul_add(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                $sincos(self)
            }
            #[inline]
            fn atan2(self, x: Self) -> Self {
                $atan2(self, x)
            }
            #[inline]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $type::abs(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }
        }
    };
}

machine_real!(f32, twice_rounded, square_root::single, libm::sincosf, libm::atan2f, libm::logf);
machine_real!(f64, once_rounded_where_possible, square_root::double, libm::sincos, libm::atan2, libm::log);

#[inline(always)]
fn twice_rounded(a: f32, b: f32, c: f32) -> f32 {
    a * b + c
}

/// Fused only in hardware: the emulated operation is some 35 times slower.
#[inline(always)]
fn once_rounded_where_possible(a: f64, b: f64, c: f64) -> f64 {
    #[cfg(all(feature = "std", any(target_feature = "fma", target_arch = "aarch64")))]
    return a.mul_add(b, c);
    #[cfg(not(all(feature = "std", any(target_feature = "fma", target_arch = "aarch64"))))]
    return a * b + c;
}
