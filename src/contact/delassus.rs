//! G = Wᵀ W, W = D^(−½) L^(−ᵀ) Jᵀ, band by band.
//!
//! A column of W is zero outside of the chain of joints that its constraint hangs on, so two feet share no more than the
//! trunk: a band of rows sums over its own chain alone.

use core::iter::once;
use core::ops::Range;

use super::{Constraint, Source};
use crate::collision::Contact;
use crate::linalg::tree::{self, Link};
use crate::linalg::{MatMut, MatRef, write_gram_rows};
use crate::memory::Values;
use crate::model::{BodyId, Model};
use crate::scalar::Real;

/// Rows of a band at most: when W is solved for, and when G is summed up.
const SOLVED_ROWS: usize = 12;
const SUMMED_ROWS: usize = 4;
/// Rows of bands, on average, from which on chain by chain is faster than all columns at once: feet with patches.
const WIDE: usize = 8;

/// Rows and columns of the blocks that are mirrored whole.
const BLOCK: usize = 4;

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

/// Copies what stands above the diagonal below it, four by four where there are as many rows.
#[inline(never)]
fn mirror<T: Real>(mut delassus: MatMut<'_, T>) {
    let (rows, stride) = (delassus.rows(), delassus.stride());
    let data = delassus.data_mut();
    let whole = rows / BLOCK * BLOCK;
    for first in (0..whole).step_by(BLOCK) {
        let Some((above, below)) = data.split_at_mut_checked(first * stride) else { return };
        mirror_blocks(above, below, first, stride);
    }
    for i in whole..rows {
        let Some((above, row)) = data.split_at_mut_checked(i * stride) else { return };
        for (entry, column) in row.iter_mut().zip(above.chunks(stride.max(1))) {
            *entry = column.get(i).copied().unwrap_or(*entry);
        }
    }
}

/// Four rows up to their diagonal, from the columns of the rows above and from their own.
#[inline(always)]
fn mirror_blocks<T: Real>(above: &[T], below: &mut [T], first: usize, stride: usize) {
    let Some((a, rest)) = below.split_at_mut_checked(stride) else { return };
    let Some((b, rest)) = rest.split_at_mut_checked(stride) else { return };
    let Some((c, rest)) = rest.split_at_mut_checked(stride) else { return };
    let Some(d) = rest.get_mut(..stride) else { return };
    let [a, b, c, d] = [a, b, c, d].map(|row| row.as_chunks_mut::<BLOCK>().0);
    let at = first / BLOCK;
    if let (Some(a), Some(b), Some(c), Some(d)) = (a.get(at), b.get_mut(at), c.get_mut(at), d.get_mut(at)) {
        b[0] = a[1];
        (c[0], c[1]) = (a[2], b[2]);
        (d[0], d[1], d[2]) = (a[3], b[3], c[3]);
    }
    let targets = a.iter_mut().zip(b).zip(c).zip(d);
    let mut sources = above;
    for (((a, b), c), d) in targets {
        let Some((block, rest)) = sources.split_at_checked(BLOCK * stride) else { return };
        sources = rest;
        let row = |k: usize| block.get(k * stride + first..).and_then(|row| row.first_chunk::<BLOCK>());
        let (Some(x), Some(y), Some(z), Some(w)) = (row(0), row(1), row(2), row(3)) else { return };
        *a = [x[0], y[0], z[0], w[0]];
        *b = [x[1], y[1], z[1], w[1]];
        *c = [x[2], y[2], z[2], w[2]];
        *d = [x[3], y[3], z[3], w[3]];
    }
}
