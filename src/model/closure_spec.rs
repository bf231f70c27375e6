//! A closure, as the user states it.

use alloc::string::String;

use super::ClosureKind;
use crate::spatial::Placement;

/// Two bodies that stay together where the tree of joints does not see to it.
///
/// ```
/// use saltus::model::ClosureSpec;
/// use saltus::spatial::Placement;
///
/// let crank = ClosureSpec::point("coupler", "crank").at(Placement::translation(0.3, 0.0, 0.0), Placement::IDENTITY);
/// let bolted = ClosureSpec::weld("base", "world");
/// # let _ = (crank, bolted);
/// ```
#[derive(Clone, Debug)]
pub struct ClosureSpec {
    pub(super) kind: ClosureKind,
    pub(super) bodies: [String; 2],
    pub(super) placements: [Placement<f64>; 2],
}

impl ClosureSpec {
    /// The origins of two bodies (one may be "world") coincide.
    pub fn point(a: impl Into<String>, b: impl Into<String>) -> Self {
        Self::new(ClosureKind::Point, a.into(), b.into())
    }

    /// The frames of two bodies (one may be "world") coincide, origins and axes.
    pub fn weld(a: impl Into<String>, b: impl Into<String>) -> Self {
        Self::new(ClosureKind::Weld, a.into(), b.into())
    }

    fn new(kind: ClosureKind, a: String, b: String) -> Self {
        Self { kind, bodies: [a, b], placements: [Placement::IDENTITY; 2] }
    }

    /// Frames at these placements in the two bodies coincide, instead of those of the bodies themselves.
    pub fn at(mut self, in_a: Placement<f64>, in_b: Placement<f64>) -> Self {
        self.placements = [in_a, in_b];
        self
    }
}
