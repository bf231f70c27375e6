//! The system of the active modes, A X = −B (dG λ + dg) with A = B G C + Q (Simple 2025, Eq. 11 and 26), as a factor.
//!
//! With W = D^(−½) L^(−ᵀ) Jᵀ and A = L_A U_A, the change of the impulses adds −Fᵀ (E Z + L_A⁻¹ R) to half-solved columns Z,
//! where E = L_A⁻¹ B Wᵀ and F = U_A⁻ᵀ Cᵀ Wᵀ have one row per pivot. Where nothing slides, A is a part of G and
//! symmetric: then E = F, and rows that only repeat others, as of four points under a foot, fall away.

use super::jacobian::Part;
use super::{Derivatives, Quality, kinds, yielding};
use crate::contact::reduced::{self, number_unknowns};
use crate::contact::{Law, Mode, is_double};
use crate::linalg::{
    MatMut, MatRef, add_rows_a_b, lu, padded, partial_dot, pivoted_cholesky, solve_lower, solve_unit_lower,
    solve_upper, subtract_rows_at_b,
};
use crate::memory::{copy, run, run_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{Gradient, Step, StepSettings};

/// The row of an equation that repeats others.
pub(super) const REDUNDANT: u16 = u16::MAX;

/// What a row must keep of its diagonal entry to count as independent: above what rounding leaves of a repeated one.
fn independence<T: Real>() -> T {
    T::from_f64(if is_double::<T>() { 1e-11 } else { 1e-4 })
}

/// What keeps the system regular when points slide: far below what it is added to, far above round-off.
pub(super) fn proximal<T: Real>() -> T {
    T::EPSILON * T::from_f64(1e4)
}

/// Numbers the unknowns, factors A into the solver's scratch memory, and writes E and F. O(unknowns³ + unknowns² · nv).
pub(super) fn factorize<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (settings, part): (&StepSettings<T, S>, Part),
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Quality<T> {
    let count = work.assembly.len();
    let mut quality = Quality::new(work.impulses(), &work.scratch.linear[..count], work.modes());
    let constraints = work.assembly.problem().constraints;
    let slides = |(l, c): (&reduced::Linear<T>, &crate::contact::Constraint<T>)| {
        matches!(c.law, Law::Contact { .. }) && l.mode == Mode::Slide
    };
    let relaxed = matches!(settings.gradient, Gradient::Relaxed { .. });
    out.symmetric = !(relaxed || out.linear.iter().zip(constraints).any(slides));
    out.yields = relaxed && part == Part::State && yielding::factorize(model, settings, work, out, &mut quality);
    if out.yields {
        out.held = false;
        return quality;
    }
    if !out.symmetric {
        factorize_general(work, out, &mut quality);
    } else {
        factorize_symmetric(work, out, &mut quality);
    }
    let rigid = settings.stabilization.compliance_m_n <= T::ZERO;
    out.held = out.symmetric && rigid && out.rank == out.nv() && !out.impulses_wanted;
    quality
}

/// A is G at the rows that hold.
fn factorize_symmetric<T: Real>(work: &mut Step<'_, T>, out: &mut Derivatives<'_, T>, quality: &mut Quality<T>) {
    let problem = work.assembly.problem();
    let mut count = 0;
    for (linear, constraint) in out.linear.iter_mut().zip(problem.constraints) {
        (linear.first, linear.stiffness) = (constraint.first_row, T::ONE);
        if linear.unknowns(&constraint.law) > 0 {
            for (place, row) in out.order.iter_mut().skip(count).zip(constraint.rows()) {
                *place = row as u16;
                count += 1;
            }
        }
    }
    out.unknowns = count;
    let matrix = reduced::system(work.scratch.matrix, count);
    let order = run_mut(out.order, 0, count);
    let (rank, pivot) = pivoted_cholesky(problem.delassus, order, matrix, independence(), out.pivots);
    (out.rank, quality.pivot_ratio) = (rank, pivot);
    run_mut(out.place, 0, problem.rows()).fill(REDUNDANT);
    write_places(out);
}

/// Where each equation stands in the order of the pivots.
fn write_places<T: Real>(out: &mut Derivatives<'_, T>) {
    for (k, row) in run(out.order, 0, out.rank).iter().enumerate() {
        if let Some(place) = out.place.get_mut(usize::from(*row)) {
            *place = k as u16;
        }
    }
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
    let order = run_mut(out.order, 0, unknowns);
    for (k, place) in order.iter_mut().enumerate() {
        *place = k as u16;
    }
    for (k, other) in work.scratch.exchanges.iter().enumerate().take(unknowns) {
        if usize::from(*other) < order.len() {
            order.swap(k, usize::from(*other));
        }
    }
    write_places(out);
}

/// E and F.
pub(super) fn write_sides<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, rank) = (out.nv(), out.rank);
    if rank == 0 {
        return;
    }
    if out.symmetric {
        let left = MatMut::with_stride(out.left, rank, nv, padded(nv));
        gather_symmetric(work, run(out.order, 0, rank), left);
    } else {
        gather_general(work, out);
    }
    let factor = factor(work, out);
    let [left, right] = [&mut *out.left, &mut *out.right].map(|side| MatMut::with_stride(side, rank, nv, padded(nv)));
    if out.symmetric {
        solve_lower(factor, left);
    } else {
        solve_unit_lower(factor, left);
        solve_lower(factor, right);
    }
}

