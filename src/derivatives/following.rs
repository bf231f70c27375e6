//! The Jacobian of a robot with limbs that stand, whose joints follow the rest of it.
//!
//! With the joints l that follow and the degrees of freedom A that carry them, x_l = p − T x_A, T = J_l⁻¹ J_A and
//! p = −J_l⁻¹ (r + J dv). What is left of the dynamics, M = Lᵀ D L, is as sparse as it was: with G = L_lA − L_ll T and
//! H = Gᵀ D_l L_ll, what A moves has the inertia Λ = L_Aᵀ D_A L_A + Gᵀ D_l G. So
//!
//! - a solve goes along the same tree with another factor: T in the rows of l, the factor of Λ in those of A;
//! - Z has H p / Δt more in the rows of A, and p stands where the solve would divide the rows of l by their pivots.
//!
//! There are no rows of E and F for what follows, and no factor of their system: legs cost less than if they hung in the air.
//! Rows that are left over, as of a sole under a leg of five joints, become rows of the free degrees of freedom by the same
//! elimination, and correct the solve as rows do in [`response`](super::response).

use super::chain_rows::{Chain, LANES};
use super::limbs::{self, Limb, ROWS};
use super::system::{self, REDUNDANT, independence};
use super::{Derivatives, Quality, limb_factor, response};
use crate::contact::{is_double, reduced};
use crate::linalg::tree::Tree;
use crate::linalg::{MatRef, System, chunk, chunk_mut, padded, partial_dot};
use crate::memory::{Values, clear, copy, run, run_mut, split_mut, within, within_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::Step;

/// Joints that follow times columns of the Jacobian, from which on a limb saves more in the solve than it takes to set up. In f32
/// that is measured on a Cortex-M7, where every multiply-add is an instruction of its own; it must be the same on all targets, or
/// their bits would differ.
pub(super) fn worthwhile<T: Real>() -> usize {
    if is_double::<T>() { 256 } else { 64 }
}

/// Finds limbs that stand, and factors the inertia of what is free and the system of the rows that are left over; false where
/// nothing follows, too little, or what follows hangs on too much. `out.order` has the rows that hold. O(nv · depth² + rows · nv).
#[inline(never)] // Else it takes room from robots without such limbs.
pub(super) fn factorize<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
    quality: &mut Quality<T>,
) -> bool {
    out.place.fill(REDUNDANT);
    for row in run(out.order, 0, out.unknowns) {
        out.place.set(usize::from(*row), 0);
    }
    let (following, pivot) = limbs::find(model, work, out);
    let left_over = out.unknowns - following;
    if 2 * left_over > following || following * out.columns() < out.standing * worthwhile::<T>() {
        return false;
    }
    if !limb_factor::write(model, dt_s, work, out) {
        return false;
    }
    quality.pivot_ratio = pivot.min(write_rest(model, dt_s, work, out));
    true
}

/// The rows that are left over: J into the columns of v of R, E, and the factor of their system, as far as they are independent;
/// and the places of all rows in R. Returns the smallest pivot over what it was. O(rows · (nv · depth + rows · nv)).
fn write_rest<T: Real>(model: Model<'_, T>, dt_s: T, work: &mut Step<'_, T>, out: &mut Derivatives<'_, T>) -> T {
    let (nv, stride, mut smallest) = (out.nv(), out.stride(), T::ONE);
    (out.rank, out.reach) = (0, 0);
    for k in 0..out.standing {
        let Some(limb) = out.limbs.get(k) else { continue };
        limb.rows().iter().for_each(|row| out.place.set(usize::from(*row), REDUNDANT));
        for i in limb.following().len()..limb.rows().len() {
            let Some(limb) = out.limbs.get(k) else { continue };
            let line = run_mut(out.rows, out.rank * stride + nv, nv);
            line.fill(T::ZERO);
            for run in model.tree.ancestor_runs(limb.following().start) {
                for dof in run {
                    line.set(dof, limb.combined(work.assembly.jacobian_transposed(), dof).at(i));
                }
            }
            if let Some(pivot) = add_row(model, dt_s, usize::from(limb.origin.at(i)), work, out) {
                smallest = smallest.min(pivot);
                let place = out.rank as u16 - 1;
                out.limbs.change(k, |limb| limb.place.set(i, place));
            }
        }
    }
    for k in 0..out.unknowns {
        let row = usize::from(out.order.at(k));
        if out.place.at(row) == REDUNDANT {
            continue;
        }
        let jacobian = work.assembly.jacobian_transposed();
        let lines = jacobian.data().chunks_exact(jacobian.stride().max(1));
        for (x, line) in run_mut(out.rows, out.rank * stride + nv, nv).iter_mut().zip(lines) {
            *x = line.at(row);
        }
        let pivot = add_row(model, dt_s, row, work, out);
        smallest = smallest.min(pivot.unwrap_or(T::ONE));
        out.place.set(row, if pivot.is_some() { out.rank as u16 - 1 } else { REDUNDANT });
    }
    // Rows of limbs come after those that are left over.
    out.limb_rows = 0;
    for limb in out.limbs.iter_mut().take(out.standing) {
        limb.first_row = out.rank + out.limb_rows;
        for (k, row) in limb.rows().iter().enumerate() {
            out.place.set(usize::from(*row), (limb.first_row + k) as u16);
        }
        for (k, dof) in limb.following().enumerate() {
            out.follows.set(dof, (out.limb_rows + k) as u16);
        }
        out.limb_rows += limb.rows().len();
    }
    smallest
}

