//! The model while it is being numbered.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::actuator_spec::TransmissionSpec;
use super::builder::FrameSpec;
use super::error::Item;
use super::pairs::{PairRules, ordered, pairs};
use super::validate::{check_actuator, check_closure, check_frame, check_geometry, check_material, check_merged};
use super::{
    Actuator, ActuatorSpec, Body, BodyId, BodySpec, Closure, ClosureSpec, DofParameters, Frame, FrameId, Geometry,
    GeometryId, GeometryPair, GeometrySpec, Joint, JointSpec, Material, ModelError, OwnedModel, Problem, Range, Shape,
    ShapeSpec, Transmission,
};
use crate::linalg::tree::Link;
use crate::spatial::Placement;

/// Where something is attached: to a moving body (or the world), at a placement.
#[derive(Clone, Copy, Default)]
pub(super) struct Anchor {
    /// Which of the bodies that the user stated, before any was merged; the world is 0.
    stated: usize,
    body: BodyId,
    placement: Placement<f64>,
}

/// Numbered parts with their names, and where the bodies that the user named ended up.
#[derive(Default)]
pub(super) struct Assembly {
    bodies: Vec<Body<f64>>,
    body_names: Vec<String>,
    joint_names: Vec<String>,
    dofs: Vec<DofParameters<f64>>,
    position_limits: Vec<Range<f64>>,
    links: Vec<Link>,
    /// Whether each degree of freedom gets a motor when no actuator is stated.
    actuated: Vec<bool>,
    frames: Vec<Frame<f64>>,
    frame_names: Vec<String>,
    geometries: Vec<Geometry<f64>>,
    geometry_names: Vec<String>,
    /// The body on which the user stated each geometry.
    geometry_owners: Vec<usize>,
    vertices: Vec<Vector3<f64>>,
    pairs: Vec<GeometryPair<f64>>,
    closures: Vec<Closure<f64>>,
    actuators: Vec<Actuator<f64>>,
    actuator_names: Vec<String>,
    anchors: BTreeMap<String, Anchor>,
    frame_ids: BTreeMap<String, FrameId>,
    joints: BTreeMap<String, usize>,
    geometry_ids: BTreeMap<String, GeometryId>,
}

impl Assembly {
    /// Whether a body of this name was reached from the world.
    pub fn knows(&self, body: &str) -> bool {
        self.anchors.contains_key(body)
    }

    /// Adds a body whose parent is at `parent`, and says where its own children attach.
    pub fn add(&mut self, spec: &BodySpec, parent: Anchor) -> Result<Anchor, ModelError> {
        let placement = parent.placement * spec.placement;
        let here = match spec.joint {
            JointSpec::Fixed => {
                self.merge(spec, parent.body, placement)?;
                Anchor { stated: self.anchors.len() + 1, body: parent.body, placement }
            }
            JointSpec::Moving(joint) => self.append(spec, joint, parent.body, placement)?,
        };
        self.anchors.insert(spec.name.clone(), here);
        spec.geometries.iter().try_for_each(|geometry| self.add_geometry(here, geometry))?;
        Ok(here)
    }

    /// A body welded to `body` adds its inertia and lives on as a frame.
    fn merge(&mut self, spec: &BodySpec, body: BodyId, placement: Placement<f64>) -> Result<(), ModelError> {
        if let Some(carrier) = body.index().checked_sub(1) {
            let carrier = &mut self.bodies[carrier];
            carrier.inertia = carrier.inertia + spec.inertia.moved_by(&placement);
        }
        self.push_frame(&spec.name, Frame { body, placement })
    }

    /// A moving body gets the next numbers.
    fn append(
        &mut self,
        spec: &BodySpec,
        joint: Joint<f64>,
        parent: BodyId,
        placement: Placement<f64>,
    ) -> Result<Anchor, ModelError> {
        let too_large = |_| Item::Body.fail(&spec.name, Problem::TooLarge);
        let first_q = u16::try_from(self.position_limits.len()).map_err(too_large)?;
        let first_v = u16::try_from(self.dofs.len()).map_err(too_large)?;
        let id = u16::try_from(self.bodies.len() + 1).map_err(too_large)?;
        // The last of all possible indices means "none" in a link.
        u16::try_from(self.dofs.len() + joint.nv() + 1).map_err(too_large)?;
        u16::try_from(self.position_limits.len() + joint.nq()).map_err(too_large)?;
        if self.joints.insert(spec.joint_name.clone(), self.bodies.len()).is_some() {
            return Err(Item::Joint.fail(&spec.joint_name, Problem::DuplicateName));
        }
        let parent_dof = parent.index().checked_sub(1).map_or(Link::ROOT, |k| self.bodies[k].v_range().end as u16 - 1);
        for k in 0..joint.nv() as u16 {
            let dof = first_v + k;
            let above = if k == 0 { parent_dof } else { dof - 1 };
            let continues = above != Link::ROOT && above + 1 == dof;
            let run_start = if continues { self.links[usize::from(above)].run_start } else { dof };
            self.links.push(Link { parent: above, run_start, subtree_end: dof + 1 });
            self.dofs.push(spec.dofs[usize::from(k)]);
            self.actuated.push(spec.actuated);
        }
        let joint = joint.with_unit_axis();
        let limit = spec.limits.unwrap_or(Range::none());
        self.position_limits.extend(core::iter::repeat_n(limit, joint.nq()));
        self.bodies.push(Body { parent, joint, placement, inertia: spec.inertia, first_q, first_v });
        self.body_names.push(spec.name.clone());
        self.joint_names.push(spec.joint_name.clone());
        Ok(Anchor { stated: self.anchors.len() + 1, body: BodyId::new(id), placement: Placement::IDENTITY })
    }

