//! Tasks for the optimizer, from text.

mod gradient;

pub use gradient::parse_gradient;
