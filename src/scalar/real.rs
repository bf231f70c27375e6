//! The scalar trait and its two machine implementations.

use core::fmt::{Debug, Display};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign, Scalar};
use num_traits::{One, Zero};

/// A real number: `f32`, `f64`, or a [`Dual`](crate::scalar::Dual) of either.
///
/// Every function gives the same bits on every target with hardware fused multiply-add: transcendental functions come
/// from `libm`, and [`mul_add`](Real::mul_add) rounds once. On targets without it (and on the host without the `std`
/// feature) `mul_add` is a product and a sum, because the emulated one is some 35 times slower.
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
    /// Zero, as a constant.
    const ZERO: Self;
    /// One, as a constant.
    const ONE: Self;
    /// The distance from one to the next larger number.
    const EPSILON: Self;

    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// The value as `f64` (for a dual number, of its real part).
    fn to_f64(self) -> f64;
    /// `self * a + b`, rounded once where the target can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root; NaN below zero.
    fn sqrt(self) -> Self;
    /// Sine and cosine of an angle in radians.
    fn sin_cos(self) -> (Self, Self);
    /// Angle of the point (`x`, `self`), in (−π, π].
    fn atan2(self, x: Self) -> Self;
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
    ($type:ident, $fma:ident, $sqrt:ident, $sincos:path, $atan2:path) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $type::EPSILON;

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
                hardware::$fma(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                hardware::$sqrt(self)
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                $sincos(self)
            }
            #[inline]
            fn atan2(self, x: Self) -> Self {
                $atan2(self, x)
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

machine_real!(f32, fma_f32, sqrt_f32, libm::sincosf, libm::atan2f);
machine_real!(f64, fma_f64, sqrt_f64, libm::sincos, libm::atan2);

/// Instructions that `core` does not reach on stable Rust: correctly rounded, so the bits do not depend on the path.
mod hardware {
    #[cfg(all(feature = "std", any(target_feature = "fma", target_arch = "aarch64")))]
    mod fused {
        #[inline(always)]
        pub fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
            a.mul_add(b, c)
        }
    }

    #[cfg(all(target_arch = "arm", target_abi = "eabihf"))]
    #[allow(unsafe_code)]
    mod fused {
        use core::arch::asm;

        #[inline(always)]
        pub fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
            let mut sum = c;
            // SAFETY: VFMA.F32 reads and writes only the named registers; every eabihf FPU since FPv4 has it.
            unsafe {
                asm!("vfma.f32 {0}, {1}, {2}", inout(sreg) sum, in(sreg) a, in(sreg) b,
                     options(pure, nomem, nostack, preserves_flags));
            }
            sum
        }
        #[inline(always)]
        pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
            a * b + c
        }
    }

    #[cfg(not(any(
        all(feature = "std", any(target_feature = "fma", target_arch = "aarch64")),
        all(target_arch = "arm", target_abi = "eabihf")
    )))]
    mod fused {
        #[inline(always)]
        pub fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
            a * b + c
        }
        #[inline(always)]
        pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
            a * b + c
        }
    }

    #[cfg(feature = "std")]
    mod root {
        #[inline(always)]
        pub fn sqrt_f32(x: f32) -> f32 {
            x.sqrt()
        }
        #[inline(always)]
        pub fn sqrt_f64(x: f64) -> f64 {
            x.sqrt()
        }
    }

    #[cfg(all(not(feature = "std"), target_arch = "arm", target_abi = "eabihf"))]
    #[allow(unsafe_code)]
    mod root {
        use core::arch::asm;

        #[inline(always)]
        pub fn sqrt_f32(x: f32) -> f32 {
            let root: f32;
            // SAFETY: VSQRT.F32 reads and writes only the named registers; every eabihf FPU has it.
            unsafe {
                asm!("vsqrt.f32 {0}, {1}", out(sreg) root, in(sreg) x,
                     options(pure, nomem, nostack, preserves_flags));
            }
            root
        }
        #[inline(always)]
        pub fn sqrt_f64(x: f64) -> f64 {
            libm::sqrt(x)
        }
    }

    #[cfg(not(any(feature = "std", all(target_arch = "arm", target_abi = "eabihf"))))]
    mod root {
        #[inline(always)]
        pub fn sqrt_f32(x: f32) -> f32 {
            libm::sqrtf(x)
        }
        #[inline(always)]
        pub fn sqrt_f64(x: f64) -> f64 {
            libm::sqrt(x)
        }
    }

    pub use fused::{fma_f32, fma_f64};
    pub use root::{sqrt_f32, sqrt_f64};
}
