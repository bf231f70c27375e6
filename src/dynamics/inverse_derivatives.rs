//! Derivatives of inverse dynamics with respect to configuration and velocity (Singh 2022; Carpentier 2018).
//!
//! With everything in one frame, a row i and a column j meet only where one carries the other, and each entry is a
//! short product of what the column's axis does and what the carried bodies feel:
//!
//! - j carries i (or shares its joint): ∂τᵢ/∂qⱼ = Sᵢᵀ (2Bᵢ Ψ̇ⱼ + Iᵢ Ψ̈ⱼ), ∂τᵢ/∂vⱼ = Sᵢᵀ (2Bᵢ Sⱼ + Iᵢ (Ψ̇ⱼ + Ṡⱼ));
//! - i carries j: ∂τᵢ/∂qⱼ = Sᵢᵀ (2Bⱼ Ψ̇ⱼ + Iⱼ Ψ̈ⱼ + Sⱼ ×* fⱼ), ∂τᵢ/∂vⱼ = Sᵢᵀ (2Bⱼ Sⱼ + Iⱼ (Ψ̇ⱼ + Ṡⱼ)),
//!
//! where I, B and f are those of the body with all that it carries, Ψ̇ = v_λ × S and Ψ̈ = a_λ × S + v_λ × Ψ̇.

use super::inverse::accelerate_bodies;
use super::{Dynamics, check_external, mass_matrix};
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::memory::{Values, run_mut};
use crate::model::{Body, Model};
use crate::scalar::Real;
use crate::spatial::{Coriolis, Force, Motion};

/// What a column of the derivative brings to every row, laid out so that the four entries of a pair are four lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<T> {
    /// Per spatial component: Ψ̈, Ψ̇ + Ṡ, S, S.
    spatial: [[T; 4]; 6],
    /// Per angular component: Ψ̇, S. The linear ones meet only zeros.
    angular: [[T; 2]; 3],
}

impl<T: Real> Column<T> {
    #[inline(always)]
    fn new(axis: &Motion<T>, drift: &Motion<T>, drift_rate: &Motion<T>, velocity: &Motion<T>) -> Self {
        let (s, a, b) = (axis.to_array(), drift_rate.to_array(), velocity.to_array());
        let (w, d) = (&axis.angular, &drift.angular);
        Self {
            spatial: core::array::from_fn(|k| [a[k], b[k], s[k], s[k]]),
            angular: core::array::from_fn(|k| [d[k], w[k]]),
        }
    }
}

impl<T: Real> Default for Column<T> {
    fn default() -> Self {
        Self { spatial: [[T::ZERO; 4]; 6], angular: [[T::ZERO; 2]; 3] }
    }
}

/// What a row (and the column of the same number) brings to every pair, in the lanes of [`Column`].
struct Row<T> {
    /// Per spatial component: Sᵀ I twice, then the right factors of its own column for q and v.
    spatial: [[T; 4]; 6],
    /// Angular part of Sᵀ 2B; the linear one is zero.
    angular: [T; 3],
}

impl<T: Real> Row<T> {
    /// [∂τᵢ/∂qⱼ, ∂τᵢ/∂vⱼ, ∂τⱼ/∂qᵢ, ∂τⱼ/∂vᵢ] for this row i and a column j that carries it.
    #[inline(always)]
    fn meet(&self, column: &Column<T>) -> [T; 4] {
        let mut coriolis = [T::ZERO; 2];
        for (row, column) in self.angular.iter().zip(&column.angular) {
            coriolis = core::array::from_fn(|lane| row.mul_add(column[lane], coriolis[lane]));
        }
        let mut sums = [coriolis[0], coriolis[1], T::ZERO, T::ZERO];
        for (row, column) in self.spatial.iter().zip(&column.spatial) {
            sums = core::array::from_fn(|lane| row[lane].mul_add(column[lane], sums[lane]));
        }
        sums
    }
}

/// [∂τ/∂q, ∂τ/∂v], nv × 2nv, at joint accelerations `acceleration`; external wrenches move with their bodies.
///
/// Call [`update`](super::update) first. O(nv · depth).
pub fn inverse_derivatives<T: Real>(
    model: Model<'_, T>,
    acceleration: &[T],
    external: &[Force<T>],
    out: MatMut<'_, T>,
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    mass_matrix(model, work)?;
    inverse_derivatives_prepared(model, acceleration, external, out, work)
}

/// The same where [`mass_matrix`] has been called already.
pub(crate) fn inverse_derivatives_prepared<T: Real>(
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
    accelerate_bodies(model, |dof| acceleration.at(dof), external, work);
    write_derivatives(model, &mut out, work);
    Ok(())
}