/// Wᵀ in the order of the pivots. O(nv · rank).
fn gather_symmetric<T: Real>(work: &Step<'_, T>, order: &[u16], mut out: MatMut<'_, T>) {
    let (half, stride, nv) = (work.assembly.half_solved(), out.stride(), out.cols());
    for (line, column) in out.data_mut().chunks_mut(stride).zip(order) {
        let entries = half.data().chunks_exact(half.stride()).filter_map(|row| row.get(usize::from(*column)));
        for (x, w) in run_mut(line, 0, nv).iter_mut().zip(entries) {
            *x = *w;
        }
    }
}

/// P B Wᵀ and Cᵀ Wᵀ. O(nv · rows).
fn gather_general<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (half, constraints) = (work.assembly.half_solved(), work.assembly.problem().constraints);
    let stride = padded(half.rows());
    for dof in 0..half.rows() {
        let row = half.row(dof);
        for (l, constraint) in out.linear.iter().zip(constraints) {
            let (n, first) = (l.unknowns(&constraint.law), usize::from(l.first));
            let (mut equations, mut unknowns) = ([T::ZERO; 3], [T::ZERO; 3]);
            if n > 0 {
                l.equations(&constraint.law, &row[constraint.rows()], &mut equations[..n]);
                l.gather(&constraint.law, &row[constraint.rows()], &mut unknowns[..n]);
            }
            for i in 0..n {
                out.left[usize::from(out.place[first + i]) * stride + dof] = equations[i];
                out.right[(first + i) * stride + dof] = unknowns[i];
            }
        }
    }
}

/// Z = −Eᵀ L_A⁻¹ R, where as many independent constraints as degrees of freedom hold: E is orthogonal, and what forces do
/// without the constraints makes no difference. O(nv³).
pub(super) fn follow_constraints<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    write_sides(work, out);
    let (nv, stride, factor) = (out.nv(), out.stride(), factor(work, out));
    let wide = if out.bounces { 2 * nv } else { nv };
    solve_lower(factor, MatMut::with_stride(out.rows, nv, wide, stride));
    let rows = MatRef::with_stride(out.rows, nv, wide, stride);
    let left = MatRef::with_stride(out.left, nv, nv, padded(nv));
    subtract_rows_at_b(MatMut::with_stride(out.velocity, nv, wide, stride), left, rows);
}

