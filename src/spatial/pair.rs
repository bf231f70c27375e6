//! What motions and forces have in common: both are pairs of 3-vectors that add and scale.

/// Vector-space operations of a (linear, angular) pair; motions and forces get the same ones but stay two types.
macro_rules! vector_space {
    ($name:ident) => {
        impl<T: Real> $name<T> {
            /// The zero vector.
            pub const ZERO: Self = Self {
                linear: Vector3::new(T::ZERO, T::ZERO, T::ZERO),
                angular: Vector3::new(T::ZERO, T::ZERO, T::ZERO),
            };

            /// From its two parts.
            #[inline(always)]
            pub const fn new(linear: Vector3<T>, angular: Vector3<T>) -> Self {
                Self { linear, angular }
            }

            /// self · s + other.
            #[inline(always)]
            pub fn scale_add(&self, s: T, other: &Self) -> Self {
                Self {
                    linear: $crate::spatial::vector::scale_add(&self.linear, s, &other.linear),
                    angular: $crate::spatial::vector::scale_add(&self.angular, s, &other.angular),
                }
            }

            /// Linear then angular components.
            #[inline(always)]
            pub fn to_array(&self) -> [T; 6] {
                let (a, b) = (&self.linear, &self.angular);
                [a.x, a.y, a.z, b.x, b.y, b.z]
            }

            /// From linear then angular components.
            #[inline(always)]
            pub const fn from_array([a, b, c, d, e, f]: [T; 6]) -> Self {
                Self { linear: Vector3::new(a, b, c), angular: Vector3::new(d, e, f) }
            }
        }

        impl<T: Real> Default for $name<T> {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl<T: Real> core::ops::Add for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
            }
        }

        impl<T: Real> core::ops::Sub for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
            }
        }

        impl<T: Real> core::ops::Neg for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self { linear: -self.linear, angular: -self.angular }
            }
        }

        impl<T: Real> core::ops::Mul<T> for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: T) -> Self {
                Self { linear: self.linear * s, angular: self.angular * s }
            }
        }

        impl<T: Real> core::ops::AddAssign for $name<T> {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl<T: Real> core::ops::SubAssign for $name<T> {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
    };
}

pub(super) use vector_space;
