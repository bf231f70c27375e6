//! The Cholesky factor and solve of [`cholesky`](super::cholesky()), four rows at a time, where what stands below the
//! diagonal may be spoiled. Every entry of the factor sums in the same order, so its bits are the same.

use super::rows::{Column, chunk, chunk_mut, combined, scale, subtract_rows};
use super::{
    MatMut, MatRef, NotPositiveDefinite, cholesky, cholesky_solve_vector, solve_lower, solve_upper, subtract_at_b,
};
use crate::memory::{rest, rest_mut, split_mut};
use crate::scalar::Real;

/// Rows of a panel.
const PANEL: usize = 4;

/// Columns of a register tile, four rows high.
const TILE_COLS: usize = if cfg!(target_arch = "arm") { 4 } else { 12 };

/// A = Uᵀ U in place, from the upper triangle; the rest is spoiled. O(n³ / 6).
pub(crate) fn cholesky_in_blocks<T: Real>(mut a: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    if !a.full_cols().is_multiple_of(PANEL) {
        return cholesky(a);
    }
    let n = a.rows();
    factor_rows(&mut a, n)
}

/// The first `count` rows of the factor of A, and what they leave of the rest: the upper triangle of its Schur
/// complement. What stands below the diagonal is spoiled. O(count · n²).
pub(crate) fn eliminate_in_blocks<T: Real>(mut a: MatMut<'_, T>, count: usize) -> Result<(), NotPositiveDefinite> {
    let (n, stride, cols) = (a.rows(), a.stride(), a.full_cols());
    debug_assert!(cols.is_multiple_of(PANEL) && count <= n);
    factor_rows(&mut a, count)?;
    let Some((above, left)) = a.data_mut().split_at_mut_checked(count * stride) else { return Ok(()) };
    let mut first = count;
    while first < n {
        let Some(rows) = left.get_mut((first - count) * stride..) else { break };
        if first.is_multiple_of(PANEL) && first + PANEL <= n {
            subtract_above(above, rows, first, (stride, cols));
            first += PANEL;
        } else {
            let aligned = first / PANEL * PANEL;
            subtract_rows(rows, above, stride, aligned..cols, Column::new(above, first, stride).take(count));
            first += 1;
        }
    }
    Ok(())
}

/// Factors the first rows, over all columns.
#[inline(always)]
fn factor_rows<T: Real>(a: &mut MatMut<'_, T>, count: usize) -> Result<(), NotPositiveDefinite> {
    let (n, stride, cols) = (a.rows(), a.stride(), a.full_cols());
    let (m, whole) = (a.data_mut(), count / PANEL * PANEL);
    for first in (0..whole).step_by(PANEL) {
        let Some((above, panel)) = m.split_at_mut_checked(first * stride) else { break };
        subtract_above(above, panel, first, (stride, cols));
        factor_panel(panel, first, (stride, cols)).map_err(|k| NotPositiveDefinite { pivot: first + k })?;
    }
    for i in whole..count {
        let Some((above, row)) = m.split_at_mut_checked(i * stride) else { break };
        subtract_rows(row, above, stride, whole..cols, Column::new(above, i, stride).take(i));
        let row = row.get_mut(i..n).unwrap_or_default();
        let pivot = row.first().copied().filter(|pivot| *pivot > T::ZERO && pivot.is_finite());
        let Some(pivot) = pivot else { return Err(NotPositiveDefinite { pivot: i }) };
        scale(row, T::ONE / pivot.sqrt());
    }
    Ok(())
}

/// Takes all rows above a panel out of it, from its diagonal on.
#[inline(always)]
fn subtract_above<T: Real>(above: &[T], panel: &mut [T], first: usize, (stride, cols): (usize, usize)) {
    let mut col = first;
    macro_rules! tiles {
        ($($width:expr),*) => {$(
            while col + $width <= cols {
                subtract_tile::<T, { $width }>(above, panel, first, col, stride);
                col += $width;
            }
        )*};
    }
    tiles!(TILE_COLS, PANEL);
}

