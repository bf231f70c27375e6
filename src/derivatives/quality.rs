//! What a gradient is worth.

use crate::contact::Mode;
use crate::contact::reduced::Linear;
use crate::scalar::Real;

/// Modes, conditioning, and how near the next mode is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality<T> {
    /// Contacts that break.
    pub breaking: usize,
    /// Constraints that hold without motion.
    pub sticking: usize,
    /// Constraints at the bound of their friction.
    pub sliding: usize,
    /// Smallest pivot over the largest of the system of the active modes; one when there is none. Redundant contacts
    /// make it small without harm. Where the joints of a leg follow its foot, the square of what is least left of a joint's
    /// column when those below follow already.
    pub pivot_ratio: T,
    /// Distance of the nearest constraint to another mode, over the largest impulse; infinite without constraints. Near
    /// zero the derivative is that of one side.
    pub mode_margin: T,
    /// Distance of the nearest gap to the edge of the rest band, m or rad, over all contacts and limits that hold: finite
    /// differences must stay within it. Infinite when there is none.
    pub gap_margin: T,
    /// The system could not be solved; the impulses are taken as constant.
    pub singular: bool,
}

impl<T: Real> Quality<T> {
    pub(super) fn new(impulses: &[T], linear: &[Linear<T>], modes: &[Mode]) -> Self {
        let count = |mode: Mode| modes.iter().filter(|&&m| m == mode).count();
        let largest = impulses.iter().fold(T::ZERO, |largest, x| largest.max(x.abs()));
        let mut nearest = T::from_f64(f64::INFINITY);
        for linear in linear {
            nearest = nearest.min(linear.margin);
        }
        Self {
            breaking: count(Mode::Break),
            sticking: count(Mode::Stick),
            sliding: count(Mode::Slide),
            pivot_ratio: T::ONE,
            mode_margin: if largest > T::ZERO { nearest / largest } else { nearest },
            gap_margin: T::from_f64(f64::INFINITY),
            singular: false,
        }
    }
}