/// Takes the row of J that stands at the next place of R, made of row `row` of the problem and others, unless it repeats those
/// before; returns what is left of its pivot, over that of the row.
fn add_row<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    row: usize,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Option<T> {
    let (nv, stride, wide, rank, unknowns) = (out.nv(), out.stride(), padded(out.nv()), out.rank, out.unknowns);
    let (before, own) = split_mut(out.left, rank * wide);
    let line = run_mut(own, 0, nv);
    copy(line, run(out.rows, rank * stride + nv, nv));
    let factor = MatRef::with_stride(out.integration, nv, nv, model.dims().stride());
    let (mut pivot, mut reach) = (T::ZERO, 0);
    for dof in (0..nv).rev() {
        let x = line.at(dof);
        if x != T::ZERO {
            reach = reach.max(dof + 1);
            pivot = (x * out.inverse_pivots.at(dof)).mul_add(x, pivot);
            for run in model.tree.ancestor_runs(dof) {
                for (sum, l) in within_mut(line, run.clone()).iter_mut().zip(within(factor.row(dof), run)) {
                    *sum = (-x).mul_add(*l, *sum);
                }
            }
        }
    }
    let diagonal = work.assembly.problem().delassus[(row, row)];
    let mut system = reduced::system(work.scratch.matrix, unknowns);
    for (k, other) in before.chunks_exact(wide.max(1)).enumerate().take(rank) {
        // E of the other row has −Δt and its inverse pivots in it.
        let mut entry = partial_dot(run(other, 0, nv), line) * (-T::ONE / dt_s);
        for l in 0..k {
            entry = (-system[(l, k)]).mul_add(system[(l, rank)], entry);
        }
        entry /= system[(k, k)];
        system[(k, rank)] = entry;
        pivot = (-entry).mul_add(entry, pivot);
    }
    let ratio = pivot / diagonal;
    if !(ratio > independence() && ratio.is_finite()) {
        return None;
    }
    system[(rank, rank)] = pivot.sqrt();
    for (x, inverse) in line.iter_mut().zip(&*out.inverse_pivots) {
        *x *= -(dt_s * *inverse);
    }
    clear(within_mut(own, nv..wide));
    (out.rank, out.reach) = (out.rank + 1, out.reach.max(reach));
    Some(ratio)
}

/// From R of the rows of limbs: p and the rows that are left over, and what p adds to Z. O(rows · chain · limbs).
pub(super) fn write_terms<T: Real>(model: Model<'_, T>, out: &mut Derivatives<'_, T>) {
    let limbs = core::mem::take(&mut out.limbs);
    for limb in limbs.iter().take(out.standing) {
        match limb.rows().len() {
            0 => {}
            1..=3 => write_limb::<T, 3>(model, limb, out),
            4..=6 => write_limb::<T, 6>(model, limb, out),
            7 => write_limb::<T, 7>(model, limb, out),
            _ => write_limb::<T, ROWS>(model, limb, out),
        }
    }
    out.limbs = limbs;
}

