//! What the model stores per body, per degree of freedom and per frame.

use core::ops::Range;

use super::Joint;
use crate::scalar::Real;
use crate::spatial::{Inertia, Placement};

/// A body of the model, or the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(u16);

impl BodyId {
    /// What everything hangs on.
    pub const WORLD: Self = Self(0);

    /// 0 is the world, 1 the first body.
    pub const fn new(index: u16) -> Self {
        Self(index)
    }

    /// Where the body stands in a workspace; the world comes first.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A frame of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(u16);

impl FrameId {
    /// The frame at `index` in [`Model::frames`](super::Model::frames).
    pub const fn new(index: u16) -> Self {
        Self(index)
    }

    /// Where it stands there.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A moving body and the joint that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body<T> {
    /// Carries this body; always numbered before it.
    pub parent: BodyId,
    /// How it moves against the parent.
    pub joint: Joint<T>,
    /// Of the body frame in the parent's frame, at the neutral configuration.
    pub placement: Placement<T>,
    /// In the body frame, with everything that is rigidly attached.
    pub inertia: Inertia<T>,
    /// Where its coordinates start in q.
    pub first_q: u16,
    /// Where its degrees of freedom start in v.
    pub first_v: u16,
}

impl<T: Real> Body<T> {
    /// Its coordinates in q.
    #[inline(always)]
    pub fn q_range(&self) -> Range<usize> {
        let first = usize::from(self.first_q);
        first..first + self.joint.nq()
    }

    /// Its degrees of freedom in v.
    #[inline(always)]
    pub fn v_range(&self) -> Range<usize> {
        let first = usize::from(self.first_v);
        first..first + self.joint.nv()
    }

    /// The same body in another scalar type.
    pub fn cast<U: Real>(&self) -> Body<U> {
        Body {
            parent: self.parent,
            joint: self.joint.cast(),
            placement: self.placement.cast(),
            inertia: self.inertia.cast(),
            first_q: self.first_q,
            first_v: self.first_v,
        }
    }
}

/// A point of interest fixed to a body: a foot, a hand, a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<T> {
    /// Carries the frame; may be the world.
    pub body: BodyId,
    /// In the frame of that body.
    pub placement: Placement<T>,
}

impl<T: Real> Frame<T> {
    /// The same frame in another scalar type.
    pub fn cast<U: Real>(&self) -> Frame<U> {
        Frame { body: self.body, placement: self.placement.cast() }
    }
}

/// What a degree of freedom adds to the rigid bodies. Units of force are N or N·m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DofParameters<T> {
    /// Inertia of the rotor as seen at the joint, kg or kg·m²; part of the mass matrix.
    pub armature: T,
    /// Force per velocity that opposes motion; applied by the step.
    pub damping: T,
    /// Force of dry friction; a constraint of the step.
    pub dry_friction: T,
    /// Force per displacement of the joint's spring; applied by the step.
    pub stiffness: T,
    /// Displacement from the neutral configuration at which the spring is at rest, m or rad.
    pub spring_reference: T,
    /// Largest speed, m/s or rad/s; infinite when there is none.
    pub velocity_limit: T,
    /// Largest force of the motor; infinite when there is none.
    pub effort_limit: T,
}

impl<T: Real> Default for DofParameters<T> {
    fn default() -> Self {
        let infinite = T::from_f64(f64::INFINITY);
        Self {
            armature: T::ZERO,
            damping: T::ZERO,
            dry_friction: T::ZERO,
            stiffness: T::ZERO,
            spring_reference: T::ZERO,
            velocity_limit: infinite,
            effort_limit: infinite,
        }
    }
}

impl<T: Real> DofParameters<T> {
    /// The same parameters in another scalar type.
    pub fn cast<U: Real>(&self) -> DofParameters<U> {
        let cast = |x: T| U::from_f64(x.to_f64());
        DofParameters {
            armature: cast(self.armature),
            damping: cast(self.damping),
            dry_friction: cast(self.dry_friction),
            stiffness: cast(self.stiffness),
            spring_reference: cast(self.spring_reference),
            velocity_limit: cast(self.velocity_limit),
            effort_limit: cast(self.effort_limit),
        }
    }
}
