//! `<worldbody>`: bodies, joints, geoms and sites, from the root to the leaves.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Rotation3, UnitQuaternion, Vector3};
use saltus::model::{BodySpec, JointSpec};
use saltus::spatial::{Inertia, Placement};

use super::compiler::{Compiler, FromGeom, Physics};
use super::defaults::{Attributes, ClassId, Defaults};
use super::files::Files;
use super::geom::Geom;
use super::joint::{Joint, Kind};
use super::mesh::Meshes;
use super::orientation::placement;
use super::{inertia, names::Names};
use crate::balanced;
use crate::error::{LoadError, LoadProblem};
use crate::warning::Warnings;
use crate::xml::Element;

/// Attributes of `<body>` that are read, or have no bearing on motion.
const BODY: [&str; 10] =
    ["name", "childclass", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "user", "sleep"];
/// Elements in `<body>` that are read, or have no bearing on motion.
const IN_BODY: [&str; 10] =
    ["body", "inertial", "joint", "freejoint", "geom", "site", "frame", "camera", "light", "include"];
/// Attributes of `<site>` that are read, or have no bearing on motion.
pub(super) const SITE: [&str; 15] = [
    "name",
    "class",
    "type",
    "group",
    "material",
    "rgba",
    "size",
    "fromto",
    "pos",
    "quat",
    "axisangle",
    "euler",
    "xyaxes",
    "zaxis",
    "user",
];

/// A body of the model, or what is left of one that is fixed.
pub(super) struct BodyPart<'d> {
    pub element: Element<'d>,
    pub name: String,
    pub spec: BodySpec,
    /// In the frame of the model's body.
    pub inertia: Inertia<f64>,
}

/// A joint in MuJoCo's order, which is the model's.
pub(super) struct JointPart<'d> {
    pub name: String,
    pub joint: Joint<'d>,
    /// MuJoCo's coordinates of the robot as the file places it.
    pub initial: Vec<f64>,
}

/// A geom on a body of the model.
pub(super) struct GeomPart<'d> {
    pub body: String,
    /// Of the frame in which the geom is stated, in that body.
    pub origin: Placement<f64>,
    pub geom: Geom<'d>,
}

/// A site, or another frame worth a name.
pub(super) struct SitePart<'d> {
    pub element: Element<'d>,
    pub name: String,
    pub body: String,
    pub placement: Placement<f64>,
}

/// Where a body of the file is in the model, and in the world.
#[derive(Clone)]
pub(super) struct Place {
    /// Its name, which is that of the model's body too.
    pub name: String,
    /// The body that it moves with: itself, or the one that it is fixed to.
    pub moves_with: String,
    /// Of MuJoCo's frame of the body in the model's, which has its origin in the last joint.
    pub origin: Placement<f64>,
    /// Of MuJoCo's frame of the body in the world, as the file places it.
    pub in_world: Placement<f64>,
}

/// Everything in `<worldbody>`.
#[derive(Default)]
pub(super) struct Tree<'d> {
    pub bodies: Vec<BodyPart<'d>>,
    pub joints: Vec<JointPart<'d>>,
    pub geoms: Vec<GeomPart<'d>>,
    pub sites: Vec<SitePart<'d>>,
    /// Where the bodies of the file are, the world among them, by name.
    pub places: BTreeMap<String, Place>,
    /// Names of bodies that become frames.
    pub fixed: BTreeSet<String>,
}

/// What reading a body needs to know of the rest.
pub(super) struct Context<'d, 'c> {
    pub files: Files<'d>,
    pub compiler: &'c Compiler<'d>,
    pub physics: &'c Physics,
    pub defaults: &'c Defaults<'d>,
    pub meshes: &'c mut Meshes<'d>,
    pub warnings: &'c mut Warnings,
}

/// An element in a body, with frames around it resolved.
struct Inner<'d> {
    element: Element<'d>,
    around: Placement<f64>,
    class: ClassId,
}

impl<'d> Tree<'d> {
    pub fn read(context: &mut Context<'d, '_>, names: &mut Names) -> Result<Self, LoadError> {
        let mut tree = Self::default();
        let name = || "world".to_owned();
        let (origin, in_world) = (Placement::IDENTITY, Placement::IDENTITY);
        let world = Place { name: name(), moves_with: name(), origin, in_world };
        tree.places.insert(name(), world.clone());
        let mut stack = Vec::new();
        for section in context.files.sections("worldbody").into_iter().rev() {
            let inner = context.contents(section, ClassId::default())?;
            tree.add_shapes(context, names, &world, &inner)?;
            stack.extend(inner.into_iter().rev().filter(|i| i.element.name() == "body").map(|i| (i, world.clone())));
        }
        while let Some((body, parent)) = stack.pop() {
            let limit = context.files.options.limits.bodies;
            if tree.bodies.len().max(tree.geoms.len()).max(tree.sites.len()) > limit {
                return Err(body.element.error(LoadProblem::TooLarge { what: "bodies or geoms", limit: limit as u64 }));
            }
            let class = context.defaults.named_by(body.element, "childclass")?.unwrap_or(body.class);
            let inner = context.contents(body.element, class)?;
            let place = tree.add_body(context, names, &body, &parent, &inner)?;
            let below = inner.into_iter().rev().filter(|inner| inner.element.name() == "body");
            stack.extend(below.map(|inner| (inner, place.clone())));
            tree.places.insert(place.name.clone(), place);
        }
        Ok(tree)
    }

