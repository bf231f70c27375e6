//! Between a lower and an upper bound.

use crate::scalar::Real;

/// From `lower` to `upper`, either of them possibly infinite.
///
/// ```
/// use saltus::model::Range;
///
/// let torque = Range::symmetric(35.0);
/// assert_eq!(torque.clamp(-50.0), -35.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    /// −∞ when there is none.
    pub lower: T,
    /// +∞ when there is none.
    pub upper: T,
}

impl<T: Real> Range<T> {
    /// From both bounds.
    pub const fn new(lower: T, upper: T) -> Self {
        Self { lower, upper }
    }

    /// Without bound.
    pub fn none() -> Self {
        Self::symmetric(T::from_f64(f64::INFINITY))
    }

    /// From −`bound` to `bound`.
    pub fn symmetric(bound: T) -> Self {
        Self { lower: -bound, upper: bound }
    }

    /// The nearest number within.
    #[inline(always)]
    pub fn clamp(&self, x: T) -> T {
        x.max(self.lower).min(self.upper)
    }

    /// The same range in another scalar type.
    pub fn cast<U: Real>(&self) -> Range<U> {
        Range { lower: U::from_f64(self.lower.to_f64()), upper: U::from_f64(self.upper.to_f64()) }
    }
}