/// The same for one limb of up to N rows.
#[inline(never)]
fn write_limb<T: Real, const N: usize>(model: Model<'_, T>, limb: &Limb<T>, out: &mut Derivatives<'_, T>) {
    let (nv, chain) = (out.nv(), Chain { tree: model.tree, last: limb.following().end - 1 });
    if out.bounces {
        (0..2 * nv).step_by(LANES).for_each(|at| combine_columns::<T, N>(limb, at, out));
    } else {
        chain.for_each_vector(|at| combine_columns::<T, N>(limb, at, out));
    }
    // −J_l⁻¹ J dv = −T and −1, which stand in the rows of the factor.
    let stride = model.dims().stride();
    chain.for_each_vector(|at| {
        let mut particular = [[T::ZERO; LANES]; N];
        for (particular, dof) in particular.iter_mut().zip(limb.following()) {
            if let Some(line) = chunk::<T, LANES>(out.integration, dof * stride + at) {
                *particular = line.map(|x| -x);
            }
        }
        put_particular(limb, &particular, nv + at, out, |before, p| before + p);
    });
}

/// p = −J_l⁻¹ r, in one vector of columns.
#[inline(always)]
fn combine_columns<T: Real, const N: usize>(limb: &Limb<T>, at: usize, out: &mut Derivatives<'_, T>) {
    let (stride, mut rows) = (out.stride(), [[T::ZERO; LANES]; N]);
    for (k, row) in rows.iter_mut().enumerate().take(limb.rows().len()) {
        if let Some(line) = chunk::<T, LANES>(out.rows, (limb.first_row + k) * stride + at) {
            *row = *line;
        }
    }
    let mut combined = [[T::ZERO; LANES]; N];
    for (row, column) in rows.iter().zip(&limb.combination) {
        for (sum, x) in combined.iter_mut().zip(column) {
            *sum = core::array::from_fn(|lane| (-*x).mul_add(row[lane], sum[lane]));
        }
    }
    for (sum, place) in combined.iter().zip(limb.place) {
        if place != REDUNDANT
            && let Some(line) = chunk_mut::<T, LANES>(out.rows, usize::from(place) * stride + at)
        {
            *line = core::array::from_fn(|lane| line[lane] - sum[lane]);
        }
    }
    put_particular(limb, &combined, at, out, |_, p| p);
}

/// Puts p into the rows of what follows, in the way that `combine` says, and adds H p / Δt to Z, in one vector of columns.
#[inline(always)]
fn put_particular<T: Real, const N: usize>(
    limb: &Limb<T>,
    particular: &[[T; LANES]; N],
    at: usize,
    out: &mut Derivatives<'_, T>,
    combine: impl Fn(T, T) -> T,
) {
    let stride = out.stride();
    for (k, particular) in particular.iter().enumerate().take(limb.rows().len()) {
        if let Some(line) = chunk_mut::<T, LANES>(out.rows, (limb.first_row + k) * stride + at) {
            *line = core::array::from_fn(|lane| combine(line[lane], particular[lane]));
        }
    }
    let (first, count) = limb.carriers;
    for (carrier, lag) in run(out.carriers, first, count).iter().zip(run(out.lags, first, count)) {
        let Some(line) = chunk_mut::<T, LANES>(out.velocity, usize::from(*carrier) * stride + at) else { return };
        let mut sum = *line;
        for (particular, x) in particular.iter().zip(lag) {
            sum = core::array::from_fn(|lane| x.mul_add(particular[lane], sum[lane]));
        }
        *line = sum;
    }
}

/// ∂v⁺/∂(q, v, u) from Z and R, in the place of Z. O((nv · depth + rows · nv) · columns).
pub(super) fn write<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    for (middle, inverse) in out.along.iter_mut().zip(&*out.inverse_pivots) {
        *middle = -(dt_s * *inverse);
    }
    let (nv, rank) = (model.nv(), out.rank);
    let (integration, links) = (core::mem::take(&mut out.integration), core::mem::take(&mut out.links));
    let factor = MatRef::with_stride(integration, nv, nv, model.dims().stride());
    let symmetric = System::Symmetric { upper: system::factor(work, out), rate: T::ONE / dt_s };
    response::solve(Tree(links), factor, (rank, Some(symmetric)), out);
    (out.integration, out.links) = (integration, links);
}