#[inline(always)]
fn subtract_tile<T: Real, const W: usize>(above: &[T], panel: &mut [T], first: usize, col: usize, stride: usize) {
    let mut sums = [[T::ZERO; W]; PANEL];
    for (k, sum) in sums.iter_mut().enumerate() {
        let Some(row) = chunk::<T, W>(panel, k * stride + col) else { return };
        *sum = *row;
    }
    for row in above.chunks_exact(stride.max(1)) {
        let (Some(factors), Some(row)) = (chunk::<T, PANEL>(row, first), chunk::<T, W>(row, col)) else { return };
        for (sum, factor) in sums.iter_mut().zip(factors) {
            for c in 0..W {
                sum[c] = (-*factor).mul_add(row[c], sum[c]);
            }
        }
    }
    for (k, sum) in sums.iter().enumerate() {
        let Some(row) = chunk_mut::<T, W>(panel, k * stride + col) else { return };
        *row = *sum;
    }
}

/// Factors four rows from their diagonal on: first the block on it, then all columns by that. The pivot that fails.
#[inline(always)]
fn factor_panel<T: Real>(panel: &mut [T], first: usize, (stride, cols): (usize, usize)) -> Result<(), usize> {
    let Some([a, b, c, d]) = four_rows(panel, first, (stride, cols)) else { return Ok(()) };
    let (Some(&p), Some(&q), Some(&r), Some(&s)) = (a.first(), b.first(), c.first(), d.first()) else { return Ok(()) };
    let (mut block, mut inverses) = ([p, q, r, s], [T::ZERO; PANEL]);
    for k in 0..PANEL {
        let pivot = block[k][k];
        if !(pivot > T::ZERO && pivot.is_finite()) {
            return Err(k);
        }
        inverses[k] = T::ONE / pivot.sqrt();
        for j in k..PANEL {
            block[k][j] *= inverses[k];
        }
        for i in k + 1..PANEL {
            for j in i..PANEL {
                block[i][j] = (-block[k][i]).mul_add(block[k][j], block[i][j]);
            }
        }
    }
    solve_four_lower(&block, &inverses, [a, b, c, d]);
    Ok(())
}

/// X ← U⁻ᵀ X for many right-hand sides, with `u` from [`cholesky_in_blocks`]. O(n² · columns).
pub(crate) fn solve_lower_in_blocks<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (n, stride, cols) = (u.rows(), x.stride(), x.full_cols());
    if !cols.is_multiple_of(PANEL) {
        return solve_lower(u, x);
    }
    for first in (0..n).step_by(PANEL) {
        let (above, panel) = split_mut(x.data_mut(), first * stride);
        let height = PANEL.min(n - first);
        if first > 0 {
            let factors = MatRef::with_stride(u.data(), first, n, u.stride()).columns(first, height);
            let out = MatMut::with_stride(panel, height, cols, stride);
            subtract_at_b(out, factors, MatRef::with_stride(above, first, cols, stride));
        }
        if let (PANEL, Some((block, _)), Some(rows)) =
            (height, self::panel(u, first), four_rows(panel, 0, (stride, cols)))
        {
            solve_four_lower(&block, &inverses(&block), rows);
        } else {
            solve_lower(diagonal(u, first, height), MatMut::with_stride(panel, height, cols, stride));
        }
    }
}