/// Z ← Z − Fᵀ (E Z + L_A⁻¹ R): R in `out.rows`, in the order of the pivots, Z in `out.velocity`. O(rank · nv · columns).
pub(super) fn resolve<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    if out.rank == 0 {
        return;
    }
    let (nv, rank, symmetric) = (out.nv(), out.rank, out.symmetric);
    let stride = out.stride();
    if symmetric && !out.bounces {
        write_side_and_solve(work, out);
    } else {
        write_sides(work, out);
        let (wide, factor) = (if out.bounces { 2 * nv } else { nv }, factor(work, out));
        let varied = MatMut::with_stride(out.rows, rank, wide, stride);
        if symmetric {
            solve_lower(factor, varied);
        } else {
            solve_unit_lower(factor, varied);
        }
    }
    let mut rows = MatMut::with_stride(out.rows, rank, stride, stride);
    let mut z = MatMut::with_stride(out.velocity, nv, stride, stride);
    let side = |x| MatRef::with_stride(x, rank, nv, padded(nv));
    add_rows_a_b(rows.reborrow(), side(&*out.left), z.as_ref());
    subtract_rows_at_b(z.reborrow(), side(if symmetric { &*out.left } else { &*out.right }), rows.as_ref());
}

/// The change of the impulses, −U_A⁻¹ (E Z + L_A⁻¹ R), in the place of what [`resolve`] left. O(rank² · columns).
pub(super) fn find_impulses<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (rank, stride) = (out.rank, out.stride());
    if rank == 0 {
        return;
    }
    let factor = factor(work, out);
    let mut rows = MatMut::with_stride(out.rows, rank, stride, stride);
    solve_upper(factor, rows.reborrow());
    for k in 0..rank {
        rows.row_mut(k).iter_mut().for_each(|x| *x = -*x);
    }
}

/// E = L_A⁻¹ Wᵀ and L_A⁻¹ R in one go: R has no columns of v, so Wᵀ can stand there meanwhile.
fn write_side_and_solve<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, rank, stride) = (out.nv(), out.rank, out.stride());
    let by_velocity = MatMut::with_stride(out.rows.get_mut(nv..).unwrap_or_default(), rank, nv, stride);
    gather_symmetric(work, run(out.order, 0, rank), by_velocity);
    solve_lower(factor(work, out), MatMut::with_stride(out.rows, rank, 2 * nv, stride));
    for (row, left) in out.rows.chunks_mut(stride).zip(out.left.chunks_mut(padded(nv))).take(rank) {
        let by_velocity = run_mut(row, nv, nv);
        copy(run_mut(left, 0, nv), by_velocity);
        by_velocity.fill(T::ZERO);
    }
}

/// z ← z − Fᵀ (E z + L_A⁻¹ r), with r in `multiplier`.
pub(super) fn resolve_vector<T: Real>(work: &Step<'_, T>, out: &Derivatives<'_, T>, multiplier: &mut [T], z: &mut [T]) {
    let (factor, rank) = (factor(work, out), out.rank);
    let r = &mut multiplier[..rank];
    for i in 0..rank {
        if out.symmetric {
            let above = (0..i).fold(T::ZERO, |sum, j| factor[(j, i)].mul_add(r[j], sum));
            r[i] = (r[i] - above) / factor[(i, i)];
        } else {
            r[i] -= partial_dot(&factor.row(i)[..i], &r[..i]);
        }
    }
    let [left, right] = out.sides();
    for (k, r) in r.iter_mut().enumerate() {
        *r += partial_dot(left.row(k), z);
    }
    subtract_transposed(right, r, z);
}

/// The transpose: z ← z − Eᵀ F z, and r = L_A⁻ᵀ F z of the old z, into `multiplier`.
pub(super) fn resolve_transposed<T: Real>(
    work: &Step<'_, T>,
    out: &Derivatives<'_, T>,
    multiplier: &mut [T],
    z: &mut [T],
) {
    let (factor, rank) = (factor(work, out), out.rank);
    let [left, right] = out.sides();
    let r = &mut multiplier[..rank];
    for (k, r) in r.iter_mut().enumerate() {
        *r = partial_dot(right.row(k), z);
    }
    subtract_transposed(left, r, z);
    for i in (0..rank).rev() {
        if out.symmetric {
            r[i] = (r[i] - partial_dot(&factor.row(i)[i + 1..], &r[i + 1..])) / factor[(i, i)];
        } else {
            let minus = -r[i];
            for (r, l) in r[..i].iter_mut().zip(factor.row(i)) {
                *r = minus.mul_add(*l, *r);
            }
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
