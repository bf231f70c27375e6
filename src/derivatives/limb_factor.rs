//! The factor of a mass matrix some of whose joints follow others: T in their rows, the factor of Λ in those of A, what carries
//! them (see [`following`](super::following)).
//!
//! What carries limbs are few degrees of freedom: all that concerns them alone is done side by side, in rows of M numbers.

use super::Derivatives;
use super::limbs::{Column, FOLLOWING, Limb, ROWS};
use crate::linalg::tree::Link;
use crate::linalg::{MatRef, NOT_GIVEN};
use crate::memory::{Values, clear, copy, run, run_mut, within, within_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::Step;

/// L into `out.integration`, with T in the rows of what follows and the factor of Λ in those of A; false if Λ is not positive, or
/// if too many degrees of freedom carry limbs. O(nv² + nv · |A|²).
pub(super) fn write<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) -> bool {
    match write_links(model, out) {
        // A floating base; by whole vectors where they are wide.
        0..=6 if cfg!(target_arch = "arm") => write_in::<T, 6>(model, dt_s, work, out),
        0..=8 if !cfg!(target_arch = "arm") => write_in::<T, 8>(model, dt_s, work, out),
        0..=12 => write_in::<T, 12>(model, dt_s, work, out),
        _ => false,
    }
}

/// The tree in which joints that follow are leaves. In `out.touched` stands one more than the place of a degree of freedom among
/// those that carry them, zero where it is none of them. Returns their number.
fn write_links<T: Real>(model: Model<'_, T>, out: &mut Derivatives<'_, T>) -> usize {
    copy(out.links, model.tree.0);
    out.touched.fill(0);
    out.follows.fill(NOT_GIVEN);
    for limb in out.limbs.iter().take(out.standing) {
        let following = limb.following();
        let parent = model.tree.0.get(following.start).map_or(Link::ROOT, |link| link.parent);
        for dof in following.clone() {
            let run_start = dof as u16;
            out.links.set(dof, Link { parent, run_start, subtree_end: run_start + 1 });
            // Which of the rows it is will be known later.
            out.follows.set(dof, 0);
        }
        if !following.is_empty() {
            for run in model.tree.ancestor_runs(following.start) {
                within_mut(out.touched, run).fill(1);
            }
        }
    }
    let mut count = 0;
    for place in out.touched.iter_mut().filter(|place| **place != 0) {
        count += 1;
        *place = count;
    }
    usize::from(count)
}

/// The same for up to M degrees of freedom that carry limbs.
#[inline(never)]
fn write_in<T: Real, const M: usize>(
    model: Model<'_, T>,
    dt_s: T,
    work: &Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> bool {
    let (stride, source) = (model.dims().stride(), work.dynamics.factor_view(model.dims()));
    copy(out.inverse_pivots, work.dynamics.inverse_pivots);
    let rows = out.integration.chunks_exact_mut(stride.max(1)).zip(work.dynamics.factor.chunks_exact(stride.max(1)));
    for ((row, given), (place, follows)) in rows.zip(out.touched.iter().zip(&*out.follows)) {
        if *place == 0 && *follows == NOT_GIVEN {
            copy(row, given);
        }
    }
    let mut carriers = Carriers::<T, M>::of(source, out.touched);
    for limb in out.limbs.iter().take(out.standing) {
        let (following, (first, count)) = (limb.following(), limb.carriers);
        let jacobian = work.assembly.jacobian_transposed();
        let given = Given { rate: T::ONE / dt_s, source, jacobian, places: out.touched };
        let lags = (run(out.carriers, first, count), run_mut(out.lags, first, count));
        let rows = (&mut *out.integration, stride);
        match following.len() {
            0 => continue,
            1..=3 => carriers.add_limb::<3>(limb, &given, lags, rows),
            _ => carriers.add_limb::<FOLLOWING>(limb, &given, lags, rows),
        }
        within_mut(out.inverse_pivots, following).fill(T::ZERO);
    }
    carriers.eliminate((out.integration, stride), out.inverse_pivots)
}

/// What a limb is made of.
struct Given<'a, T> {
    /// 1/Δt.
    rate: T,
    /// The factor of the mass matrix.
    source: MatRef<'a, T>,
    jacobian: MatRef<'a, T>,
    /// Of degrees of freedom among those that carry limbs, from one on.
    places: &'a [u16],
}

impl<T> Given<'_, T> {
    fn place(&self, dof: usize) -> usize {
        usize::from(self.places.at(dof)).wrapping_sub(1)
    }
}

/// What carries limbs.
struct Carriers<T, const M: usize> {
    count: usize,
    dofs: [usize; M],
    /// Λ.
    inertia: [[T; M]; M],
}

