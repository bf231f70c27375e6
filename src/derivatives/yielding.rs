//! The Jacobian where every constraint gives way: each is a spring in the mass matrix, not a row of a system.
//!
//! A relaxed constraint has Δλ = −K (J Δv⁺ + r) with K = E⁻¹, 3 × 3 at most. Put into the dynamics,
//!
//! (M + Jᵀ K J) (Δv⁺ − dv) = −Δt Z − Jᵀ K (r + J dv),
//!
//! and since a contact with the ground hangs on one chain of joints, M + Jᵀ K J is as sparse as M, and what two feet have
//! in common is the trunk alone. K is symmetric but for how friction grows with the load, one column per contact. So
//! M′ = M + Jᵀ K_s J = Lᵀ D L is factored along the tree, and the rest, one row and one column per contact, is a system of
//! its own: with u = L⁻ᵀ J_Tᵀ K_TN and w = D⁻¹ L⁻ᵀ J_Nᵀ, (M′ + u wᵀ)⁻¹ needs the factor of 1 + wᵀ u.
//!
//! Springs far stiffer than the robot is heavy would cost digits, and contacts between moving bodies sparsity: then the
//! rows stay in the system of the active modes.

use super::ground_terms::moving_side;
use super::jacobian::Softness;
use super::system::proximal;
use super::{Derivatives, Quality, response};
use crate::contact::{Constraint, Law, Problem, Source};
use crate::linalg::{
    MatMut, MatRef, add_at_b, add_few_rows, exchange_rows, lu, mix_three_rows, padded, solve_lower, solve_unit_lower,
    three_rows, transpose, tree,
};
use crate::memory::{copy, first, run, run_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{Step, StepSettings};

/// What K may be at most, over 1/G: digits lost are as many as it has.
fn stiffest<T: Real>() -> T {
    T::from_f64(16384.0)
}

/// Factors M′ and the system of friction's growth with the load; false where the constraints must stay rows.
/// O(nv · depth² + contacts² · nv).
pub(super) fn factorize<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    settings: &StepSettings<T, S>,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
    quality: &mut Quality<T>,
) -> bool {
    let compliance = settings.stabilization.compliance_m_n / (settings.dt_s * settings.dt_s);
    if out.impulses_wanted || !find_springs(model, compliance, work, out) {
        return false;
    }
    add_springs(model, work, out);
    let (nv, stride) = (model.nv(), model.dims().stride());
    let factor = MatMut::with_stride(out.integration, nv, nv, stride);
    if tree::factorize(model.tree, factor, out.inverse_pivots).is_err() {
        return false;
    }
    let factored = factorize_growth(model, work, out, quality);
    if factored {
        number_rows(work, out);
    }
    factored
}

/// K of each constraint; false if one is too stiff, holds without giving way, or is no matter of one chain.
fn find_springs<T: Real>(model: Model<'_, T>, compliance: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) -> bool {
    let problem = work.assembly.problem();
    let mut contacts = work.collision.contacts().iter();
    let laws = problem.constraints.iter().zip(&*out.linear).zip(&*out.softness).zip(&mut *out.springs);
    for (((constraint, linear), softness), spring) in laws {
        let own = proximal::<T>() / linear.stiffness;
        let found = match constraint.law {
            Law::Bilateral => None,
            Law::DryFriction { .. } => Some(lone(softness[0][0] + own)),
            Law::Unilateral => Some(lone(softness[0][0] + own + compliance)),
            Law::Contact { .. } => {
                let on_chain = contacts.next().is_some_and(|contact| moving_side(model, contact).is_some());
                let spring = invert(softness, own + compliance);
                (on_chain && is_moderate(&spring, constraint, &problem)).then_some(spring)
            }
        };
        let Some(found) = found else { return false };
        *spring = found;
    }
    true
}

/// K of a single row.
fn lone<T: Real>(softness: T) -> Softness<T> {
    let o = [T::ZERO; 3];
    [[T::ONE / softness, T::ZERO, T::ZERO], o, o]
}

/// (E + diagonal)⁻¹ of a contact, whose normal velocity depends on the normal impulse alone.
fn invert<T: Real>(softness: &Softness<T>, diagonal: T) -> Softness<T> {
    let [[a, b, x], [c, d, y], [_, _, normal]] = *softness;
    let (a, d, normal) = (a + diagonal, d + diagonal, T::ONE / (normal + diagonal));
    let scale = T::ONE / (a * d - b * c);
    let [[a, b], [c, d]] = [[d * scale, -b * scale], [-c * scale, a * scale]];
    let growth = [a * x + b * y, c * x + d * y].map(|x| -x * normal);
    [[a, b, growth[0]], [c, d, growth[1]], [T::ZERO, T::ZERO, normal]]
}

/// Whether a spring is no stiffer than digits allow; one that is no number is.
fn is_moderate<T: Real>(spring: &Softness<T>, constraint: &Constraint<T>, problem: &Problem<'_, T>) -> bool {
    constraint.rows().zip(spring).all(|(row, k)| {
        let mobility = entry(problem.delassus, row, row);
        k.iter().all(|k| k.abs() * mobility <= stiffest())
    })
}

