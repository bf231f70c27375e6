//! `<link>`: inertia and collision shapes.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use saltus::spatial::{Inertia, Placement, Symmetric3};

use super::collision::{self, Collision};
use crate::mesh::HullStore;
use crate::xml::Element;
use crate::{LoadError, LoadOptions, Warnings};

/// A link as the file states it.
pub(super) struct Link<'d> {
    pub name: &'d str,
    pub element: Element<'d>,
    /// In the link frame; zero when there is no `<inertial>`.
    pub inertia: Inertia<f64>,
    pub collisions: Vec<Collision>,
}

/// All links by name.
pub(super) type Links<'d> = BTreeMap<&'d str, Link<'d>>;

pub(super) fn read_all<'d>(
    robot: Element<'d>,
    options: &LoadOptions,
    hulls: &mut HullStore,
    warnings: &mut Warnings,
) -> Result<Links<'d>, LoadError> {
    let mut links = Links::new();
    let mut shapes = 0;
    for element in robot.children_named("link") {
        if links.len() == options.limits.bodies {
            return Err(element.too_many("links", options.limits.bodies));
        }
        let link = read(element, options, hulls, warnings)?;
        shapes += link.collisions.len();
        if shapes > options.limits.geometries {
            return Err(element.too_many("collision shapes", options.limits.geometries));
        }
        if let Some(first) = links.insert(link.name, link) {
            let line = first.element.line();
            return Err(element.inconsistent(format!("a link of this name stands already on line {line}")));
        }
    }
    Ok(links)
}

fn read<'d>(
    element: Element<'d>,
    options: &LoadOptions,
    hulls: &mut HullStore,
    warnings: &mut Warnings,
) -> Result<Link<'d>, LoadError> {
    warnings.unknown(element, &["name", "type"], &["inertial", "collision", "visual"]);
    let name = element.required("name")?;
    let inertia = match element.child("inertial")? {
        Some(inertial) => read_inertial(inertial, warnings)?,
        None => Inertia::ZERO,
    };
    let mut collisions = Vec::new();
    if options.geometry {
        for (k, collision) in element.children_named("collision").enumerate() {
            collisions.push(collision::read(collision, format!("{name}_{k}"), hulls, warnings)?);
        }
    }
    Ok(Link { name, element, inertia, collisions })
}

fn read_inertial(inertial: Element<'_>, warnings: &mut Warnings) -> Result<Inertia<f64>, LoadError> {
    warnings.unknown(inertial, &[], &["origin", "mass", "inertia"]);
    let origin = read_origin(inertial, warnings)?;
    let mass_element = inertial.required_child("mass")?;
    warnings.unknown(mass_element, &["value"], &[]);
    let mass = mass_element.required_float("value")?;
    if mass < 0.0 {
        return Err(mass_element.unexpected("value", "a mass that is not negative"));
    }
    let moments = inertial.required_child("inertia")?;
    let [xx, xy, xz, yy, yz, zz] = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"].map(|name| moments.required_float(name));
    warnings.unknown(moments, &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"], &[]);
    let rotational = Symmetric3 { xx: xx?, xy: xy?, xz: xz?, yy: yy?, yz: yz?, zz: zz? };
    Ok(Inertia::new(mass, Vector3::zeros(), rotational).moved_by(&origin))
}

/// `<origin xyz= rpy=>`, absent for the identity.
pub(super) fn read_origin(element: Element<'_>, warnings: &mut Warnings) -> Result<Placement<f64>, LoadError> {
    let Some(origin) = element.child("origin")? else { return Ok(Placement::IDENTITY) };
    warnings.unknown(origin, &["xyz", "rpy"], &[]);
    let translation = origin.vector("xyz")?.unwrap_or_default();
    let [roll, pitch, yaw] = origin.array::<3>("rpy")?.unwrap_or_default();
    Ok(Placement::from_rpy(roll, pitch, yaw, translation))
}
