//! What is wrong with a file, where, and what would be right.

use std::fmt;
use std::path::{Path, PathBuf};

use saltus::model::ModelError;

/// A file that cannot be loaded. `Display` gives one line for a person:
/// `go1.urdf:42: <joint name="hip"> <axis> xyz="0 0 0": expected a vector that is not zero, found "0 0 0"`.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadError {
    /// The file at fault: the one asked for, or one that it names.
    pub file: PathBuf,
    /// Line in it, from 1; absent when the file as a whole is at fault or is not text.
    pub line: Option<u32>,
    /// The element as it is written, after the closest named element around it; in a task, the table and the key.
    pub element: Option<String>,
    /// Name of the attribute, and the value found there.
    pub attribute: Option<(String, String)>,
    /// What is wrong.
    pub problem: Box<LoadProblem>,
}

/// What is wrong with a file or an element of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadProblem {
    /// The file cannot be read.
    Unreadable {
        /// What the system says.
        reason: String,
    },
    /// The text is not XML or TOML, or the mesh is not of its format.
    Malformed {
        /// What the parser says.
        reason: String,
    },
    /// Larger than a limit of [`Limits`](crate::Limits) allows.
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// Another value was expected.
    Unexpected {
        /// In words, to stand after "expected".
        expected: String,
        /// As written in the file.
        found: String,
    },
    /// An attribute or a child element is missing.
    Missing {
        /// What, as it would be written.
        what: String,
    },
    /// Correct, but nothing that saltus can represent.
    Unsupported {
        /// What it is and what can be done instead.
        reason: String,
    },
    /// The elements contradict each other: two of a name, a loop, several roots.
    Inconsistent {
        /// Which, and how.
        reason: String,
    },
    /// Another file that this place names is at fault.
    Referenced(LoadError),
    /// The file says a robot that cannot be built.
    Model(ModelError),
}

impl LoadError {
    /// A problem of the file as a whole.
    pub fn of_file(file: &Path, problem: LoadProblem) -> Self {
        Self { file: file.to_path_buf(), line: None, element: None, attribute: None, problem: Box::new(problem) }
    }
}

/// Longest excerpt of a file that an error repeats, in characters.
const EXCERPT: usize = 80;

/// The beginning of a text that may be long, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let mut words = text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars);
    let mut short: String = words.by_ref().take(EXCERPT).collect();
    if words.next().is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if let Some(element) = &self.element {
            write!(f, " {element}")?;
        }
        if let Some((name, value)) = &self.attribute {
            write!(f, " {name}=\"{value}\"")?;
        }
        if self.element.is_some() {
            write!(f, ":")?;
        }
        write!(f, " {}", self.problem)
    }
}

impl fmt::Display for LoadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { reason } => write!(f, "cannot be read: {reason}"),
            Self::Malformed { reason } | Self::Inconsistent { reason } => write!(f, "{reason}"),
            Self::TooLarge { what, limit } => write!(f, "more than {limit} {what}"),
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Missing { what } => write!(f, "{what} is missing"),
            Self::Unsupported { reason } => write!(f, "not supported: {reason}"),
            Self::Referenced(error) => write!(f, "{error}"),
            Self::Model(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.problem {
            LoadProblem::Model(error) => Some(error),
            LoadProblem::Referenced(error) => Some(error),
            _ => None,
        }
    }
}
