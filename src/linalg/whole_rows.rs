//! Products by whole rows of sums in registers: every multiply-add reads its operand from memory, and nothing else.

use super::rows::{chunk, chunk_mut};
use super::{MatMut, MatRef};
use crate::memory::run;
use crate::scalar::Real;

/// Sums of a row that are kept in registers, at most: all but two of the vectors of x86-64-v3.
pub(super) const WIDEST: usize = if cfg!(target_arch = "arm") { 16 } else { 56 };

/// How many of the columns that are left to take next: whole vectors, or one of some that fill none.
#[inline(always)]
fn next_width(left: usize) -> usize {
    if left < 4 { 1 } else { (left / 4 * 4).min(WIDEST) }
}

/// Calls a function with a width, one or whole vectors up to [`WIDEST`], as a constant.
macro_rules! with_width {
    ($width:expr, $name:ident, $call:expr) => {
        with_width!(@some $width, $name, $call; 1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56)
    };
    (@some $width:expr, $name:ident, $call:expr; $($some:literal),*) => {
        match $width {
            $( $some if $some <= WIDEST => {
                const $name: usize = $some;
                $call
            } )*
            _ => return,
        }
    };
}
pub(super) use with_width;

/// line += Σ factor · row, for rows that start every `stride` numbers, in their order; N is a multiple of three.
/// O(N · columns).
#[inline(always)]
pub(crate) fn add_few_rows<T: Real, const N: usize>(line: &mut [T], factors: &[T; N], (rows, stride): (&[T], usize)) {
    let (end, mut first) = (line.len(), 0);
    if cfg!(target_arch = "arm") {
        // Three rows at a time: as many as pointers stay in registers.
        for (k, three) in factors.as_chunks::<3>().0.iter().enumerate() {
            add_three(line, three, core::array::from_fn(|i| run(rows, (3 * k + i) * stride, end)));
        }
        return;
    }
    while first < end {
        let width = next_width(end - first);
        with_width!(width, W, add_few::<T, N, W>(line, factors, (rows, stride), first));
        first += width;
    }
}

fn add_three<T: Real>(line: &mut [T], [a, b, c]: &[T; 3], [p, q, r]: [&[T]; 3]) {
    for (((x, p), q), r) in line.iter_mut().zip(p).zip(q).zip(r) {
        *x = c.mul_add(*r, b.mul_add(*q, a.mul_add(*p, *x)));
    }
}

#[inline(never)] // Else all widths share the registers of one function.
fn add_few<T: Real, const N: usize, const W: usize>(
    line: &mut [T],
    factors: &[T; N],
    (rows, stride): (&[T], usize),
    first: usize,
) {
    let Some(out) = chunk_mut::<T, W>(line, first) else { return };
    let (mut sums, mut at) = (*out, first);
    for factor in factors {
        let Some(row) = chunk::<T, W>(rows, at) else { return };
        at += stride;
        add_scaled(*factor, row, &mut sums);
    }
    *out = sums;
}

/// sums += factor · line.
#[inline(always)]
pub(super) fn add_scaled<T: Real, const W: usize>(factor: T, line: &[T; W], sums: &mut [T; W]) {
    for c in 0..W {
        sums[c] = factor.mul_add(line[c], sums[c]);
    }
}

/// B = Aᵀ, four rows of A at a time; the padding of B is spoiled.
pub(crate) fn transpose<T: Real>(a: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    debug_assert!(a.rows() == b.cols() && a.cols() == b.rows());
    let (stride, wide) = (b.stride(), b.full_cols());
    for first in (0..a.rows()).step_by(4) {
        let [w, x, y, z]: [&[T]; 4] = core::array::from_fn(|k| a.row((first + k).min(a.rows() - 1)));
        let places = b.data_mut().chunks_mut(stride.max(1));
        for ((((place, w), x), y), z) in places.zip(w).zip(x).zip(y).zip(z) {
            if let Some(four) = chunk_mut::<T, 4>(place, first).filter(|_| first + 4 <= wide) {
                *four = [*w, *x, *y, *z];
            } else {
                for (place, entry) in place.iter_mut().skip(first).zip([*w, *x, *y, *z]).take(a.rows() - first) {
                    *place = entry;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::linalg::padded;

    /// Rows × columns, rows whole.
    struct Whole {
        data: Vec<f64>,
        rows: usize,
        cols: usize,
    }

    impl Whole {
        /// Numbers that differ and add up exactly; some of them zero.
        fn new(rows: usize, cols: usize, seed: usize) -> Self {
            let mut data = vec![0.0; rows * padded(cols)];
            for i in 0..rows {
                for j in 0..cols {
                    data[i * padded(cols) + j] = ((7 * i + 3 * j + seed) % 11) as f64 - 5.0;
                }
            }
            Self { data, rows, cols }
        }

        fn view(&self) -> MatRef<'_, f64> {
            MatRef::with_stride(&self.data, self.rows, self.cols, padded(self.cols))
        }

        fn view_mut(&mut self) -> MatMut<'_, f64> {
            MatMut::with_stride(&mut self.data, self.rows, self.cols, padded(self.cols))
        }
    }

    fn assert_entries(found: MatRef<'_, f64>, expected: impl Fn(usize, usize) -> f64) {
        for i in 0..found.rows() {
            for j in 0..found.cols() {
                assert_eq!(found[(i, j)], expected(i, j), "{} x {}, at ({i}, {j})", found.rows(), found.cols());
            }
        }
    }

    /// Narrower and wider than a band, whole vectors and not.
    const COLUMNS: [usize; 9] = [1, 3, 4, 5, 12, 48, 56, 57, 130];

    #[test]
    fn a_few_rows_are_added_in_their_shares() {
        for cols in COLUMNS {
            let (rows, before) = (Whole::new(3, cols, 1), Whole::new(1, cols, 2));
            let (mut line, factors) = (before.data.clone(), [2.0, -1.0, 3.0]);
            add_few_rows(&mut line[..cols], &factors, (&rows.data, padded(cols)));
            for j in 0..cols {
                let sum: f64 = (0..3).map(|k| factors[k] * rows.view()[(k, j)]).sum();
                assert_eq!(line[j], before.data[j] + sum, "{cols} columns, at {j}");
            }
        }
    }

    #[test]
    fn a_transpose_has_rows_for_columns() {
        for rows in [1, 2, 3, 4, 6, 9] {
            for cols in [1, 4, 7] {
                let (a, mut b) = (Whole::new(rows, cols, 5), Whole::new(cols, rows, 6));
                transpose(a.view(), b.view_mut());
                assert_entries(b.view(), |i, j| a.view()[(j, i)]);
            }
        }
    }
}
