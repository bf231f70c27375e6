//! The system of the active modes, A X = −B (dG λ + dg) with A = B G C + Q (Simple 2025, Eq. 11 and 26), as a factor.
//!
//! Where nothing slides, A is a part of G and symmetric: then rows that only repeat others, as of four points under a foot,
//! fall away. [`response`](super::response) says what becomes of it.

use core::ops::Range;

use super::ground_terms::Absorbed;
use super::jacobian::Part;
use super::patch_rows::{independent_rows, patch_length};
use super::{Derivatives, Quality, following, kinds, yielding};
use crate::contact::reduced::{self, number_unknowns};
use crate::contact::{Law, Mode, is_double};
use crate::linalg::{
    MatMut, MatRef, lu, padded, partial_dot, pivoted_cholesky, solve_lower, solve_unit_lower, solve_upper,
    subtract_rows_at_b,
};
use crate::memory::{Values, exchange, run, run_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{Gradient, Step, StepSettings};

/// The row of an equation that repeats others.
pub(super) const REDUNDANT: u16 = u16::MAX;

/// What a row must keep of its diagonal entry to count as independent: above what rounding leaves of a repeated one.
pub(super) fn independence<T: Real>() -> T {
    T::from_f64(if is_double::<T>() { 1e-11 } else { 1e-4 })
}

/// What keeps the system regular when points slide: far below what it is added to, far above round-off.
pub(super) fn proximal<T: Real>() -> T {
    T::EPSILON * T::from_f64(1e4)
}

/// Numbers the unknowns, and factors A into the solver's scratch memory. O(unknowns³).
pub(super) fn factorize<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (settings, part): (&StepSettings<T, S>, Part),
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Quality<T> {
    let count = work.assembly.len();
    let mut quality = Quality::new(work.impulses(), run(work.scratch.linear, 0, count), work.modes());
    let constraints = work.assembly.problem().constraints;
    let slides = |(l, c): (&reduced::Linear<T>, &crate::contact::Constraint<T>)| {
        matches!(c.law, Law::Contact { .. }) && l.mode == Mode::Slide
    };
    let relaxed = matches!(settings.gradient, Gradient::Relaxed { .. });
    out.symmetric = !(relaxed || out.linear.iter().zip(constraints).any(slides));
    out.limb_rows = 0;
    out.absorbed.fill(Absorbed::Nothing);
    out.yields = relaxed && part == Part::State && yielding::factorize(model, settings, work, out, &mut quality);
    if out.yields {
        out.held = false;
        return quality;
    }
    let rigid = settings.stabilization.compliance_m_n <= T::ZERO;
    if !out.symmetric {
        factorize_general(work, out, &mut quality);
    } else {
        number_rows(model, rigid, work, out);
        let free = part == Part::State && rigid && !out.impulses_wanted && out.unknowns < model.nv();
        let worthwhile = free && out.unknowns * out.columns() >= 2 * following::worthwhile::<T>();
        if worthwhile && following::factorize(model, settings.dt_s, work, out, &mut quality) {
            out.held = false;
            return quality;
        }
        factorize_symmetric(work, out, &mut quality);
    }
    out.held = out.symmetric && rigid && out.rank == out.nv() && !out.impulses_wanted;
    quality
}

/// Names the rows that hold, each for itself.
fn number_rows<T: Real>(model: Model<'_, T>, rigid: bool, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    for (linear, constraint) in out.linear.iter_mut().zip(work.assembly.problem().constraints) {
        (linear.first, linear.stiffness) = (constraint.first_row, T::ONE);
    }
    out.unknowns = collect_rows(model, rigid, work, out);
}

/// A is G at the rows that hold.
fn factorize_symmetric<T: Real>(work: &mut Step<'_, T>, out: &mut Derivatives<'_, T>, quality: &mut Quality<T>) {
    let problem = work.assembly.problem();
    let matrix = reduced::system(work.scratch.matrix, out.unknowns);
    let order = run_mut(out.order, 0, out.unknowns);
    let (rank, pivot) = pivoted_cholesky(problem.delassus, order, matrix, independence(), out.pivots);
    (out.rank, quality.pivot_ratio) = (rank, pivot);
    run_mut(out.place, 0, problem.rows()).fill(REDUNDANT);
    for (k, row) in run(out.order, 0, rank).iter().enumerate() {
        out.place.set(usize::from(*row), k as u16);
    }
}

