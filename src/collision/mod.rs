//! Where geometries touch or nearly do: points with a normal and a signed distance.
//!
//! [`detect`] goes through the pairs of the model; [`collide`] is one pair. Everything is in the working frame of the
//! kinematics, allocates nothing, and is written over [`Real`], so that dual numbers differentiate it.

mod contact;
mod detect;
mod half_space;
mod pair;
mod solid;

pub use contact::{Contact, Manifold, ManifoldPoint};
pub use detect::{Collision, CollisionDims, Detected, detect};
pub use pair::collide;
pub use solid::{Corners, Solid};
