//! The factor of a mass matrix some of whose joints follow others: T in their rows, the factor of Λ in those of A, what carries
//! them (see [`following`](super::following)).

use super::Derivatives;
use super::chain_rows::LANES;
use super::limbs::{Column, Limb, ROWS};
use crate::linalg::tree::{Link, Tree};
use crate::linalg::{MatRef, NOT_GIVEN};
use crate::memory::{Values, clear, copy, rest, run, run_mut, split_mut, within, within_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::Step;

/// L into `out.integration`, with T in the rows of what follows and the factor of Λ in those of A; false if Λ is not positive.
/// O(nv² + nv · depth²).
pub(super) fn write<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) -> bool {
    write_links(model, out);
    copy(out.integration, work.dynamics.factor);
    copy(out.inverse_pivots, work.dynamics.inverse_pivots);
    let (stride, source) = (model.dims().stride(), work.dynamics.factor_view(model.dims()));
    put_back(model.tree, source, out.touched, (out.integration, stride));
    for limb in out.limbs.iter().take(out.standing).filter(|limb| !limb.following().is_empty()) {
        let (first, count) = limb.carriers;
        let carriers = (run(out.carriers, first, count), run_mut(out.lags, first, count));
        let given = (source, work.assembly.jacobian_transposed());
        add_limb(limb, T::ONE / dt_s, given, (out.integration, stride), carriers);
        within_mut(out.inverse_pivots, limb.following()).fill(T::ZERO);
    }
    eliminate(model.tree, out.touched, (out.integration, stride), out.inverse_pivots)
}

/// The tree in which joints that follow are leaves. What carries them is marked: `out.touched` is one there, else zero.
fn write_links<T: Real>(model: Model<'_, T>, out: &mut Derivatives<'_, T>) {
    copy(out.links, model.tree.0);
    out.touched.fill(0);
    out.follows.fill(NOT_GIVEN);
    for limb in out.limbs.iter().take(out.standing) {
        let following = limb.following();
        let parent = model.tree.0.get(following.start).map_or(Link::ROOT, |link| link.parent);
        for dof in following.clone() {
            let run_start = dof as u16;
            out.links.set(dof, Link { parent, run_start, subtree_end: run_start + 1 });
        }
        if !following.is_empty() {
            for run in model.tree.ancestor_runs(following.start) {
                within_mut(out.touched, run).fill(1);
            }
        }
    }
}

/// T in the rows of what follows, with one on the diagonal, Λ + Gᵀ D_l G, and H / Δt in the columns of the carriers.
fn add_limb<T: Real>(
    limb: &Limb<T>,
    rate: T,
    (source, jacobian): (MatRef<'_, T>, MatRef<'_, T>),
    (factor, stride): (&mut [T], usize),
    (carriers, lags): (&[u16], &mut [Column<T>]),
) {
    let own = OwnFactor::of(limb, source);
    for dof in limb.following() {
        let row = run_mut(factor, dof * stride, stride);
        clear(row);
        row.set(dof, T::ONE);
    }
    for (carrier, lag) in carriers.iter().zip(&mut *lags) {
        let carrier = usize::from(*carrier);
        let transfer = limb.combined(jacobian, carrier);
        *lag = own.lag(limb, source, carrier, &transfer);
        for (k, dof) in limb.followers() {
            factor.set(dof * stride + carrier, transfer.at(k));
        }
    }
    // What carries a carrier comes after it.
    for (n, (carrier, lag)) in carriers.iter().zip(&*lags).enumerate() {
        let row = run_mut(factor, usize::from(*carrier) * stride, stride);
        let heavy: Column<T> = core::array::from_fn(|k| lag[k] * own.pivots[k]);
        for (other, carrier) in rest(lags, n).iter().zip(rest(carriers, n)) {
            row.change(usize::from(*carrier), |x| *x += dot(&heavy, other));
        }
    }
    let weighted = own.weighted(rate);
    for lag in lags {
        let mut sum = [T::ZERO; ROWS];
        for (row, x) in weighted.iter().zip(&*lag).take(limb.rows().len()) {
            sum = core::array::from_fn(|k| x.mul_add(row[k], sum[k]));
        }
        *lag = sum;
    }
}

