//! The sparse factor M = Lᵀ D L of a mass matrix, along the kinematic tree (Featherstone 2008, Sec. 6.5).
//!
//! Row i of M and of L has entries only where j is an ancestor of i, so nothing is filled in, and the work is
//! O(nv · depth²) for the factor and O(nv · depth) for a solve.

use core::ops::Range;

use super::rows::{scale_row, subtract_rows};
use super::{MatMut, MatRef, NotPositiveDefinite, padded};
use crate::scalar::Real;

/// One degree of freedom in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The degree of freedom that carries this one; [`Link::ROOT`] where there is none.
    pub parent: u16,
    /// First of the ancestors that are numbered without a gap up to this one.
    pub run_start: u16,
    /// One past the last degree of freedom that this one carries.
    pub subtree_end: u16,
}

impl Link {
    /// The parent of a degree of freedom that nothing carries.
    pub const ROOT: u16 = u16::MAX;
}

/// Which degrees of freedom carry which; numbered depth first, parents before children.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'m>(pub &'m [Link]);

impl<'m> Tree<'m> {
    /// Degrees of freedom.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No degree of freedom at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ancestors of `dof`, itself included, as gapless ranges from the nearest to the root.
    #[inline(always)]
    pub fn runs(&self, dof: usize) -> Runs<'m> {
        Runs { links: self.0, next: dof }
    }

    /// The ancestors of `dof` without itself.
    #[inline(always)]
    pub fn ancestor_runs(&self, dof: usize) -> Runs<'m> {
        let next = self.0.get(dof).map_or(usize::from(Link::ROOT), |link| usize::from(link.parent));
        Runs { links: self.0, next }
    }

    /// Everything that `dof` carries, without itself.
    #[inline(always)]
    pub fn descendants(&self, dof: usize) -> Range<usize> {
        dof + 1..usize::from(self.0[dof].subtree_end)
    }
}

/// Iterator over ancestor ranges.
#[derive(Clone, Debug)]
pub struct Runs<'m> {
    links: &'m [Link],
    next: usize,
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        let end = self.next;
        let start = usize::from(self.links.get(end)?.run_start);
        self.next = usize::from(self.links.get(start)?.parent);
        Some(start..end + 1)
    }
}

/// M = Lᵀ D L in place: reads and writes the lower triangle; unit L below the diagonal, D on it, 1/D in `inverse_pivots`.
///
/// Entries of M whose row and column lie on different branches must be zero. What stands above the diagonal is not
/// read, and is spoiled as far as full vectors reach.
pub fn factorize<T: Real>(
    tree: Tree<'_>,
    mut m: MatMut<'_, T>,
    inverse_pivots: &mut [T],
) -> Result<(), NotPositiveDefinite> {
    let (stride, cols) = (m.stride(), m.full_cols());
    let m = m.data_mut();
    for i in (0..tree.len()).rev() {
        // Rows below are still D L, so their pivots divide here.
        let width = padded(i + 1).min(cols);
        subtract_rows(m, stride, i, tree.descendants(i), 0..width, |h, k| h[k * stride + i] * inverse_pivots[k]);
        let pivot = m[i * stride + i];
        if !(pivot > T::ZERO && pivot.is_finite()) {
            return Err(NotPositiveDefinite { pivot: i });
        }
        inverse_pivots[i] = T::ONE / pivot;
    }
    for i in 0..tree.len() {
        scale_row(m, stride, i, 0..i, inverse_pivots[i]);
    }
    Ok(())
}

/// X ← M⁻¹ X, with `l` and `inverse_pivots` from [`factorize`].
pub fn solve<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, inverse_pivots: &[T], mut x: MatMut<'_, T>) {
    half_solve_transposed(tree, l, x.reborrow());
    scale_rows(x.reborrow(), |i| inverse_pivots[i]);
    half_solve(tree, l, x);
}

/// X ← diag(factor) X.
pub fn scale_rows<T: Real>(mut x: MatMut<'_, T>, factor: impl Fn(usize) -> T) {
    let (rows, cols, stride) = (x.rows(), x.full_cols(), x.stride());
    for i in 0..rows {
        scale_row(x.data_mut(), stride, i, 0..cols, factor(i));
    }
}

/// X ← L⁻ᵀ X, from the leaves to the root.
pub fn half_solve_transposed<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    let (factor, step) = (l.data(), l.stride());
    for j in (0..tree.len()).rev() {
        subtract_rows(x.data_mut(), stride, j, tree.descendants(j), 0..cols, |_, i| factor[i * step + j]);
    }
}

/// X ← L⁻¹ X, from the root to the leaves.
pub fn half_solve<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    let (factor, step) = (l.data(), l.stride());
    for i in 0..tree.len() {
        for run in tree.ancestor_runs(i) {
            subtract_rows(x.data_mut(), stride, i, run, 0..cols, |_, j| factor[i * step + j]);
        }
    }
}

/// y ← M x, from the lower triangle of M before it is factored.
pub fn multiply<T: Real>(tree: Tree<'_>, m: MatRef<'_, T>, x: &[T], y: &mut [T]) {
    y.fill(T::ZERO);
    for i in 0..tree.len() {
        let row = m.row(i);
        y[i] = row[i].mul_add(x[i], y[i]);
        for j in tree.ancestor_runs(i).flatten() {
            y[i] = row[j].mul_add(x[j], y[i]);
            y[j] = row[j].mul_add(x[i], y[j]);
        }
    }
}