/// R has one row for each row of the problem, in their order and not scaled.
fn number_rows<T: Real>(work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let problem = work.assembly.problem();
    for (linear, constraint) in out.linear.iter_mut().zip(problem.constraints) {
        (linear.first, linear.stiffness) = (constraint.first_row, T::ONE);
    }
    (out.unknowns, out.rank) = (problem.rows(), problem.rows());
    for (k, place) in out.place.iter_mut().enumerate().take(problem.rows()) {
        *place = k as u16;
    }
}

/// M′ into `out.integration`, and J into the columns of v of R.
fn add_springs<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, stride, wide) = (model.nv(), model.dims().stride(), out.stride());
    let jacobian = work.assembly.jacobian_transposed();
    copy(out.integration, work.dynamics.mass_matrix);
    add_to_diagonal(out.integration, stride, work.implicit_inertia);
    for (constraint, spring, last) in springs(model, work, out.springs) {
        let row = usize::from(constraint.first_row);
        let Some(last) = last else {
            let Some(dof) = lone_dof(constraint) else { continue };
            if let Some(j) = out.rows.get_mut(row * wide + nv + dof) {
                *j = entry(jacobian, dof, row);
            }
            if let Some(m) = out.integration.get_mut(dof * stride + dof) {
                *m += spring[0][0];
            }
            continue;
        };
        let [x, y, z] = three_rows(out.rows, row, wide);
        let [a, b, c] = three_rows(out.left, 0, padded(nv));
        // Zero in the padding, for whole vectors.
        for row in [&mut *x, &mut *y, &mut *z] {
            run_mut(row, 2 * nv, padded(2 * nv) - 2 * nv).fill(T::ZERO);
        }
        for row in [&mut *a, &mut *b, &mut *c] {
            run_mut(row, nv, padded(nv) - nv).fill(T::ZERO);
        }
        let [x, y, z] = [x, y, z].map(|row| run_mut(row, nv, nv));
        let lines = jacobian.data().chunks_exact(jacobian.stride().max(1));
        let products = a.iter_mut().zip(&mut *b).zip(&mut *c);
        for ((((line, x), y), z), ((a, b), c)) in lines.zip(x).zip(y).zip(z).zip(products) {
            [*x, *y, *z] = triple(line, row);
            *a = spring[0][1].mul_add(*y, spring[0][0] * *x);
            *b = spring[1][1].mul_add(*y, spring[1][0] * *x);
            *c = spring[2][2] * *z;
        }
        for dof in model.tree.runs(last).flatten() {
            let (line, j) = (run_mut(out.integration, dof * stride, stride), triple(jacobian.row(dof), row));
            // What is above the diagonal does not matter.
            for cols in model.tree.cover(last, padded(dof + 1)) {
                let products = out.left.get(cols.start..).unwrap_or_default();
                add_few_rows(run_mut(line, cols.start, cols.len()), &j, (products, padded(nv)));
            }
        }
    }
}

fn add_to_diagonal<T: Real>(matrix: &mut [T], stride: usize, numbers: &[T]) {
    for (k, (row, x)) in matrix.chunks_exact_mut(stride.max(1)).zip(numbers).enumerate() {
        if let Some(entry) = row.get_mut(k) {
            *entry += *x;
        }
    }
}

/// E = L_C⁻¹ wᵀ and F = U_C⁻ᵀ uᵀ with L_C U_C = 1 + wᵀ u; false if there is no such factor.
fn factorize_growth<T: Real>(
    model: Model<'_, T>,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
    quality: &mut Quality<T>,
) -> bool {
    let (nv, count) = (model.nv(), contacts(work));
    if count == 0 {
        return true;
    }
    let stride = padded(2 * count);
    let sides = run_mut(out.held_by, 0, nv * stride);
    sides.fill(T::ZERO);
    let jacobian = work.assembly.jacobian_transposed();
    let on_chains = springs(model, work, out.springs).filter_map(|(c, spring, last)| Some((c, spring, last?)));
    for (k, (constraint, spring, last)) in on_chains.enumerate() {
        for dof in model.tree.runs(last).flatten() {
            let [x, y, normal] = triple(jacobian.row(dof), usize::from(constraint.first_row));
            let (u, w) = run_mut(sides, dof * stride, 2 * count).split_at_mut_checked(count).unwrap_or_default();
            if let (Some(u), Some(w)) = (u.get_mut(k), w.get_mut(k)) {
                (*u, *w) = (spring[1][2].mul_add(y, spring[0][2] * x), normal);
            }
        }
    }
    let mut halves = MatMut::with_stride(sides, nv, 2 * count, stride);
    let factor = MatRef::with_stride(out.integration, nv, nv, model.dims().stride());
    tree::half_solve_transposed(model.tree, factor, halves.reborrow());
    for (row, inverse) in halves.data_mut().chunks_exact_mut(stride.max(1)).zip(&*out.inverse_pivots) {
        run_mut(row, count, count).iter_mut().for_each(|w| *w *= *inverse);
    }
    let [u, w] = [0, count].map(|first| halves.as_ref().columns(first, count));
    let mut matrix = MatMut::with_stride(work.scratch.matrix, count, count, padded(count));
    matrix.fill(T::ZERO);
    for k in 0..count {
        if let Some(x) = matrix.row_mut(k).get_mut(k) {
            *x = T::ONE;
        }
    }
    add_at_b(matrix.reborrow(), w, u);
    let Ok(pivots) = lu(matrix.reborrow(), work.scratch.exchanges) else { return false };
    quality.pivot_ratio = pivots;
    let [mut left, mut right] =
        [&mut *out.left, &mut *out.right].map(|side| MatMut::with_stride(side, count, nv, padded(nv)));
    transpose(w, left.reborrow());
    transpose(u, right.reborrow());
    for (k, other) in work.scratch.exchanges.iter().enumerate().take(count) {
        exchange_rows(left.data_mut(), padded(nv), (k, usize::from(*other)));
    }
    solve_unit_lower(matrix.as_ref(), left);
    solve_lower(matrix.as_ref(), right);
    true
}

