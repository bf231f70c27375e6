//! The sparse factor M = Lᵀ D L of a mass matrix, along the kinematic tree (Featherstone 2008, Sec. 6.5).
//!
//! Row i of M and of L has entries only where j is an ancestor of i, so nothing is filled in, and the work is
//! O(nv · depth²) for the factor and O(nv · depth) for a solve.

use core::ops::Range;

use super::rows::{Column, WIDE, chunk, chunk_mut, row_end, scale, subtract_chunk, subtract_rows};
use super::{MatMut, MatRef, NotPositiveDefinite, padded, partial_dot};
use crate::memory::{Values, rest_mut, run_mut, split_mut, within};
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

impl Default for Link {
    /// The first degree of freedom, with nothing that it carries.
    fn default() -> Self {
        Self { parent: Self::ROOT, run_start: 0, subtree_end: 1 }
    }
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

    /// Ranges of the first `wide` columns that cover the chain of `dof`, for sums over rows that are zero elsewhere: all
    /// columns at once where vectors are wide, the chain alone on a Cortex-M7.
    #[inline(always)]
    pub(crate) fn cover(&self, dof: usize, wide: usize) -> impl Iterator<Item = Range<usize>> {
        let narrow = cfg!(target_arch = "arm");
        let whole = (!narrow).then_some(0..wide);
        let runs = narrow.then(|| self.runs(dof)).into_iter().flatten();
        whole.into_iter().chain(runs.map(move |run| run.start..run.end.min(wide)))
    }

    /// What a floating base carries: the rest of a tree whose first six degrees of freedom are one chain without
    /// branches. None if it carries nothing.
    #[inline(always)]
    fn base(&self) -> Option<Range<usize>> {
        let (first, last) = (self.0.first()?, self.0.get(BASE - 1)?);
        let limbs = BASE..usize::from(last.subtree_end);
        (last.run_start == 0 && first.subtree_end == last.subtree_end && !limbs.is_empty()).then_some(limbs)
    }

