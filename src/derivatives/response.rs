//! The Jacobian: what the dynamics give, corrected by the constraints that hold.
//!
//! With the mass matrix M = Lᵀ D L, W = J L⁻¹ D^(−½), the system A of the active modes and Z of the dynamics,
//!
//! ∂v⁺ = dv − Δt L⁻¹ D⁻¹ (L⁻ᵀ Z − Fᵀ A⁻¹ (R + B J dv + E L⁻ᵀ Z)), E = −Δt B W D^(−½), F = −Cᵀ W D^½ / Δt,
//!
//! where B makes equations of rows and C impulses of unknowns. W is zero where no constraint hangs on a joint, as on the
//! arms of a robot that stands.

use super::{Derivatives, system};
use crate::linalg::tree::Tree;
use crate::linalg::{
    Correction, Given, MatMut, MatRef, System, padded, solve_corrected, solve_lower, solve_unit_lower, solve_upper,
};
use crate::memory::{Values, run, run_mut, split_mut, within};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::Step;

/// ∂v⁺/∂(q, v, u) from Z and R, in the place of Z; the change of the impulses, but for its sign, in that of R where it is
/// wanted. Where A is symmetric, E has been written before Z. O((nv · depth + rank · nv + rank²) · columns).
pub(super) fn write<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    if !out.symmetric {
        write_sides(dt_s, work, out);
    }
    for (middle, inverse) in out.along.iter_mut().zip(&*work.dynamics.inverse_pivots) {
        *middle = -(dt_s * *inverse);
    }
    let (small, rank, factor) = (system::factor(work, out), out.rank, work.dynamics.factor_view(model.dims()));
    let symmetric = (rank > 0 && out.symmetric).then(|| System::Symmetric { upper: small, rate: T::ONE / dt_s });
    solve(model.tree, factor, (rank, symmetric), out);
    if out.impulses_wanted {
        let (columns, stride) = (out.columns(), out.stride());
        if out.symmetric {
            run_mut(out.rows, 0, rank * stride).iter_mut().for_each(|x| *x *= dt_s);
        } else {
            solve_upper(small, MatMut::with_stride(out.rows, rank, columns, stride));
        }
    }
}