/// ∂v⁺/∂(q, v, u) from Z and R, in the place of Z. O(nv · depth · columns + contacts · nv · columns).
pub(super) fn write<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    add_forces(model, dt_s, work, out);
    let (nv, count, stride) = (model.nv(), contacts(work), out.stride());
    run_mut(out.rows, 0, count * stride).fill(T::ZERO);
    for (middle, inverse) in out.along.iter_mut().zip(&*out.inverse_pivots) {
        *middle = -(dt_s * *inverse);
    }
    let integration = core::mem::take(&mut out.integration);
    let factor = MatRef::with_stride(integration, nv, nv, model.dims().stride());
    response::solve(model.tree, factor, (count, None), out);
    out.integration = integration;
}

/// Z ← Z + Jᵀ K (r + J dv) / Δt.
fn add_forces<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, wide, rate) = (model.nv(), out.stride(), T::ONE / dt_s);
    let jacobian = work.assembly.jacobian_transposed();
    for (constraint, spring, last) in springs(model, work, out.springs) {
        let row = usize::from(constraint.first_row);
        let Some(last) = last else {
            let Some(dof) = lone_dof(constraint) else { continue };
            let force = entry(jacobian, dof, row) * spring[0][0] * rate;
            for column in [dof, nv + dof] {
                let change = out.rows.get(row * wide + column).copied().unwrap_or(T::ZERO);
                if let Some(z) = out.velocity.get_mut(dof * wide + column) {
                    *z = force.mul_add(change, *z);
                }
            }
            continue;
        };
        mix_three_rows(spring, three_rows(out.rows, row, wide).map(|row| run_mut(row, 0, padded(2 * nv))));
        for dof in model.tree.runs(last).flatten() {
            let line = run_mut(out.velocity, dof * wide, wide);
            let j = triple(jacobian.row(dof), row).map(|j| j * rate);
            // Along the chain for q and for v, or all at once.
            let both = if cfg!(target_arch = "arm") { 2 } else { 1 };
            for cols in model.tree.cover(last, padded(2 * nv)) {
                for first in [cols.start, nv + cols.start].into_iter().take(both) {
                    let changes = out.rows.get(row * wide + first..).unwrap_or_default();
                    add_few_rows(run_mut(line, first, cols.len()), &j, (changes, wide));
                }
            }
        }
    }
}

/// Each constraint with its spring, and the last degree of freedom of its chain if it is a contact.
fn springs<'s, T: Real>(
    model: Model<'s, T>,
    work: &'s Step<'_, T>,
    springs: &'s [Softness<T>],
) -> impl Iterator<Item = (&'s Constraint<T>, &'s Softness<T>, Option<usize>)> {
    let mut contacts = work.collision.contacts().iter();
    work.assembly.problem().constraints.iter().zip(springs).map(move |(constraint, spring)| {
        let contact = if matches!(constraint.law, Law::Contact { .. }) { contacts.next() } else { None };
        let side = contact.and_then(|contact| moving_side(model, contact));
        let last = side.and_then(|(body, _)| model.body(body)).and_then(|body| body.v_range().last());
        (constraint, spring, last)
    })
}

/// The degree of freedom that a limit or dry friction acts on.
fn lone_dof<T>(constraint: &Constraint<T>) -> Option<usize> {
    match constraint.source {
        Source::LowerLimit { dof } | Source::UpperLimit { dof } | Source::DryFriction { dof } => Some(usize::from(dof)),
        _ => None,
    }
}

fn contacts<T: Real>(work: &Step<'_, T>) -> usize {
    work.assembly.problem().constraints.iter().filter(|c| matches!(c.law, Law::Contact { .. })).count()
}

/// The three numbers of a contact in a row of Jᵀ.
#[inline(always)]
fn triple<T: Real>(line: &[T], row: usize) -> [T; 3] {
    first(run(line, row, 3))
}

#[inline(always)]
fn entry<T: Real>(matrix: MatRef<'_, T>, row: usize, column: usize) -> T {
    matrix.row(row).get(column).copied().unwrap_or(T::ZERO)
}
