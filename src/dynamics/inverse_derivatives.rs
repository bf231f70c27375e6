//! Derivatives of inverse dynamics with respect to configuration and velocity (Singh 2022; Carpentier 2018).
//!
//! With everything in one frame, a row i and a column j meet only where one carries the other, and each entry is a
//! short product of what the column's axis does and what the carried bodies feel:
//!
//! - j carries i (or shares its joint): ∂τᵢ/∂qⱼ = Sᵢᵀ (2Bᵢ Ψ̇ⱼ + Iᵢ Ψ̈ⱼ), ∂τᵢ/∂vⱼ = Sᵢᵀ (2Bᵢ Sⱼ + Iᵢ (Ψ̇ⱼ + Ṡⱼ));
//! - i carries j: ∂τᵢ/∂qⱼ = Sᵢᵀ (2Bⱼ Ψ̇ⱼ + Iⱼ Ψ̈ⱼ + Sⱼ ×* fⱼ), ∂τᵢ/∂vⱼ = Sᵢᵀ (2Bⱼ Sⱼ + Iⱼ (Ψ̇ⱼ + Ṡⱼ)),
//!
//! where I, B and f are those of the body with all that it carries, Ψ̇ = v_λ × S and Ψ̈ = a_λ × S + v_λ × Ψ̇.

use core::ops::Range;

use super::inverse::accelerate_bodies;
use super::{Dynamics, check_external, mass_matrix};
use crate::input::{InputError, check_length};
use crate::linalg::{MatMut, chunk_mut};
use crate::memory::{Values, clear, rest_mut, run_mut, within_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Coriolis, Force, Motion};

/// Columns that stand side by side: as many as fill a vector.
const LANES: usize = if cfg!(target_arch = "arm") { 1 } else { 4 };

type Lanes<T> = [T; LANES];

/// What some columns bring to the rows that they meet, number by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<T> {
    /// To the rows that they carry: angular Ψ̇, then Ψ̈.
    carry_q: [Lanes<T>; 9],
    /// Angular S, then Ψ̇ + Ṡ.
    carry_v: [Lanes<T>; 9],
    /// To the rows that carry them: 2B Ψ̇ + I Ψ̈ + S ×* f.
    carried_q: [Lanes<T>; 6],
    /// 2B S + I (Ψ̇ + Ṡ).
    carried_v: [Lanes<T>; 6],
}

/// Blocks of columns for so many degrees of freedom.
pub(super) const fn column_blocks(nv: usize) -> usize {
    nv.div_ceil(LANES)
}

impl<T: Real> Columns<T> {
    /// What column `lane` brings to the rows that it carries.
    #[inline(always)]
    fn put_carrier(
        &mut self,
        lane: usize,
        axis: &Motion<T>,
        drift: &Motion<T>,
        drift_rate: &Motion<T>,
        rate: &Motion<T>,
    ) {
        let (w, u) = (&axis.angular, &drift.angular);
        let ([a, b, c, d, e, f], [m, n, o, p, q, r]) = (drift_rate.to_array(), (*drift + *rate).to_array());
        put(&mut self.carry_q, lane, [u.x, u.y, u.z, a, b, c, d, e, f]);
        put(&mut self.carry_v, lane, [w.x, w.y, w.z, m, n, o, p, q, r]);
    }
}

/// Writes a column of lanes.
#[inline(always)]
fn put<T: Real, const N: usize>(to: &mut [Lanes<T>; N], lane: usize, numbers: [T; N]) {
    for (to, x) in to.iter_mut().zip(numbers) {
        to[lane % LANES] = x;
    }
}

/// Σ factor · lanes, in the order of the factors.
#[inline(always)]
fn combine<T: Real, const N: usize>(factors: &[T; N], lanes: &[Lanes<T>; N]) -> Lanes<T> {
    let mut sum = [T::ZERO; LANES];
    for (factor, lanes) in factors.iter().zip(lanes) {
        sum = core::array::from_fn(|lane| factor.mul_add(lanes[lane], sum[lane]));
    }
    sum
}

