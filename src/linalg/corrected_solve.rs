//! Solves with the sparse factor of a mass matrix, where a few rows correct what it gives: those of constraints that hold.
//!
//! All passes over a band of columns keep the row that they work on in registers: what is below it, the rows of the
//! correction, and what is above it are added up on the way, and it is read and written once.

use super::rows::{Column, chunk, chunk_mut};
use super::tree::Tree;
use super::whole_rows::{WIDEST, add_scaled, with_width};
use super::{MatMut, MatRef};
use crate::memory::Values;
use crate::scalar::Real;

/// What is corrected: Fᵀ A⁻¹ (S + E L⁻ᵀ X) is taken away between the two halves of a solve. Where E or F is zero, nothing is
/// added up, so constraints cost only what they hang on.
pub(crate) struct Correction<'a, T> {
    /// E, a row for each row of S.
    pub left: MatRef<'a, T>,
    /// F, likewise.
    pub right: MatRef<'a, T>,
    /// A = Uᵀ U; none where A is the identity.
    pub upper: Option<MatRef<'a, T>>,
    /// S, with rows as wide as those of X, padding included. A⁻¹ (S + E L⁻ᵀ X) afterwards.
    pub rows: MatMut<'a, T>,
}

/// X ← L⁻¹ diag(middle) (L⁻ᵀ X − Fᵀ A⁻¹ (S + E L⁻ᵀ X)), with `l` from [`factorize`](super::tree::factorize). The rows of X are
/// whole, padding included, which is spoiled. O((nv · depth + rows · nv + rows²) · columns).
pub(crate) fn solve_corrected<T: Real>(
    tree: Tree<'_>,
    l: MatRef<'_, T>,
    middle: &[T],
    mut correction: Correction<'_, T>,
    mut x: MatMut<'_, T>,
) {
    debug_assert!(correction.rows.rows() == 0 || correction.rows.cols() == x.cols());
    let (end, mut first) = (x.full_cols(), 0);
    while first < end {
        let width = band_width(end - first);
        with_width!(width, W, solve_band::<T, W>(tree, (l, middle), &mut correction, &mut x, first));
        first += width;
    }
}

/// How many of the columns that are left to take next, so that no band is much narrower than the others.
#[inline(always)]
fn band_width(left: usize) -> usize {
    if left < 4 { 1 } else { (left / left.div_ceil(WIDEST)).next_multiple_of(4).min(left / 4 * 4) }
}

