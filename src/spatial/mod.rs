//! Spatial (6-D) algebra: placements, motions, forces and inertias, each its own type so that they never mix.
//!
//! A spatial vector is a pair (linear, angular) taken at the origin of the frame that it is expressed in. Types are
//! plain `Copy` values over nalgebra's fixed-size vectors, const-constructible, so that models live in flash.

mod articulated;
mod coriolis;
mod force;
mod inertia;
pub mod lie;
mod motion;
mod pair;
mod placement;
mod symmetric;
pub mod vector;

pub use articulated::ArticulatedInertia;
pub use coriolis::Coriolis;
pub use force::Force;
pub use inertia::{CompositeInertia, Inertia};
pub use motion::Motion;
pub use placement::Placement;
pub use symmetric::Symmetric3;