impl<T: Real> Default for Columns<T> {
    fn default() -> Self {
        let zero = [T::ZERO; LANES];
        Self { carry_q: [zero; 9], carry_v: [zero; 9], carried_q: [zero; 6], carried_v: [zero; 6] }
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
    inverse_derivatives_prepared(model, acceleration, (external, |_| ()), out, work)
}

/// The same where [`mass_matrix`] has been called already. Wrenches that are known in the working frame are subtracted from the
/// forces on the bodies, the world's first, by `subtract`.
pub(crate) fn inverse_derivatives_prepared<T: Real>(
    model: Model<'_, T>,
    acceleration: &[T],
    (external, subtract): (&[Force<T>], impl FnOnce(&mut [Force<T>])),
    mut out: MatMut<'_, T>,
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_length("acceleration", model.nv(), acceleration.len())?;
    check_length("derivative rows", model.nv(), out.rows())?;
    check_length("derivative columns", 2 * model.nv(), out.cols())?;
    check_external(&model, external)?;
    accelerate_bodies(model, |dof| acceleration.at(dof), external, work);
    subtract(work.force);
    write_derivatives(model, &mut out, work);
    Ok(())
}

/// The first 2nv columns of `out`, from accelerations, forces and composite inertias that are already there.
pub(super) fn write_derivatives<T: Real>(model: Model<'_, T>, out: &mut MatMut<'_, T>, work: &mut Dynamics<'_, T>) {
    prepare_columns(model, work);
    add_up_factors(model, work);
    for body in model.bodies.iter().rev() {
        for dof in body.v_range() {
            write_row(model, (body.v_range(), dof), out, work);
        }
    }
}

/// From the leaves: the factors of each row, and what each column brings to the rows that carry it.
fn add_up_factors<T: Real>(model: Model<'_, T>, work: &mut Dynamics<'_, T>) {
    for (index, body) in model.indexed_bodies().rev() {
        let parent = body.parent.index();
        for dof in body.v_range() {
            if write_factors(index, dof, work).is_none() {
                return;
            }
        }
        let (coriolis, force) = (work.scratch.coriolis.at(index), work.force.at(index));
        work.scratch.coriolis.change(parent, |x| *x += coriolis);
        work.force.change(parent, |x| *x += force);
    }
}

/// What each column brings to the rows that it carries, and the Coriolis matrix of each body alone.
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
            let (Some(axis), Some(drift), Some(rate), Some(columns)) = (
                kinematics.axis.get(dof),
                kinematics.axis_drift.get(dof),
                kinematics.axis_rate.get(dof),
                scratch.columns.get_mut(dof / LANES),
            ) else {
                return;
            };
            let drift_rate = parent_acceleration.cross(axis) + parent_velocity.cross(drift);
            columns.put_carrier(dof % LANES, axis, drift, &drift_rate, rate);
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

/// Row `dof` of a joint: the columns that carry it or share its joint, those that it carries, and zero in the others.
#[inline(always)]
fn write_row<T: Real>(
    model: Model<'_, T>,
    (joint, dof): (Range<usize>, usize),
    out: &mut MatMut<'_, T>,
    work: &Dynamics<'_, T>,
) {
    let (nv, stride) = (model.nv(), out.stride());
    let Some(factors) = work.scratch.row_factors.get(dof) else { return };
    let Some(axis) = work.kinematics.axis.get(dof).map(Motion::to_array) else { return };
    let row = rest_mut(out.data_mut(), dof * stride);
    let wide = stride.min(row.len());
    let mut row = Row { numbers: run_mut(row, 0, wide), nv };
    let columns = &*work.scratch.columns;
    // From right to left: whole blocks begin before what they are for.
    let carried = joint.end..model.tree.descendants(joint.end - 1).end.max(joint.end);
    row.clear(carried.end..nv);
    row.put_blocks(carried, columns, |block| [combine(&axis, &block.carried_q), combine(&axis, &block.carried_v)]);
    let mut after = joint.end;
    for run in model.tree.runs(joint.end - 1) {
        row.clear(run.end..after);
        after = run.start;
        row.put_blocks(run, columns, |block| [combine(factors, &block.carry_q), combine(factors, &block.carry_v)]);
    }
    row.clear(0..after);
}

/// A row of the derivative: columns of q, of v, and what is beyond them.
struct Row<'a, T> {
    numbers: &'a mut [T],
    nv: usize,
}

