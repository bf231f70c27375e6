//! What a row, or a group of rows, must obey.

use core::ops::Range;

use crate::scalar::Real;

/// The law between the impulse λ and the relative velocity σ of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law<T> {
    /// Three rows, two tangents and the normal: Signorini's condition, Coulomb's cone, maximum dissipation.
    Contact {
        /// Coulomb's coefficient.
        friction: T,
    },
    /// One row: λ ≥ 0 and σ ≥ 0, and one of them is zero.
    Unilateral,
    /// One row: |λ| ≤ bound; σ = 0 within the bound, and σ against λ on it.
    DryFriction {
        /// Largest impulse, N·s or N·m·s.
        bound: T,
    },
    /// One row: σ = 0, whatever impulse it takes.
    Bilateral,
}

impl<T: Real> Law<T> {
    /// Rows that it governs.
    #[inline(always)]
    pub const fn rows(&self) -> usize {
        match self {
            Self::Contact { .. } => 3,
            _ => 1,
        }
    }

    /// The least and the largest impulse of a law of one row that has such.
    #[inline(always)]
    pub(super) fn bounds(&self) -> Option<[T; 2]> {
        match *self {
            Self::Unilateral => Some([T::ZERO, T::from_f64(f64::INFINITY)]),
            Self::DryFriction { bound } => Some([-bound, bound]),
            Self::Contact { .. } | Self::Bilateral => None,
        }
    }
}

/// A law and the rows it governs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint<T> {
    /// What holds between impulse and velocity.
    pub law: Law<T>,
    /// The first of its rows.
    pub first_row: u16,
    /// Where it comes from; the same from step to step, and ascending in a problem.
    pub source: Source,
}

impl<T: Real> Constraint<T> {
    /// Its rows.
    #[inline(always)]
    pub fn rows(&self) -> Range<usize> {
        let first = usize::from(self.first_row);
        first..first + self.law.rows()
    }
}

impl<T: Real> Default for Constraint<T> {
    fn default() -> Self {
        Self { law: Law::Bilateral, first_row: 0, source: Source::Closure { index: 0, row: 0 } }
    }
}

/// What a constraint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A loop closure or an anchor.
    Closure {
        /// Index in the model.
        index: u16,
        /// Which of its rows.
        row: u16,
    },
    /// A joint at the lower end of its range.
    LowerLimit {
        /// Index in v.
        dof: u16,
    },
    /// A joint at the upper end of its range.
    UpperLimit {
        /// Index in v.
        dof: u16,
    },
    /// Dry friction of a joint.
    DryFriction {
        /// Index in v.
        dof: u16,
    },
    /// A contact point.
    Contact {
        /// Index in [`Model::pairs`](crate::model::Model::pairs).
        pair: u16,
        /// Which of the pair's points.
        feature: u16,
    },
}