/// The rows that hold, into `out.order`; of patches that give no way, six each. Returns their number.
fn collect_rows<T: Real>(model: Model<'_, T>, rigid: bool, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) -> usize {
    let (constraints, contacts) = (work.assembly.problem().constraints, work.collision.contacts());
    let first_contact = work.assembly.first_contact();
    let (flatness, patches) = (independence::<T>().sqrt(), rigid && contacts.len() > 2);
    // Nothing where the change of the impulses is asked for, or where constraints give way.
    let takes_up = rigid && !out.impulses_wanted;
    let absorbed = |all| if takes_up { all } else { Absorbed::Nothing };
    let (mut count, mut at) = (0, 0);
    let mut push = |rows: Range<usize>| {
        for row in rows {
            out.order.set(count, row as u16);
            count += 1;
        }
    };
    while at < constraints.len() {
        let sticking = || {
            let contacts = contacts.get(at.checked_sub(first_contact)?..).filter(|_| patches)?;
            let length = patch_length(model, contacts);
            let holds = |k: usize| out.linear.at(at + k).mode == Mode::Stick;
            if !(0..length).all(holds) {
                return None;
            }
            let rows = independent_rows(constraints.get(at..at + length)?, run(contacts, 0, length), flatness)?;
            Some((length, rows))
        };
        if let Some((length, rows)) = sticking() {
            rows.into_iter().for_each(|row| push(usize::from(row)..usize::from(row) + 1));
            run_mut(out.absorbed, at, length).fill(absorbed(Absorbed::Wrenches));
            at += length;
        } else {
            let constraint = constraints.at(at);
            let unknowns = out.linear.at(at).unknowns(&constraint.law);
            if unknowns > 0 {
                push(constraint.rows());
            }
            // Only a contact that sticks has three.
            if unknowns == 3 {
                out.absorbed.set(at, absorbed(Absorbed::Forces));
            }
            at += 1;
        }
    }
    count
}

/// A with what slides or gives way, by LU.
fn factorize_general<T: Real>(work: &mut Step<'_, T>, out: &mut Derivatives<'_, T>, quality: &mut Quality<T>) {
    let problem = work.assembly.problem();
    let count = problem.constraints.len();
    let unknowns = number_unknowns(problem.constraints, run_mut(out.linear, 0, count));
    (out.unknowns, out.rank) = (unknowns, unknowns);
    if unknowns == 0 {
        return;
    }
    let mut matrix = reduced::system(work.scratch.matrix, unknowns);
    reduced::write_system(&problem, run(out.linear, 0, count), unknowns, matrix.data_mut(), work.scratch.row);
    kinds::soften(&problem, out, matrix.reborrow());
    reduced::regularize(matrix.reborrow(), proximal());
    match lu(matrix, work.scratch.exchanges) {
        Ok(pivots) => quality.pivot_ratio = pivots,
        Err(_) => {
            quality.singular = true;
            out.rank = 0;
            run_mut(out.place, 0, unknowns).fill(REDUNDANT);
            return;
        }
    }
    for (k, place) in run_mut(out.order, 0, unknowns).iter_mut().enumerate() {
        *place = k as u16;
    }
    for k in 0..unknowns {
        exchange(out.order, k, usize::from(work.scratch.exchanges.at(k)));
    }
    for (k, equation) in run(out.order, 0, unknowns).iter().enumerate() {
        out.place.set(usize::from(*equation), k as u16);
    }
}

