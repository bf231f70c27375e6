//! The Jacobian where nothing slides: the inverse mass matrix, with the constraints held, times what changes.
//!
//! With X = M⁻¹, S = L_A⁻¹ (R + J dv) and E = L_A⁻¹ J X in one row per pivot, and Z of the dynamics,
//!
//! ∂v⁺ = dv − Δt (X − Eᵀ E) Z − Eᵀ S.
//!
//! A motor's column is one of X − Eᵀ E, and dv is no product at all: that is what X is formed for. Where something slides,
//! A may be singular but for its proximal term, and its factor magnifies rounding: there the way of the products is kept,
//! so that both give the same derivative.

use super::{Derivatives, motor_terms, system};
use crate::linalg::{
    MatMut, MatRef, multiply_in_place, padded, solve_lower, subtract_whole_rows, transpose, tree, write_sparse_product,
};
use crate::memory::{Values, rest_mut, run, run_mut, within_mut};
use crate::model::{Model, Transmission};
use crate::scalar::Real;
use crate::step::Step;

/// Degrees of freedom from which on X pays: below, the two halves of a solve are shorter (measured on a half-cheetah, 9;
/// an H1, 25, gains).
const LEAST_DOFS: usize = 12;

/// Whether the Jacobian is made here; otherwise by half-solved columns.
pub(super) fn applies<T: Real>(out: &Derivatives<'_, T>) -> bool {
    out.symmetric && !out.held && !out.impulses_wanted && out.nv() >= LEAST_DOFS
}

/// ∂v⁺/∂(q, v, u) from Z and R, in the place of Z. O(nv³ + rank · nv² + rank² · nv).
pub(super) fn write<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, dims) = (model.nv(), model.dims());
    let square = MatMut::with_stride(out.integration, nv, nv, dims.stride());
    tree::write_inverse(model.tree, work.dynamics.factor_view(dims), work.dynamics.inverse_pivots, square);
    if out.rank > 0 {
        write_side(model, work, out);
        hold(model, out);
    }
    multiply(model, dt_s, out);
    write_controls(model, dt_s, work, out);
}

/// S in the place of R, E, and its transpose.
fn write_side<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, rank, stride) = (out.nv(), out.rank, out.stride());
    let jacobian = work.assembly.jacobian_transposed();
    let inverse = MatRef::with_stride(out.integration, nv, nv, model.dims().stride());
    let left = MatMut::with_stride(out.left, rank, nv, padded(nv));
    // Where nothing bounces the columns of v are still to be written, and J can stand there at once.
    let (place, from) = if out.bounces { (&mut *out.right, padded(nv)) } else { (rest_mut(out.rows, nv), stride) };
    for (row, column) in place.chunks_mut(from.max(1)).zip(run(out.order, 0, rank)) {
        put_column(run_mut(row, 0, nv), (jacobian.data(), jacobian.stride()), usize::from(*column));
    }
    write_sparse_product(left, MatRef::with_stride(place, rank, nv, from), inverse);
    if out.bounces {
        for (row, plain) in
            out.rows.chunks_exact_mut(stride.max(1)).zip(out.right.chunks_exact(padded(nv).max(1))).take(rank)
        {
            within_mut(row, nv..2 * nv).iter_mut().zip(plain).for_each(|(x, plain)| *x += *plain);
        }
    }
    let factor = system::factor(work, out);
    solve_lower(factor, MatMut::with_stride(out.rows, rank, 2 * nv, stride));
    solve_lower(factor, MatMut::with_stride(out.left, rank, nv, padded(nv)));
    let left = MatRef::with_stride(out.left, rank, nv, padded(nv));
    transpose(left, MatMut::with_stride(out.held_by, nv, rank, padded(rank)));
}

/// A column of a matrix, as a row.
#[inline(always)]
fn put_column<T: Real>(row: &mut [T], (matrix, stride): (&[T], usize), column: usize) {
    for (x, line) in row.iter_mut().zip(matrix.chunks_exact(stride.max(1))) {
        let Some(entry) = line.get(column) else { return };
        *x = *entry;
    }
}

