//! `<geom>`: its shape, where it is, what it weighs and what it may meet.

use nalgebra::{Unit, Vector3};
use saltus::model::{CollisionFilter, ConvexSpec, GeometrySpec, Material, Shape, ShapeSpec};
use saltus::spatial::{Inertia, Placement};

use super::compiler::Compiler;
use super::defaults::Attributes;
use super::inertia::{of_shape, scaled, with_mass};
use super::mesh::Meshes;
use super::orientation::{placement, turning_z_to};
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;

/// Attributes that are read, or have no bearing on motion.
pub(super) const KNOWN: [&str; 27] = [
    "name",
    "class",
    "type",
    "contype",
    "conaffinity",
    "condim",
    "group",
    "priority",
    "size",
    "material",
    "rgba",
    "friction",
    "mass",
    "density",
    "fromto",
    "pos",
    "quat",
    "axisangle",
    "euler",
    "xyaxes",
    "zaxis",
    "mesh",
    "user",
    "hfield",
    "shellinertia",
    "fluidshape",
    "fluidcoef",
];

/// Density of water, MuJoCo's default, kg/m³.
const DENSITY: f64 = 1000.0;

/// A geom, in the frame of its body.
pub(super) struct Geom<'d> {
    pub element: Element<'d>,
    pub name: Option<&'d str>,
    shape: GeomShape<'d>,
    placement: Placement<f64>,
    /// In the frame of the body; nothing when its group does not count.
    pub inertia: Inertia<f64>,
    pub filter: CollisionFilter,
    pub surface: Surface,
}

/// What decides friction when two geoms meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    pub friction: f64,
    pub dimensions: f64,
    pub priority: f64,
}

impl Surface {
    /// MuJoCo's rule: the higher priority decides; among equals the larger figure.
    pub fn meets(&self, other: &Self) -> Material<f64> {
        let (friction, dimensions) = if self.priority > other.priority {
            (self.friction, self.dimensions)
        } else if other.priority > self.priority {
            (other.friction, other.dimensions)
        } else {
            (self.friction.max(other.friction), self.dimensions.max(other.dimensions))
        };
        Material::new(if dimensions == 1.0 { 0.0 } else { friction }, 0.0)
    }
}

#[derive(Clone, Copy, Debug)]
enum GeomShape<'d> {
    Primitive(Shape<f64>),
    Mesh(&'d str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plane,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
    HeightField,
    DistanceField,
}

const KINDS: [(&str, Kind); 9] = [
    ("plane", Kind::Plane),
    ("sphere", Kind::Sphere),
    ("capsule", Kind::Capsule),
    ("ellipsoid", Kind::Ellipsoid),
    ("cylinder", Kind::Cylinder),
    ("box", Kind::Box),
    ("mesh", Kind::Mesh),
    ("hfield", Kind::HeightField),
    ("sdf", Kind::DistanceField),
];

impl<'d> Geom<'d> {
    /// Reads a geom whose frame is placed at `around` in the body; `None`, with a warning, for a shape that saltus
    /// does not know.
    pub fn read(
        attributes: &Attributes<'d>,
        around: &Placement<f64>,
        compiler: &Compiler<'_>,
        meshes: &mut Meshes<'d>,
        warnings: &mut Warnings,
    ) -> Result<Option<Self>, LoadError> {
        let element = attributes.element();
        warnings.unknown(element, &KNOWN, &[]);
        let kind = attributes.choice("type", &KINDS)?.unwrap_or(Kind::Sphere);
        if matches!(kind, Kind::HeightField | Kind::DistanceField) {
            let what = if kind == Kind::HeightField { "a height field" } else { "a signed distance field" };
            warnings.add(element, format!("<geom>: {what} is not supported; this geom is left out"));
            return Ok(None);
        }
        let (shape, own) = shape_and_placement(attributes, kind, compiler)?;
        let place = *around * own;
        let groups = compiler.inertia_groups[0]..=compiler.inertia_groups[1];
        let inertia = if groups.contains(&attributes.float_or("group", 0.0)?) {
            inertia(attributes, &shape, meshes)?.moved_by(&place)
        } else {
            Inertia::ZERO
        };
        let [friction, ..] = attributes.partial("friction", [1.0, 0.005, 0.0001])?;
        Ok(Some(Self {
            element,
            name: element.attribute("name"),
            shape,
            placement: place,
            inertia,
            filter: CollisionFilter { category: attributes.mask("contype")?, mask: attributes.mask("conaffinity")? },
            surface: Surface {
                friction,
                dimensions: attributes.float_or("condim", 3.0)?,
                priority: attributes.float_or("priority", 0.0)?,
            },
        }))
    }

