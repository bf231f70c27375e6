//! Checks on what the user states, each with an error that names the part.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::actuator_spec::TransmissionSpec;
use super::error::Item;
use super::{
    ActuatorSpec, Body, BodySpec, ClosureSpec, GeometrySpec, Joint, JointSpec, KeyframeSpec, Material, Model,
    ModelError, Problem, Range, Shape, ShapeSpec, configuration,
};
use crate::spatial::{Inertia, Placement};

/// Deviation from unit length or orthonormality that printed figures (six digits) still have.
const ROUNDING: f64 = 1e-5;
/// Violation of the triangle inequality, relative to the trace, that printed figures (six digits) still have.
const INERTIA_ROUNDING: f64 = 1e-6;

pub(super) fn check_body(spec: &BodySpec) -> Result<(), ModelError> {
    let here = |problem| Item::Body.fail(&spec.name, problem);
    check_placement(&spec.placement).map_err(here)?;
    check_inertia(&spec.inertia).map_err(here)?;
    if let JointSpec::Moving(joint) = &spec.joint {
        check_joint(joint).map_err(here)?;
    }
    if let Some(limits) = &spec.limits {
        check_limits(&spec.joint, limits).map_err(here)?;
    }
    for dof in &spec.dofs {
        check_finite("spring reference", &[dof.spring_reference]).map_err(here)?;
        for (what, value) in [
            ("armature", dof.armature),
            ("damping", dof.damping),
            ("dry friction", dof.dry_friction),
            ("stiffness", dof.stiffness),
        ] {
            check_finite(what, &[value]).map_err(here)?;
            check_not_negative(what, value).map_err(here)?;
        }
        for (what, value) in [("velocity limit", dof.velocity_limit), ("effort limit", dof.effort_limit)] {
            check_not_negative(what, value).map_err(here)?;
        }
    }
    Ok(())
}

pub(super) fn check_frame(name: &str, placement: &Placement<f64>) -> Result<(), ModelError> {
    check_placement(placement).map_err(|problem| Item::Frame.fail(name, problem))
}

/// What only shows once fixed bodies are merged: a moving body that carries nothing needs mass.
pub(super) fn check_merged(bodies: &[Body<f64>], names: &[String]) -> Result<(), ModelError> {
    for (k, (body, name)) in bodies.iter().zip(names).enumerate() {
        let carries = bodies[k + 1..].iter().any(|other| other.parent.index() == k + 1);
        if !carries && body.inertia.mass <= 0.0 {
            return Err(Item::Body.fail(name, Problem::MasslessLeaf { mass: body.inertia.mass }));
        }
    }
    Ok(())
}

pub(super) fn check_geometry(spec: &GeometrySpec) -> Result<(), ModelError> {
    let here = |problem| Item::Geometry.fail(&spec.name, problem);
    check_placement(&spec.placement).map_err(here)?;
    check_material(&spec.material).map_err(here)?;
    check_shape(&spec.shape).map_err(here)
}

pub(super) fn check_material(material: &Material<f64>) -> Result<(), Problem> {
    let Material { friction, restitution } = *material;
    check_finite("friction", &[friction])?;
    check_not_negative("friction", friction)?;
    check_finite("restitution", &[restitution])?;
    if (0.0..=1.0).contains(&restitution) {
        Ok(())
    } else {
        Err(Problem::NotAFraction { what: "restitution", value: restitution })
    }
}

fn check_shape(shape: &ShapeSpec) -> Result<(), Problem> {
    let check = |what, sizes: &[f64]| {
        check_finite(what, sizes)?;
        sizes.iter().try_for_each(|&value| if value > 0.0 { Ok(()) } else { Err(Problem::NotPositive { what, value }) })
    };
    match shape {
        ShapeSpec::Primitive(shape) => match shape {
            Shape::HalfSpace => Ok(()),
            Shape::Sphere { radius } => check("radius", &[*radius]),
            Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => {
                check("radius", &[*radius])?;
                check("half length", &[*half_length])
            }
            Shape::Box { half_extents } => check("half extent", half_extents.as_slice()),
            Shape::Ellipsoid { radii } => check("radius", radii.as_slice()),
            Shape::Convex { .. } => Err(Problem::HullWithoutVertices),
        },
        ShapeSpec::Convex(hull) => {
            hull.vertices.iter().try_for_each(|vertex| check_finite("vertex", vertex.as_slice()))?;
            if hull.vertices.len() < 4 { Err(Problem::TooFewVertices { found: hull.vertices.len() }) } else { Ok(()) }
        }
    }
}

pub(super) fn check_closure(spec: &ClosureSpec) -> Result<(), Problem> {
    spec.placements.iter().try_for_each(check_placement)
}

