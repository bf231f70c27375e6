//! Derivatives of inverse dynamics with respect to configuration and velocity (Singh 2022; Carpentier 2018).
//!
//! With everything in one frame, a row i and a column j meet only where one carries the other, and each entry is a
//! short product of what the column's axis does and what the carried bodies feel:
//!
//! - j carries i (or shares its joint): ∂τᵢ/∂qⱼ = Sᵢᵀ (2Bᵢ Ψ̇ⱼ + Iᵢ Ψ̈ⱼ), ∂τᵢ/∂vⱼ = Sᵢᵀ (2Bᵢ Sⱼ + Iᵢ (Ψ̇ⱼ + Ṡⱼ));
//! - i carries j: ∂τᵢ/∂qⱼ = Sᵢᵀ (2Bⱼ Ψ̇ⱼ + Iⱼ Ψ̈ⱼ + Sⱼ ×* fⱼ), ∂τᵢ/∂vⱼ = Sᵢᵀ (2Bⱼ Sⱼ + Iⱼ (Ψ̇ⱼ + Ṡⱼ)),
//!
//! where I, B and f are those of the body with all that it carries, Ψ̇ = v_λ × S and Ψ̈ = a_λ × S + v_λ × Ψ̇.

use nalgebra::Vector3;

use super::inverse::accelerate_bodies;
use super::{Dynamics, check_external, mass_matrix};
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::vector::dot;
use crate::spatial::{Coriolis, Force, Motion};

/// What a column of the derivative brings to every row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<T> {
    /// S.
    axis: Motion<T>,
    /// Ψ̇, angular part: the linear one meets only zeros.
    drift_angular: Vector3<T>,
    /// Ψ̈.
    drift_rate: Motion<T>,
    /// Ψ̇ + Ṡ.
    velocity: Motion<T>,
}

impl<T: Real> Default for Column<T> {
    fn default() -> Self {
        let zero = Motion::ZERO;
        Self { axis: zero, drift_angular: zero.angular, drift_rate: zero, velocity: zero }
    }
}

/// [∂τ/∂q, ∂τ/∂v], nv × 2nv, at joint accelerations `acceleration`; external wrenches move with their bodies.
///
/// Call [`update`](super::update) first. O(nv · depth).
pub fn inverse_derivatives<T: Real>(
    model: Model<'_, T>,
    acceleration: &[T],
    external: &[Force<T>],
    mut out: MatMut<'_, T>,
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_length("acceleration", model.nv(), acceleration.len())?;
    check_length("derivative rows", model.nv(), out.rows())?;
    check_length("derivative columns", 2 * model.nv(), out.cols())?;
    check_external(&model, external)?;
    mass_matrix(model, work);
    accelerate_bodies(model, |dof| acceleration[dof], external, work);
    write_derivatives(model, &mut out, work);
    Ok(())
}

/// The first 2nv columns of `out`, from accelerations, forces and composite inertias that are already there.
pub(super) fn write_derivatives<T: Real>(model: Model<'_, T>, out: &mut MatMut<'_, T>, work: &mut Dynamics<'_, T>) {
    prepare_columns(model, work);
    for dof in 0..model.nv() {
        out.row_mut(dof)[..2 * model.nv()].fill(T::ZERO);
    }
    for (index, body) in model.indexed_bodies().rev() {
        let parent = body.parent.index();
        for dof in body.v_range() {
            write_row_and_column(model, index, dof, out, work);
        }
        let (coriolis, force) = (work.scratch.coriolis[index], work.force[index]);
        work.scratch.coriolis[parent] += coriolis;
        work.force[parent] += force;
    }
}

/// What each column brings, and the Coriolis matrix of each body alone.
fn prepare_columns<T: Real>(model: Model<'_, T>, work: &mut Dynamics<'_, T>) {
    let Dynamics { kinematics, inertia, momentum, acceleration, scratch, .. } = work;
    for (index, body) in model.indexed_bodies() {
        let parent = body.parent.index();
        let (parent_velocity, parent_acceleration) = (kinematics.velocity[parent], acceleration[parent]);
        for dof in body.v_range() {
            let (axis, drift) = (kinematics.axis[dof], kinematics.axis_drift[dof]);
            scratch.columns[dof] = Column {
                axis,
                drift_angular: drift.angular,
                drift_rate: parent_acceleration.cross(&axis) + parent_velocity.cross(&drift),
                velocity: drift + kinematics.axis_rate[dof],
            };
        }
        scratch.coriolis[index] = Coriolis::new(&inertia[index], &kinematics.velocity[index], &momentum[index]);
    }
}

/// Row `dof` up to its own joint, and column `dof` in the rows of the joints that carry it.
#[inline(always)]
fn write_row_and_column<T: Real>(
    model: Model<'_, T>,
    index: usize,
    dof: usize,
    out: &mut MatMut<'_, T>,
    work: &Dynamics<'_, T>,
) {
    let (nv, stride, joint) = (model.nv(), out.stride(), model.bodies[index - 1].v_range());
    let (inertia, coriolis) = (work.composite[index], work.scratch.coriolis[index]);
    let columns = &*work.scratch.columns;
    let Column { axis, drift_rate, velocity, .. } = columns[dof];
    let drift = work.kinematics.axis_drift[dof];
    // Left factors of the row: Sᵀ I, and Sᵀ 2B, whose linear part is zero.
    let (row_inertia, row_coriolis) = (work.unit_momentum[dof], coriolis.transposed_angular(&axis));
    // Right factors of the column.
    let turned_force = axis.cross_force(&work.force[index]);
    let column_q = coriolis.multiply_add(&drift, &(inertia * drift_rate)) + turned_force;
    let column_v = coriolis.multiply_add(&axis, &(inertia * velocity));
    let entry_q = |c: &Column<T>| dot(&c.drift_angular, &row_coriolis) + c.drift_rate.dot(&row_inertia);
    let entry_v = |c: &Column<T>| dot(&c.axis.angular, &row_coriolis) + c.velocity.dot(&row_inertia);

    let data = out.data_mut();
    for j in joint.clone() {
        data[dof * stride + j] = entry_q(&columns[j]);
        data[dof * stride + nv + j] = entry_v(&columns[j]);
    }
    for j in model.tree.ancestor_runs(joint.start).flatten() {
        let c = &columns[j];
        data[dof * stride + j] = entry_q(c);
        data[dof * stride + nv + j] = entry_v(c);
        data[j * stride + dof] = c.axis.dot(&column_q);
        data[j * stride + nv + dof] = c.axis.dot(&column_v);
    }
}
