//! LU factor of a general square matrix, with row exchanges.

use core::fmt;

use super::rows::{chunk, chunk_mut, combined, row_end, scale, subtract_rows};
use super::{MatMut, MatRef};
use crate::memory::{Values, exchange, rest, rest_mut, run, run_mut, split_mut, swap, within, within_mut};
use crate::scalar::Real;

/// No entry of a column was left to divide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// The column.
    pub column: usize,
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "matrix is singular: column {} has no pivot", self.column)
    }
}

impl core::error::Error for Singular {}

/// P A = L U in place, L with unit diagonal; `exchanges[k]` is the row that came to place k at step k. O(n³ / 3).
///
/// Returns the smallest pivot in size over the largest, a cheap sign of bad conditioning.
///
/// ```
/// use saltus::linalg::{MatMut, MatRef, lu, lu_solve};
///
/// let (mut a, mut exchanges, mut x) = ([0.0, 2.0, 1.0, 1.0], [0; 2], [4.0, 3.0]);
/// lu(MatMut::new(&mut a, 2, 2), &mut exchanges)?;
/// lu_solve(MatRef::new(&a, 2, 2), &exchanges, &mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), saltus::linalg::Singular>(())
/// ```
pub fn lu<T: Real>(mut a: MatMut<'_, T>, exchanges: &mut [u16]) -> Result<T, Singular> {
    let (n, stride, cols) = (a.rows(), a.stride(), a.full_cols());
    debug_assert!(a.cols() == n && exchanges.len() >= n && n <= usize::from(u16::MAX));
    let m = a.data_mut();
    let mut pivots = Pivots { smallest: T::ONE, largest: T::ONE };
    if cols.is_multiple_of(WIDTH) {
        for first in (0..n).step_by(WIDTH) {
            factor_panel(m, first, n, (stride, cols), exchanges, &mut pivots)?;
            if first + WIDTH < cols {
                update_right_of(m, first, n, (stride, cols));
            }
        }
    } else {
        for k in 0..n {
            let inverse = pivots.bring_up(m, k, n, (stride, cols), exchanges)?;
            let (above, below) = split_mut(m, (k + 1) * stride - (stride - cols).min(stride));
            eliminate(rest(above, k * stride), below.get_mut(stride - cols..).unwrap_or_default(), k, stride, inverse);
        }
    }
    Ok(pivots.smallest / pivots.largest)
}

/// Columns of a panel.
const WIDTH: usize = 4;

/// Sizes of the pivots so far.
struct Pivots<T> {
    smallest: T,
    largest: T,
}

impl<T: Real> Pivots<T> {
    /// Exchanges row k for the one with the largest entry in its column; one over that entry.
    #[inline(always)]
    fn bring_up(
        &mut self,
        m: &mut [T],
        k: usize,
        n: usize,
        (stride, cols): (usize, usize),
        exchanges: &mut [u16],
    ) -> Result<T, Singular> {
        let row = largest_below(m, k, n, stride);
        exchanges.set(k, row as u16);
        if row != k {
            let (upper, lower) = split_mut(m, row * stride);
            swap(run_mut(upper, k * stride, cols), run_mut(lower, 0, cols));
        }
        let pivot = m.at(k * stride + k);
        let size = pivot.abs();
        if !(size > T::ZERO && pivot.is_finite()) {
            return Err(Singular { column: k });
        }
        let first = k == 0;
        self.smallest = if first { size } else { self.smallest.min(size) };
        self.largest = if first { size } else { self.largest.max(size) };
        Ok(T::ONE / pivot)
    }
}

/// Subtracts the pivot row from the rows below, number by number.
fn eliminate<T: Real>(pivot_row: &[T], below: &mut [T], k: usize, stride: usize, inverse: T) {
    for row in below.chunks_mut(stride.max(1)) {
        let factor = row.at(k) * inverse;
        row.set(k, factor);
        for (x, p) in rest_mut(row, k + 1).iter_mut().zip(rest(pivot_row, k + 1)) {
            *x = (-factor).mul_add(*p, *x);
        }
    }
}

/// Factors the four columns from `first` on, below the diagonal and on it; rows are exchanged whole.
#[inline(always)]
fn factor_panel<T: Real>(
    m: &mut [T],
    first: usize,
    n: usize,
    (stride, cols): (usize, usize),
    exchanges: &mut [u16],
    pivots: &mut Pivots<T>,
) -> Result<(), Singular> {
    macro_rules! columns {
        ($($offset:literal),*) => {$(
            if first + $offset < n {
                let inverse = pivots.bring_up(m, first + $offset, n, (stride, cols), exchanges)?;
                eliminate_in_panel::<T, $offset>(m, first, n, stride, inverse);
            }
        )*};
    }
    columns!(0, 1, 2, 3);
    Ok(())
}

/// Subtracts pivot row `first + K` from the rows below, within the panel. K is a constant so that fours stay in registers.
#[inline(always)]
fn eliminate_in_panel<T: Real, const K: usize>(m: &mut [T], first: usize, n: usize, stride: usize, inverse: T) {
    let Some(mut head) = chunk::<T, WIDTH>(m, (first + K) * stride + first).copied() else { return };
    for x in &mut head[..=K] {
        *x = T::ZERO;
    }
    let mut at = (first + K + 1) * stride + first;
    for _ in first + K + 1..n {
        let Some(four) = chunk_mut::<T, WIDTH>(m, at) else { return };
        at += stride;
        let factor = four[K] * inverse;
        let mut next = combined(-factor, &head, four);
        next[K] = factor;
        *four = next;
    }
}

