//! Numbers: the [`Real`] trait over `f32` and `f64`, and [`Dual`] numbers that differentiate any algorithm
//! written over it.

mod dual;
mod real;
mod square_root;

pub use dual::Dual;
pub use real::Real;
