//! Building a robot on the host, body by body.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::assembly::{Anchor, Assembly};
use super::error::Item;
use super::validate::check_body;
use super::{
    ActuatorSpec, BodySpec, ClosureSpec, GeometrySpec, KeyframeSpec, Material, ModelError, OwnedModel, Problem,
    STANDARD_GRAVITY,
};
use crate::scalar::Real;
use crate::spatial::Placement;

/// A frame as the user states it.
#[derive(Clone, Debug)]
pub(super) struct FrameSpec {
    pub name: String,
    pub body: String,
    pub placement: Placement<f64>,
}

/// Collects bodies, frames, geometries, closures, motors and keyframes in any order, then checks and numbers them.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::model::{BodySpec, GeometrySpec, JointSpec, KeyframeSpec, ModelBuilder, Shape};
/// use saltus::spatial::Inertia;
///
/// let ball = ModelBuilder::new()
///     .geometry("world", GeometrySpec::new("floor", Shape::HalfSpace))
///     .body(
///         BodySpec::new("ball", JointSpec::free_flyer())
///             .inertia(Inertia::solid_sphere(1.0, 0.1))
///             .geometry(GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 })),
///     )
///     .keyframe(KeyframeSpec::new("rest", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]))
///     .build::<f64>()?;
/// assert_eq!(ball.model().pairs.len(), 1);
/// assert_eq!(ball.model().find_keyframe("rest").map(|rest| rest.q[2]), Some(0.1));
/// # Ok::<(), saltus::model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    bodies: Vec<BodySpec>,
    frames: Vec<FrameSpec>,
    geometries: Vec<(String, GeometrySpec)>,
    excluded: Vec<(String, String)>,
    pairs: Vec<(String, String, Material<f64>)>,
    closures: Vec<ClosureSpec>,
    actuators: Vec<ActuatorSpec>,
    keyframes: Vec<KeyframeSpec>,
    gravity: Vector3<f64>,
}

impl Default for ModelBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelBuilder {
    /// No bodies yet, gravity of Earth along −z.
    pub fn new() -> Self {
        Self {
            bodies: Vec::new(),
            frames: Vec::new(),
            geometries: Vec::new(),
            excluded: Vec::new(),
            pairs: Vec::new(),
            closures: Vec::new(),
            actuators: Vec::new(),
            keyframes: Vec::new(),
            gravity: Vector3::new(0.0, 0.0, -STANDARD_GRAVITY),
        }
    }

    /// Adds a body; its parent may be added later.
    pub fn body(mut self, body: BodySpec) -> Self {
        self.bodies.push(body);
        self
    }

    /// Adds a frame fixed to a body (or to "world").
    pub fn frame(mut self, name: impl Into<String>, body: impl Into<String>, placement: Placement<f64>) -> Self {
        self.frames.push(FrameSpec { name: name.into(), body: body.into(), placement });
        self
    }

    /// Adds a geometry fixed to a body (or to "world"); those of [`BodySpec::geometry`] are numbered before.
    pub fn geometry(mut self, body: impl Into<String>, geometry: GeometrySpec) -> Self {
        self.geometries.push((body.into(), geometry));
        self
    }

    /// No geometry of one body meets one of the other, unless [`pair`](Self::pair) says so. What is merged into a body
    /// does not count as its own here.
    pub fn exclude(mut self, a: impl Into<String>, b: impl Into<String>) -> Self {
        self.excluded.push((a.into(), b.into()));
        self
    }

    /// These two geometries may meet, whatever their filters say, with this material.
    pub fn pair(mut self, a: impl Into<String>, b: impl Into<String>, material: Material<f64>) -> Self {
        self.pairs.push((a.into(), b.into(), material));
        self
    }

    /// Adds a loop or an anchor. It does not move the bodies: a configuration in which it holds is up to the caller.
    pub fn closure(mut self, closure: ClosureSpec) -> Self {
        self.closures.push(closure);
        self
    }