    /// Everything that `dof` carries, without itself.
    #[inline(always)]
    pub fn descendants(&self, dof: usize) -> Range<usize> {
        let end = self.0.get(dof).map_or(0, |link| usize::from(link.subtree_end));
        dof + 1..end
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
#[cfg_attr(not(target_arch = "arm"), inline(never))] // Inside of a step it would be short of registers.
pub fn factorize<T: Real>(
    tree: Tree<'_>,
    mut m: MatMut<'_, T>,
    inverse_pivots: &mut [T],
) -> Result<(), NotPositiveDefinite> {
    let (stride, cols) = (m.stride(), m.full_cols());
    let m = m.data_mut();
    let base = tree.base().filter(|_| cols >= BASE_COLS);
    for i in (0..tree.len()).rev() {
        // Rows below are still D L, so their pivots divide here.
        let width = padded(i + 1).min(cols);
        let mut carried = tree.descendants(i);
        if let Some(limbs) = base.clone().filter(|_| i < BASE) {
            // What all six rows of a floating base carry is taken out of them at once, before what they carry of each other.
            if i + 1 == BASE {
                subtract_limbs(m, stride, limbs, inverse_pivots);
            }
            carried.end = BASE;
        }
        let (row, below) = split_mut(rest_mut(m, i * stride), row_end(i, tree.len(), stride, cols));
        subtract_carried(row, below, stride, (i, width), inverse_pivots.get(carried).unwrap_or(&[]));
        let pivot = row.at(i);
        if !(pivot > T::ZERO && pivot.is_finite()) {
            return Err(NotPositiveDefinite { pivot: i });
        }
        inverse_pivots.set(i, T::ONE / pivot);
    }
    for (i, inverse) in inverse_pivots.iter().enumerate().take(tree.len()) {
        if cfg!(target_arch = "arm") {
            scale(run_mut(m, i * stride, i), *inverse);
            continue;
        }
        // Whole vectors, and the pivot as it was.
        let row = run_mut(m, i * stride, padded(i + 1).min(cols));
        let pivot = row.at(i);
        let (fours, rest) = row.as_chunks_mut::<4>();
        fours.iter_mut().for_each(|four| *four = four.map(|x| x * *inverse));
        scale(rest, *inverse);
        row.set(i, pivot);
    }
    Ok(())
}

/// Subtracts (h_ki / d_k) · row k from row i, in `width` columns, for the rows k that `pivots` are those of.
#[inline(always)]
#[allow(clippy::int_plus_one)] // The last of the widths is one.
fn subtract_carried<T: Real>(
    row: &mut [T],
    below: &[T],
    stride: usize,
    (i, width): (usize, usize),
    inverse_pivots: &[T],
) {
    if inverse_pivots.is_empty() {
        return;
    }
    let coefficients = Column::new(below, i, stride).zip(inverse_pivots).map(|(h, inverse)| h * *inverse);
    if cfg!(target_arch = "arm") {
        return subtract_rows(row, below, stride, 0..width, coefficients);
    }
    let mut first = 0;
    macro_rules! chunks {
        ($($width:expr),*) => {$(
            while first + $width <= width {
                subtract_chunk::<T, { $width }>(row, below, stride, first, coefficients.clone());
                first += $width;
            }
        )*};
    }
    chunks!(16, 8, 4, 1);
}

/// Degrees of freedom of a floating base, and the columns of its rows in full vectors.
const BASE: usize = 6;
const BASE_COLS: usize = padded(BASE);

/// Subtracts (h_ki / d_k) · row k from each row i of the base, for the rows k of `limbs` in their order.
#[inline(always)]
fn subtract_limbs<T: Real>(m: &mut [T], stride: usize, limbs: Range<usize>, inverse_pivots: &[T]) {
    let (rows, below) = split_mut(m, limbs.start * stride);
    if cfg!(target_arch = "arm") {
        // Too few registers for all of them: one after the other, in the same order.
        for (i, row) in rows.chunks_mut(stride.max(1)).enumerate().take(BASE) {
            let pivots = inverse_pivots.get(limbs.clone()).unwrap_or(&[]);
            subtract_carried(row, below, stride, (i, padded(i + 1)), pivots);
        }
        return;
    }
    // On and below the diagonal: six rows of the first four columns, two of the next.
    let (mut left, mut right) = ([[T::ZERO; 4]; BASE], [[T::ZERO; 4]; 2]);
    for i in 0..BASE {
        let Some(row) = chunk::<T, BASE_COLS>(rows, i * stride) else { return };
        left[i] = [0, 1, 2, 3].map(|k| row[k]);
        if i >= 4 {
            right[i - 4] = [4, 5, 6, 7].map(|k| row[k]);
        }
    }
    let mut rest = &*below;
    for inverse in inverse_pivots.get(limbs).unwrap_or(&[]) {
        let Some(row) = rest.first_chunk::<BASE_COLS>() else { return };
        rest = rest.get(stride..).unwrap_or(&[]);
        let factors = row.map(|h| h * *inverse);
        for i in 0..BASE {
            for k in 0..4 {
                left[i][k] = (-factors[i]).mul_add(row[k], left[i][k]);
            }
        }
        for i in 0..2 {
            for k in 0..4 {
                right[i][k] = (-factors[4 + i]).mul_add(row[4 + k], right[i][k]);
            }
        }
    }
    for i in 0..BASE {
        if let Some(out) = chunk_mut::<T, 4>(rows, i * stride) {
            *out = left[i];
        }
    }
    for i in 0..2 {
        if let Some(out) = chunk_mut::<T, 4>(rows, (4 + i) * stride + 4) {
            *out = right[i];
        }
    }
}

/// X ← L⁻¹ diag(middle) L⁻ᵀ X, with `l` from [`factorize`].
///
/// M⁻¹ X when `middle` gives the inverse pivots, −M⁻¹ X when it gives their negatives.
pub fn solve<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, middle: impl Fn(usize) -> T, mut x: MatMut<'_, T>) {
    half_solve_transposed(tree, l, x.reborrow());
    scale_rows(x.reborrow(), middle);
    half_solve(tree, l, x);
}

/// x ← M⁻¹ x for a single right-hand side, with `l` and `inverse_pivots` from [`factorize`].
pub fn solve_vector<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, inverse_pivots: &[T], x: &mut [T]) {
    half_solve_transposed_vector(tree, l, x);
    for (x, inverse) in x.iter_mut().zip(inverse_pivots) {
        *x *= *inverse;
    }
    half_solve_vector(tree, l, x);
}

/// x ← L⁻ᵀ x for a single right-hand side.
pub fn half_solve_transposed_vector<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, x: &mut [T]) {
    for i in (0..tree.len()).rev() {
        let Some((above, [own, ..])) = x.split_at_mut_checked(i) else { return };
        let (row, minus) = (l.row(i), -*own);
        for run in tree.ancestor_runs(i) {
            let (Some(row), Some(above)) = (row.get(run.clone()), above.get_mut(run)) else { return };
            for (x, l) in above.iter_mut().zip(row) {
                *x = minus.mul_add(*l, *x);
            }
        }
    }
}

/// x ← L⁻¹ x for a single right-hand side.
pub fn half_solve_vector<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, x: &mut [T]) {
    for i in 0..tree.len() {
        let row = l.row(i);
        let mut sum = x.at(i);
        for run in tree.ancestor_runs(i) {
            sum -= partial_dot(within(row, run.clone()), within(x, run));
        }
        x.set(i, sum);
    }
}

/// X ← diag(factor) X.
pub fn scale_rows<T: Real>(mut x: MatMut<'_, T>, factor: impl Fn(usize) -> T) {
    let (rows, cols, stride) = (x.rows(), x.full_cols(), x.stride());
    for i in 0..rows {
        scale(run_mut(x.data_mut(), i * stride, cols), factor(i));
    }
}