/// L_Aᵀ D_A L_A in the rows of A, which `carries` marks.
fn put_back<T: Real>(tree: Tree<'_>, source: MatRef<'_, T>, carries: &[u16], (factor, stride): (&mut [T], usize)) {
    let marked = |dof: &usize| carries.at(*dof) != 0;
    for dof in (0..tree.len()).filter(marked) {
        clear(run_mut(factor, dof * stride, stride));
    }
    for dof in (0..tree.len()).filter(marked) {
        let (above, row) = split_mut(factor, dof * stride);
        let (line, pivot) = (source.row(dof), source[(dof, dof)]);
        for run in tree.ancestor_runs(dof) {
            for carrier in run.clone().rev() {
                add_chain(tree, carrier, run_mut(above, carrier * stride, stride), pivot * line.at(carrier), line);
            }
            for (x, l) in within_mut(row, run.clone()).iter_mut().zip(within(line, run)) {
                *x = pivot * *l;
            }
        }
        row.set(dof, pivot);
    }
}

/// The factor of Λ in its place, from the leaves to the root; false if it is not positive.
fn eliminate<T: Real>(
    tree: Tree<'_>,
    carries: &[u16],
    (factor, stride): (&mut [T], usize),
    inverse_pivots: &mut [T],
) -> bool {
    for dof in (0..tree.len()).rev().filter(|dof| carries.at(*dof) != 0) {
        let (above, own) = split_mut(factor, dof * stride);
        let pivot = own.at(dof);
        if !(pivot > T::ZERO && pivot.is_finite()) {
            return false;
        }
        let inverse = T::ONE / pivot;
        inverse_pivots.set(dof, inverse);
        for run in tree.ancestor_runs(dof) {
            for carrier in run.clone().rev() {
                add_chain(tree, carrier, run_mut(above, carrier * stride, stride), -(own.at(carrier) * inverse), own);
            }
        }
        for run in tree.ancestor_runs(dof) {
            within_mut(own, run).iter_mut().for_each(|x| *x *= inverse);
        }
    }
    true
}

/// row += factor · line on and left of column `dof`; by whole vectors where they are wide, because what stands on other branches
/// is zero and what stands right of the diagonal is not read.
#[inline(always)]
fn add_chain<T: Real>(tree: Tree<'_>, dof: usize, row: &mut [T], factor: T, line: &[T]) {
    if cfg!(target_arch = "arm") {
        for run in tree.runs(dof) {
            for (x, y) in within_mut(row, run.clone()).iter_mut().zip(within(line, run)) {
                *x = factor.mul_add(*y, *x);
            }
        }
        return;
    }
    for (x, y) in row.as_chunks_mut::<LANES>().0.iter_mut().zip(line.as_chunks::<LANES>().0).take(dof / LANES + 1) {
        *x = core::array::from_fn(|lane| factor.mul_add(y[lane], x[lane]));
    }
}

/// a · b.
#[inline(always)]
fn dot<T: Real>(a: &Column<T>, b: &Column<T>) -> T {
    let [p, q, r, s] = core::array::from_fn(|k| a[4 + k].mul_add(b[4 + k], a[k] * b[k]));
    (p + r) + (q + s)
}

/// L_ll and D_l of the joints that follow, each at the row that determines it.
struct OwnFactor<T> {
    /// L_ll without its diagonal, by columns.
    columns: [Column<T>; ROWS],
    /// Zero at rows that determine nothing, so what G has there counts for nothing.
    pivots: Column<T>,
}

impl<T: Real> OwnFactor<T> {
    #[inline(always)]
    fn of(limb: &Limb<T>, source: MatRef<'_, T>) -> Self {
        let zero = [T::ZERO; ROWS];
        let mut own = Self { columns: [zero; ROWS], pivots: zero };
        for (i, dof) in limb.followers() {
            let line = source.row(dof);
            own.pivots.set(i, line.at(dof));
            for (k, other) in limb.followers().filter(|(_, other)| *other < dof) {
                own.columns.change(k, |column| column.set(i, line.at(other)));
            }
        }
        own
    }

    /// The column of G = L_lA − L_ll T that belongs to one degree of freedom.
    #[inline(always)]
    fn lag(&self, limb: &Limb<T>, source: MatRef<'_, T>, carrier: usize, transfer: &Column<T>) -> Column<T> {
        let mut lag = [T::ZERO; ROWS];
        for (k, dof) in limb.followers() {
            lag.set(k, source.row(dof).at(carrier));
        }
        lag = core::array::from_fn(|k| lag[k] - transfer[k]);
        for (column, x) in self.columns.iter().zip(transfer).take(limb.rows().len()) {
            lag = core::array::from_fn(|k| (-*x).mul_add(column[k], lag[k]));
        }
        lag
    }

    /// D_l L_ll by rows, times `rate`.
    #[inline(always)]
    fn weighted(&self, rate: T) -> [Column<T>; ROWS] {
        core::array::from_fn(|i| {
            let weight = rate * self.pivots[i];
            core::array::from_fn(|k| weight * if k == i { T::ONE } else { self.columns[k][i] })
        })
    }
}
