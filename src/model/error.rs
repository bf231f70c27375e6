//! What can be wrong with a robot.

use alloc::string::String;
use core::fmt;

/// A robot that cannot be built: which body, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// Name of the body or frame at fault.
    pub name: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a body or frame.
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
    /// Lower limit above the upper one.
    LimitsReversed {
        /// Lower limit found.
        lower: f64,
        /// Upper limit found.
        upper: f64,
    },
    /// Limits on a joint without a single position coordinate.
    LimitsWithoutPosition,
    /// Two bodies or two frames of the same name, or one named "world".
    DuplicateName,
    /// The parent does not exist.
    UnknownParent {
        /// Name of the parent.
        parent: String,
    },
    /// The body is its own ancestor.
    Cycle,
    /// More bodies or degrees of freedom than 16-bit indices can count.
    TooLarge,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body \"{}\": ", self.name)?;
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
            Problem::LimitsReversed { lower, upper } => {
                write!(f, "lower position limit {lower} exceeds the upper limit {upper}")
            }
            Problem::LimitsWithoutPosition => {
                write!(f, "position limits need a revolute or prismatic joint")
            }
            Problem::DuplicateName => write!(f, "the name is already taken"),
            Problem::UnknownParent { parent } => write!(f, "its parent \"{parent}\" does not exist"),
            Problem::Cycle => write!(f, "is its own ancestor; loops need a loop constraint, not a parent"),
            Problem::TooLarge => write!(f, "more than 65535 bodies or degrees of freedom"),
        }
    }
}

impl core::error::Error for ModelError {}