/// X ← L⁻ᵀ X, from the leaves to the root.
pub fn half_solve_transposed<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    let (n, x) = (tree.len(), x.data_mut());
    for j in (0..n).rev() {
        let (row, below) = split_mut(rest_mut(x, j * stride), row_end(j, n, stride, cols));
        let carried = tree.descendants(j);
        let coefficients = Column::new(l.data(), carried.start * l.stride() + j, l.stride()).take(carried.len());
        subtract_rows(row, below, stride, 0..cols, coefficients);
    }
}

/// X ← diag(factor) L⁻ᵀ X in some columns, which are zero outside of the degrees of freedom that `chain` gives: ranges
/// from the leaf to the root. O(depth² · columns).
#[allow(clippy::int_plus_one)] // The last of the widths is one.
pub(crate) fn half_solve_chain<T: Real>(
    tree: Tree<'_>,
    l: MatRef<'_, T>,
    factor: &[T],
    chain: impl Iterator<Item = Range<usize>> + Clone,
    mut x: MatMut<'_, T>,
    cols: Range<usize>,
) {
    let (stride, mut first) = (x.stride(), cols.start);
    let x = x.data_mut();
    macro_rules! chunks {
        ($($width:expr),*) => {$(
            while first + $width <= cols.end {
                for i in chain.clone().flat_map(Iterator::rev) {
                    let Some((above, row)) = x.split_at_mut_checked(i * stride) else { return };
                    let Some(at) = chunk_mut::<T, { $width }>(row, first) else { return };
                    add_up::<T, { $width }>(tree, l, i, at, above, stride, first);
                    scale(at, factor.at(i));
                }
                first += $width;
            }
        )*};
    }
    chunks!(12, 4, 1);
}

/// Subtracts L[i, a] times some numbers of row i from the same ones of each ancestor a.
#[inline(always)]
fn add_up<T: Real, const W: usize>(
    tree: Tree<'_>,
    l: MatRef<'_, T>,
    i: usize,
    numbers: &[T; W],
    above: &mut [T],
    stride: usize,
    first: usize,
) {
    let factors = l.row(i);
    for run in tree.ancestor_runs(i) {
        let mut at = run.start * stride + first;
        for factor in within(factors, run) {
            let Some(target) = chunk_mut::<T, W>(above, at) else { return };
            at += stride;
            let mut sum = *target;
            for k in 0..W {
                sum[k] = (-*factor).mul_add(numbers[k], sum[k]);
            }
            *target = sum;
        }
    }
}

/// X ← L⁻¹ X, from the root to the leaves.
pub fn half_solve<T: Real>(tree: Tree<'_>, l: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (stride, cols) = (x.stride(), x.full_cols());
    let x = x.data_mut();
    for i in 0..tree.len() {
        let (above, row) = split_mut(x, i * stride);
        subtract_ancestors(tree, l, i, (row, above), stride, cols);
    }
}

/// Subtracts from the first columns of row i those of its ancestors, times L[i, a].
#[inline(always)]
#[allow(clippy::int_plus_one)] // The last of the widths is one.
fn subtract_ancestors<T: Real>(
    tree: Tree<'_>,
    l: MatRef<'_, T>,
    i: usize,
    (row, above): (&mut [T], &[T]),
    stride: usize,
    cols: usize,
) {
    let (factors, mut first) = (l.row(i), 0);
    macro_rules! chunks {
        ($($width:expr),*) => {$(
            while first + $width <= cols {
                subtract_runs::<T, { $width }>(tree.ancestor_runs(i), factors, (row, above), stride, first);
                first += $width;
            }
        )*};
    }
    chunks!(WIDE * 3 / 2, WIDE + 4, WIDE, WIDE * 3 / 4, WIDE / 2, WIDE * 3 / 8, WIDE / 4, 4, 1);
}

#[inline(always)]
fn subtract_runs<T: Real, const W: usize>(
    runs: Runs<'_>,
    factors: &[T],
    (row, above): (&mut [T], &[T]),
    stride: usize,
    first: usize,
) {
    let Some(out) = chunk_mut::<T, W>(row, first) else { return };
    let mut sum = *out;
    for run in runs {
        let mut at = run.start * stride + first;
        for factor in factors.get(run).unwrap_or_default() {
            let Some(source) = chunk::<T, W>(above, at) else { return };
            at += stride;
            for k in 0..W {
                sum[k] = (-*factor).mul_add(source[k], sum[k]);
            }
        }
    }
    *out = sum;
}

/// y ← M x, from the lower triangle of M before it is factored.
pub fn multiply<T: Real>(tree: Tree<'_>, m: MatRef<'_, T>, x: &[T], y: &mut [T]) {
    y.fill(T::ZERO);
    for i in 0..tree.len() {
        let row = m.row(i);
        let mut own = row.at(i).mul_add(x.at(i), y.at(i));
        for j in tree.ancestor_runs(i).flatten() {
            own = row.at(j).mul_add(x.at(j), own);
            y.change(j, |y| *y = row.at(j).mul_add(x.at(i), *y));
        }
        y.set(i, own);
    }
}