    /// Geoms and sites; says what the geoms weigh together.
    fn add_shapes(
        &mut self,
        context: &mut Context<'d, '_>,
        names: &mut Names,
        place: &Place,
        inner: &[Inner<'d>],
    ) -> Result<Inertia<f64>, LoadError> {
        let mut sum = Inertia::ZERO;
        for item in inner {
            match item.element.name() {
                "geom" => {
                    let attributes = context.defaults.of(item.element, item.class)?;
                    let Context { compiler, meshes, warnings, .. } = context;
                    let Some(geom) = Geom::read(&attributes, &item.around, compiler, meshes, warnings)? else {
                        continue;
                    };
                    sum = sum + geom.inertia;
                    self.geoms.push(GeomPart { body: place.name.clone(), origin: place.origin, geom });
                }
                "site" => {
                    context.warnings.unknown(item.element, &SITE, &[]);
                    let attributes = context.defaults.of(item.element, item.class)?;
                    let own = placement(&attributes, context.compiler)?;
                    self.sites.push(SitePart {
                        element: item.element,
                        name: names.site(item.element.attribute("name")),
                        body: place.name.clone(),
                        placement: place.origin * item.around * own,
                    });
                }
                _ => {}
            }
        }
        Ok(sum)
    }

    /// A body: one body of the model for each joint, the last of which carries everything; or none when it is fixed.
    fn add_body(
        &mut self,
        context: &mut Context<'d, '_>,
        names: &mut Names,
        body: &Inner<'d>,
        parent: &Place,
        inner: &[Inner<'d>],
    ) -> Result<Place, LoadError> {
        let element = body.element;
        context.warnings.unknown(element, &BODY, &IN_BODY);
        let stated = body.around * placement(&Attributes::bare(element), context.compiler)?;
        let name = names.body(element.attribute("name"));
        let joints = context.joints(inner)?;
        if let Some(free) = joints.iter().find(|joint| joint.kind == Kind::Free)
            && (joints.len() > 1 || parent.name != "world" || !element.parent().is_some_and(is_world))
        {
            return Err(free.element.inconsistent("a free joint must be the only one of a body in <worldbody>"));
        }
        let moves_with = if joints.is_empty() { parent.moves_with.clone() } else { name.clone() };
        let origin = self.add_joints(names, element, &name, joints, parent.origin * stated, &parent.name);
        let place = Place { name, moves_with, origin, in_world: parent.in_world * stated };
        let weight = self.add_shapes(context, names, &place, inner)?;
        let inertia = context.body_inertia(element, inner, weight)?;
        if let Some(last) = self.bodies.last_mut() {
            last.inertia = inertia.moved_by(&place.origin);
        }
        if place.origin != Placement::IDENTITY {
            let (name, body) = (place.name.clone(), place.name.clone());
            self.sites.push(SitePart { element, name, body, placement: place.origin });
        }
        Ok(place)
    }

    /// The bodies of the model that a body with these joints becomes; says where MuJoCo's origin is in the last one.
    fn add_joints(
        &mut self,
        names: &mut Names,
        element: Element<'d>,
        name: &str,
        joints: Vec<Joint<'d>>,
        own: Placement<f64>,
        parent: &str,
    ) -> Placement<f64> {
        let inertia = Inertia::ZERO;
        let shift = |by: Vector3<f64>| Placement::translation(by.x, by.y, by.z);
        if joints.is_empty() {
            let spec = BodySpec::new(name, JointSpec::Fixed).parent(parent).placement(own);
            self.bodies.push(BodyPart { element, name: name.to_owned(), spec, inertia });
            self.fixed.insert(name.to_owned());
            return Placement::IDENTITY;
        }
        let (mut above, mut at, mut anchor) = (parent.to_owned(), own, Vector3::zeros());
        let count = joints.len();
        for (k, joint) in joints.into_iter().enumerate() {
            let joint_name = names.joint(joint.element.attribute("name"), name);
            let part = if k + 1 == count { name.to_owned() } else { names.between(name, &joint_name) };
            // A slide has no centre: it may as well keep the one before.
            let next = if joint.kind == Kind::Slide { anchor } else { joint.anchor };
            let (placement, next) = match joint.kind {
                Kind::Free => (Placement::IDENTITY, Vector3::zeros()),
                _ => (at * shift(next - anchor), next),
            };
            let spec = joint.spec(&part, &joint_name, placement).parent(&above);
            self.bodies.push(BodyPart { element, name: part.clone(), spec, inertia });
            let initial = initial(&joint, &own);
            self.joints.push(JointPart { name: joint_name, joint, initial });
            (above, at, anchor) = (part, Placement::IDENTITY, next);
        }
        if anchor == Vector3::zeros() { Placement::IDENTITY } else { shift(-anchor) }
    }

    /// Scales all masses so that they sum up to what the compiler says.
    pub fn set_total_mass(&mut self, total: f64) {
        let sum: f64 = self.bodies.iter().map(|body| body.inertia.mass).sum();
        if total > 0.0 && sum > 0.0 {
            self.bodies.iter_mut().for_each(|body| body.inertia = inertia::scaled(&body.inertia, total / sum));
        }
    }
}

fn is_world(element: Element<'_>) -> bool {
    // An included file has its bodies right in its root.
    matches!(element.name(), "worldbody" | "mujoco" | "mujocoinclude" | "frame")
}

/// MuJoCo's coordinates of a joint of a body that is placed at `own`.
fn initial(joint: &Joint<'_>, own: &Placement<f64>) -> Vec<f64> {
    match joint.kind {
        Kind::Hinge | Kind::Slide => vec![joint.reference],
        Kind::Ball => vec![1.0, 0.0, 0.0, 0.0],
        Kind::Free => {
            let quaternion = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(own.rotation));
            let (p, q) = (own.translation, quaternion.into_inner());
            vec![p.x, p.y, p.z, q.w, q.i, q.j, q.k]
        }
    }
}

impl<'d> Context<'d, '_> {
    /// The elements in a body in order, those in a `<frame>` with its placement.
    fn contents(&mut self, body: Element<'d>, class: ClassId) -> Result<Vec<Inner<'d>>, LoadError> {
        let mut found = Vec::new();
        let mut stack = vec![Inner { element: body, around: Placement::IDENTITY, class }];
        let mut outermost = true;
        while let Some(item) = stack.pop() {
            if !outermost && item.element.name() != "frame" {
                found.push(item);
                continue;
            }
            let (mut around, mut class) = (item.around, item.class);
            if !outermost {
                self.warnings.unknown(item.element, &BODY, &IN_BODY);
                around = around * placement(&Attributes::bare(item.element), self.compiler)?;
                class = self.defaults.named_by(item.element, "childclass")?.unwrap_or(class);
            }
            outermost = false;
            let children = self.files.children(item.element).into_iter().rev();
            stack.extend(children.map(|element| Inner { element, around, class }));
        }
        Ok(found)
    }

    fn joints(&mut self, inner: &[Inner<'d>]) -> Result<Vec<Joint<'d>>, LoadError> {
        let mut joints = Vec::new();
        for item in inner {
            let attributes = match item.element.name() {
                "joint" => self.defaults.of(item.element, item.class)?,
                "freejoint" => Attributes::bare(item.element),
                _ => continue,
            };
            let Self { compiler, physics, warnings, .. } = self;
            joints.push(Joint::read(&attributes, &item.around, compiler, physics, warnings)?);
        }
        Ok(joints)
    }

    /// Stated, or inferred from the geoms, in the frame of the body.
    fn body_inertia(
        &mut self,
        body: Element<'d>,
        inner: &[Inner<'d>],
        weight: Inertia<f64>,
    ) -> Result<Inertia<f64>, LoadError> {
        let mut all = inner.iter().filter(|item| item.element.name() == "inertial");
        let stated = all.next();
        if let Some(second) = all.next() {
            return Err(second.element.inconsistent("a second <inertial>, where one is expected"));
        }
        let found = match (stated, self.compiler.from_geom) {
            (None, FromGeom::Never) => Inertia::ZERO,
            (None, _) | (Some(_), FromGeom::Always) => weight,
            (Some(item), _) => inertia::stated(item.element, self.compiler, self.warnings)?.moved_by(&item.around),
        };
        let found = inertia::bounded(&found, self.compiler);
        if self.files.options.balance_inertia
            && let Some(mended) = balanced(&found)
        {
            self.warnings.add(body, format!("{}: its inertia belongs to no body and was mended", body.label()));
            return Ok(mended);
        }
        Ok(found)
    }
}
