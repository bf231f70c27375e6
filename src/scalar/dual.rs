//! Forward-mode dual numbers.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use num_traits::{One, Zero};

use super::Real;

/// `value + tangent·ε` with ε² = 0: carries one directional derivative through any algorithm written over [`Real`].
///
/// Comparisons look at the value alone, so a branch takes the side that the plain number would take.
///
/// ```
/// use saltus::scalar::{Dual, Real};
///
/// let x = Dual::variable(2.0_f64);
/// let y = x * x * x;
/// assert_eq!((y.value, y.tangent), (8.0, 12.0)); // d(x³)/dx = 3x²
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Dual<T> {
    /// The number itself.
    pub value: T,
    /// Its derivative along the chosen direction.
    pub tangent: T,
}

impl<T: Real> Dual<T> {
    /// A number with a given derivative.
    pub const fn new(value: T, tangent: T) -> Self {
        Self { value, tangent }
    }

    /// A number that does not vary.
    pub const fn constant(value: T) -> Self {
        Self { value, tangent: T::ZERO }
    }

    /// The number that is varied: derivative one.
    pub const fn variable(value: T) -> Self {
        Self { value, tangent: T::ONE }
    }
}

impl<T: PartialEq> PartialEq for Dual<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: PartialOrd> PartialOrd for Dual<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: fmt::Display> fmt::Display for Dual<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {}ε", self.value, self.tangent)
    }
}

impl<T: Real> Neg for Dual<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.value, -self.tangent)
    }
}

impl<T: Real> Add for Dual<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.value + other.value, self.tangent + other.tangent)
    }
}

impl<T: Real> Sub for Dual<T> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.value - other.value, self.tangent - other.tangent)
    }
}

impl<T: Real> Mul for Dual<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.value * other.value, self.value * other.tangent + self.tangent * other.value)
    }
}

impl<T: Real> Div for Dual<T> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let quotient = self.value / other.value;
        Self::new(quotient, (self.tangent - quotient * other.tangent) / other.value)
    }
}

macro_rules! assign_through {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl<T: Real> $trait for Dual<T> {
            fn $method(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    )*};
}
assign_through!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /);

impl<T: Real> Zero for Dual<T> {
    fn zero() -> Self {
        Self::ZERO
    }
    fn is_zero(&self) -> bool {
        self.value == T::ZERO && self.tangent == T::ZERO
    }
}

impl<T: Real> One for Dual<T> {
    fn one() -> Self {
        Self::ONE
    }
}

impl<T: Real> Real for Dual<T> {
    const ZERO: Self = Self::constant(T::ZERO);
    const ONE: Self = Self::constant(T::ONE);
    const EPSILON: Self = Self::constant(T::EPSILON);

    fn from_f64(x: f64) -> Self {
        Self::constant(T::from_f64(x))
    }
    fn to_f64(self) -> f64 {
        self.value.to_f64()
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self::new(root, self.tangent / (root + root))
    }
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (Self::new(sin, self.tangent * cos), Self::new(cos, -self.tangent * sin))
    }
    fn atan2(self, x: Self) -> Self {
        let square = self.value * self.value + x.value * x.value;
        Self::new(self.value.atan2(x.value), (x.value * self.tangent - self.value * x.tangent) / square)
    }
    fn abs(self) -> Self {
        if self.value < T::ZERO { -self } else { self }
    }
    fn is_finite(self) -> bool {
        self.value.is_finite() && self.tangent.is_finite()
    }
}