/// Z = −Eᵀ L_A⁻¹ R, where as many independent constraints as degrees of freedom hold: E is orthogonal, and what forces do
/// without the constraints makes no difference. O(nv³).
pub(super) fn follow_constraints<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, stride, factor) = (out.nv(), out.stride(), factor(work, out));
    let half = work.assembly.half_solved();
    for (row, column) in out.left.chunks_exact_mut(padded(nv).max(1)).zip(run(out.order, 0, nv)) {
        for (x, line) in row.iter_mut().zip(half.data().chunks_exact(half.stride().max(1))) {
            let Some(w) = line.get(usize::from(*column)) else { return };
            *x = *w;
        }
    }
    solve_lower(factor, MatMut::with_stride(out.left, nv, nv, padded(nv)));
    let wide = if out.bounces { 2 * nv } else { nv };
    solve_lower(factor, MatMut::with_stride(out.rows, nv, wide, stride));
    let rows = MatRef::with_stride(out.rows, nv, wide, stride);
    let left = MatRef::with_stride(out.left, nv, nv, padded(nv));
    subtract_rows_at_b(MatMut::with_stride(out.velocity, nv, wide, stride), left, rows);
}

/// r ← A⁻¹ (r + E z), then z ← z − Fᵀ r, with r in `multiplier`. Where A is not symmetric, E and F have it in them.
pub(super) fn resolve_vector<T: Real>(work: &Step<'_, T>, out: &Derivatives<'_, T>, multiplier: &mut [T], z: &mut [T]) {
    let [left, right] = out.sides();
    let r = run_mut(multiplier, 0, out.rank);
    for (k, r) in r.iter_mut().enumerate() {
        *r += partial_dot(left.row(k), z);
    }
    solve_symmetric(work, out, r);
    subtract_transposed(right, r, z);
}

/// The transpose: r = A⁻ᵀ F z, into `multiplier`, then z ← z − Eᵀ r.
pub(super) fn resolve_transposed<T: Real>(
    work: &Step<'_, T>,
    out: &Derivatives<'_, T>,
    multiplier: &mut [T],
    z: &mut [T],
) {
    let [left, right] = out.sides();
    let r = run_mut(multiplier, 0, out.rank);
    for (k, r) in r.iter_mut().enumerate() {
        *r = partial_dot(right.row(k), z);
    }
    solve_symmetric(work, out, r);
    subtract_transposed(left, r, z);
}

/// r ← A⁻¹ r where A is symmetric.
fn solve_symmetric<T: Real>(work: &Step<'_, T>, out: &Derivatives<'_, T>, r: &mut [T]) {
    if out.symmetric && out.rank > 0 {
        let factor = factor(work, out);
        solve_lower(factor, MatMut::new(r, out.rank, 1));
        solve_upper(factor, MatMut::new(r, out.rank, 1));
    }
}

/// r ← L_A⁻¹ r where A is not symmetric: R of a parameter goes with E so.
pub(super) fn divide_rows<T: Real>(work: &Step<'_, T>, out: &Derivatives<'_, T>, r: &mut [T]) {
    if !out.symmetric {
        solve_unit_lower(factor(work, out), MatMut::new(r, out.rank, 1));
    }
}

/// The transpose of [`divide_rows`].
pub(super) fn divide_rows_transposed<T: Real>(work: &Step<'_, T>, out: &Derivatives<'_, T>, r: &mut [T]) {
    if out.symmetric {
        return;
    }
    let factor = factor(work, out);
    for i in (0..out.rank).rev() {
        let minus = -r.at(i);
        for (r, l) in run_mut(r, 0, i).iter_mut().zip(factor.row(i)) {
            *r = minus.mul_add(*l, *r);
        }
    }
}

/// z ← z − Mᵀ r.
fn subtract_transposed<T: Real>(m: MatRef<'_, T>, r: &[T], z: &mut [T]) {
    for (k, r) in r.iter().enumerate() {
        for (z, m) in z.iter_mut().zip(m.row(k)) {
            *z = (-*r).mul_add(*m, *z);
        }
    }
}

pub(super) fn factor<'s, T: Real>(work: &'s Step<'_, T>, out: &Derivatives<'_, T>) -> MatRef<'s, T> {
    MatRef::with_stride(work.scratch.matrix, out.rank, out.rank, padded(out.unknowns))
}