    fn anchor(&self, body: &str) -> Option<Anchor> {
        if body == "world" { Some(Anchor::default()) } else { self.anchors.get(body).copied() }
    }

    /// Adds a frame on a body by name.
    pub fn add_frame(&mut self, spec: &FrameSpec) -> Result<(), ModelError> {
        check_frame(&spec.name, &spec.placement)?;
        let unknown = || Item::Frame.fail(&spec.name, Problem::UnknownParent { parent: spec.body.clone() });
        let anchor = self.anchor(&spec.body).ok_or_else(unknown)?;
        let placement = anchor.placement * spec.placement;
        self.push_frame(&spec.name, Frame { body: anchor.body, placement })
    }

    fn push_frame(&mut self, name: &str, frame: Frame<f64>) -> Result<(), ModelError> {
        let id = next_id(self.frames.len(), Item::Frame, name)?;
        if self.frame_ids.insert(name.to_string(), FrameId::new(id)).is_some() {
            return Err(Item::Frame.fail(name, Problem::DuplicateName));
        }
        self.frames.push(frame);
        self.frame_names.push(name.to_string());
        Ok(())
    }

    /// Adds a geometry on a body by name.
    pub fn add_geometry_by_name(&mut self, body: &str, spec: &GeometrySpec) -> Result<(), ModelError> {
        let unknown = || Item::Geometry.fail(&spec.name, Problem::UnknownParent { parent: body.to_string() });
        let anchor = self.anchor(body).ok_or_else(unknown)?;
        self.add_geometry(anchor, spec)
    }

    fn add_geometry(&mut self, anchor: Anchor, spec: &GeometrySpec) -> Result<(), ModelError> {
        check_geometry(spec)?;
        let id = next_id(self.geometries.len(), Item::Geometry, &spec.name)?;
        if !spec.name.is_empty() && self.geometry_ids.insert(spec.name.clone(), GeometryId::new(id)).is_some() {
            return Err(Item::Geometry.fail(&spec.name, Problem::DuplicateName));
        }
        let shape = match &spec.shape {
            ShapeSpec::Primitive(shape) => *shape,
            ShapeSpec::Convex(hull) => {
                let first_vertex = self.vertices.len() as u32;
                self.vertices.extend_from_slice(&hull.vertices);
                Shape::Convex { first_vertex, vertices: hull.vertices.len() as u32 }
            }
        };
        if u32::try_from(self.vertices.len()).is_err() {
            return Err(Item::Geometry.fail(&spec.name, Problem::TooLarge));
        }
        let placement = anchor.placement * spec.placement;
        let Anchor { body, .. } = anchor;
        let hull: &[Vector3<f64>] = if let ShapeSpec::Convex(hull) = &spec.shape { &hull.vertices } else { &[] };
        let reach = shape.reach(hull);
        self.geometries.push(Geometry { body, placement, shape, reach, material: spec.material, filter: spec.filter });
        self.geometry_names.push(spec.name.clone());
        self.geometry_owners.push(anchor.stated);
        Ok(())
    }

    /// Works out which geometries may meet.
    pub fn pair_geometries(
        &mut self,
        excluded: &[(String, String)],
        stated: &[(String, String, Material<f64>)],
    ) -> Result<(), ModelError> {
        let mut rules = PairRules::default();
        for (a, b) in excluded {
            let body = |name: &String| {
                let unknown = || Item::Exclusion.fail(name, Problem::UnknownName { what: "body" });
                self.anchor(name).map(|anchor| anchor.stated).ok_or_else(unknown)
            };
            rules.excluded.insert(ordered(body(a)?, body(b)?));
        }
        for (a, b, material) in stated {
            let geometry = |name: &String| {
                let unknown = || Item::Pair.fail(name, Problem::UnknownName { what: "geometry" });
                self.geometry_ids.get(name).copied().ok_or_else(unknown)
            };
            check_material(material).map_err(|problem| Item::Pair.fail(a, problem))?;
            let both = ordered(geometry(a)?, geometry(b)?);
            if both.0 == both.1 {
                return Err(Item::Pair.fail(a, Problem::PairOfOne));
            }
            if rules.stated.insert(both, *material).is_some() {
                return Err(Item::Pair.fail(&format!("{a}, {b}"), Problem::DuplicateName));
            }
        }
        self.pairs = pairs(&self.bodies, &self.geometries, &self.geometry_owners, &rules)
            .map_err(|problem| Item::Pair.fail("", problem))?;
        Ok(())
    }