/// X ← U⁻¹ X for many right-hand sides, with `u` from [`cholesky_in_blocks`] and Uᵀ below its diagonal
/// ([`mirror`](super::mirror)). O(n² · columns).
pub(crate) fn solve_upper_in_blocks<T: Real>(u: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let (n, stride, cols) = (u.rows(), x.stride(), x.full_cols());
    if !cols.is_multiple_of(PANEL) {
        return solve_upper(u, x);
    }
    for first in (0..n).step_by(PANEL).rev() {
        let height = PANEL.min(n - first);
        let end = first + height;
        let all = x.data_mut().len();
        let (rows, below) = split_mut(x.data_mut(), (end * stride).min(all));
        let panel = rest_mut(rows, first * stride);
        if end < n {
            let factors = MatRef::with_stride(rest(u.data(), end * u.stride()), n - end, n, u.stride());
            let out = MatMut::with_stride(panel, height, cols, stride);
            let below = MatRef::with_stride(below, n - end, cols, stride);
            subtract_at_b(out, factors.columns(first, height), below);
        }
        if let (PANEL, Some((block, _)), Some(rows)) =
            (height, self::panel(u, first), four_rows(panel, 0, (stride, cols)))
        {
            solve_four_upper(&block, &inverses(&block), rows);
        } else {
            solve_upper(diagonal(u, first, height), MatMut::with_stride(panel, height, cols, stride));
        }
    }
}

/// A block on the diagonal.
#[inline(always)]
fn diagonal<T: Real>(u: MatRef<'_, T>, first: usize, rows: usize) -> MatRef<'_, T> {
    MatRef::with_stride(rest(u.data(), first * (u.stride() + 1)), rows, rows, u.stride())
}

/// Four rows in fours, over the columns `first .. cols`.
#[inline(always)]
fn four_rows<T>(panel: &mut [T], first: usize, (stride, cols): (usize, usize)) -> Option<Fours<'_, T>> {
    let (a, rest) = panel.split_at_mut_checked(stride)?;
    let (b, rest) = rest.split_at_mut_checked(stride)?;
    let (c, d) = rest.split_at_mut_checked(stride)?;
    let rows = [a, b, c, d];
    Some(rows.map(|row| row.get_mut(first..cols).unwrap_or_default().as_chunks_mut::<PANEL>().0))
}

/// Four rows ← B⁻ᵀ times them, B upper triangular with these inverses of its diagonal.
#[inline(always)]
fn solve_four_lower<T: Real>(block: &[[T; PANEL]; PANEL], inverses: &[T; PANEL], [a, b, c, d]: Fours<'_, T>) {
    let [[_, ab, ac, ad], [_, _, bc, bd], [_, _, _, cd], _] = *block;
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        *a = a.map(|x| x * inverses[0]);
        *b = combined(-ab, a, b).map(|x| x * inverses[1]);
        *c = combined(-bc, b, &combined(-ac, a, c)).map(|x| x * inverses[2]);
        *d = combined(-cd, c, &combined(-bd, b, &combined(-ad, a, d))).map(|x| x * inverses[3]);
    }
}

/// Four rows ← B⁻¹ times them.
#[inline(always)]
fn solve_four_upper<T: Real>(block: &[[T; PANEL]; PANEL], inverses: &[T; PANEL], [a, b, c, d]: Fours<'_, T>) {
    let [[_, ab, ac, ad], [_, _, bc, bd], [_, _, _, cd], _] = *block;
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        *d = d.map(|x| x * inverses[3]);
        *c = combined(-cd, d, c).map(|x| x * inverses[2]);
        *b = combined(-bc, c, &combined(-bd, d, b)).map(|x| x * inverses[1]);
        *a = combined(-ab, b, &combined(-ac, c, &combined(-ad, d, a))).map(|x| x * inverses[0]);
    }
}