pub(super) fn check_actuator(spec: &ActuatorSpec) -> Result<(), ModelError> {
    let here = |problem| Item::Actuator.fail(&spec.name, problem);
    match &spec.transmission {
        TransmissionSpec::Joint { gear, .. } => check_finite("gear", &[*gear]),
        TransmissionSpec::Frame { gear, .. } => check_finite("gear", gear),
    }
    .map_err(here)?;
    check_finite("gain", &[spec.gain]).map_err(here)?;
    check_finite("bias", &spec.bias).map_err(here)?;
    check_range("control range", &spec.control_range).map_err(here)?;
    check_range("force range", &spec.force_range).map_err(here)
}

/// The numbers of a keyframe, (q, v, u), with orientations scaled to length one exactly.
pub(super) fn check_keyframe(model: Model<'_, f64>, spec: &KeyframeSpec) -> Result<Vec<f64>, ModelError> {
    let here = |problem| Item::Keyframe.fail(&spec.name, problem);
    let taken = !spec.name.is_empty() && model.find_keyframe(&spec.name).is_some();
    if taken {
        return Err(here(Problem::DuplicateName));
    }
    let (v, u) = (vec![0.0; model.nv()], vec![0.0; model.nu()]);
    let (v, u) = (spec.v.as_ref().unwrap_or(&v), spec.u.as_ref().unwrap_or(&u));
    let parts = [("q", &spec.q, model.nq()), ("v", v, model.nv()), ("u", u, model.nu())];
    for (what, numbers, expected) in parts {
        if numbers.len() != expected {
            return Err(here(Problem::Length { what, expected, found: numbers.len() }));
        }
        check_finite(what, numbers).map_err(here)?;
    }
    let mut q = spec.q.clone();
    let length = |_| here(Problem::Length { what: "q", expected: model.nq(), found: spec.q.len() });
    configuration::normalize(model, &mut q).map_err(length)?;
    if let Some(index) = (0..q.len()).find(|&k| (q[k] - spec.q[k]).abs() > ROUNDING) {
        return Err(here(Problem::NotNormalized { index }));
    }
    q.extend_from_slice(v);
    q.extend_from_slice(u);
    Ok(q)
}

fn check_placement(placement: &Placement<f64>) -> Result<(), Problem> {
    check_finite("placement", placement.translation.as_slice())?;
    check_finite("placement", placement.rotation.as_slice())?;
    let r = &placement.rotation;
    let deviation = (r.transpose() * r - nalgebra::Matrix3::identity()).amax();
    if deviation > ROUNDING || r.determinant() < 0.0 {
        return Err(Problem::NotARotation);
    }
    Ok(())
}

fn check_inertia(inertia: &Inertia<f64>) -> Result<(), Problem> {
    let matrix = inertia.rotational.to_matrix();
    check_finite("mass", &[inertia.mass])?;
    check_finite("centre of mass", inertia.com.as_slice())?;
    check_finite("inertia", matrix.as_slice())?;
    if inertia.mass < 0.0 {
        return Err(Problem::NegativeMass { mass: inertia.mass });
    }
    let moments = matrix.symmetric_eigenvalues();
    let slack = INERTIA_ROUNDING * matrix.trace().abs();
    let impossible = (0..3).any(|k| moments[k] < -slack || 2.0 * moments[k] > moments.sum() + slack);
    if impossible {
        return Err(Problem::ImpossibleInertia { principal: moments.into() });
    }
    Ok(())
}

fn check_joint(joint: &Joint<f64>) -> Result<(), Problem> {
    let (Joint::Revolute { axis } | Joint::Continuous { axis } | Joint::Prismatic { axis }) = joint else {
        return Ok(());
    };
    check_finite("joint axis", axis.as_slice())?;
    let length = axis.norm();
    if (length - 1.0).abs() > ROUNDING {
        return Err(Problem::AxisNotUnit { length });
    }
    Ok(())
}

fn check_limits(joint: &JointSpec, limits: &Range<f64>) -> Result<(), Problem> {
    if !matches!(joint, JointSpec::Moving(Joint::Revolute { .. } | Joint::Prismatic { .. })) {
        return Err(Problem::LimitsWithoutPosition);
    }
    check_range("position limits", limits)
}

fn check_range(what: &'static str, &Range { lower, upper }: &Range<f64>) -> Result<(), Problem> {
    if lower.is_nan() || upper.is_nan() {
        return Err(Problem::NotFinite { what });
    }
    if lower > upper {
        return Err(Problem::RangeReversed { what, lower, upper });
    }
    Ok(())
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<(), Problem> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Problem::NotFinite { what }) }
}

fn check_not_negative(what: &'static str, value: f64) -> Result<(), Problem> {
    match value {
        v if v.is_nan() => Err(Problem::NotFinite { what }),
        v if v < 0.0 => Err(Problem::Negative { what, value }),
        _ => Ok(()),
    }
}