impl<T: Real> Row<'_, T> {
    /// Writes some columns, and those before them in the same block.
    #[inline(always)]
    fn put_blocks(
        &mut self,
        cols: Range<usize>,
        columns: &[Columns<T>],
        numbers: impl Fn(&Columns<T>) -> [Lanes<T>; 2],
    ) {
        let mut at = cols.start / LANES * LANES;
        for block in columns.iter().skip(cols.start / LANES) {
            if at >= cols.end {
                return;
            }
            let [q, v] = numbers(block);
            self.put_lanes(at..cols.end, q);
            self.put_lanes(self.nv + at..self.nv + cols.end, v);
            at += LANES;
        }
    }

    /// Writes all lanes, or those of the range if it is shorter: then what stands after it is put back, so that only whole
    /// vectors are written. Number by number, all that leads here would be computed so.
    #[inline(always)]
    fn put_lanes(&mut self, cols: Range<usize>, lanes: Lanes<T>) {
        if cols.len() >= LANES {
            if let Some(place) = chunk_mut(self.numbers, cols.start) {
                *place = lanes;
            }
            return;
        }
        let Some(after) = chunk_mut::<T, LANES>(self.numbers, cols.end).map(|after| *after) else {
            // No room for whole vectors at the end of the row: a call to copy.
            return within_mut(self.numbers, cols).iter_mut().zip(lanes).for_each(|(to, x)| *to = x);
        };
        for (at, lanes) in [(cols.start, lanes), (cols.end, after)] {
            if let Some(place) = chunk_mut(self.numbers, at) {
                *place = lanes;
            }
        }
    }

    /// Zero in some columns of q and of v.
    #[inline(always)]
    fn clear(&mut self, cols: Range<usize>) {
        if !cols.is_empty() {
            clear(within_mut(self.numbers, cols.clone()));
            clear(within_mut(self.numbers, self.nv + cols.start..self.nv + cols.end));
        }
    }
}

/// Left factors of row `dof`, and what column `dof` brings to the rows that carry it.
#[inline(always)]
fn write_factors<T: Real>(index: usize, dof: usize, work: &mut Dynamics<'_, T>) -> Option<()> {
    let Dynamics { kinematics, scratch, composite, unit_momentum, force, .. } = work;
    let (inertia, coriolis) = (composite.get(index)?, scratch.coriolis.get(index)?);
    let (axis, drift) = (kinematics.axis.get(dof)?, kinematics.axis_drift.get(dof)?);
    let velocity = *drift + *kinematics.axis_rate.get(dof)?;
    let turned_force = axis.cross_force(force.get(index)?);
    let column_q = coriolis.multiply_add(drift, &(*inertia * *scratch.drift_rate.get(dof)?)) + turned_force;
    let column_v = coriolis.multiply_add(axis, &(*inertia * velocity));
    let columns = scratch.columns.get_mut(dof / LANES)?;
    put(&mut columns.carried_q, dof % LANES, column_q.to_array());
    put(&mut columns.carried_v, dof % LANES, column_v.to_array());
    let (b, [f, g, h, i, j, k]) = (coriolis.transposed_angular(axis), unit_momentum.get(dof)?.to_array());
    *scratch.row_factors.get_mut(dof)? = [b.x, b.y, b.z, f, g, h, i, j, k];
    Some(())
}
