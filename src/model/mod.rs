//! The robot: bodies, joints, limits and frames, as a `Copy` bundle of slices.
//!
//! A [`Model`] borrows from flash on the target, or from an [`OwnedModel`] on the host, which a [`ModelBuilder`] checks
//! and fills. Every moving body hangs on its parent by one joint; bodies joined rigidly are merged, and live on as
//! [`Frame`]s. Bodies and degrees of freedom are numbered depth first, so a subtree is a range.

mod body;
#[cfg(feature = "alloc")]
mod builder;
pub mod configuration;
mod dims;
#[cfg(feature = "alloc")]
mod error;
mod joint;
mod names;
#[cfg(feature = "alloc")]
mod owned;
#[cfg(feature = "alloc")]
mod validate;

use nalgebra::Vector3;

use crate::linalg::tree::Tree;
use crate::scalar::Real;

pub use body::{Body, BodyId, DofParameters, Frame, FrameId, PositionLimit};
#[cfg(feature = "alloc")]
pub use builder::{BodySpec, JointSpec, ModelBuilder};
pub use dims::Dims;
#[cfg(feature = "alloc")]
pub use error::{ModelError, Problem};
pub use joint::Joint;
pub use names::Names;
#[cfg(feature = "alloc")]
pub use owned::OwnedModel;

/// Gravity on Earth, along −z, m/s².
pub const STANDARD_GRAVITY: f64 = 9.81;

/// A robot, borrowed.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::model::{BodySpec, JointSpec, ModelBuilder};
/// use saltus::spatial::{Inertia, Placement};
///
/// let pendulum = ModelBuilder::new()
///     .body(
///         BodySpec::new("rod", JointSpec::revolute(Vector3::y()))
///             .inertia(Inertia::solid_sphere(1.0, 0.05).moved_by(&Placement::translation(0.0, 0.0, -0.5))),
///     )
///     .build::<f64>()?;
/// let model = pendulum.model();
/// assert_eq!((model.nq(), model.nv()), (1, 1));
/// assert_eq!(model.total_mass(), 1.0);
/// # Ok::<(), saltus::model::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Model<'m, T> {
    /// The moving bodies, depth first; body `k` has [`BodyId`] `k + 1`.
    pub bodies: &'m [Body<T>],
    /// One per degree of freedom.
    pub dofs: &'m [DofParameters<T>],
    /// One per configuration coordinate; without bound where a coordinate is not a joint position.
    pub position_limits: &'m [PositionLimit<T>],
    /// Points of interest fixed to bodies.
    pub frames: &'m [Frame<T>],
    /// Which degree of freedom carries which.
    pub tree: Tree<'m>,
    /// The degrees of freedom that have a motor, ascending.
    pub actuated: &'m [u16],
    /// Acceleration of free fall in the world frame, m/s².
    pub gravity: Vector3<T>,
    /// Names of bodies, joints and frames.
    pub names: Names<'m>,
}

impl<'m, T: Real> Model<'m, T> {
    /// Sizes that workspaces are computed from.
    pub fn dims(&self) -> Dims {
        Dims::new(self.bodies.len(), self.nq(), self.nv())
    }

    /// Length of a configuration.
    pub fn nq(&self) -> usize {
        self.position_limits.len()
    }

    /// Length of a velocity: degrees of freedom.
    pub fn nv(&self) -> usize {
        self.dofs.len()
    }

    /// Number of motors.
    pub fn nu(&self) -> usize {
        self.actuated.len()
    }

    /// A body; `None` for the world.
    pub fn body(&self, id: BodyId) -> Option<&'m Body<T>> {
        self.bodies.get(id.index().checked_sub(1)?)
    }

    /// All body ids in order, without the world.
    pub fn body_ids(&self) -> impl ExactSizeIterator<Item = BodyId> + use<T> {
        (0..self.bodies.len()).map(|k| BodyId::new(k as u16 + 1))
    }

    /// Bodies with their index in a workspace, parents first.
    #[inline(always)]
    pub fn indexed_bodies(&self) -> impl DoubleEndedIterator<Item = (usize, &'m Body<T>)> + use<'m, T> {
        self.bodies.iter().enumerate().map(|(k, body)| (k + 1, body))
    }

    /// Name of a body.
    pub fn body_name(&self, id: BodyId) -> &'m str {
        match id.index() {
            0 => "world",
            k => self.names.get(k - 1),
        }
    }

    /// Name of the joint that carries a body.
    pub fn joint_name(&self, id: BodyId) -> &'m str {
        match id.index() {
            0 => "",
            k => self.names.get(self.bodies.len() + k - 1),
        }
    }

    /// Name of a frame.
    pub fn frame_name(&self, id: FrameId) -> &'m str {
        self.names.get(2 * self.bodies.len() + id.index())
    }

    /// The body with this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        core::iter::once(BodyId::WORLD).chain(self.body_ids()).find(|&id| self.body_name(id) == name)
    }

    /// The frame with this name.
    pub fn find_frame(&self, name: &str) -> Option<FrameId> {
        (0..self.frames.len()).map(|k| FrameId::new(k as u16)).find(|&id| self.frame_name(id) == name)
    }

    /// Kilograms that move.
    pub fn total_mass(&self) -> T {
        self.bodies.iter().fold(T::ZERO, |sum, body| sum + body.inertia.mass)
    }
}
