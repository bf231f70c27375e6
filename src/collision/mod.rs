//! Where geometries touch or nearly do: points with a normal and a signed distance.
//!
//! [`detect`] goes through the pairs of the model; [`collide`] is one pair. Everything is in the working frame of the
//! kinematics, allocates nothing, and is written over [`Real`](crate::scalar::Real), so that dual numbers differentiate
//! it.
//!
//! Each pair is done in two parts. The **search** runs on plain values and ends with a feature of each solid: a corner,
//! an edge, a face, a rim. It is closed-form for balls, capsules and two boxes; for all others it is the distance search
//! of Gilbert, Johnson and Keerthi, and a growing polytope where the solids overlap. The **points** follow from the
//! features in the numbers of the placements: where faces meet by clipping one with the other, else from the nearest
//! points of the two features.

mod balls;
mod box_box;
mod capsule;
mod contact;
mod core_shape;
mod detect;
mod epa;
mod face;
mod feature;
mod general;
mod gjk;
mod half_space;
mod pair;
mod parallel;
#[cfg(feature = "parry")]
pub mod parry;
mod patch;
mod polygon;
mod simplex;
mod solid;
mod sphere;
mod witness;

pub use contact::{Contact, Manifold, ManifoldPoint};
pub use detect::{Collision, CollisionDims, Detected, detect};
pub use pair::collide;
pub use solid::{Corners, Solid};
