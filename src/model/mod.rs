//! The robot: bodies, joints, limits, frames, shapes, loops, motors and keyframes, as a `Copy` bundle of slices.
//!
//! A [`Model`] borrows from flash on the target, or from an [`OwnedModel`] on the host, which a [`ModelBuilder`] checks
//! and fills. Every moving body hangs on its parent by one joint; bodies joined rigidly are merged, and live on as
//! [`Frame`]s. Bodies and degrees of freedom are numbered depth first, so a subtree is a range. What the tree cannot
//! express, loops and anchors, is a [`Closure`].

mod actuator;
#[cfg(feature = "alloc")]
mod actuator_spec;
#[cfg(feature = "alloc")]
mod assembly;
mod body;
#[cfg(feature = "alloc")]
mod body_spec;
#[cfg(feature = "alloc")]
mod builder;
mod closure;
#[cfg(feature = "alloc")]
mod closure_spec;
pub mod configuration;
mod dims;
#[cfg(feature = "alloc")]
mod error;
mod geometry;
#[cfg(feature = "alloc")]
mod geometry_spec;
mod joint;
mod keyframe;
mod names;
#[cfg(feature = "alloc")]
mod owned;
#[cfg(feature = "alloc")]
mod pairs;
mod range;
#[cfg(feature = "alloc")]
mod validate;

use nalgebra::Vector3;

use crate::linalg::tree::Tree;
use crate::scalar::Real;

pub use actuator::{Actuator, Response, Transmission};
#[cfg(feature = "alloc")]
pub use actuator_spec::{ActuatorSpec, KeyframeSpec};
pub use body::{Body, BodyId, DofParameters, Frame, FrameId};
#[cfg(feature = "alloc")]
pub use body_spec::{BodySpec, JointSpec};
#[cfg(feature = "alloc")]
pub use builder::ModelBuilder;
pub use closure::{Closure, ClosureKind};
#[cfg(feature = "alloc")]
pub use closure_spec::ClosureSpec;
pub use dims::Dims;
#[cfg(feature = "alloc")]
pub use error::{Item, ModelError, Problem};
pub use geometry::{CollisionFilter, Geometry, GeometryId, GeometryPair, Material, Shape};
#[cfg(feature = "alloc")]
pub use geometry_spec::{ConvexSpec, GeometrySpec, ShapeSpec};
pub use joint::Joint;
pub use keyframe::Keyframe;
pub use names::Names;
#[cfg(feature = "alloc")]
pub use owned::OwnedModel;
pub use range::Range;

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
    pub position_limits: &'m [Range<T>],
    /// Points of interest fixed to bodies.
    pub frames: &'m [Frame<T>],
    /// Which degree of freedom carries which.
    pub tree: Tree<'m>,
    /// Shapes that touch, fixed to bodies or to the world.
    pub geometries: &'m [Geometry<T>],
    /// Corners of all convex hulls, each in the frame of its geometry.
    pub vertices: &'m [Vector3<T>],
    /// The geometries that may meet, ascending.
    pub pairs: &'m [GeometryPair<T>],
    /// Loops and anchors: what holds bodies together beside their joints.
    pub closures: &'m [Closure<T>],
    /// The motors, in the order of the controls.
    pub actuators: &'m [Actuator<T>],
    /// (q, v, u) of each keyframe, one after the other.
    pub keyframes: &'m [T],
    /// Acceleration of free fall in the world frame, m/s².
    pub gravity: Vector3<T>,
    /// Names of bodies, joints, frames, geometries, actuators and keyframes, in this order.
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

    /// Length of a control: motors.
    pub fn nu(&self) -> usize {
        self.actuators.len()
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

    /// Name of a geometry; may be empty.
    pub fn geometry_name(&self, id: GeometryId) -> &'m str {
        self.names.get(2 * self.bodies.len() + self.frames.len() + id.index())
    }

    /// Name of motor `k`; may be empty.
    pub fn actuator_name(&self, k: usize) -> &'m str {
        self.names.get(2 * self.bodies.len() + self.frames.len() + self.geometries.len() + k)
    }

    /// Name of keyframe `k`; may be empty.
    pub fn keyframe_name(&self, k: usize) -> &'m str {
        self.names.get(2 * self.bodies.len() + self.frames.len() + self.geometries.len() + self.nu() + k)
    }

    /// Keyframe `k`.
    pub fn keyframe(&self, k: usize) -> Option<Keyframe<'m, T>> {
        Keyframe::of(self.keyframes, k, self.nq(), self.nv(), self.nu())
    }

    /// The geometry with this name.
    pub fn find_geometry(&self, name: &str) -> Option<GeometryId> {
        (0..self.geometries.len()).map(|k| GeometryId::new(k as u16)).find(|&id| self.geometry_name(id) == name)
    }

    /// The body that the joint with this name carries.
    pub fn find_joint(&self, name: &str) -> Option<BodyId> {
        self.body_ids().find(|&id| self.joint_name(id) == name)
    }

    /// Index of the motor with this name.
    pub fn find_actuator(&self, name: &str) -> Option<usize> {
        (0..self.nu()).find(|&k| self.actuator_name(k) == name)
    }

    /// The keyframe with this name.
    pub fn find_keyframe(&self, name: &str) -> Option<Keyframe<'m, T>> {
        let mut all = (0..).map_while(|k| Some((k, self.keyframe(k)?)));
        all.find(|&(k, _)| self.keyframe_name(k) == name).map(|(_, keyframe)| keyframe)
    }

    /// The corners of a convex hull; none for any other shape.
    pub fn hull(&self, shape: &Shape<T>) -> &'m [Vector3<T>] {
        let &Shape::Convex { first_vertex, vertices } = shape else { return &[] };
        self.vertices.get(first_vertex as usize..).and_then(|rest| rest.get(..vertices as usize)).unwrap_or(&[])
    }

    /// Kilograms that move.
    pub fn total_mass(&self) -> T {
        self.bodies.iter().fold(T::ZERO, |sum, body| sum + body.inertia.mass)
    }
}
