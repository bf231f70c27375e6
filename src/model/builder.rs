//! Building a robot on the host, body by body.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::validate::{check_body, check_frame, check_merged};
use super::{
    Body, BodyId, DofParameters, Frame, Joint, ModelError, OwnedModel, PositionLimit, Problem, STANDARD_GRAVITY,
};
use crate::linalg::tree::Link;
use crate::scalar::Real;
use crate::spatial::{Inertia, Placement};

/// The joint of a [`BodySpec`]: a moving joint or a rigid one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointSpec {
    /// Welded to the parent: merged into it and kept as a frame.
    Fixed,
    /// Moves.
    Moving(Joint<f64>),
}

impl JointSpec {
    /// Turns about a unit axis.
    pub fn revolute(axis: Vector3<f64>) -> Self {
        Self::Moving(Joint::Revolute { axis })
    }

    /// Turns about a unit axis without end.
    pub fn continuous(axis: Vector3<f64>) -> Self {
        Self::Moving(Joint::Continuous { axis })
    }

    /// Slides along a unit axis.
    pub fn prismatic(axis: Vector3<f64>) -> Self {
        Self::Moving(Joint::Prismatic { axis })
    }

    /// Turns about a point.
    pub fn spherical() -> Self {
        Self::Moving(Joint::Spherical)
    }

    /// Moves in a plane.
    pub fn planar() -> Self {
        Self::Moving(Joint::Planar)
    }

    /// Moves freely.
    pub fn free_flyer() -> Self {
        Self::Moving(Joint::FreeFlyer)
    }

    fn nv(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Moving(joint) => joint.nv(),
        }
    }
}

/// One body and its joint, as the user states them. All figures in SI units and `f64`.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::model::{BodySpec, JointSpec};
/// use saltus::spatial::{Inertia, Placement};
///
/// let shank = BodySpec::new("shank", JointSpec::revolute(Vector3::y()))
///     .parent("thigh")
///     .placement(Placement::translation(0.0, 0.0, -0.2))
///     .inertia(Inertia::solid_box(0.2, &Vector3::new(0.02, 0.02, 0.2)))
///     .position_limits(-2.8, -0.9)
///     .effort_limit(35.0)
///     .armature(0.01);
/// # let _ = shank;
/// ```
#[derive(Clone, Debug)]
pub struct BodySpec {
    pub(super) name: String,
    pub(super) joint_name: String,
    pub(super) parent: String,
    pub(super) joint: JointSpec,
    pub(super) placement: Placement<f64>,
    pub(super) inertia: Inertia<f64>,
    pub(super) dofs: [DofParameters<f64>; 6],
    pub(super) limits: Option<PositionLimit<f64>>,
    actuated: bool,
}

impl BodySpec {
    /// A massless body on the world, at its origin. Revolute, continuous and prismatic joints have a motor, others none.
    pub fn new(name: impl Into<String>, joint: JointSpec) -> Self {
        let name = name.into();
        Self {
            joint_name: name.clone(),
            name,
            parent: "world".to_string(),
            joint,
            placement: Placement::IDENTITY,
            inertia: Inertia::ZERO,
            dofs: [DofParameters::default(); 6],
            limits: None,
            actuated: joint.nv() == 1,
        }
    }

    /// Name of the body that carries this one.
    pub fn parent(mut self, parent: impl Into<String>) -> Self {
        self.parent = parent.into();
        self
    }

    /// Name of the joint, when it differs from that of the body.
    pub fn joint_name(mut self, name: impl Into<String>) -> Self {
        self.joint_name = name.into();
        self
    }

    /// Of the body frame in the parent's frame, at the neutral configuration.
    pub fn placement(mut self, placement: Placement<f64>) -> Self {
        self.placement = placement;
        self
    }

    /// In the body frame.
    pub fn inertia(mut self, inertia: Inertia<f64>) -> Self {
        self.inertia = inertia;
        self
    }

    /// Range of the joint position, rad or m.
    pub fn position_limits(mut self, lower: f64, upper: f64) -> Self {
        self.limits = Some(PositionLimit { lower, upper });
        self
    }

    /// Rotor inertia seen at the joint, for each degree of freedom.
    pub fn armature(self, armature: f64) -> Self {
        self.each_dof(|dof| dof.armature = armature)
    }

    /// Viscous damping, for each degree of freedom.
    pub fn damping(self, damping: f64) -> Self {
        self.each_dof(|dof| dof.damping = damping)
    }

