//! A model that owns its memory, on the host.

use alloc::string::String;
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::{Body, DofParameters, Frame, Model, Names, PositionLimit};
use crate::linalg::tree::{Link, Tree};
use crate::scalar::Real;

/// A checked robot model; [`model`](OwnedModel::model) lends it to the algorithms.
#[derive(Clone, Debug)]
pub struct OwnedModel<T> {
    pub(super) bodies: Vec<Body<T>>,
    pub(super) dofs: Vec<DofParameters<T>>,
    pub(super) position_limits: Vec<PositionLimit<T>>,
    pub(super) frames: Vec<Frame<T>>,
    pub(super) links: Vec<Link>,
    pub(super) actuated: Vec<u16>,
    pub(super) gravity: Vector3<T>,
    pub(super) names: String,
    pub(super) name_ends: Vec<u32>,
}

impl<T: Real> OwnedModel<T> {
    /// The borrowed model.
    pub fn model(&self) -> Model<'_, T> {
        Model {
            bodies: &self.bodies,
            dofs: &self.dofs,
            position_limits: &self.position_limits,
            frames: &self.frames,
            tree: Tree(&self.links),
            actuated: &self.actuated,
            gravity: self.gravity,
            names: Names { text: &self.names, ends: &self.name_ends },
        }
    }

    /// The same robot in another scalar type: `f32` for the target, dual numbers for a check.
    pub fn cast<U: Real>(&self) -> OwnedModel<U> {
        OwnedModel {
            bodies: self.bodies.iter().map(Body::cast).collect(),
            dofs: self.dofs.iter().map(DofParameters::cast).collect(),
            position_limits: self.position_limits.iter().map(PositionLimit::cast).collect(),
            frames: self.frames.iter().map(Frame::cast).collect(),
            links: self.links.clone(),
            actuated: self.actuated.clone(),
            gravity: self.gravity.map(|x| U::from_f64(x.to_f64())),
            names: self.names.clone(),
            name_ends: self.name_ends.clone(),
        }
    }

    /// The bodies, to vary their inertias (system identification, robustness studies).
    pub fn bodies_mut(&mut self) -> &mut [Body<T>] {
        &mut self.bodies
    }
}
