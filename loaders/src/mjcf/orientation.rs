//! The five ways in which MJCF states an orientation.

use nalgebra::{Matrix3, Quaternion, Rotation3, Unit, UnitQuaternion, Vector3};
use saltus::spatial::Placement;

use super::compiler::Compiler;
use super::defaults::Attributes;
use crate::error::LoadError;
use crate::xml::Element;

/// All attributes that state an orientation.
pub(super) const FORMS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];
/// Shorter vectors have no direction; as in MuJoCo.
const TINY: f64 = 1e-14;

/// `pos` and the orientation.
pub(super) fn placement(attributes: &Attributes<'_>, compiler: &Compiler<'_>) -> Result<Placement<f64>, LoadError> {
    let position = attributes.vector("pos")?.unwrap_or_default();
    Ok(Placement::new(rotation(attributes, compiler)?, position))
}

/// The orientation alone.
pub(super) fn rotation(attributes: &Attributes<'_>, compiler: &Compiler<'_>) -> Result<Matrix3<f64>, LoadError> {
    let element = attributes.stating_any(&FORMS);
    let mut stated = FORMS.into_iter().filter(|form| element.attribute(form).is_some());
    let Some(form) = stated.next() else { return Ok(Matrix3::identity()) };
    if let Some(second) = stated.next() {
        return Err(element.inconsistent(format!("states both {form} and {second}; one orientation is expected")));
    }
    match form {
        "quat" => from_quaternion(element),
        "axisangle" => {
            let [x, y, z, angle] = element.array("axisangle")?.unwrap_or_default();
            let axis = direction(element, "axisangle", Vector3::new(x, y, z))?;
            Ok(Rotation3::from_axis_angle(&axis, angle * compiler.angle).into_inner())
        }
        "euler" => {
            let angles = element.vector("euler")?.unwrap_or_default() * compiler.angle;
            Ok(from_euler(&angles, &compiler.euler))
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = element.array("xyaxes")?.unwrap_or_default();
            let x = direction(element, "xyaxes", Vector3::new(a, b, c))?;
            let y = Vector3::new(d, e, f);
            let y = direction(element, "xyaxes", y - x.dot(&y) * *x)?;
            Ok(Matrix3::from_columns(&[*x, *y, x.cross(&y)]))
        }
        _ => {
            let z = direction(element, "zaxis", element.vector("zaxis")?.unwrap_or_default())?;
            Ok(turning_z_to(&z))
        }
    }
}

fn from_quaternion(element: Element<'_>) -> Result<Matrix3<f64>, LoadError> {
    let quaternion = unit_quaternion(element.array("quat")?.unwrap_or_default());
    let quaternion = quaternion.ok_or_else(|| element.unexpected("quat", "a quaternion that is not zero"))?;
    Ok(quaternion.to_rotation_matrix().into_inner())
}

/// From (w, x, y, z) of any length but zero.
pub(super) fn unit_quaternion([w, x, y, z]: [f64; 4]) -> Option<UnitQuaternion<f64>> {
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), TINY)
}

fn from_euler(angles: &Vector3<f64>, axes: &[char; 3]) -> Matrix3<f64> {
    let mut total = Rotation3::identity();
    for (axis, &angle) in axes.iter().zip(angles.iter()) {
        let unit = match axis.to_ascii_lowercase() {
            'x' => Vector3::x_axis(),
            'y' => Vector3::y_axis(),
            _ => Vector3::z_axis(),
        };
        let turn = Rotation3::from_axis_angle(&unit, angle);
        total = if axis.is_ascii_lowercase() { total * turn } else { turn * total };
    }
    total.into_inner()
}

/// The smallest rotation that brings z to a direction; a half turn goes about x, as in MuJoCo.
pub(super) fn turning_z_to(direction: &Unit<Vector3<f64>>) -> Matrix3<f64> {
    let across = Vector3::z().cross(direction);
    let sine = across.norm();
    let axis = if sine < 1e-10 { Vector3::x_axis() } else { Unit::new_unchecked(across / sine) };
    Rotation3::from_axis_angle(&axis, sine.atan2(direction.z)).into_inner()
}

fn direction(element: Element<'_>, name: &str, vector: Vector3<f64>) -> Result<Unit<Vector3<f64>>, LoadError> {
    Unit::try_new(vector, TINY).ok_or_else(|| element.unexpected(name, "a direction that is not zero"))
}

/// A unit vector from three numbers.
pub(super) fn unit_vector(element: Element<'_>, name: &str, v: Vector3<f64>) -> Result<Vector3<f64>, LoadError> {
    direction(element, name, v).map(Unit::into_inner)
}
