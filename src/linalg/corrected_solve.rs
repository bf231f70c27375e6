//! Solves with the sparse factor of a mass matrix, where a few rows correct what it gives: those of constraints that hold.
//!
//! All passes over a band of columns keep the row that they work on in registers: what is below it, the rows of the
//! correction, and what is above it are added up on the way, and it is read and written once.

use super::rows::{Column, chunk, chunk_mut, scale};
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
    /// From this column on it is zero.
    pub reach: usize,
    /// A and F.
    pub system: System<'a, T>,
    /// S, with rows as wide as those of X, padding included. A⁻¹ (S + E L⁻ᵀ X) afterwards, times the rate if there is one.
    pub rows: MatMut<'a, T>,
    /// Rows of diag(middle) (…) that are known; only where A is symmetric.
    pub given: Given<'a, T>,
}

/// Rows that stand in the place of others.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a, T> {
    /// For each row which one of `rows` that is; [`NOT_GIVEN`], or nothing at all, where it is not given.
    pub of: &'a [u16],
    /// As wide as those of X.
    pub rows: &'a [T],
}

/// A row that is not [`Given`].
pub(crate) const NOT_GIVEN: u16 = u16::MAX;

/// A and F of a [`Correction`].
#[derive(Clone, Copy)]
pub(crate) enum System<'a, T> {
    /// A = Uᵀ U and diag(middle) Fᵀ = −rate · Eᵀ.
    Symmetric { upper: MatRef<'a, T>, rate: T },
    /// A is the identity, and F has rows of its own.
    Divided { right: MatRef<'a, T> },
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
    let left = (correction.left, correction.reach);
    add_rows::<T, W>(left, (x.as_ref().data(), stride), (correction.rows.data_mut(), step), first);
    if let System::Symmetric { upper, rate } = correction.system {
        solve_forwards::<T, W>(upper, (correction.rows.data_mut(), step), first);
        solve_backwards::<T, W>(upper, rate, (correction.rows.data_mut(), step), first);
    }
    let rows = (correction.rows.as_ref().data(), step);
    let given = correction.given;
    let x = (x.data_mut(), stride);
    match correction.system {
        System::Symmetric { .. } => spread_from_root(tree, l, x, first, |i, sum: &mut [T; W]| {
            if let Some(k) = given.of.get(i).filter(|k| **k != NOT_GIVEN) {
                if let Some(line) = chunk::<T, W>(given.rows, usize::from(*k) * stride + first) {
                    *sum = *line;
                }
                return;
            }
            scale(sum, middle.at(i));
            if i < correction.reach {
                add_column(correction.left, i, rows, first, |factor, line| add_scaled(factor, line, sum));
            }
        }),
        System::Divided { right } => spread_from_root(tree, l, x, first, |i, sum: &mut [T; W]| {
            add_column(right, i, rows, first, |factor, line| add_scaled(-factor, line, sum));
            scale(sum, middle.at(i));
        }),
    }
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
        scale(&mut sum, inverse);
        *row = sum;
    }
}