/// x ← A⁻¹ x, with `u` from [`cholesky_in_blocks`]. O(n²).
pub(crate) fn cholesky_solve_in_blocks<T: Real>(u: MatRef<'_, T>, x: &mut [T]) {
    let n = u.rows();
    if !n.is_multiple_of(PANEL) || x.len() != n {
        return cholesky_solve_vector(u, x);
    }
    for first in (0..n).step_by(PANEL) {
        let Some((block, [a, b, c, d])) = panel(u, first) else { return };
        let Some((head, later)) = x.split_at_mut_checked(first + PANEL) else { return };
        let Some(four) = head.last_chunk_mut::<PANEL>() else { return };
        for i in 0..PANEL {
            four[i] /= block[i][i];
            for j in i + 1..PANEL {
                four[j] = (-four[i]).mul_add(block[i][j], four[j]);
            }
        }
        let [p, q, r, s] = *four;
        for ((((x, a), b), c), d) in later.as_chunks_mut::<PANEL>().0.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *x = combined(-s, d, &combined(-r, c, &combined(-q, b, &combined(-p, a, x))));
        }
    }
    for first in (0..n).step_by(PANEL).rev() {
        let Some((block, [a, b, c, d])) = panel(u, first) else { return };
        let Some((head, later)) = x.split_at_mut_checked(first + PANEL) else { return };
        let Some(four) = head.last_chunk_mut::<PANEL>() else { return };
        let mut sums = [[T::ZERO; PANEL]; PANEL];
        for ((((x, a), b), c), d) in later.as_chunks::<PANEL>().0.iter().zip(a).zip(b).zip(c).zip(d) {
            for (sum, row) in sums.iter_mut().zip([a, b, c, d]) {
                *sum = [0, 1, 2, 3].map(|k| row[k].mul_add(x[k], sum[k]));
            }
        }
        for i in (0..PANEL).rev() {
            let [p, q, r, s] = sums[i];
            let known = (p + r) + (q + s);
            let near = (i + 1..PANEL).fold(known, |sum, j| block[i][j].mul_add(four[j], sum));
            four[i] = (four[i] - near) / block[i][i];
        }
    }
}

/// The inverses of its diagonal.
#[inline(always)]
fn inverses<T: Real>(block: &[[T; PANEL]; PANEL]) -> [T; PANEL] {
    [0, 1, 2, 3].map(|k| T::ONE / block[k][k])
}

/// The block of a panel on the diagonal, and fours of its rows to the right of that.
type Panel<'a, T> = ([[T; PANEL]; PANEL], [&'a [[T; PANEL]]; PANEL]);

/// Four rows, in fours.
type Fours<'a, T> = [&'a mut [[T; PANEL]]; PANEL];