#[inline(never)] // Else all widths share the registers of one function.
fn solve_band<T: Real, const W: usize>(
    tree: Tree<'_>,
    (l, middle): (MatRef<'_, T>, &[T]),
    correction: &mut Correction<'_, T>,
    x: &mut MatMut<'_, T>,
    first: usize,
) {
    let stride = x.stride().max(1);
    gather_from_leaves::<T, W>(tree, l, (x.data_mut(), stride), first);
    let step = correction.rows.stride().max(1);
    add_rows::<T, W>(correction.left, (x.as_ref().data(), stride), (correction.rows.data_mut(), step), first);
    if let Some(upper) = correction.upper {
        solve_forwards::<T, W>(upper, (correction.rows.data_mut(), step), first);
        solve_backwards::<T, W>(upper, (correction.rows.data_mut(), step), first);
    }
    let rows = (correction.right, correction.rows.as_ref().data(), step);
    spread_from_root::<T, W>(tree, (l, middle), rows, (x.data_mut(), stride), first);
}

/// S ← U⁻ᵀ S.
#[inline(always)]
fn solve_forwards<T: Real, const W: usize>(u: MatRef<'_, T>, (rows, step): (&mut [T], usize), first: usize) {
    for k in 0..u.rows() {
        let Some((above, row)) = rows.split_at_mut_checked(k * step) else { return };
        let Some(row) = chunk_mut::<T, W>(row, first) else { return };
        let mut sum = *row;
        subtract_lines((above, step), first, Column::new(u.data(), k, u.stride()), &mut sum);
        let inverse = T::ONE / u[(k, k)];
        sum.iter_mut().for_each(|x| *x *= inverse);
        *row = sum;
    }
}

/// S ← U⁻¹ S.
#[inline(always)]
fn solve_backwards<T: Real, const W: usize>(u: MatRef<'_, T>, (rows, step): (&mut [T], usize), first: usize) {
    for k in (0..u.rows()).rev() {
        let Some((row, below)) = rows.split_at_mut_checked((k + 1) * step) else { return };
        let Some(row) = chunk_mut::<T, W>(row, k * step + first) else { return };
        let mut sum = *row;
        let factors = u.row(k).get(k + 1..).unwrap_or_default();
        subtract_lines((below, step), first, factors.iter().copied(), &mut sum);
        let inverse = T::ONE / u[(k, k)];
        sum.iter_mut().for_each(|x| *x *= inverse);
        *row = sum;
    }
}

/// sum −= Σ factor · line, over lines that start every `step` numbers.
#[inline(always)]
fn subtract_lines<T: Real, const W: usize>(
    (lines, step): (&[T], usize),
    first: usize,
    factors: impl Iterator<Item = T>,
    sum: &mut [T; W],
) {
    for (line, factor) in lines.chunks_exact(step).zip(factors) {
        let Some(line) = chunk::<T, W>(line, first) else { return };
        add_scaled(-factor, line, sum);
    }
}

/// X ← L⁻ᵀ X.
#[inline(always)]
fn gather_from_leaves<T: Real, const W: usize>(
    tree: Tree<'_>,
    l: MatRef<'_, T>,
    (x, stride): (&mut [T], usize),
    first: usize,
) {
    for j in (0..tree.len()).rev() {
        let carried = tree.descendants(j);
        if carried.is_empty() {
            continue;
        }
        let Some((above, below)) = x.split_at_mut_checked(carried.start * stride) else { return };
        let Some(row) = chunk_mut::<T, W>(above, j * stride + first) else { return };
        let mut sum = *row;
        let factors = Column::new(l.data(), carried.start * l.stride() + j, l.stride()).take(carried.len());
        subtract_lines((below, stride), first, factors, &mut sum);
        *row = sum;
    }
}

/// S ← S + E X.
#[inline(always)]
fn add_rows<T: Real, const W: usize>(
    left: MatRef<'_, T>,
    (x, stride): (&[T], usize),
    (rows, step): (&mut [T], usize),
    first: usize,
) {
    for (k, row) in rows.chunks_exact_mut(step).enumerate().take(left.rows()) {
        let Some(row) = chunk_mut::<T, W>(row, first) else { return };
        let mut sum = *row;
        for (source, factor) in x.chunks_exact(stride).zip(left.row(k)) {
            if *factor == T::ZERO {
                continue;
            }
            let Some(source) = chunk::<T, W>(source, first) else { return };
            add_scaled(*factor, source, &mut sum);
        }
        *row = sum;
    }
}

/// X ← L⁻¹ diag(middle) (X − Fᵀ S).
#[inline(always)]
fn spread_from_root<T: Real, const W: usize>(
    tree: Tree<'_>,
    (l, middle): (MatRef<'_, T>, &[T]),
    (right, rows, step): (MatRef<'_, T>, &[T], usize),
    (x, stride): (&mut [T], usize),
    first: usize,
) {
    for i in 0..tree.len() {
        let Some((above, row)) = x.split_at_mut_checked(i * stride) else { return };
        let Some(row) = chunk_mut::<T, W>(row, first) else { return };
        let mut sum = *row;
        let factors = Column::new(right.data(), i, right.stride()).take(right.rows());
        for (source, factor) in rows.chunks_exact(step).zip(factors) {
            if factor == T::ZERO {
                continue;
            }
            let Some(source) = chunk::<T, W>(source, first) else { return };
            add_scaled(-factor, source, &mut sum);
        }
        let scale = middle.at(i);
        sum.iter_mut().for_each(|x| *x *= scale);
        let factors = l.row(i);
        for run in tree.ancestor_runs(i) {
            let mut at = run.start * stride + first;
            for factor in factors.get(run).unwrap_or_default() {
                let Some(source) = chunk::<T, W>(above, at) else { return };
                at += stride;
                add_scaled(-*factor, source, &mut sum);
            }
        }
        *row = sum;
    }
}