    /// Dry friction, for each degree of freedom.
    pub fn dry_friction(self, friction: f64) -> Self {
        self.each_dof(|dof| dof.dry_friction = friction)
    }

    /// Largest speed, for each degree of freedom.
    pub fn velocity_limit(self, limit: f64) -> Self {
        self.each_dof(|dof| dof.velocity_limit = limit)
    }

    /// Largest motor force, for each degree of freedom.
    pub fn effort_limit(self, limit: f64) -> Self {
        self.each_dof(|dof| dof.effort_limit = limit)
    }

    /// The parameters of degree of freedom `k` of this joint alone.
    pub fn dof(mut self, k: usize, parameters: DofParameters<f64>) -> Self {
        if let Some(dof) = self.dofs.get_mut(k) {
            *dof = parameters;
        }
        self
    }

    /// Whether the joint has motors.
    pub fn actuated(mut self, actuated: bool) -> Self {
        self.actuated = actuated;
        self
    }

    fn each_dof(mut self, set: impl Fn(&mut DofParameters<f64>)) -> Self {
        self.dofs.iter_mut().for_each(set);
        self
    }
}

/// A frame as the user states it.
#[derive(Clone, Debug)]
struct FrameSpec {
    name: String,
    body: String,
    placement: Placement<f64>,
}

/// Collects bodies and frames in any order, then checks and numbers them.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    bodies: Vec<BodySpec>,
    frames: Vec<FrameSpec>,
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
        Self { bodies: Vec::new(), frames: Vec::new(), gravity: Vector3::new(0.0, 0.0, -STANDARD_GRAVITY) }
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
            return Err(fail("world", Problem::NotFinite { what: "gravity" }));
        }
        self.bodies.iter().try_for_each(check_body)?;
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
            return Err(fail(self.first_in_cycle(&assembly), Problem::Cycle));
        }
        self.frames.iter().try_for_each(|frame| assembly.add_frame(frame))?;
        assembly.finish(self.gravity)
    }

    /// Indices of the children of the world (entry 0) and of each body (entry index + 1).
    fn children(&self) -> Result<Vec<Vec<usize>>, ModelError> {
        let mut index_of = BTreeMap::from([("world", 0)]);
        for (k, body) in self.bodies.iter().enumerate() {
            if index_of.insert(body.name.as_str(), k + 1).is_some() {
                return Err(fail(&body.name, Problem::DuplicateName));
            }
        }
        let mut children = vec![Vec::new(); self.bodies.len() + 1];
        for (k, body) in self.bodies.iter().enumerate() {
            let Some(&parent) = index_of.get(body.parent.as_str()) else {
                return Err(fail(&body.name, Problem::UnknownParent { parent: body.parent.clone() }));
            };
            children[parent].push(k);
        }
        Ok(children)
    }

    /// A body on the cycle itself, not one that merely hangs on it: the walk to the root meets it again.
    fn first_in_cycle(&self, reached: &Assembly) -> &str {
        let by_name: BTreeMap<&str, &BodySpec> = self.bodies.iter().map(|body| (body.name.as_str(), body)).collect();
        let mut name =
            self.bodies.iter().map(|b| b.name.as_str()).find(|n| !reached.anchors.contains_key(*n)).unwrap_or("");
        for _ in 0..self.bodies.len() {
            name = by_name.get(name).map_or(name, |body| body.parent.as_str());
        }
        name
    }
}

pub(super) fn fail(name: &str, problem: Problem) -> ModelError {
    ModelError { name: name.to_string(), problem }
}

/// Where something is attached: to a moving body (or the world), at a placement.
#[derive(Clone, Copy)]
struct Anchor {
    body: BodyId,
    placement: Placement<f64>,
}

impl Default for Anchor {
    fn default() -> Self {
        Self { body: BodyId::WORLD, placement: Placement::IDENTITY }
    }
}

/// The model while it is being numbered.
#[derive(Default)]
struct Assembly {
    bodies: Vec<Body<f64>>,
    body_names: Vec<String>,
    joint_names: Vec<String>,
    frames: Vec<Frame<f64>>,
    frame_names: Vec<String>,
    dofs: Vec<DofParameters<f64>>,
    position_limits: Vec<PositionLimit<f64>>,
    links: Vec<Link>,
    actuated: Vec<u16>,
    anchors: BTreeMap<String, Anchor>,
}

