//! Derivatives of forward dynamics: those of inverse dynamics, through the factor of the mass matrix.

use super::inverse::accelerate_bodies;
use super::inverse_derivatives::write_derivatives;
use super::{Dynamics, DynamicsError, check_workspace, forward_factored};
use crate::input::check_length;
use crate::linalg::{MatMut, tree};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::Force;

/// [∂a/∂q, ∂a/∂v, ∂a/∂τ], nv × 3nv, for joint forces `torque`; the accelerations are in [`Dynamics::joint_acceleration`].
///
/// ∂a/∂(q, v) = −M⁻¹ ∂τ/∂(q, v) at that acceleration, and ∂a/∂τ = M⁻¹ (Carpentier 2018). External wrenches, as in
/// [`forward`](super::forward), move with their bodies. Call [`update`](super::update) first. O(nv² · depth).
pub fn forward_derivatives<T: Real>(
    model: Model<'_, T>,
    torque: &[T],
    external: &[Force<T>],
    mut out: MatMut<'_, T>,
    work: &mut Dynamics<'_, T>,
) -> Result<(), DynamicsError> {
    let nv = model.nv();
    check_workspace(&model, work)?;
    check_length("derivative rows", nv, out.rows())?;
    check_length("derivative columns", 3 * nv, out.cols())?;
    let acceleration = core::mem::take(&mut work.joint_acceleration);
    let solved = forward_factored(model, torque, external, acceleration, work);
    if solved.is_ok() {
        accelerate_bodies(model, |dof| acceleration[dof], external, work);
    }
    work.joint_acceleration = acceleration;
    solved?;
    write_derivatives(model, &mut out, work);
    // The sign of −M⁻¹ [∂τ/∂q, ∂τ/∂v, −1] goes into the pivots.
    for dof in 0..nv {
        let row = &mut out.row_mut(dof)[2 * nv..];
        row.fill(T::ZERO);
        row[dof] = -T::ONE;
    }
    tree::solve(model.tree, work.factor_view(model.dims()), |dof| -work.inverse_pivots[dof], out);
    Ok(())
}
