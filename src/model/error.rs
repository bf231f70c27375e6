//! What can be wrong with a robot.

use alloc::string::{String, ToString};
use core::fmt;

/// A robot that cannot be built: which part of it, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// What kind of part is at fault.
    pub item: Item,
    /// Name of the part at fault.
    pub name: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// A kind of part of a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Item {
    Body,
    Joint,
    Frame,
    Geometry,
    Exclusion,
    Pair,
    Closure,
    Actuator,
    Keyframe,
}

impl Item {
    /// The error that says what is wrong with such a part.
    pub(super) fn fail(self, name: &str, problem: Problem) -> ModelError {
        ModelError { item: self, name: name.to_string(), problem }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Body => "body",
            Self::Joint => "joint",
            Self::Frame => "frame",
            Self::Geometry => "geometry",
            Self::Exclusion => "exclusion of body",
            Self::Pair => "pair of geometry",
            Self::Closure => "closure of bodies",
            Self::Actuator => "actuator",
            Self::Keyframe => "keyframe",
        })
    }
}

/// What is wrong with a part of a robot.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// A moving body that carries nothing must have mass.
    MasslessLeaf {
        /// Kilograms found, with everything rigidly attached.
        mass: f64,
    },
    /// Mass below zero.
    NegativeMass {
        /// Kilograms found.
        mass: f64,
    },
    /// No mass distribution has these principal moments of inertia: one is negative, or exceeds the sum of the others.
    ImpossibleInertia {
        /// Principal moments, kg·m².
        principal: [f64; 3],
    },
    /// The joint axis must have length one.
    AxisNotUnit {
        /// Length found.
        length: f64,
    },
    /// The rotation of a placement is not orthonormal, or is a reflection.
    NotARotation,
    /// A number is infinite or NaN.
    NotFinite {
        /// Which number.
        what: &'static str,
    },
    /// A parameter that must not be negative.
    Negative {
        /// Which parameter.
        what: &'static str,
        /// Value found.
        value: f64,
    },
    /// A size that must be above zero.
    NotPositive {
        /// Which size.
        what: &'static str,
        /// Value found.
        value: f64,
    },
    /// A coefficient that must lie between 0 and 1.
    NotAFraction {
        /// Which coefficient.
        what: &'static str,
        /// Value found.
        value: f64,
    },
    /// Lower bound above the upper one.
    RangeReversed {
        /// Which range.
        what: &'static str,
        /// Lower bound found.
        lower: f64,
        /// Upper bound found.
        upper: f64,
    },
    /// Limits on a joint without a single position coordinate.
    LimitsWithoutPosition,
    /// A convex hull needs four vertices to have a volume.
    TooFewVertices {
        /// How many there are.
        found: usize,
    },
    /// A convex shape stated by a range of vertices instead of the vertices.
    HullWithoutVertices,
    /// Two parts of a kind with the same name, or a body named "world".
    DuplicateName,
    /// The parent does not exist.
    UnknownParent {
        /// Name of the parent.
        parent: String,
    },
    /// Nothing of this name exists.
    UnknownName {
        /// What kind of part was meant.
        what: &'static str,
    },
    /// What a motor pulls at, or a closure holds, does not exist.
    UnknownTarget {
        /// What kind of part was meant.
        what: &'static str,
        /// Its name.
        target: String,
    },
    /// The joint has fewer degrees of freedom.
    NoSuchDof {
        /// Name of the joint.
        joint: String,
        /// How many it has.
        dofs: usize,
    },
    /// A geometry cannot meet itself.
    PairOfOne,
    /// A closure cannot hold a body to itself.
    ClosureOfOne,
    /// More pairs of geometries than any robot needs: a filter is missing.
    TooManyPairs,
    /// A keyframe of the wrong size.
    Length {
        /// Which of its parts.
        what: &'static str,
        /// Numbers that the model asks for.
        expected: usize,
        /// Numbers found.
        found: usize,
    },
    /// Quaternions and (cos, sin) pairs must have length one.
    NotNormalized {
        /// Where in q.
        index: usize,
    },
    /// The body is its own ancestor.
    Cycle,
    /// More parts of a kind than 16-bit indices can count.
    TooLarge,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\": ", self.item, self.name)?;
        match &self.problem {
            Problem::MasslessLeaf { mass } => {
                write!(f, "moves and carries nothing, so its mass must be above zero, found {mass} kg")
            }
            Problem::NegativeMass { mass } => write!(f, "mass must not be negative, found {mass} kg"),
            Problem::ImpossibleInertia { principal: [a, b, c] } => write!(
                f,
                "principal moments of inertia ({a:e}, {b:e}, {c:e}) kg·m² belong to no body: none may be negative \
                 or exceed the sum of the other two"
            ),
            Problem::AxisNotUnit { length } => write!(f, "joint axis must have length 1, found {length}"),
            Problem::NotARotation => write!(f, "placement must have an orthonormal rotation with determinant +1"),
            Problem::NotFinite { what } => write!(f, "{what} must be a finite number"),
            Problem::Negative { what, value } => write!(f, "{what} must not be negative, found {value}"),
            Problem::NotPositive { what, value } => write!(f, "{what} must be above zero, found {value}"),
            Problem::NotAFraction { what, value } => write!(f, "{what} must lie between 0 and 1, found {value}"),
            Problem::RangeReversed { what, lower, upper } => {
                write!(f, "{what}: the lower bound {lower} exceeds the upper bound {upper}")
            }
            Problem::TooFewVertices { found } => write!(f, "a convex hull needs four vertices, found {found}"),
            Problem::HullWithoutVertices => write!(f, "state a convex hull by its vertices (ConvexSpec)"),
            Problem::UnknownName { what } => write!(f, "no {what} has this name"),
            Problem::UnknownTarget { what, target } => write!(f, "the {what} \"{target}\" does not exist"),
            Problem::NoSuchDof { joint, dofs } => {
                write!(f, "the joint \"{joint}\" has only {dofs} degrees of freedom, numbered from 0")
            }
            Problem::PairOfOne => write!(f, "a geometry cannot meet itself"),
            Problem::ClosureOfOne => write!(f, "both ends are on the same body, or on bodies fixed to each other"),
            Problem::TooManyPairs => {
                write!(f, "more than {} pairs may meet; use filters or exclusions", super::pairs::MAX_PAIRS)
            }
            Problem::Length { what, expected, found } => {
                write!(f, "{what} needs {expected} numbers, found {found}")
            }
            Problem::NotNormalized { index } => {
                write!(f, "the quaternion or (cos, sin) pair around q[{index}] must have length 1")
            }
            Problem::LimitsWithoutPosition => {
                write!(f, "position limits need a revolute or prismatic joint")
            }
            Problem::DuplicateName => write!(f, "the name is already taken"),
            Problem::UnknownParent { parent } => write!(f, "its parent \"{parent}\" does not exist"),
            Problem::Cycle => write!(f, "is its own ancestor; loops need a loop constraint, not a parent"),
            Problem::TooLarge => write!(f, "more than 65535 of a kind, which is more than 16-bit indices can count"),
        }
    }
}

impl core::error::Error for ModelError {}
