//! `<joint>`: how a link moves against its parent.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use saltus::model::Range;
use saltus::spatial::Placement;

use super::link::read_origin;
use crate::xml::Element;
use crate::{LoadError, LoadOptions, Warnings};

/// Joint types of URDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Revolute,
    Continuous,
    Prismatic,
    Fixed,
    Floating,
    Planar,
}

const KINDS: [(&str, Kind); 6] = [
    ("revolute", Kind::Revolute),
    ("continuous", Kind::Continuous),
    ("prismatic", Kind::Prismatic),
    ("fixed", Kind::Fixed),
    ("floating", Kind::Floating),
    ("planar", Kind::Planar),
];

/// A joint as the file states it.
pub(super) struct Joint<'d> {
    pub name: &'d str,
    pub element: Element<'d>,
    pub kind: Kind,
    pub parent: Element<'d>,
    pub child: Element<'d>,
    /// Of the child link in the parent link, at position zero.
    pub origin: Placement<f64>,
    /// Unit vector in the child link; normal of the plane for a planar joint.
    pub axis: Vector3<f64>,
    pub limits: Option<Range<f64>>,
    pub effort_limit: f64,
    pub velocity_limit: f64,
    pub damping: f64,
    pub friction: f64,
}

impl<'d> Joint<'d> {
    pub fn parent_link(&self) -> &'d str {
        self.parent.attribute("link").unwrap_or("")
    }

    pub fn child_link(&self) -> &'d str {
        self.child.attribute("link").unwrap_or("")
    }
}

/// All joints by name: the order in which children are numbered.
pub(super) type Joints<'d> = BTreeMap<&'d str, Joint<'d>>;

pub(super) fn read_all<'d>(
    robot: Element<'d>,
    options: &LoadOptions,
    warnings: &mut Warnings,
) -> Result<Joints<'d>, LoadError> {
    let mut joints = Joints::new();
    for element in robot.children_named("joint") {
        if joints.len() == options.limits.bodies {
            return Err(element.too_many("joints", options.limits.bodies));
        }
        let joint = read(element, options, warnings)?;
        if let Some(first) = joints.insert(joint.name, joint) {
            let line = first.element.line();
            return Err(element.inconsistent(format!("a joint of this name stands already on line {line}")));
        }
    }
    Ok(joints)
}

fn read<'d>(element: Element<'d>, options: &LoadOptions, warnings: &mut Warnings) -> Result<Joint<'d>, LoadError> {
    const CHILDREN: [&str; 7] = ["parent", "child", "origin", "axis", "limit", "dynamics", "mimic"];
    let name = element.required("name")?;
    element.required("type")?;
    let kind = element.choice("type", &KINDS)?.unwrap_or(Kind::Fixed);
    warnings.unknown(element, &["name", "type"], &CHILDREN);
    let (parent, child) = (element.required_child("parent")?, element.required_child("child")?);
    for end in [parent, child] {
        end.required("link")?;
        warnings.unknown(end, &["link"], &[]);
    }
    let mut joint = Joint {
        name,
        element,
        kind,
        parent,
        child,
        origin: read_origin(element, warnings)?,
        axis: read_axis(element, kind, warnings)?,
        limits: None,
        effort_limit: f64::INFINITY,
        velocity_limit: f64::INFINITY,
        damping: 0.0,
        friction: 0.0,
    };
    read_mimic(element, options, warnings)?;
    read_limit(&mut joint, warnings)?;
    read_dynamics(&mut joint, warnings)?;
    Ok(joint)
}

fn read_axis(element: Element<'_>, kind: Kind, warnings: &mut Warnings) -> Result<Vector3<f64>, LoadError> {
    let Some(axis) = element.child("axis")? else { return Ok(Vector3::x()) };
    warnings.unknown(axis, &["xyz"], &[]);
    // A fixed or floating joint has no axis; many exporters write a zero one.
    if matches!(kind, Kind::Fixed | Kind::Floating) {
        return Ok(Vector3::x());
    }
    let xyz = axis.vector("xyz")?.ok_or_else(|| axis.missing("attribute xyz"))?;
    if xyz == Vector3::zeros() {
        return Err(axis.unexpected("xyz", "a vector that is not zero"));
    }
    // Scaled first: the square of a very small or large number is zero or infinite.
    Ok((xyz / xyz.amax()).normalize())
}

fn read_mimic(element: Element<'_>, options: &LoadOptions, warnings: &mut Warnings) -> Result<(), LoadError> {
    let Some(mimic) = element.child("mimic")? else { return Ok(()) };
    let leader = mimic.required("joint")?;
    if options.free_mimic {
        warnings.add(mimic, format!("{}: the joint moves on its own instead of following", mimic.label()));
        return Ok(());
    }
    Err(mimic.unsupported(format!(
        "a joint that follows \"{}\"; make it fixed, or load it as a joint of its own (LoadOptions::free_mimic)",
        crate::error::excerpt(leader)
    )))
}

fn read_limit(joint: &mut Joint<'_>, warnings: &mut Warnings) -> Result<(), LoadError> {
    let bounded = matches!(joint.kind, Kind::Revolute | Kind::Prismatic);
    let Some(limit) = joint.element.child("limit")? else {
        return if bounded { Err(joint.element.missing("<limit>")) } else { Ok(()) };
    };
    warnings.unknown(limit, &["lower", "upper", "effort", "velocity"], &[]);
    if joint.kind == Kind::Fixed {
        return Ok(());
    }
    joint.effort_limit = read_bound(limit, "effort")?.unwrap_or(f64::INFINITY);
    joint.velocity_limit = read_bound(limit, "velocity")?.unwrap_or(f64::INFINITY);
    for (name, value) in [("effort", joint.effort_limit), ("velocity", joint.velocity_limit)] {
        if value < 0.0 {
            return Err(limit.unexpected(name, "a number that is not negative"));
        }
    }
    if bounded {
        let (lower, upper) = (read_bound(limit, "lower")?, read_bound(limit, "upper")?);
        if lower.is_none() && upper.is_none() {
            warnings.add(limit, format!("{}: without lower and upper the joint stays at 0", limit.label()));
        }
        let range = Range::new(lower.unwrap_or(0.0), upper.unwrap_or(0.0));
        if range.lower > range.upper {
            let attribute = if lower.is_some() { "lower" } else { "upper" };
            let relation = if lower.is_some() { "at most the upper" } else { "at least the lower" };
            let other = if lower.is_some() { range.upper } else { range.lower };
            return Err(limit.unexpected(attribute, format!("a number {relation} limit {other}")));
        }
        joint.limits = Some(range);
    }
    Ok(())
}

/// A number that may be infinite, where there is no limit.
fn read_bound(limit: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    let parse = |text: &str| text.trim().parse().ok().filter(|value: &f64| !value.is_nan());
    let expected = "a number";
    limit.attribute(name).map(|text| parse(text).ok_or_else(|| limit.unexpected(name, expected))).transpose()
}

fn read_dynamics(joint: &mut Joint<'_>, warnings: &mut Warnings) -> Result<(), LoadError> {
    let Some(dynamics) = joint.element.child("dynamics")? else { return Ok(()) };
    warnings.unknown(dynamics, &["damping", "friction"], &[]);
    for (name, value) in [("damping", &mut joint.damping), ("friction", &mut joint.friction)] {
        *value = dynamics.float(name)?.unwrap_or(0.0);
        if *value < 0.0 {
            return Err(dynamics.unexpected(name, "a number that is not negative"));
        }
    }
    Ok(())
}
