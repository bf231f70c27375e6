//! What can be wrong with a call.

use core::fmt;

/// An argument does not fit the model; nothing was computed or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// A slice or matrix has the wrong size.
    Length {
        /// Which argument.
        what: &'static str,
        /// Size that the model asks for.
        expected: usize,
        /// Size found.
        got: usize,
    },
    /// The model has no such body or frame.
    UnknownIndex {
        /// Which argument.
        what: &'static str,
        /// Index found.
        index: usize,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { what, expected, got } => write!(f, "{what}: the model needs {expected} numbers, got {got}"),
            Self::UnknownIndex { what, index } => write!(f, "{what}: the model has no index {index}"),
        }
    }
}

impl core::error::Error for InputError {}

/// Checks the size of an argument.
#[inline]
pub(crate) fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), InputError> {
    if expected == got { Ok(()) } else { Err(InputError::Length { what, expected, got }) }
}