/// Takes a factored panel out of all columns to its right: first out of its own rows, then out of those below.
#[inline(always)]
fn update_right_of<T: Real>(m: &mut [T], first: usize, n: usize, (stride, cols): (usize, usize)) {
    let right = first + WIDTH;
    for k in first + 1..right {
        let (above, row) = split_mut(m, k * stride);
        let (lower, row) = split_mut(run_mut(row, 0, cols), right);
        let factors = within(lower, first..k).iter().copied();
        subtract_rows(row, rest(above, first * stride + right), stride, 0..cols - right, factors);
    }
    let (above, below) = split_mut(m, right * stride);
    let panel_row = |k: usize| run(above, (first + k) * stride + right, cols - right).as_chunks::<WIDTH>().0;
    let [a, b, c, d] = [0, 1, 2, 3].map(panel_row);
    for row in below.chunks_mut(stride.max(1)).take(n.saturating_sub(right)) {
        let Some(&[p, q, r, s]) = chunk::<T, WIDTH>(row, first) else { break };
        let fours = within_mut(row, right..cols).as_chunks_mut::<WIDTH>().0;
        for ((((x, a), b), c), d) in fours.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *x = combined(-s, d, &combined(-r, c, &combined(-q, b, &combined(-p, a, x))));
        }
    }
}

/// The row from k on whose entry in column k is the largest in size.
#[inline(always)]
fn largest_below<T: Real>(m: &[T], k: usize, n: usize, stride: usize) -> usize {
    let (mut best, mut size, mut at) = (k, T::ZERO, k * stride + k);
    for i in k..n {
        let Some(entry) = m.get(at) else { break };
        at += stride;
        if entry.abs() > size {
            (best, size) = (i, entry.abs());
        }
    }
    best
}

/// x ← A⁻¹ x, with `factor` and `exchanges` from [`lu`]. O(n²).
pub fn lu_solve<T: Real>(factor: MatRef<'_, T>, exchanges: &[u16], x: &mut [T]) {
    let n = factor.rows();
    for k in 0..n {
        exchange(x, k, usize::from(exchanges.at(k)));
    }
    for i in 1..n {
        let row = factor.row(i);
        let solved = x.at(i) - partial_dot(run(row, 0, i), run(x, 0, i));
        x.set(i, solved);
    }
    for i in (0..n).rev() {
        let row = factor.row(i);
        let solved = (x.at(i) - partial_dot(rest(row, i + 1), within(x, i + 1..n))) / row.at(i);
        x.set(i, solved);
    }
}

/// x ← A⁻ᵀ x, with `factor` and `exchanges` from [`lu`]. O(n²).
pub fn lu_solve_transposed<T: Real>(factor: MatRef<'_, T>, exchanges: &[u16], x: &mut [T]) {
    let n = factor.rows();
    for i in 0..n {
        let row = factor.row(i);
        x[i] /= row[i];
        let minus = -x[i];
        for (x, u) in x[i + 1..n].iter_mut().zip(&row[i + 1..]) {
            *x = minus.mul_add(*u, *x);
        }
    }
    for i in (0..n).rev() {
        let minus = -x[i];
        let (above, _) = x.split_at_mut(i);
        for (x, l) in above.iter_mut().zip(factor.row(i)) {
            *x = minus.mul_add(*l, *x);
        }
    }
    for k in (0..n).rev() {
        exchange(x, k, usize::from(exchanges.at(k)));
    }
}

/// X ← A⁻¹ X for many right-hand sides, with `factor` and `exchanges` from [`lu`]. O(n² · columns).
pub fn lu_solve_matrix<T: Real>(factor: MatRef<'_, T>, exchanges: &[u16], mut x: MatMut<'_, T>) {
    let (n, stride, cols) = (factor.rows(), x.stride(), x.full_cols());
    let x = x.data_mut();
    for k in 0..n {
        let other = usize::from(exchanges[k]);
        if other != k {
            let (upper, lower) = x.split_at_mut(other * stride);
            upper[k * stride..][..cols].swap_with_slice(&mut lower[..cols]);
        }
    }
    for i in 1..n {
        let (above, row) = x.split_at_mut(i * stride);
        subtract_rows(row, above, stride, 0..cols, factor.row(i)[..i].iter().copied());
    }
    for i in (0..n).rev() {
        let (row, below) = x[i * stride..].split_at_mut(row_end(i, n, stride, cols));
        subtract_rows(row, below, stride, 0..cols, factor.row(i)[i + 1..].iter().copied());
        scale(&mut row[..cols], T::ONE / factor[(i, i)]);
    }
}

/// Σ aᵢ bᵢ in four interleaved sums, in an order that does not depend on the target.
#[inline(always)]
pub(crate) fn partial_dot<T: Real>(a: &[T], b: &[T]) -> T {
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
    let mut sums = [T::ZERO; 4];
    for (a, b) in a_chunks.zip(b_chunks) {
        for k in 0..4 {
            sums[k] = a[k].mul_add(b[k], sums[k]);
        }
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum = a.mul_add(*b, sum);
    }
    sum
}