impl<T: Real, const M: usize> Carriers<T, M> {
    /// L_Aᵀ D_A L_A, of what has a place.
    #[inline(always)]
    fn of(source: MatRef<'_, T>, places: &[u16]) -> Self {
        let mut dofs = [0; M];
        let carries = places.iter().enumerate().filter(|(_, place)| **place != 0);
        let count = carries.zip(&mut dofs).map(|((dof, _), place)| *place = dof).count();
        let (mut lines, mut pivots) = ([[T::ZERO; M]; M], [T::ZERO; M]);
        for (i, ((line, pivot), dof)) in lines.iter_mut().zip(&mut pivots).zip(dofs).enumerate().take(count) {
            let row = source.row(dof);
            for (entry, other) in line.iter_mut().zip(dofs).take(i) {
                *entry = row.at(other);
            }
            *pivot = row.at(dof);
            line.set(i, T::ONE);
        }
        let mut inertia = [[T::ZERO; M]; M];
        for (c, row) in inertia.iter_mut().enumerate().take(count) {
            for (line, pivot) in lines.iter().zip(&pivots).take(count).skip(c) {
                let Some(x) = line.get(c) else { break };
                add(row, *pivot * *x, line);
            }
        }
        Self { count, dofs, inertia }
    }

    /// A limb of up to N joints: T into their rows, with one on the diagonal, H / Δt into the columns of what carries it, and
    /// Λ + Gᵀ D_l G, where G = L_lA − L_ll T and H = Gᵀ D_l L_ll.
    #[inline(always)]
    fn add_limb<const N: usize>(
        &mut self,
        limb: &Limb<T>,
        given: &Given<'_, T>,
        (carriers, columns): (&[u16], &mut [Column<T>]),
        (factor, stride): (&mut [T], usize),
    ) {
        let (following, mut transfer) = (limb.following(), [[T::ZERO; M]; N]);
        for carrier in carriers {
            let dof = usize::from(*carrier);
            let place = given.place(dof);
            for (row, x) in transfer.iter_mut().zip(limb.combined(given.jacobian, dof)) {
                row.set(place, x);
            }
        }
        let [mut lags, mut heavy] = [[[T::ZERO; M]; N]; 2];
        let mut pivots = [T::ZERO; N];
        let rows = lags.iter_mut().zip(&mut pivots).zip(&transfer).zip(following.clone());
        for (((lag, pivot), own_transfer), dof) in rows {
            let (line, own) = (given.source.row(dof), run_mut(factor, dof * stride, stride));
            clear(own);
            own.set(dof, T::ONE);
            let mut row = [T::ZERO; M];
            for ((x, carrier), transfer) in row.iter_mut().zip(self.dofs).zip(own_transfer).take(self.count) {
                own.set(carrier, *transfer);
                *x = line.at(carrier);
            }
            add(&mut row, -T::ONE, own_transfer);
            let before = within(line, following.start..dof);
            for (l, transfer) in before.iter().zip(&transfer) {
                add(&mut row, -*l, transfer);
            }
            *pivot = line.at(dof);
            for (l, heavy) in before.iter().copied().chain([T::ONE]).zip(&mut heavy) {
                add(heavy, given.rate * *pivot * l, &row);
            }
            *lag = row;
        }
        for (c, row) in self.inertia.iter_mut().enumerate().take(self.count) {
            for (lag, pivot) in lags.iter().zip(&pivots) {
                let Some(x) = lag.get(c) else { return };
                add(row, *pivot * *x, lag);
            }
        }
        for (carrier, column) in carriers.iter().zip(columns) {
            let place = given.place(usize::from(*carrier));
            *column = [T::ZERO; ROWS];
            for (x, row) in column.iter_mut().zip(&heavy) {
                *x = row.at(place);
            }
        }
    }

    /// The factor of Λ, into the rows of what carries limbs, from the leaves to the root; false if Λ is not positive.
    #[inline(always)]
    fn eliminate(&mut self, (factor, stride): (&mut [T], usize), inverse_pivots: &mut [T]) -> bool {
        for i in (0..self.count).rev() {
            let (Some(own), Some(dof)) = (self.inertia.get(i).copied(), self.dofs.get(i).copied()) else {
                return false;
            };
            let pivot = own.at(i);
            if !(pivot > T::ZERO && pivot.is_finite()) {
                return false;
            }
            let inverse = T::ONE / pivot;
            let scaled = own.map(|x| x * inverse);
            for (row, x) in self.inertia.iter_mut().zip(scaled).take(i) {
                add(row, -x, &own);
            }
            inverse_pivots.set(dof, inverse);
            let line = run_mut(factor, dof * stride, stride);
            for (x, other) in scaled.iter().zip(self.dofs).take(i) {
                line.set(other, *x);
            }
        }
        true
    }
}

/// row += factor · line.
#[inline(always)]
fn add<T: Real, const M: usize>(row: &mut [T; M], factor: T, line: &[T; M]) {
    for (x, y) in row.iter_mut().zip(line) {
        *x = factor.mul_add(*y, *x);
    }
}
