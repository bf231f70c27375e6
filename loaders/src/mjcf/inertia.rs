//! Inertias: stated, or inferred from geoms.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use saltus::model::Shape;
use saltus::spatial::{Inertia, Symmetric3};

use super::compiler::Compiler;
use super::defaults::Attributes;
use super::orientation::placement;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;

/// Attributes of `<inertial>` that are read.
const KNOWN: [&str; 9] = ["pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "mass", "diaginertia", "fullinertia"];

/// What `<inertial>` states, in the frame of the body.
pub(super) fn stated(
    element: Element<'_>,
    compiler: &Compiler<'_>,
    warnings: &mut Warnings,
) -> Result<Inertia<f64>, LoadError> {
    warnings.unknown(element, &KNOWN, &[]);
    let mass = element.required_float("mass")?;
    let full: Option<[f64; 6]> = element.array("fullinertia")?;
    let rotational = match (element.vector("diaginertia")?, full) {
        (Some(_), Some(_)) => return Err(element.inconsistent("states both diaginertia and fullinertia")),
        (Some(d), None) => Symmetric3::diagonal(d.x, d.y, d.z),
        (None, Some([xx, yy, zz, xy, xz, yz])) => Symmetric3 { xx, xy, xz, yy, yz, zz },
        (None, None) => return Err(element.missing("attribute diaginertia or fullinertia")),
    };
    let own = placement(&Attributes::bare(element), compiler)?;
    Ok(Inertia::new(mass, Vector3::zeros(), rotational).moved_by(&own))
}

/// Mass distribution of a shape of density 1, in its own frame; nothing for a half-space.
pub(super) fn of_shape(shape: &Shape<f64>) -> Inertia<f64> {
    use std::f64::consts::PI;
    let centred = |volume: f64, x: f64, y: f64, z: f64| {
        Inertia::new(volume, Vector3::zeros(), Symmetric3::diagonal(volume * x, volume * y, volume * z))
    };
    match *shape {
        Shape::HalfSpace | Shape::Convex { .. } => Inertia::ZERO,
        Shape::Sphere { radius: r } => {
            let i = 0.4 * r * r;
            centred(4.0 / 3.0 * PI * r * r * r, i, i, i)
        }
        Shape::Capsule { radius: r, half_length } => {
            let h = 2.0 * half_length;
            let (tube, caps) = (PI * r * r * h, 4.0 / 3.0 * PI * r * r * r);
            let across = tube * (3.0 * r * r + h * h) / 12.0 + caps * (0.4 * r * r + h * h / 4.0 + 3.0 * h * r / 8.0);
            let along = tube * r * r / 2.0 + caps * 0.4 * r * r;
            Inertia::new(tube + caps, Vector3::zeros(), Symmetric3::diagonal(across, across, along))
        }
        Shape::Cylinder { radius: r, half_length } => {
            let h = 2.0 * half_length;
            let across = (3.0 * r * r + h * h) / 12.0;
            centred(PI * r * r * h, across, across, r * r / 2.0)
        }
        Shape::Box { half_extents } => {
            let s = half_extents.component_mul(&half_extents) / 3.0;
            centred(8.0 * half_extents.product(), s.y + s.z, s.x + s.z, s.x + s.y)
        }
        Shape::Ellipsoid { radii } => {
            let s = radii.component_mul(&radii) / 5.0;
            centred(4.0 / 3.0 * PI * radii.product(), s.y + s.z, s.x + s.z, s.x + s.y)
        }
    }
}

/// The same distribution with another mass.
pub(super) fn with_mass(inertia: &Inertia<f64>, mass: f64) -> Inertia<f64> {
    scaled(inertia, if inertia.mass == 0.0 { 0.0 } else { mass / inertia.mass })
}

/// All masses times `factor`.
pub(super) fn scaled(inertia: &Inertia<f64>, factor: f64) -> Inertia<f64> {
    let rotational = Symmetric3::from_matrix(&(inertia.rotational.to_matrix() * factor));
    Inertia { mass: inertia.mass * factor, com: inertia.com, rotational }
}

/// `boundmass`, `boundinertia` and `balanceinertia`, in MuJoCo's order.
pub(super) fn bounded(inertia: &Inertia<f64>, compiler: &Compiler<'_>) -> Inertia<f64> {
    let mass = inertia.mass.max(compiler.bound_mass);
    let matrix = inertia.rotational.to_matrix();
    let finite = matrix.iter().all(|x| x.is_finite());
    if !finite || (compiler.bound_inertia <= 0.0 && !compiler.balance_inertia) {
        return Inertia { mass, ..*inertia };
    }
    let SymmetricEigen { eigenvalues, eigenvectors } = matrix.symmetric_eigen();
    let mut moments = eigenvalues.map(|moment| moment.max(compiler.bound_inertia));
    let impossible = (0..3).any(|k| 2.0 * moments[k] > moments.sum());
    if compiler.balance_inertia && impossible {
        moments.fill(moments.mean());
    }
    if moments == eigenvalues {
        return Inertia { mass, ..*inertia };
    }
    let rotational = eigenvectors * Matrix3::from_diagonal(&moments) * eigenvectors.transpose();
    Inertia { mass, com: inertia.com, rotational: Symmetric3::from_matrix(&rotational) }
}
