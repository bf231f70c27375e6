//! Checks on what the user states, each with an error that names the body.

use alloc::string::String;

use super::builder::fail;
use super::{Body, BodySpec, Joint, JointSpec, ModelError, PositionLimit, Problem};
use crate::spatial::{Inertia, Placement};

/// Deviation from unit length or orthonormality that printed figures (six digits) still have.
const ROUNDING: f64 = 1e-5;
/// Violation of the triangle inequality, relative to the trace, that printed figures (six digits) still have.
const INERTIA_ROUNDING: f64 = 1e-6;

pub(super) fn check_body(spec: &BodySpec) -> Result<(), ModelError> {
    let here = |problem| fail(&spec.name, problem);
    check_placement(&spec.placement).map_err(here)?;
    check_inertia(&spec.inertia).map_err(here)?;
    if let JointSpec::Moving(joint) = &spec.joint {
        check_joint(joint).map_err(here)?;
    }
    if let Some(limits) = &spec.limits {
        check_limits(&spec.joint, limits).map_err(here)?;
    }
    for dof in &spec.dofs {
        for (what, value) in [("armature", dof.armature), ("damping", dof.damping), ("dry friction", dof.dry_friction)]
        {
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
    check_placement(placement).map_err(|problem| fail(name, problem))
}

/// What only shows once fixed bodies are merged: a moving body that carries nothing needs mass.
pub(super) fn check_merged(bodies: &[Body<f64>], names: &[String]) -> Result<(), ModelError> {
    for (k, (body, name)) in bodies.iter().zip(names).enumerate() {
        let carries = bodies[k + 1..].iter().any(|other| other.parent.index() == k + 1);
        if !carries && body.inertia.mass <= 0.0 {
            return Err(fail(name, Problem::MasslessLeaf { mass: body.inertia.mass }));
        }
    }
    Ok(())
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

fn check_limits(joint: &JointSpec, &PositionLimit { lower, upper }: &PositionLimit<f64>) -> Result<(), Problem> {
    if !matches!(joint, JointSpec::Moving(Joint::Revolute { .. } | Joint::Prismatic { .. })) {
        return Err(Problem::LimitsWithoutPosition);
    }
    if lower.is_nan() || upper.is_nan() {
        return Err(Problem::NotFinite { what: "position limit" });
    }
    if lower > upper {
        return Err(Problem::LimitsReversed { lower, upper });
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