/// The first 2nv columns of `out`, from accelerations, forces and composite inertias that are already there.
pub(super) fn write_derivatives<T: Real>(model: Model<'_, T>, out: &mut MatMut<'_, T>, work: &mut Dynamics<'_, T>) {
    prepare_columns(model, work);
    for dof in 0..model.nv() {
        clear(run_mut(out.row_mut(dof), 0, 2 * model.nv()));
    }
    for (index, body) in model.indexed_bodies().rev() {
        let parent = body.parent.index();
        for dof in body.v_range() {
            write_row_and_column(model, index, dof, out, work);
        }
        let (coriolis, force) = (work.scratch.coriolis.at(index), work.force.at(index));
        work.scratch.coriolis.change(parent, |x| *x += coriolis);
        work.force.change(parent, |x| *x += force);
    }
}

/// Zero, by whole vectors: a call to clear so few numbers takes longer.
#[inline(always)]
fn clear<T: Real>(numbers: &mut [T]) {
    let (fours, rest) = numbers.as_chunks_mut::<4>();
    fours.iter_mut().for_each(|four| *four = [T::ZERO; 4]);
    rest.iter_mut().for_each(|x| *x = T::ZERO);
}

/// What each column brings, and the Coriolis matrix of each body alone.
fn prepare_columns<T: Real>(model: Model<'_, T>, work: &mut Dynamics<'_, T>) {
    let Dynamics { kinematics, inertia, momentum, acceleration, scratch, .. } = work;
    for (index, body) in model.indexed_bodies() {
        let parent = body.parent.index();
        let (Some(parent_velocity), Some(parent_acceleration)) =
            (kinematics.velocity.get(parent), acceleration.get(parent))
        else {
            return;
        };
        for dof in body.v_range() {
            let (Some(axis), Some(drift), Some(rate)) =
                (kinematics.axis.get(dof), kinematics.axis_drift.get(dof), kinematics.axis_rate.get(dof))
            else {
                return;
            };
            let drift_rate = parent_acceleration.cross(axis) + parent_velocity.cross(drift);
            let velocity = *drift + *rate;
            scratch.columns.set(dof, Column::new(axis, drift, &drift_rate, &velocity));
            scratch.drift_rate.set(dof, drift_rate);
        }
        let (Some(inertia), Some(velocity), Some(momentum)) =
            (inertia.get(index), kinematics.velocity.get(index), momentum.get(index))
        else {
            return;
        };
        scratch.coriolis.set(index, Coriolis::new(inertia, velocity, momentum));
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
    let Some(joint) = model.bodies.get(index - 1).map(Body::v_range) else { return };
    let (nv, stride) = (model.nv(), out.stride());
    let columns = &*work.scratch.columns;
    let Some(factors) = row_factors(index, dof, work) else { return };
    let Some((above, row)) = out.data_mut().split_at_mut_checked(dof * stride) else { return };
    let Some((row_q, row_v)) = row.split_at_mut_checked(nv) else { return };
    let (Some(own), Some(by_q), Some(by_v)) =
        (columns.get(joint.clone()), row_q.get_mut(joint.clone()), row_v.get_mut(joint.clone()))
    else {
        return;
    };
    for ((column, q), v) in own.iter().zip(by_q).zip(by_v) {
        [*q, *v, _, _] = factors.meet(column);
    }
    for run in model.tree.ancestor_runs(joint.start) {
        let mut at = run.start * stride + dof;
        let (Some(own), Some(by_q), Some(by_v)) =
            (columns.get(run.clone()), row_q.get_mut(run.clone()), row_v.get_mut(run))
        else {
            return;
        };
        for ((column, row_q), row_v) in own.iter().zip(by_q).zip(by_v) {
            let Some([column_q, .., column_v]) = above.get_mut(at..=at + nv) else { return };
            [*row_q, *row_v, *column_q, *column_v] = factors.meet(column);
            at += stride;
        }
    }
}

/// Left factors Sᵀ I and Sᵀ 2B of row `dof`, right factors of column `dof`.
#[inline(always)]
fn row_factors<T: Real>(index: usize, dof: usize, work: &Dynamics<'_, T>) -> Option<Row<T>> {
    let Dynamics { kinematics, scratch, .. } = work;
    let (inertia, coriolis) = (work.composite.get(index)?, scratch.coriolis.get(index)?);
    let (axis, drift) = (kinematics.axis.get(dof)?, kinematics.axis_drift.get(dof)?);
    let velocity = *drift + *kinematics.axis_rate.get(dof)?;
    let turned_force = axis.cross_force(work.force.get(index)?);
    let column_q = coriolis.multiply_add(drift, &(*inertia * *scratch.drift_rate.get(dof)?)) + turned_force;
    let column_v = coriolis.multiply_add(axis, &(*inertia * velocity));
    let (f, q, v) = (work.unit_momentum.get(dof)?.to_array(), column_q.to_array(), column_v.to_array());
    Some(Row {
        spatial: core::array::from_fn(|k| [f[k], f[k], q[k], v[k]]),
        angular: coriolis.transposed_angular(axis).into(),
    })
}
