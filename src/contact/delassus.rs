//! G = Wᵀ W, W = D^(−½) L^(−ᵀ) Jᵀ, band by band.
//!
//! A column of W is zero outside of the chain of joints that its constraint hangs on, so two feet share no more than the
//! trunk: a band of rows sums over its own chain alone.

use core::iter::once;
use core::ops::Range;

use super::{Constraint, Source};
use crate::collision::Contact;
use crate::linalg::tree::{self, Link, Tree};
use crate::linalg::{MatMut, MatRef, mirror, write_gram_rows};
use crate::memory::Values;
use crate::model::{BodyId, Model};
use crate::scalar::Real;

/// Rows of a band at most: when W is solved for, and when G is summed up.
const SOLVED_ROWS: usize = 12;
const SUMMED_ROWS: usize = 4;
/// Rows of bands, on average, from which on chain by chain is faster than all columns at once: feet with patches.
const WIDE: usize = 8;

/// Degrees of freedom up to which chains have nothing to leave out: a free body and little more.
const SHORT: usize = 8;

/// Constraints one after the other that hang on one chain.
#[derive(Clone, Debug)]
struct Band {
    rows: Range<usize>,
    /// The last joint of the chain; none if there are several.
    leaf: Option<usize>,
}

/// Makes W of Jᵀ, in place, and both triangles of G of W. O(rows · depth² + rows² · depth).
pub(super) fn write<T: Real>(
    model: Model<'_, T>,
    (constraints, contacts): (&[Constraint<T>], &[Contact<T>]),
    (factor, root_pivots): (MatRef<'_, T>, &[T]),
    mut half: MatMut<'_, T>,
    mut delassus: MatMut<'_, T>,
) {
    match half.stride() {
        4 => return write_narrow::<T, 1>(model.tree, factor, root_pivots, half.data_mut(), delassus.data_mut()),
        8 => return write_narrow::<T, 2>(model.tree, factor, root_pivots, half.data_mut(), delassus.data_mut()),
        12 if model.nv() <= SHORT => {
            return write_narrow::<T, 3>(model.tree, factor, root_pivots, half.data_mut(), delassus.data_mut());
        }
        _ => {}
    }
    let mut bands = 0;
    if half.cols() >= WIDE {
        for_each_band(model, constraints, contacts, SOLVED_ROWS, |_| bands += 1);
    }
    if bands > 0 && half.cols() >= WIDE * bands {
        for_each_band(model, constraints, contacts, SOLVED_ROWS, |band| {
            let chain = band.chain(model);
            tree::half_solve_chain(model.tree, factor, root_pivots, chain, half.reborrow(), band.rows.clone());
        });
    } else {
        tree::half_solve_transposed(model.tree, factor, half.reborrow());
        tree::scale_rows(half.reborrow(), |dof| root_pivots.at(dof));
    }
    for_each_band(model, constraints, contacts, SUMMED_ROWS, |band| {
        write_gram_rows(&mut delassus, half.as_ref(), band.rows.clone(), band.chain(model));
    });
    mirror(delassus);
}

/// The same for rows of `F` fours of numbers, padding included: row by row, and every entry of G summed for itself. There
/// is too little of it for bands and mirrors to pay.
fn write_narrow<T: Real, const F: usize>(
    tree: Tree<'_>,
    factor: MatRef<'_, T>,
    root_pivots: &[T],
    half: &mut [T],
    delassus: &mut [T],
) {
    let half = half.as_chunks_mut::<4>().0.as_chunks_mut::<F>().0;
    for j in (0..tree.len()).rev() {
        let carried = tree.descendants(j);
        let Some((above, below)) = half.split_at_mut_checked(carried.start) else { return };
        let Some(row) = above.last_mut() else { return };
        let mut column = factor.data().get(carried.start * factor.stride() + j..).unwrap_or(&[]);
        let mut sums = *row;
        for below in below.iter().take(carried.len()) {
            let Some(l) = column.first() else { return };
            column = column.get(factor.stride()..).unwrap_or(&[]);
            add_fours(-*l, below, &mut sums);
        }
        *row = sums;
    }
    for (row, root) in half.iter_mut().zip(root_pivots) {
        *row = row.map(|four| four.map(|x| x * *root));
    }
    for (i, out) in delassus.as_chunks_mut::<4>().0.as_chunks_mut::<F>().0.iter_mut().enumerate() {
        let mut sums = [[T::ZERO; 4]; F];
        for row in &*half {
            let x = row.get(i / 4).map_or(T::ZERO, |four| four[i % 4]);
            add_fours(x, row, &mut sums);
        }
        *out = sums;
    }
}

/// sums += x · row.
#[inline(always)]
fn add_fours<T: Real, const F: usize>(x: T, row: &[[T; 4]; F], sums: &mut [[T; 4]; F]) {
    for (sum, four) in sums.iter_mut().zip(row) {
        *sum = [0, 1, 2, 3].map(|k| x.mul_add(four[k], sum[k]));
    }
}

/// Shows all constraints, in bands of so many rows at most.
#[inline(always)]
fn for_each_band<T: Real>(
    model: Model<'_, T>,
    constraints: &[Constraint<T>],
    contacts: &[Contact<T>],
    most_rows: usize,
    mut show: impl FnMut(&Band),
) {
    let mut contacts = contacts.iter();
    let mut band = Band { rows: 0..0, leaf: None };
    for constraint in constraints {
        let leaf = leaf(model, constraint, &mut contacts);
        if !band.take_in(model, constraint.rows(), leaf, most_rows) {
            show(&band);
            band = Band { rows: constraint.rows(), leaf };
        }
    }
    show(&band);
}

impl Band {
    /// Adds rows that hang on the same chain, or on one joint more, or that are the first; false if they do not fit.
    #[inline(always)]
    fn take_in<T: Real>(
        &mut self,
        model: Model<'_, T>,
        rows: Range<usize>,
        leaf: Option<usize>,
        most_rows: usize,
    ) -> bool {
        let parent = |leaf: usize| model.tree.0.get(leaf).map(|link| usize::from(link.parent));
        let follows = self.leaf == leaf || self.leaf.is_some() && leaf.and_then(parent) == self.leaf;
        let fits = self.rows.is_empty() || follows && rows.end - self.rows.start <= most_rows;
        if fits {
            (self.rows.end, self.leaf) = (rows.end, leaf);
        }
        fits
    }

    /// The degrees of freedom that it hangs on, from the leaf to the root.
    #[inline(always)]
    fn chain<'m, T: Real>(&self, model: Model<'m, T>) -> impl Iterator<Item = Range<usize>> + Clone + use<'m, T> {
        let (leaf, whole) = self.leaf.map_or((usize::from(Link::ROOT), 0..model.nv()), |leaf| (leaf, 0..0));
        model.tree.runs(leaf).chain(once(whole))
    }
}

/// The last joint of the chain that a constraint hangs on; `contacts` gives the contact of each one that is a contact.
#[inline(always)]
fn leaf<'c, T: Real>(
    model: Model<'_, T>,
    constraint: &Constraint<T>,
    contacts: &mut impl Iterator<Item = &'c Contact<T>>,
) -> Option<usize> {
    match constraint.source {
        Source::LowerLimit { dof } | Source::UpperLimit { dof } | Source::DryFriction { dof } => Some(usize::from(dof)),
        Source::Closure { .. } => None,
        Source::Contact { .. } => {
            let (a, b) = contacts.next()?.bodies(model);
            let last = |body: BodyId| Some(model.body(body)?.v_range().end - 1);
            match (last(a), last(b)) {
                (leaf, None) | (None, leaf) => leaf,
                (Some(_), Some(_)) => None,
            }
        }
    }
}