/// X ← X − Eᵀ E.
fn hold<T: Real>(model: Model<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, rank, stride) = (model.nv(), out.rank, model.dims().stride());
    let held_by = MatRef::with_stride(out.held_by, nv, rank, padded(rank));
    let left = MatRef::with_stride(out.left, rank, nv, padded(nv));
    subtract_whole_rows(MatMut::with_stride(out.integration, nv, nv, stride), held_by, left);
}

/// Z ← dv − Δt X Z − Eᵀ S.
fn multiply<T: Real>(model: Model<'_, T>, dt_s: T, out: &mut Derivatives<'_, T>) {
    let (nv, rank, stride) = (model.nv(), out.rank, out.stride());
    let inverse = MatRef::with_stride(out.integration, nv, nv, model.dims().stride());
    let held_by = MatRef::with_stride(out.held_by, if rank > 0 { nv } else { 0 }, rank, padded(rank));
    let rows = MatRef::with_stride(out.rows, rank, 2 * nv, stride);
    let z = MatMut::with_stride(out.velocity, nv, 2 * nv, stride);
    multiply_in_place(z, (inverse, -dt_s), (held_by, rows), out.band);
    out.add_velocity();
}

/// The columns of the controls: Δt X ∂τ/∂u.
fn write_controls<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, stride) = (model.nv(), out.stride());
    let inverse = MatRef::with_stride(out.integration, nv, nv, model.dims().stride());
    let mut first = 0;
    while first < model.nu() {
        let (rows, column) = (out.velocity.chunks_exact_mut(stride.max(1)), 2 * nv + first);
        // Motors of joints that follow each other, as most do, all at once.
        let (dof, count) = joints_in_a_row(model, first);
        if count > 0 {
            let push = run_mut(out.push, 0, count);
            for (k, push) in push.iter_mut().enumerate() {
                motor_terms::visit_dofs(model, work, first + k, |_, force| *push = dt_s * force);
            }
            for (row, inverse) in rows.zip(inverse.data().chunks_exact(inverse.stride().max(1))) {
                let (Some(out), Some(entries)) = (row.get_mut(column..column + count), inverse.get(dof..dof + count))
                else {
                    return;
                };
                multiply_entries(out, entries, push);
            }
        } else {
            rows.for_each(|row| row.set(column, T::ZERO));
            motor_terms::visit_dofs(model, work, first, |dof, force| {
                for (i, row) in out.velocity.chunks_exact_mut(stride.max(1)).enumerate().take(nv) {
                    row.change(column, |x| *x += dt_s * force * inverse[(i, dof)]);
                }
            });
        }
        first += count.max(1);
    }
}

/// The degree of freedom of motor `first`, and how many motors from there on are on joints whose degrees of freedom follow
/// each other; none if it pulls at a frame.
fn joints_in_a_row<T: Real>(model: Model<'_, T>, first: usize) -> (usize, usize) {
    let mut found = (0, 0);
    for motor in model.actuators.iter().skip(first) {
        let Transmission::Joint { dof, .. } = motor.transmission else { break };
        let dof = usize::from(dof);
        if found.1 == 0 {
            found.0 = dof;
        } else if dof != found.0 + found.1 {
            break;
        }
        found.1 += 1;
    }
    found
}

/// out = a · b, number by number, in whole vectors as far as they go.
#[inline(always)]
fn multiply_entries<T: Real>(out: &mut [T], a: &[T], b: &[T]) {
    let ((out, out_rest), (a, a_rest), (b, b_rest)) =
        (out.as_chunks_mut::<4>(), a.as_chunks::<4>(), b.as_chunks::<4>());
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = core::array::from_fn(|k| a[k] * b[k]);
    }
    for ((out, a), b) in out_rest.iter_mut().zip(a_rest).zip(b_rest) {
        *out = *a * *b;
    }
}
