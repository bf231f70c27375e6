//! From links and joints to the model.

use nalgebra::{Rotation3, Vector3};
use saltus::model::{BodySpec, GeometrySpec, Item, JointSpec, ModelBuilder, ModelError, OwnedModel, Problem};
use saltus::spatial::{Inertia, Placement};

use super::joint::{Joint, Kind};
use super::link::Link;
use super::rigid;
use super::tree::Tree;
use crate::{LoadError, LoadOptions, LoadProblem, Warnings};

/// Name of the joint of a root link that flies freely, as Pinocchio calls it.
const ROOT_JOINT: &str = "root_joint";
/// What the model calls the ground; a root link of this name is the ground.
const WORLD: &str = "world";

pub(super) fn build(
    tree: &Tree<'_, '_>,
    excluded: &[(String, String)],
    options: &LoadOptions,
    warnings: &mut Warnings,
) -> Result<OwnedModel<f64>, LoadError> {
    let inertias = rigid::inertias(tree, options, warnings);
    let inertia = |link: &Link<'_>| inertias.get(link.name).copied().unwrap_or(Inertia::ZERO);
    let mut builder = add_root(ModelBuilder::new(), tree.root, inertia(tree.root), options)?;
    let mut turned = std::collections::BTreeMap::new();
    for &(joint, link) in &tree.branches {
        let turn = plane_rotation(joint);
        let above = turned.get(joint.parent_link()).copied().unwrap_or(Placement::IDENTITY);
        builder = builder.body(
            spec(joint, link, &above, &turn).inertia(inertia(link).moved_by(&turn.unwrap_or_default().inverse())),
        );
        if let Some(turn) = turn {
            builder = builder.frame(link.name, link.name, turn.inverse());
            turned.insert(link.name, turn.inverse());
        }
        let in_body = turn.map_or(Placement::IDENTITY, |turn| turn.inverse());
        builder = add_geometries(builder, link, &in_body);
    }
    for (a, b) in excluded {
        builder = builder.exclude(a, b);
    }
    builder.build().map_err(|error| locate(error, tree))
}

/// The root link: the ground, a part of it, or a free body.
fn add_root(
    builder: ModelBuilder,
    root: &Link<'_>,
    inertia: Inertia<f64>,
    options: &LoadOptions,
) -> Result<ModelBuilder, LoadError> {
    let free = options.free_flyer;
    match root.name {
        WORLD if free => Err(root.element.inconsistent(
            "the root link is the ground by its name, so it cannot fly freely; rename it, or fix it to the world",
        )),
        WORLD => Ok(add_geometries(builder, root, &Placement::IDENTITY)),
        name => {
            let joint = if free { JointSpec::free_flyer() } else { JointSpec::Fixed };
            let builder = builder.body(BodySpec::new(name, joint).joint_name(ROOT_JOINT).inertia(inertia));
            Ok(add_geometries(builder, root, &Placement::IDENTITY))
        }
    }
}

/// The body of a link. Its frame is that of the link, except where `turn` lays the plane of a planar joint into xy.
fn spec(joint: &Joint<'_>, link: &Link<'_>, above: &Placement<f64>, turn: &Option<Placement<f64>>) -> BodySpec {
    let turn = turn.unwrap_or(Placement::IDENTITY);
    let kind = match joint.kind {
        Kind::Revolute => JointSpec::revolute(joint.axis),
        Kind::Continuous => JointSpec::continuous(joint.axis),
        Kind::Prismatic => JointSpec::prismatic(joint.axis),
        Kind::Fixed => JointSpec::Fixed,
        Kind::Floating => JointSpec::free_flyer(),
        Kind::Planar => JointSpec::planar(),
    };
    let mut spec = BodySpec::new(link.name, kind)
        .joint_name(joint.name)
        .parent(joint.parent_link())
        .placement(*above * joint.origin * turn)
        .effort_limit(joint.effort_limit)
        .velocity_limit(joint.velocity_limit)
        .damping(joint.damping)
        .dry_friction(joint.friction);
    if let Some(limits) = joint.limits {
        spec = spec.position_limits(limits.lower, limits.upper);
    }
    spec
}

/// The shapes of a link whose frame has placement `in_body` in its body.
fn add_geometries(builder: ModelBuilder, link: &Link<'_>, in_body: &Placement<f64>) -> ModelBuilder {
    link.collisions.iter().fold(builder, |builder, collision| {
        let placement = *in_body * collision.placement;
        builder.geometry(link.name, GeometrySpec::new(&collision.name, collision.shape.clone()).placement(placement))
    })
}

/// Turns z into the normal of a planar joint's plane, where it is not z already.
fn plane_rotation(joint: &Joint<'_>) -> Option<Placement<f64>> {
    if joint.kind != Kind::Planar || joint.axis == Vector3::z() {
        return None;
    }
    let half_turn = || Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let rotation = Rotation3::rotation_between(&Vector3::z(), &joint.axis).unwrap_or_else(half_turn);
    Some(Placement::new(rotation.into_inner(), Vector3::zeros()))
}

/// The element that the model's error is about.
fn locate(error: ModelError, tree: &Tree<'_, '_>) -> LoadError {
    if error.item != Item::Body {
        return LoadError::of_file(tree.root.element.file(), LoadProblem::Model(error));
    }
    let branch = tree.branches.iter().find(|(_, link)| link.name == error.name);
    let link = branch.map_or(tree.root.element, |(_, link)| link.element);
    let element = match error.problem {
        Problem::ImpossibleInertia { .. } | Problem::NegativeMass { .. } => {
            link.children_named("inertial").next().unwrap_or(link)
        }
        Problem::AxisNotUnit { .. } | Problem::RangeReversed { .. } | Problem::LimitsWithoutPosition => {
            branch.map_or(link, |(joint, _)| joint.element)
        }
        _ => link,
    };
    element.error(LoadProblem::Model(error))
}
