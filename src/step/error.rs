//! Why a step gave nothing.

use core::fmt;

use crate::dynamics::DynamicsError;
use crate::input::InputError;

/// Why a step gave nothing; the state is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepError {
    /// An argument does not fit the model.
    Input(InputError),
    /// A number is infinite or NaN.
    NotFinite {
        /// Which argument.
        what: &'static str,
        /// Which of its numbers.
        index: usize,
    },
    /// A quaternion, or the cosine and sine of an angle, is not of length one.
    NotNormalized {
        /// Where it starts in q.
        index: usize,
    },
    /// The time step is not above zero.
    TimeStep,
    /// A step of several parts has no single Jacobian.
    Substeps,
    /// A degree of freedom moves no inertia.
    SingularMassMatrix {
        /// Index in v.
        dof: usize,
    },
    /// The new state is out of the range of numbers.
    Diverged,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::NotFinite { what, index } => write!(f, "{what}: number {index} is infinite or not a number"),
            Self::NotNormalized { index } => {
                write!(f, "q: the rotation at {index} is not of length one; normalize the configuration")
            }
            Self::Substeps => write!(f, "a step of several parts cannot be differentiated: take the parts one by one"),
            Self::TimeStep => write!(f, "the time step must be finite and above zero"),
            Self::SingularMassMatrix { dof } => DynamicsError::SingularMassMatrix { dof: *dof }.fmt(f),
            Self::Diverged => write!(f, "the new state is out of the range of numbers: shorten the time step"),
        }
    }
}

impl core::error::Error for StepError {}

impl From<InputError> for StepError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<DynamicsError> for StepError {
    fn from(error: DynamicsError) -> Self {
        match error {
            DynamicsError::Input(error) => Self::Input(error),
            DynamicsError::SingularMassMatrix { dof } => Self::SingularMassMatrix { dof },
        }
    }
}
