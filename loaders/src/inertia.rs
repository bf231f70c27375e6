//! Inertias that no body has, and how to mend them.

use nalgebra::SymmetricEigen;
use saltus::spatial::{Inertia, Symmetric3};

/// Violation, relative to the trace, that printed figures (six digits) still have; the model accepts as much.
const ROUNDING: f64 = 1e-6;

/// The inertia with its smallest principal moments raised until some body has it: none negative, none above the sum of
/// the others. `None` when there is nothing to mend.
///
/// The principal axes, the mass and the largest moment stay; like MuJoCo's `balanceinertia` it trades accuracy for a
/// robot that can be simulated, but moves each figure as little as it can.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::spatial::{Inertia, Symmetric3};
/// use saltus_loaders::balanced;
///
/// let broken = Inertia::new(1.0, Vector3::zeros(), Symmetric3::diagonal(3.0, 1.0, 1.0));
/// let mended = balanced(&broken).unwrap().rotational;
/// assert!((mended.yy + mended.zz - mended.xx).abs() < 1e-12);
/// assert!(balanced(&Inertia::solid_sphere(1.0, 1.0)).is_none());
/// ```
pub fn balanced(inertia: &Inertia<f64>) -> Option<Inertia<f64>> {
    let matrix = inertia.rotational.to_matrix();
    if !matrix.iter().all(|x| x.is_finite()) {
        return None;
    }
    let SymmetricEigen { mut eigenvalues, eigenvectors } = matrix.symmetric_eigen();
    let slack = ROUNDING * matrix.trace().abs();
    let possible = |k: usize| eigenvalues[k] >= -slack && 2.0 * eigenvalues[k] <= eigenvalues.sum() + slack;
    if (0..3).all(possible) {
        return None;
    }
    eigenvalues.iter_mut().for_each(|moment| *moment = moment.max(0.0));
    let largest = eigenvalues.imax();
    let short_by = 2.0 * eigenvalues[largest] - eigenvalues.sum();
    if short_by > 0.0 {
        for k in (0..3).filter(|&k| k != largest) {
            eigenvalues[k] += 0.5 * short_by;
        }
    }
    let mended = eigenvectors * nalgebra::Matrix3::from_diagonal(&eigenvalues) * eigenvectors.transpose();
    Some(Inertia { rotational: Symmetric3::from_matrix(&mended), ..*inertia })
}
