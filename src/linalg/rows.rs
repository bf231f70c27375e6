//! The row kernel: subtract from one row a combination of other rows.

use core::ops::Range;

use crate::scalar::Real;

/// Columns kept in registers at once: eight independent sums of four hide the latency of a fused multiply-add on
/// x86-64-v3, and a ninth saves a narrow chunk for the 36 columns of a quadruped's state; a Cortex-M7 has 32 registers
/// in all.
pub(super) const WIDE: usize = if cfg!(target_arch = "arm") { 16 } else { 32 };

/// The first of the columns `from .. end`, or one before it, from which on [`subtract_rows`] passes over them but once.
#[inline(always)]
pub(super) fn whole_pass(from: usize, end: usize) -> usize {
    let widths = [4, WIDE / 4, WIDE * 3 / 8, WIDE / 2, WIDE * 3 / 4, WIDE, WIDE * 3 / 2];
    let fits = |width: &usize| *width >= end.saturating_sub(from) && *width <= end;
    widths.into_iter().find(fits).map_or(from / 4 * 4, |width| end - width)
}

/// `target[cols] −= Σ coefficient · row[cols]` over the rows that start every `stride` numbers in `sources`, one per
/// coefficient, in their order. O(coefficients · cols).
///
/// The target stays in registers, a chunk of columns at a time.
#[inline(always)]
pub(super) fn subtract_rows<T: Real>(
    target: &mut [T],
    sources: &[T],
    stride: usize,
    cols: Range<usize>,
    coefficients: impl Iterator<Item = T> + Clone,
) {
    let mut first = cols.start;
    macro_rules! chunks {
        ($($width:expr),*) => {$(
            while cols.end.saturating_sub(first) >= $width {
                subtract_chunk::<T, { $width }>(target, sources, stride, first, coefficients.clone());
                first += $width;
            }
        )*};
    }
    chunks!(WIDE * 3 / 2, WIDE + 4, WIDE, WIDE * 3 / 4, WIDE / 2, WIDE * 3 / 8, WIDE / 4, 4, 1);
}

#[inline(always)]
pub(super) fn subtract_chunk<T: Real, const W: usize>(
    target: &mut [T],
    sources: &[T],
    stride: usize,
    first: usize,
    coefficients: impl Iterator<Item = T>,
) {
    let Some(out) = chunk_mut::<T, W>(target, first) else { return };
    let mut sum = *out;
    let mut rows = sources.get(first..).unwrap_or(&[]);
    for coefficient in coefficients {
        let Some(row) = rows.first_chunk::<W>() else { break };
        rows = rows.get(stride..).unwrap_or(&[]);
        for c in 0..W {
            sum[c] = (-coefficient).mul_add(row[c], sum[c]);
        }
    }
    *out = sum;
}

/// The `W` numbers from `at` on.
#[inline(always)]
pub(crate) fn chunk<T, const W: usize>(m: &[T], at: usize) -> Option<&[T; W]> {
    m.get(at..).and_then(|rest| rest.first_chunk::<W>())
}

/// The `W` numbers from `at` on, to be written.
#[inline(always)]
pub(crate) fn chunk_mut<T, const W: usize>(m: &mut [T], at: usize) -> Option<&mut [T; W]> {
    m.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<W>())
}

/// A column of a row-major matrix, from its first number on.
#[derive(Clone)]
pub(super) struct Column<'a, T> {
    data: &'a [T],
    at: usize,
    stride: usize,
}

impl<'a, T: Real> Column<'a, T> {
    /// The numbers at `first`, `first + stride`, … .
    #[inline(always)]
    pub(super) fn new(m: &'a [T], first: usize, stride: usize) -> Self {
        Self { data: m, at: first, stride }
    }
}

impl<T: Real> Iterator for Column<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let number = *self.data.get(self.at)?;
        self.at += self.stride;
        Some(number)
    }
}

/// Where row `i` of `rows` ends, so that the others follow: a stride on, or after its columns if it is the last.
#[inline(always)]
pub(super) fn row_end(i: usize, rows: usize, stride: usize, cols: usize) -> usize {
    if i + 1 == rows { cols } else { stride }
}

/// `row *= factor`.
#[inline(always)]
pub(super) fn scale<T: Real>(row: &mut [T], factor: T) {
    for x in row {
        *x *= factor;
    }
}

/// factor · p + x, as a whole: written number by number it compiles to scalar code.
#[inline(always)]
pub(super) fn combined<T: Real>(factor: T, p: &[T; 4], x: &[T; 4]) -> [T; 4] {
    [0, 1, 2, 3].map(|k| factor.mul_add(p[k], x[k]))
}
