//! `<collision>`: a shape fixed to a link.

use nalgebra::Vector3;
use saltus::model::{ConvexSpec, Shape, ShapeSpec};
use saltus::spatial::Placement;

use super::link::read_origin;
use crate::mesh::HullStore;
use crate::xml::Element;
use crate::{LoadError, Warnings};

/// A shape and where it stands in its link.
pub(super) struct Collision {
    pub name: String,
    pub placement: Placement<f64>,
    pub shape: ShapeSpec,
}

/// The geometry `name` of a `<collision>`. Pinocchio numbers those of a link (`link_0`, `link_1`, …), and so do we: the
/// names in files repeat.
pub(super) fn read(
    collision: Element<'_>,
    name: String,
    hulls: &mut HullStore,
    warnings: &mut Warnings,
) -> Result<Collision, LoadError> {
    warnings.unknown(collision, &["name"], &["origin", "geometry", "material"]);
    let geometry = collision.required_child("geometry")?;
    let mut shapes = geometry.children();
    let shape = shapes.next().ok_or_else(|| geometry.missing("a shape"))?;
    if let Some(second) = shapes.next() {
        return Err(second.inconsistent("a second shape, where one is expected"));
    }
    let placement = read_origin(collision, warnings)?;
    Ok(Collision { name, placement, shape: read_shape(shape, hulls, warnings)? })
}

fn read_shape(shape: Element<'_>, hulls: &mut HullStore, warnings: &mut Warnings) -> Result<ShapeSpec, LoadError> {
    match shape.name() {
        "box" => {
            warnings.unknown(shape, &["size"], &[]);
            let size = shape.vector("size")?.ok_or_else(|| shape.missing("attribute size"))?;
            if size.min() <= 0.0 {
                return Err(shape.unexpected("size", "3 numbers above zero"));
            }
            Ok(Shape::Box { half_extents: 0.5 * size }.into())
        }
        "sphere" => {
            warnings.unknown(shape, &["radius"], &[]);
            Ok(Shape::Sphere { radius: shape.required_positive("radius")? }.into())
        }
        "cylinder" => {
            warnings.unknown(shape, &["radius", "length"], &[]);
            let (radius, length) = (shape.required_positive("radius")?, shape.required_positive("length")?);
            Ok(Shape::Cylinder { radius, half_length: 0.5 * length }.into())
        }
        "capsule" => {
            warnings.unknown(shape, &["radius", "length"], &[]);
            let (radius, length) = (shape.required_positive("radius")?, shape.required_positive("length")?);
            Ok(Shape::Capsule { radius, half_length: 0.5 * length }.into())
        }
        "mesh" => read_mesh(shape, hulls, warnings),
        _ => Err(shape.unsupported("expected box, sphere, cylinder, capsule or mesh")),
    }
}

fn read_mesh(mesh: Element<'_>, hulls: &mut HullStore, warnings: &mut Warnings) -> Result<ShapeSpec, LoadError> {
    warnings.unknown(mesh, &["filename", "scale"], &[]);
    let scale = mesh.vector("scale")?.unwrap_or(Vector3::repeat(1.0));
    if scale.iter().any(|&factor| factor == 0.0) {
        return Err(mesh.unexpected("scale", "3 numbers that are not zero"));
    }
    let hull = hulls.load(mesh, "filename", mesh.required("filename")?)?;
    Ok(ConvexSpec::new(hull.scaled(&scale).vertices).into())
}