/// The triangle of a panel, and what stands to its right.
#[inline(always)]
fn panel<'a, T: Real>(u: MatRef<'a, T>, first: usize) -> Option<Panel<'a, T>> {
    let row = |k: usize| {
        let start = (first + k) * u.stride();
        u.data().get(start + first..start + u.cols())?.as_chunks::<PANEL>().0.split_first()
    };
    let ((a, e), (b, f), (c, g), (d, h)) = (row(0)?, row(1)?, row(2)?, row(3)?);
    Some(([*a, *b, *c, *d], [e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::padded;

    /// Largest matrix, in rows.
    const MOST: usize = 27;
    /// Of a solve with numbers near one, some hundred roundings.
    const TOLERANCE: f64 = 1e-13;

    /// Dominant on its diagonal, and so positive definite.
    fn entry(i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j) as f64, i.max(j) as f64);
        if i == j { 30.0 + i } else { (i * 1.7 + j * 0.9).sin() }
    }

    #[test]
    fn blocks_give_the_bits_of_the_row_by_row_factor_and_solve_the_system() {
        for n in 1..=MOST {
            let stride = padded(n);
            let mut by_rows = [f64::NAN; MOST * padded(MOST)];
            for i in 0..n {
                (i..n).for_each(|j| by_rows[i * stride + j] = entry(i, j));
            }
            let mut by_blocks = by_rows;
            assert_eq!(cholesky(MatMut::with_stride(&mut by_rows, n, n, stride)), Ok(()));
            assert_eq!(cholesky_in_blocks(MatMut::with_stride(&mut by_blocks, n, n, stride)), Ok(()));
            for i in 0..n {
                assert_eq!(by_rows[i * stride + i..i * stride + n], by_blocks[i * stride + i..i * stride + n]);
            }
            let mut x = [0.0; MOST];
            (0..n).for_each(|i| x[i] = (0..n).map(|j| entry(i, j) * (j as f64).cos()).sum());
            cholesky_solve_in_blocks(MatRef::with_stride(&by_blocks, n, n, stride), &mut x[..n]);
            assert!((0..n).all(|i| (x[i] - (i as f64).cos()).abs() < TOLERANCE), "{n} rows");
        }
    }

    #[test]
    fn many_right_hand_sides_are_solved_in_blocks() {
        for n in 1..=MOST {
            for cols in [1, 2, 4, 7, 18, MOST] {
                let (stride, wide) = (padded(n), padded(cols));
                let mut u = [f64::NAN; MOST * padded(MOST)];
                (0..n).for_each(|i| (0..n).for_each(|j| u[i * stride + j] = entry(i, j)));
                let u = MatRef::with_stride(&u, n, n, stride);
                let mut x = [0.0; MOST * padded(MOST)];
                (0..n).for_each(|i| (0..cols).for_each(|j| x[i * wide + j] = (i as f64 + 0.3 * j as f64).cos()));
                let (mut lower, mut by_rows) = (x, x);
                solve_lower_in_blocks(u, MatMut::with_stride(&mut lower, n, cols, wide));
                solve_lower(u, MatMut::with_stride(&mut by_rows, n, cols, wide));
                let apart =
                    |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
                assert!(apart(&lower, &by_rows) < TOLERANCE, "{n} rows, {cols} columns, lower");
                let (mut upper, mut by_rows) = (x, x);
                solve_upper_in_blocks(u, MatMut::with_stride(&mut upper, n, cols, wide));
                solve_upper(u, MatMut::with_stride(&mut by_rows, n, cols, wide));
                assert!(apart(&upper, &by_rows) < TOLERANCE, "{n} rows, {cols} columns, upper");
            }
        }
    }

    #[test]
    fn elimination_goes_on_to_the_bits_of_the_whole_factor() {
        for n in 1..=MOST {
            let stride = padded(n);
            for count in 0..=n {
                let mut whole = [f64::NAN; MOST * padded(MOST)];
                for i in 0..n {
                    (i..n).for_each(|j| whole[i * stride + j] = entry(i, j));
                }
                let mut parts = whole;
                assert_eq!(cholesky(MatMut::with_stride(&mut whole, n, n, stride)), Ok(()));
                assert_eq!(eliminate_in_blocks(MatMut::with_stride(&mut parts, n, n, stride), count), Ok(()));
                let left = n - count;
                let mut schur = [0.0; MOST * padded(MOST)];
                for i in 0..left {
                    let row = &parts[(count + i) * stride..][..n];
                    schur[i * padded(left) + i..][..left - i].copy_from_slice(&row[count + i..]);
                }
                assert_eq!(cholesky(MatMut::with_stride(&mut schur, left, left, padded(left))), Ok(()));
                for i in 0..n {
                    let expected = &whole[i * stride + i..i * stride + n];
                    let got = if i < count {
                        &parts[i * stride + i..][..n - i]
                    } else {
                        &schur[(i - count) * padded(left) + i - count..][..n - i]
                    };
                    assert_eq!(expected, got, "{n} rows, {count} eliminated, row {i}");
                }
            }
        }
    }

    #[test]
    fn the_pivot_that_fails_is_named() {
        for bad in 0..9 {
            let mut a = [0.0; 9 * padded(9)];
            (0..9).for_each(|i| a[i * padded(9) + i] = if i == bad { -1.0 } else { 1.0 });
            let found = cholesky_in_blocks(MatMut::with_stride(&mut a, 9, 9, padded(9)));
            assert_eq!(found, Err(NotPositiveDefinite { pivot: bad }));
        }
    }
}