/// S ← rate · U⁻¹ S.
#[inline(always)]
fn solve_backwards<T: Real, const W: usize>(u: MatRef<'_, T>, rate: T, (rows, step): (&mut [T], usize), first: usize) {
    for k in (0..u.rows()).rev() {
        let Some((row, below)) = rows.split_at_mut_checked((k + 1) * step) else { return };
        let Some(row) = chunk_mut::<T, W>(row, k * step + first) else { return };
        let mut sum = *row;
        scale(&mut sum, rate);
        let factors = u.row(k).get(k + 1..).unwrap_or_default();
        subtract_lines((below, step), first, factors.iter().copied(), &mut sum);
        let inverse = T::ONE / u[(k, k)];
        scale(&mut sum, inverse);
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
    (left, reach): (MatRef<'_, T>, usize),
    (x, stride): (&[T], usize),
    (rows, step): (&mut [T], usize),
    first: usize,
) {
    for (k, row) in rows.chunks_exact_mut(step).enumerate().take(left.rows()) {
        let Some(row) = chunk_mut::<T, W>(row, first) else { return };
        let mut sum = *row;
        for (source, factor) in x.chunks_exact(stride).zip(left.row(k)).take(reach) {
            if *factor == T::ZERO {
                continue;
            }
            let Some(source) = chunk::<T, W>(source, first) else { return };
            add_scaled(*factor, source, &mut sum);
        }
        *row = sum;
    }
}

/// X ← L⁻¹ X, with each row corrected first.
#[inline(always)]
fn spread_from_root<T: Real, const W: usize>(
    tree: Tree<'_>,
    l: MatRef<'_, T>,
    (x, stride): (&mut [T], usize),
    first: usize,
    correct: impl Fn(usize, &mut [T; W]),
) {
    for i in 0..tree.len() {
        let Some((above, row)) = x.split_at_mut_checked(i * stride) else { return };
        let Some(row) = chunk_mut::<T, W>(row, first) else { return };
        let mut sum = *row;
        correct(i, &mut sum);
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

/// Calls `add` with each number of column `i` of `factors` that is not zero, and the line that it is for.
#[inline(always)]
fn add_column<T: Real, const W: usize>(
    factors: MatRef<'_, T>,
    i: usize,
    (lines, step): (&[T], usize),
    first: usize,
    mut add: impl FnMut(T, &[T; W]),
) {
    let column = Column::new(factors.data(), i, factors.stride()).take(factors.rows());
    for (line, factor) in lines.chunks_exact(step).zip(column) {
        if factor == T::ZERO {
            continue;
        }
        let Some(line) = chunk::<T, W>(line, first) else { return };
        add(factor, line);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use nalgebra::DMatrix;

    use super::*;
    use crate::linalg::tree::{Link, factorize};
    use crate::linalg::{cholesky, padded};

    /// Of numbers near one, some hundred roundings.
    const TOLERANCE: f64 = 1e-12;

    /// A base of two degrees of freedom with two limbs of two.
    const PARENTS: [u16; 6] = [Link::ROOT, 0, 1, 2, 1, 4];
    const LINKS: [Link; 6] = [
        Link { parent: PARENTS[0], run_start: 0, subtree_end: 6 },
        Link { parent: PARENTS[1], run_start: 0, subtree_end: 6 },
        Link { parent: PARENTS[2], run_start: 0, subtree_end: 4 },
        Link { parent: PARENTS[3], run_start: 0, subtree_end: 4 },
        Link { parent: PARENTS[4], run_start: 4, subtree_end: 6 },
        Link { parent: PARENTS[5], run_start: 4, subtree_end: 6 },
    ];
    const NV: usize = LINKS.len();
    const ROWS: usize = 3;
    const RATE: f64 = 1.5;

    /// Numbers that differ; rows whole.
    fn numbers(rows: usize, cols: usize, seed: usize) -> Vec<f64> {
        let mut data = vec![0.0; rows * padded(cols)];
        for i in 0..rows {
            for j in 0..cols {
                data[i * padded(cols) + j] = ((7 * i + 3 * j + seed) as f64).sin();
            }
        }
        data
    }

    fn view(data: &[f64], rows: usize, cols: usize) -> MatRef<'_, f64> {
        MatRef::with_stride(data, rows, cols, padded(cols))
    }

    fn dense(data: &[f64], rows: usize, cols: usize) -> DMatrix<f64> {
        view(data, rows, cols).to_nalgebra().into_owned()
    }

    /// A mass matrix of the tree: what a degree of freedom moves, its ancestors move too.
    fn mass() -> Vec<f64> {
        let related = |i: usize, j: usize| Tree(&LINKS).runs(i.max(j)).flatten().any(|k| k == i.min(j));
        let mut m = vec![0.0; NV * padded(NV)];
        for i in 0..NV {
            for j in (0..NV).filter(|j| related(i, *j)) {
                m[i * padded(NV) + j] = if i == j { 6.0 } else { 1.0 / (1 + i + j) as f64 };
            }
        }
        m
    }

    #[test]
    fn corrected_solves_equal_dense_ones() {
        let tree = Tree(&LINKS);
        let (m, mut l, mut pivots) = (dense(&mass(), NV, NV), mass(), [0.0; NV]);
        factorize(tree, MatMut::with_stride(&mut l, NV, NV, padded(NV)), &mut pivots).unwrap();
        let unit_lower =
            DMatrix::from_fn(NV, NV, |i, j| if i == j { 1.0 } else { f64::from(j < i) * l[i * padded(NV) + j] });
        assert!(
            (unit_lower.transpose() * DMatrix::from_fn(NV, NV, |i, j| f64::from(i == j) / pivots[i]) * &unit_lower - m)
                .amax()
                .le(&TOLERANCE)
        );
        // E does not reach the second limb.
        let mut left = numbers(ROWS, NV, 1);
        left.chunks_mut(padded(NV)).for_each(|row| row[4..].fill(0.0));
        let (right, middle) = (numbers(ROWS, NV, 2), [2.0, -1.0, 0.5, 3.0, 1.0, -2.0]);
        let system = dense(&numbers(ROWS, ROWS, 3), ROWS, ROWS);
        let system = &system * system.transpose() + DMatrix::identity(ROWS, ROWS);
        let mut upper = vec![0.0; ROWS * padded(ROWS)];
        (0..ROWS).for_each(|i| (i..ROWS).for_each(|j| upper[i * padded(ROWS) + j] = system[(i, j)]));
        cholesky(MatMut::with_stride(&mut upper, ROWS, ROWS, padded(ROWS))).unwrap();
        for cols in [1, 3, 4, 13, 56, 57, 130] {
            for (rows, solved, known) in [(0, false, 0), (ROWS, false, 0), (ROWS, true, 0), (ROWS, true, 2)] {
                let (mut x, mut s) = (numbers(NV, cols, 4), numbers(rows, cols, 5));
                let (before, given) = (dense(&x, NV, cols), dense(&s, rows, cols));
                // The first limb's last row and the second limb's are known.
                let (lines, of) = (numbers(2, cols, 6), [NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, 1, NOT_GIVEN, 0]);
                let symmetric = System::Symmetric { upper: view(&upper, ROWS, ROWS), rate: RATE };
                let divided = System::Divided { right: view(&right, rows, NV) };
                let correction = Correction {
                    left: view(&left, rows, NV),
                    reach: if known > 0 { 4 } else { NV },
                    system: if solved { symmetric } else { divided },
                    rows: MatMut::with_stride(&mut s, rows, cols, padded(cols)),
                    given: Given { of: if known > 0 { &of } else { &[] }, rows: &lines },
                };
                let l = view(&l, NV, NV);
                solve_corrected(tree, l, &middle, correction, MatMut::with_stride(&mut x, NV, cols, padded(cols)));
                let half = unit_lower.transpose().try_inverse().unwrap() * before;
                let left = dense(&left, rows, NV);
                let mut multiplier = given + &left * &half;
                let mut scaled = DMatrix::from_fn(NV, cols, |i, j| middle[i] * half[(i, j)]);
                if solved {
                    multiplier = system.clone().try_inverse().unwrap() * multiplier * RATE;
                    scaled += left.transpose() * &multiplier;
                } else {
                    let taken = dense(&right, rows, NV).transpose() * &multiplier;
                    scaled -= DMatrix::from_fn(NV, cols, |i, j| middle[i] * taken[(i, j)]);
                }
                for (row, k) in of.iter().enumerate().filter(|(_, k)| known > 0 && **k != NOT_GIVEN) {
                    scaled.set_row(row, &dense(&lines, 2, cols).row(usize::from(*k)));
                }
                let expected = unit_lower.clone().try_inverse().unwrap() * scaled;
                assert!(
                    (dense(&x, NV, cols) - expected).amax() < TOLERANCE,
                    "{cols} columns, {rows} rows, {solved}, {known}"
                );
                assert!((dense(&s, rows, cols) - multiplier).amax() < TOLERANCE || rows == 0, "{cols} columns: S");
            }
        }
    }
}
