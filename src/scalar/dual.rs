//! Forward-mode dual numbers.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use num_traits::{One, Zero};

use super::Real;

/// `value + Σ tangent[k]·εₖ` with εₖ εₗ = 0: carries N directional derivatives through any algorithm written over
/// [`Real`].
///
/// Comparisons look at the value alone, so a branch takes the side that the plain number would take.
///
/// ```
/// use saltus::scalar::{Dual, Real};
///
/// let x = Dual::variable(2.0_f64);
/// let y = x * x * x;
/// assert_eq!((y.value, y.tangent), (8.0, [12.0])); // d(x³)/dx = 3x²
///
/// let [x, y] = [Dual::seeded(3.0_f64, [1.0, 0.0]), Dual::seeded(4.0, [0.0, 1.0])];
/// assert_eq!((x * x + y * y).tangent, [6.0, 8.0]); // both slopes in one pass
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dual<T, const N: usize = 1> {
    /// The number itself.
    pub value: T,
    /// Its derivative along each of the chosen directions.
    pub tangent: [T; N],
}

impl<T: Real> Dual<T> {
    /// A number with one derivative.
    pub const fn new(value: T, tangent: T) -> Self {
        Self { value, tangent: [tangent] }
    }

    /// The number that is varied: derivative one.
    pub const fn variable(value: T) -> Self {
        Self { value, tangent: [T::ONE] }
    }
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// A number with a given derivative along each direction.
    pub const fn seeded(value: T, tangent: [T; N]) -> Self {
        Self { value, tangent }
    }

    /// A number that does not vary.
    pub const fn constant(value: T) -> Self {
        Self { value, tangent: [T::ZERO; N] }
    }

    /// `value`, with `slope` times the tangents of `self`: the chain rule of a function of one number.
    #[inline(always)]
    fn chained(self, value: T, slope: T) -> Self {
        Self { value, tangent: self.tangent.map(|t| t * slope) }
    }

    /// `value`, with slopes along `self` and `other`: the chain rule of a function of two numbers.
    #[inline(always)]
    fn paired(self, other: Self, value: T, (slope, other_slope): (T, T)) -> Self {
        let tangent = |k: usize| other_slope * other.tangent[k] + self.tangent[k] * slope;
        Self { value, tangent: core::array::from_fn(tangent) }
    }
}

impl<T: Real, const N: usize> Default for Dual<T, N> {
    fn default() -> Self {
        Self::constant(T::ZERO)
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Dual<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: PartialOrd, const N: usize> PartialOrd for Dual<T, N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: fmt::Display, const N: usize> fmt::Display for Dual<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        self.tangent.iter().try_for_each(|tangent| write!(f, " + {tangent}ε"))
    }
}

impl<T: Real, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { value: -self.value, tangent: self.tangent.map(|t| -t) }
    }
}

impl<T: Real, const N: usize> Add for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, tangent: core::array::from_fn(|k| self.tangent[k] + other.tangent[k]) }
    }
}

impl<T: Real, const N: usize> Sub for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, tangent: core::array::from_fn(|k| self.tangent[k] - other.tangent[k]) }
    }
}

impl<T: Real, const N: usize> Mul for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.paired(other, self.value * other.value, (other.value, self.value))
    }
}

impl<T: Real, const N: usize> Div for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let quotient = self.value / other.value;
        self.paired(other, quotient, (T::ONE / other.value, -quotient / other.value))
    }
}

macro_rules! assign_through {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl<T: Real, const N: usize> $trait for Dual<T, N> {
            #[inline(always)]
            fn $method(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    )*};
}
assign_through!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /);

impl<T: Real, const N: usize> Zero for Dual<T, N> {
    fn zero() -> Self {
        Self::ZERO
    }
    fn is_zero(&self) -> bool {
        self.value == T::ZERO && self.tangent.iter().all(|t| *t == T::ZERO)
    }
}

impl<T: Real, const N: usize> One for Dual<T, N> {
    fn one() -> Self {
        Self::ONE
    }
}

impl<T: Real, const N: usize> Real for Dual<T, N> {
    type Plain = T;

    const ZERO: Self = Self::constant(T::ZERO);
    const ONE: Self = Self::constant(T::ONE);
    const EPSILON: Self = Self::constant(T::EPSILON);

    #[inline(always)]
    fn constant(x: T) -> Self {
        Self::constant(x)
    }
    #[inline(always)]
    fn plain(self) -> T {
        self.value
    }
    fn from_f64(x: f64) -> Self {
        Self::constant(T::from_f64(x))
    }
    fn to_f64(self) -> f64 {
        self.value.to_f64()
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chained(root, T::ONE / (root + root))
    }
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.chained(sin, cos), self.chained(cos, -sin))
    }
    fn atan2(self, x: Self) -> Self {
        let square = self.value * self.value + x.value * x.value;
        self.paired(x, self.value.atan2(x.value), (x.value / square, -self.value / square))
    }
    fn ln(self) -> Self {
        self.chained(self.value.ln(), T::ONE / self.value)
    }
    fn abs(self) -> Self {
        if self.value < T::ZERO { -self } else { self }
    }
    fn is_finite(self) -> bool {
        self.value.is_finite() && self.tangent.iter().all(|t| t.is_finite())
    }
}