    /// The geometry of the model, on a body in which the frame of this one's body is placed at `origin`.
    pub fn spec(
        &self,
        name: String,
        origin: &Placement<f64>,
        meshes: &mut Meshes<'d>,
    ) -> Result<GeometrySpec, LoadError> {
        let shape = match self.shape {
            GeomShape::Primitive(shape) => ShapeSpec::from(shape),
            GeomShape::Mesh(mesh) => ConvexSpec::new(meshes.hull(self.element, mesh)?.vertices.clone()).into(),
        };
        let friction = self.surface.meets(&self.surface).friction;
        let spec = GeometrySpec::new(name, shape).placement(*origin * self.placement);
        Ok(spec.friction(friction).filter(self.filter))
    }
}

fn shape_and_placement<'d>(
    attributes: &Attributes<'d>,
    kind: Kind,
    compiler: &Compiler<'_>,
) -> Result<(GeomShape<'d>, Placement<f64>), LoadError> {
    let [a, b, c] = attributes.partial("size", [0.0; 3])?;
    let along = if matches!(kind, Kind::Capsule | Kind::Cylinder | Kind::Box | Kind::Ellipsoid) {
        from_to(attributes)?
    } else {
        None
    };
    let (own, b, c) = match (along, kind) {
        (Some((own, half)), Kind::Capsule | Kind::Cylinder) => (own, half, c),
        (Some((own, half)), _) => (own, a, half),
        (None, _) => (placement(attributes, compiler)?, b, c),
    };
    let primitive = match kind {
        Kind::Mesh => {
            let mesh = attributes.text("mesh").ok_or_else(|| attributes.element().missing("attribute mesh"))?;
            return Ok((GeomShape::Mesh(mesh), own));
        }
        Kind::Plane => Shape::HalfSpace,
        Kind::Capsule => Shape::Capsule { radius: a, half_length: b },
        Kind::Cylinder => Shape::Cylinder { radius: a, half_length: b },
        Kind::Box => Shape::Box { half_extents: Vector3::new(a, b, c) },
        Kind::Ellipsoid => Shape::Ellipsoid { radii: Vector3::new(a, b, c) },
        _ => Shape::Sphere { radius: a },
    };
    if attributes.text("mesh").is_some() {
        let reason = "a primitive fitted to a mesh; state its size, or use type=\"mesh\"";
        return Err(attributes.stating("mesh").unsupported(reason));
    }
    let sizes: &[f64] = match kind {
        Kind::Plane => &[],
        Kind::Sphere => &[a],
        Kind::Capsule | Kind::Cylinder => &[a, b],
        _ => &[a, b, c],
    };
    if !sizes.iter().all(|&size| size > 0.0) {
        return Err(attributes.stating("size").unexpected("size", format!("{} numbers above zero", sizes.len())));
    }
    Ok((GeomShape::Primitive(primitive), own))
}

/// Where `fromto` places a geom, and half its length. z points from the second end to the first, as in MuJoCo.
fn from_to(attributes: &Attributes<'_>) -> Result<Option<(Placement<f64>, f64)>, LoadError> {
    let Some([a, b, c, d, e, f]) = attributes.array("fromto")? else { return Ok(None) };
    let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
    let Some((direction, length)) = Unit::try_new_and_get(from - to, 1e-14) else {
        return Err(attributes.stating("fromto").unexpected("fromto", "two different points"));
    };
    Ok(Some((Placement::new(turning_z_to(&direction), 0.5 * (from + to)), 0.5 * length)))
}

/// In the frame of the geom.
fn inertia<'d>(
    attributes: &Attributes<'d>,
    shape: &GeomShape<'d>,
    meshes: &mut Meshes<'d>,
) -> Result<Inertia<f64>, LoadError> {
    let mass = attributes.float("mass")?;
    let density = attributes.float_or("density", DENSITY)?;
    if mass == Some(0.0) || (mass.is_none() && density == 0.0) {
        return Ok(Inertia::ZERO);
    }
    if attributes.choice("shellinertia", &[("true", true), ("false", false)])? == Some(true) {
        let reason = "shellinertia=\"true\"; state an <inertial> in the body";
        return Err(attributes.stating("shellinertia").unsupported(reason));
    }
    let unit = match shape {
        GeomShape::Primitive(shape) => of_shape(shape),
        GeomShape::Mesh(mesh) => meshes.inertia(attributes.element(), mesh)?,
    };
    Ok(match mass {
        Some(mass) => with_mass(&unit, mass),
        None => scaled(&unit, density),
    })
}