    /// Adds a closure between two bodies by name.
    pub fn add_closure(&mut self, spec: &ClosureSpec) -> Result<(), ModelError> {
        let fail = |problem| Item::Closure.fail(&spec.bodies.join(", "), problem);
        check_closure(spec).map_err(fail)?;
        let frame = |end: usize| {
            let body = &spec.bodies[end];
            let unknown = || fail(Problem::UnknownTarget { what: "body", target: body.clone() });
            let anchor = self.anchor(body).ok_or_else(unknown)?;
            Ok(Frame { body: anchor.body, placement: anchor.placement * spec.placements[end] })
        };
        let (a, b) = (frame(0)?, frame(1)?);
        if a.body == b.body {
            return Err(fail(Problem::ClosureOfOne));
        }
        next_id(self.closures.len(), Item::Closure, "")?;
        self.closures.push(Closure { a, b, kind: spec.kind });
        Ok(())
    }

    /// A motor of gear 1 on each actuated degree of freedom, within its effort limit.
    pub fn add_motors(&mut self) {
        for (body, joint) in self.bodies.iter().zip(&self.joint_names) {
            let several = body.joint.nv() > 1;
            for (k, dof) in body.v_range().enumerate().filter(|&(_, dof)| self.actuated[dof]) {
                self.actuators.push(Actuator::motor(dof as u16, self.dofs[dof].effort_limit));
                self.actuator_names.push(if several { format!("{joint}_{k}") } else { joint.clone() });
            }
        }
    }

    /// Adds a stated motor.
    pub fn add_actuator(&mut self, spec: &ActuatorSpec) -> Result<(), ModelError> {
        check_actuator(spec)?;
        let fail = |problem| Item::Actuator.fail(&spec.name, problem);
        next_id(self.actuators.len(), Item::Actuator, &spec.name)?;
        if !spec.name.is_empty() && self.actuator_names.contains(&spec.name) {
            return Err(fail(Problem::DuplicateName));
        }
        let transmission = match &spec.transmission {
            TransmissionSpec::Joint { joint, dof, gear } => {
                let unknown = || fail(Problem::UnknownTarget { what: "joint", target: joint.clone() });
                let body = &self.bodies[*self.joints.get(joint).ok_or_else(unknown)?];
                let dof = body.v_range().nth(*dof);
                let dof =
                    dof.ok_or_else(|| fail(Problem::NoSuchDof { joint: joint.clone(), dofs: body.joint.nv() }))?;
                Transmission::Joint { dof: dof as u16, gear: *gear }
            }
            TransmissionSpec::Frame { frame, gear } => {
                let unknown = || fail(Problem::UnknownTarget { what: "frame", target: frame.clone() });
                Transmission::Frame { frame: *self.frame_ids.get(frame).ok_or_else(unknown)?, gear: *gear }
            }
        };
        let ActuatorSpec { gain, bias, control_range, force_range, .. } = *spec;
        self.actuators.push(Actuator { transmission, gain, bias, control_range, force_range });
        self.actuator_names.push(spec.name.clone());
        Ok(())
    }

    /// Checks what only shows at the end, and joins the names.
    pub fn finish(mut self, gravity: Vector3<f64>) -> Result<OwnedModel<f64>, ModelError> {
        check_merged(&self.bodies, &self.body_names)?;
        for dof in (0..self.links.len()).rev() {
            let Link { parent, subtree_end, .. } = self.links[dof];
            if let Some(above) = self.links.get_mut(usize::from(parent)) {
                above.subtree_end = above.subtree_end.max(subtree_end);
            }
        }
        let mut model = OwnedModel {
            bodies: self.bodies,
            dofs: self.dofs,
            position_limits: self.position_limits,
            frames: self.frames,
            links: self.links,
            geometries: self.geometries,
            vertices: self.vertices,
            pairs: self.pairs,
            closures: self.closures,
            actuators: self.actuators,
            keyframes: Vec::new(),
            gravity,
            names: String::new(),
            name_ends: Vec::new(),
        };
        let names = [self.body_names, self.joint_names, self.frame_names, self.geometry_names, self.actuator_names];
        names.iter().flatten().for_each(|name| model.push_name(name));
        Ok(model)
    }
}

fn next_id(len: usize, item: Item, name: &str) -> Result<u16, ModelError> {
    u16::try_from(len).map_err(|_| item.fail(name, Problem::TooLarge))
}