impl Assembly {
    /// Adds a body whose parent is at `parent`, and says where its own children attach.
    fn add(&mut self, spec: &BodySpec, parent: Anchor) -> Result<Anchor, ModelError> {
        let placement = parent.placement * spec.placement;
        let here = match spec.joint {
            JointSpec::Fixed => {
                self.merge(spec, parent.body, placement);
                Anchor { body: parent.body, placement }
            }
            JointSpec::Moving(joint) => self.append(spec, joint, parent.body, placement)?,
        };
        self.anchors.insert(spec.name.clone(), here);
        Ok(here)
    }

    /// A body welded to `body` adds its inertia and lives on as a frame.
    fn merge(&mut self, spec: &BodySpec, body: BodyId, placement: Placement<f64>) {
        if let Some(carrier) = body.index().checked_sub(1) {
            let carrier = &mut self.bodies[carrier];
            carrier.inertia = carrier.inertia + spec.inertia.moved_by(&placement);
        }
        self.frames.push(Frame { body, placement });
        self.frame_names.push(spec.name.clone());
    }

    /// A moving body gets the next numbers.
    fn append(
        &mut self,
        spec: &BodySpec,
        joint: Joint<f64>,
        parent: BodyId,
        placement: Placement<f64>,
    ) -> Result<Anchor, ModelError> {
        let too_large = |_| fail(&spec.name, Problem::TooLarge);
        let first_q = u16::try_from(self.position_limits.len()).map_err(too_large)?;
        let first_v = u16::try_from(self.dofs.len()).map_err(too_large)?;
        let id = u16::try_from(self.bodies.len() + 1).map_err(too_large)?;
        let parent_dof = parent.index().checked_sub(1).map_or(Link::ROOT, |k| self.bodies[k].v_range().end as u16 - 1);
        for k in 0..joint.nv() as u16 {
            let dof = first_v + k;
            let above = if k == 0 { parent_dof } else { dof - 1 };
            let continues = above != Link::ROOT && above + 1 == dof;
            let run_start = if continues { self.links[usize::from(above)].run_start } else { dof };
            self.links.push(Link { parent: above, run_start, subtree_end: dof + 1 });
            self.dofs.push(spec.dofs[usize::from(k)]);
            if spec.actuated {
                self.actuated.push(dof);
            }
        }
        let joint = joint.with_unit_axis();
        let limit = spec.limits.unwrap_or(PositionLimit::none());
        self.position_limits.extend(core::iter::repeat_n(limit, joint.nq()));
        self.bodies.push(Body { parent, joint, placement, inertia: spec.inertia, first_q, first_v });
        self.body_names.push(spec.name.clone());
        self.joint_names.push(spec.joint_name.clone());
        Ok(Anchor { body: BodyId::new(id), placement: Placement::IDENTITY })
    }

    fn add_frame(&mut self, frame: &FrameSpec) -> Result<(), ModelError> {
        check_frame(&frame.name, &frame.placement)?;
        let anchor = match frame.body.as_str() {
            "world" => Anchor::default(),
            body => *self
                .anchors
                .get(body)
                .ok_or_else(|| fail(&frame.name, Problem::UnknownParent { parent: body.to_string() }))?,
        };
        if self.frame_names.contains(&frame.name) {
            return Err(fail(&frame.name, Problem::DuplicateName));
        }
        self.frames.push(Frame { body: anchor.body, placement: anchor.placement * frame.placement });
        self.frame_names.push(frame.name.clone());
        Ok(())
    }

    fn finish(mut self, gravity: Vector3<f64>) -> Result<OwnedModel<f64>, ModelError> {
        check_merged(&self.bodies, &self.body_names)?;
        for dof in (0..self.links.len()).rev() {
            let Link { parent, subtree_end, .. } = self.links[dof];
            if let Some(above) = self.links.get_mut(usize::from(parent)) {
                above.subtree_end = above.subtree_end.max(subtree_end);
            }
        }
        let mut names = String::new();
        let mut name_ends = Vec::new();
        for name in self.body_names.iter().chain(&self.joint_names).chain(&self.frame_names) {
            names.push_str(name);
            name_ends.push(names.len() as u32);
        }
        Ok(OwnedModel {
            bodies: self.bodies,
            dofs: self.dofs,
            position_limits: self.position_limits,
            frames: self.frames,
            links: self.links,
            actuated: self.actuated,
            gravity,
            names,
            name_ends,
        })
    }
}