/// ∂v⁺ from Z and so many rows that correct it, with the factor of the mass matrix, and −Δt/D in `out.along`. F is that of
/// `out` unless a symmetric system is given. Rows of R after those are what [`following`](super::following) has for the joints
/// that follow.
pub(super) fn solve<T: Real>(
    tree: Tree<'_>,
    factor: MatRef<'_, T>,
    (rows, symmetric): (usize, Option<System<'_, T>>),
    out: &mut Derivatives<'_, T>,
) {
    let (nv, stride, columns) = (out.nv(), out.stride(), out.columns());
    let side = |x| MatRef::with_stride(x, rows, nv, padded(nv));
    let (correcting, given) = split_mut(out.rows, rows * stride);
    let correction = Correction {
        left: side(&*out.left),
        reach: if out.limb_rows > 0 { out.reach } else { nv },
        system: symmetric.unwrap_or(System::Divided { right: side(&*out.right) }),
        rows: MatMut::with_stride(correcting, rows, columns, stride),
        given: Given { of: if out.limb_rows > 0 { out.follows } else { &[] }, rows: given },
    };
    solve_corrected(tree, factor, out.along, correction, MatMut::with_stride(out.velocity, nv, columns, stride));
    out.add_velocity();
}

/// E and F, and B J added to the columns of v of R.
///
/// Where A is not symmetric it may be singular but for its proximal term, and dividing by it magnifies rounding. So E and R
/// are divided by L_A here, and F by U_A: Jacobian and products then have the same numbers, not only equal ones.
pub(super) fn write_sides<T: Real>(dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    if out.rank == 0 {
        return;
    }
    if out.symmetric {
        write_left(dt_s, work, out);
        return write_right(dt_s, work, out);
    }
    weigh_rows(dt_s, work, out);
    write_general_sides(work, out);
    let (nv, rank, stride, factor) = (out.nv(), out.rank, out.stride(), system::factor(work, out));
    solve_unit_lower(factor, MatMut::with_stride(out.left, rank, nv, padded(nv)));
    solve_unit_lower(factor, MatMut::with_stride(out.rows, rank, 2 * nv, stride));
    solve_lower(factor, MatMut::with_stride(out.right, rank, nv, padded(nv)));
}

/// What a row of W is multiplied by: −Δt D^(−½) on the left, −D^½ / Δt on the right, for each degree of freedom.
fn weigh_rows<T: Real>(dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let minus_rate = -T::ONE / dt_s;
    let weights = out.along.iter_mut().zip(&mut *out.half_along);
    for ((left, right), root) in weights.zip(work.assembly.root_pivots()) {
        (*left, *right) = (-(dt_s * *root), minus_rate / *root);
    }
}

/// E at the rows that are independent, where B and C are parts of the identity, and J added to the columns of v of R.
/// O(nv · rank).
pub(super) fn write_left<T: Real>(dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    if out.rank == 0 {
        return;
    }
    let (nv, stride, wide) = (out.nv(), out.stride(), padded(out.nv()).max(1));
    let (half, jacobian) = (work.assembly.half_solved(), work.assembly.jacobian_transposed());
    for (weight, root) in out.along.iter_mut().zip(work.assembly.root_pivots()) {
        *weight = -(dt_s * *root);
    }
    let rows = out.rows.chunks_exact_mut(stride).zip(out.left.chunks_exact_mut(wide));
    for ((row, left), column) in rows.zip(run(out.order, 0, out.rank)) {
        let at = usize::from(*column);
        let lines = half.data().chunks_exact(half.stride().max(1));
        for ((left, weight), line) in left.iter_mut().zip(&*out.along).zip(lines) {
            let Some(w) = line.get(at) else { return };
            *left = *w * *weight;
        }
        let lines = jacobian.data().chunks_exact(jacobian.stride().max(1));
        for (x, line) in run_mut(row, nv, nv).iter_mut().zip(lines) {
            let Some(j) = line.get(at) else { return };
            *x += *j;
        }
    }
}

/// F = E D / Δt², where A is symmetric. O(nv · rank).
fn write_right<T: Real>(dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (rate, wide) = (T::ONE / dt_s, padded(out.nv()).max(1));
    for (weight, root) in out.half_along.iter_mut().zip(work.assembly.root_pivots()) {
        *weight = (rate / *root) * (rate / *root);
    }
    let rows = out.left.chunks_exact(wide).zip(out.right.chunks_exact_mut(wide));
    for (left, right) in rows.take(out.rank) {
        for ((right, left), weight) in right.iter_mut().zip(left).zip(&*out.half_along) {
            *right = *left * *weight;
        }
    }
}

/// Where something slides or gives way. O(nv · rows).
fn write_general_sides<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, stride, wide) = (out.nv(), out.stride(), padded(out.nv()));
    let (half, jacobian) = (work.assembly.half_solved(), work.assembly.jacobian_transposed());
    for dof in 0..nv {
        let (w, j) = (half.row(dof), jacobian.row(dof));
        let (by_left, by_right) = (out.along.at(dof), out.half_along.at(dof));
        for (l, constraint) in out.linear.iter().zip(work.assembly.problem().constraints) {
            let (n, first) = (l.unknowns(&constraint.law), usize::from(l.first));
            let [mut equations, mut unknowns, mut velocities] = [[T::ZERO; 3]; 3];
            if n > 0 {
                l.equations(&constraint.law, within(w, constraint.rows()), run_mut(&mut equations, 0, n));
                l.gather(&constraint.law, within(w, constraint.rows()), run_mut(&mut unknowns, 0, n));
                l.equations(&constraint.law, within(j, constraint.rows()), run_mut(&mut velocities, 0, n));
            }
            for i in 0..n {
                let place = usize::from(out.place.at(first + i));
                out.left.set(place * wide + dof, equations.at(i) * by_left);
                out.right.set((first + i) * wide + dof, unknowns.at(i) * by_right);
                out.rows.change(place * stride + nv + dof, |x| *x += velocities.at(i));
            }
        }
    }
}
