//! What holds two bodies together beside the joints of the tree.

use super::Frame;
use crate::scalar::Real;

/// How much of two frames stays together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClosureKind {
    /// The origins: a ball joint between the two bodies.
    Point,
    /// The origins and the axes: no motion between the two bodies.
    Weld,
}

impl ClosureKind {
    /// Constraint rows: one per direction of motion that it takes away.
    pub const fn rows(self) -> usize {
        match self {
            Self::Point => 3,
            Self::Weld => 6,
        }
    }
}

/// Two points, or two frames, that stay together: a loop of the mechanism, or an anchor in the world.
///
/// ```
/// use saltus::model::{BodyId, Closure, ClosureKind, Frame};
/// use saltus::spatial::Placement;
///
/// let tip = Frame { body: BodyId::new(1), placement: Placement::translation(0.0, 0.0, -0.5) };
/// let hook = Frame { body: BodyId::WORLD, placement: Placement::IDENTITY };
/// let tether: Closure<f64> = Closure { a: tip, b: hook, kind: ClosureKind::Point };
/// assert_eq!(tether.kind.rows(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closure<T> {
    /// On one body.
    pub a: Frame<T>,
    /// On another one; either of the two may be the world.
    pub b: Frame<T>,
    /// Whether the axes stay together too.
    pub kind: ClosureKind,
}

impl<T: Real> Closure<T> {
    /// The same closure in another scalar type.
    pub fn cast<U: Real>(&self) -> Closure<U> {
        Closure { a: self.a.cast(), b: self.b.cast(), kind: self.kind }
    }
}
