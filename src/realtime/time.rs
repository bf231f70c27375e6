//! Time, as it comes in from outside.

/// A point in time: nanoseconds since some moment that the caller chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);
