//! A model that owns its memory, on the host.

use alloc::string::String;
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::validate::check_keyframe;
use super::{
    Actuator, Body, Closure, DofParameters, Frame, Geometry, GeometryPair, KeyframeSpec, Model, ModelError, Names,
    Range,
};
use crate::linalg::tree::{Link, Tree};
use crate::scalar::Real;

/// A checked robot model; [`model`](OwnedModel::model) lends it to the algorithms.
#[derive(Clone, Debug)]
pub struct OwnedModel<T> {
    pub(super) bodies: Vec<Body<T>>,
    pub(super) dofs: Vec<DofParameters<T>>,
    pub(super) position_limits: Vec<Range<T>>,
    pub(super) frames: Vec<Frame<T>>,
    pub(super) links: Vec<Link>,
    pub(super) geometries: Vec<Geometry<T>>,
    pub(super) vertices: Vec<Vector3<T>>,
    pub(super) pairs: Vec<GeometryPair<T>>,
    pub(super) closures: Vec<Closure<T>>,
    pub(super) actuators: Vec<Actuator<T>>,
    pub(super) keyframes: Vec<T>,
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
            geometries: &self.geometries,
            vertices: &self.vertices,
            pairs: &self.pairs,
            closures: &self.closures,
            actuators: &self.actuators,
            keyframes: &self.keyframes,
            gravity: self.gravity,
            names: Names { text: &self.names, ends: &self.name_ends },
        }
    }

    /// The same robot in another scalar type: `f32` for the target, dual numbers for a check.
    pub fn cast<U: Real>(&self) -> OwnedModel<U> {
        OwnedModel {
            bodies: self.bodies.iter().map(Body::cast).collect(),
            dofs: self.dofs.iter().map(DofParameters::cast).collect(),
            position_limits: self.position_limits.iter().map(Range::cast).collect(),
            frames: self.frames.iter().map(Frame::cast).collect(),
            links: self.links.clone(),
            geometries: self.geometries.iter().map(Geometry::cast).collect(),
            vertices: self.vertices.iter().map(|vertex| vertex.map(|x| U::from_f64(x.to_f64()))).collect(),
            pairs: self.pairs.iter().map(GeometryPair::cast).collect(),
            closures: self.closures.iter().map(Closure::cast).collect(),
            actuators: self.actuators.iter().map(Actuator::cast).collect(),
            keyframes: self.keyframes.iter().map(|x| U::from_f64(x.to_f64())).collect(),
            gravity: self.gravity.map(|x| U::from_f64(x.to_f64())),
            names: self.names.clone(),
            name_ends: self.name_ends.clone(),
        }
    }

    /// The bodies, to vary their inertias (system identification, robustness studies).
    pub fn bodies_mut(&mut self) -> &mut [Body<T>] {
        &mut self.bodies
    }

    /// The degrees of freedom, to vary their parameters.
    pub fn dofs_mut(&mut self) -> &mut [DofParameters<T>] {
        &mut self.dofs
    }

    /// The pairs of geometries, to vary their materials.
    pub fn pairs_mut(&mut self) -> &mut [GeometryPair<T>] {
        &mut self.pairs
    }

    /// Forgets the pairs of geometries that `keep` does not want: a model for prediction may leave out contacts that do
    /// not matter.
    pub fn retain_pairs(&mut self, keep: impl FnMut(&GeometryPair<T>) -> bool) {
        self.pairs.retain(keep);
    }

    pub(super) fn push_name(&mut self, name: &str) {
        self.names.push_str(name);
        self.name_ends.push(self.names.len() as u32);
    }
}

impl OwnedModel<f64> {
    /// The same model with one more state to remember, after a check of its length and numbers.
    ///
    /// For loaders, which know the order of the coordinates only once the model is built.
    pub fn with_keyframe(mut self, keyframe: &KeyframeSpec) -> Result<Self, ModelError> {
        let numbers = check_keyframe(self.model(), keyframe)?;
        self.keyframes.extend(numbers);
        self.push_name(&keyframe.name);
        Ok(self)
    }
}