    /// Adds a motor. As soon as there is one, [`BodySpec::actuated`] no longer makes any.
    pub fn actuator(mut self, actuator: ActuatorSpec) -> Self {
        self.actuators.push(actuator);
        self
    }

    /// Adds a state worth remembering.
    pub fn keyframe(mut self, keyframe: KeyframeSpec) -> Self {
        self.keyframes.push(keyframe);
        self
    }

    /// Sets the acceleration of free fall, m/s².
    pub fn gravity(mut self, gravity: Vector3<f64>) -> Self {
        self.gravity = gravity;
        self
    }

    /// Checks everything, merges fixed bodies, and numbers the rest depth first (children in the order they were added).
    pub fn build<T: Real>(&self) -> Result<OwnedModel<T>, ModelError> {
        self.build_f64().map(|model| model.cast())
    }

    fn build_f64(&self) -> Result<OwnedModel<f64>, ModelError> {
        if !self.gravity.iter().all(|x| x.is_finite()) {
            return Err(Item::Body.fail("world", Problem::NotFinite { what: "gravity" }));
        }
        self.bodies.iter().try_for_each(check_body)?;
        let mut assembly = self.number_bodies()?;
        self.frames.iter().try_for_each(|frame| assembly.add_frame(frame))?;
        self.geometries.iter().try_for_each(|(body, geometry)| assembly.add_geometry_by_name(body, geometry))?;
        assembly.pair_geometries(&self.excluded, &self.pairs)?;
        self.closures.iter().try_for_each(|closure| assembly.add_closure(closure))?;
        match self.actuators.as_slice() {
            [] => assembly.add_motors(),
            stated => stated.iter().try_for_each(|actuator| assembly.add_actuator(actuator))?,
        }
        let model = assembly.finish(self.gravity)?;
        self.keyframes.iter().try_fold(model, OwnedModel::with_keyframe)
    }

    /// Walks the tree depth first.
    fn number_bodies(&self) -> Result<Assembly, ModelError> {
        let children = self.children()?;
        let mut assembly = Assembly::default();
        // Children are pushed in reverse, so that the first one added is numbered first.
        let mut stack: Vec<(usize, Anchor)> = Vec::new();
        stack.extend(children[0].iter().rev().map(|&child| (child, Anchor::default())));
        let mut visited = 0;
        while let Some((index, anchor)) = stack.pop() {
            visited += 1;
            let here = assembly.add(&self.bodies[index], anchor)?;
            stack.extend(children[index + 1].iter().rev().map(|&child| (child, here)));
        }
        if visited < self.bodies.len() {
            return Err(Item::Body.fail(self.first_in_cycle(&assembly), Problem::Cycle));
        }
        Ok(assembly)
    }

    /// Indices of the children of the world (entry 0) and of each body (entry index + 1).
    fn children(&self) -> Result<Vec<Vec<usize>>, ModelError> {
        let mut index_of = BTreeMap::from([("world", 0)]);
        for (k, body) in self.bodies.iter().enumerate() {
            if index_of.insert(body.name.as_str(), k + 1).is_some() {
                return Err(Item::Body.fail(&body.name, Problem::DuplicateName));
            }
        }
        let mut children = vec![Vec::new(); self.bodies.len() + 1];
        for (k, body) in self.bodies.iter().enumerate() {
            let Some(&parent) = index_of.get(body.parent.as_str()) else {
                return Err(Item::Body.fail(&body.name, Problem::UnknownParent { parent: body.parent.clone() }));
            };
            children[parent].push(k);
        }
        Ok(children)
    }

    /// A body on the cycle itself, not one that merely hangs on it: the walk to the root meets it again.
    fn first_in_cycle(&self, reached: &Assembly) -> &str {
        let by_name: BTreeMap<&str, &BodySpec> = self.bodies.iter().map(|body| (body.name.as_str(), body)).collect();
        let mut name = self.bodies.iter().map(|b| b.name.as_str()).find(|n| !reached.knows(n)).unwrap_or("");
        for _ in 0..self.bodies.len() {
            name = by_name.get(name).map_or(name, |body| body.parent.as_str());
        }
        name
    }
}
