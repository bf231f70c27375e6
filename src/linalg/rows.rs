//! The row kernel: subtract from one row a combination of other rows of the same matrix.

use core::ops::Range;

use crate::scalar::Real;

/// Columns kept in registers at once: eight independent sums of four hide the latency of a fused multiply-add on
/// x86-64-v3; a Cortex-M7 has 32 registers in all.
const WIDE: usize = if cfg!(target_arch = "arm") { 16 } else { 32 };

/// `m[target][cols] −= Σ_k coefficient(m, k) · m[k][cols]` over k in `sources`, ascending. O(sources · cols).
///
/// The target row stays in registers, a chunk of columns at a time; it must not be among the sources.
#[inline(always)]
#[allow(clippy::int_plus_one)] // The last of the widths is one.
pub(super) fn subtract_rows<T: Real>(
    m: &mut [T],
    stride: usize,
    target: usize,
    sources: Range<usize>,
    cols: Range<usize>,
    coefficient: impl Fn(&[T], usize) -> T,
) {
    if sources.is_empty() || cols.is_empty() {
        return;
    }
    let mut first = cols.start;
    macro_rules! chunks {
        ($($width:expr),*) => {$(
            while cols.end - first >= $width {
                subtract_chunk::<T, { $width }>(m, stride, target, &sources, first, &coefficient);
                first += $width;
            }
        )*};
    }
    chunks!(WIDE, WIDE / 2, WIDE / 4, 4, 1);
}

#[inline(always)]
fn subtract_chunk<T: Real, const W: usize>(
    m: &mut [T],
    stride: usize,
    target: usize,
    sources: &Range<usize>,
    first: usize,
    coefficient: &impl Fn(&[T], usize) -> T,
) {
    let Some(start) = chunk::<T, W>(m, target * stride + first) else { return };
    let mut sum = *start;
    for k in sources.clone() {
        let Some(row) = chunk::<T, W>(m, k * stride + first) else { return };
        let minus = -coefficient(m, k);
        for c in 0..W {
            sum[c] = minus.mul_add(row[c], sum[c]);
        }
    }
    if let Some(out) = chunk_mut::<T, W>(m, target * stride + first) {
        *out = sum;
    }
}

/// The `W` numbers from `at` on.
#[inline(always)]
pub(super) fn chunk<T, const W: usize>(m: &[T], at: usize) -> Option<&[T; W]> {
    m.get(at..).and_then(|rest| rest.first_chunk::<W>())
}

/// The `W` numbers from `at` on, to be written.
#[inline(always)]
pub(super) fn chunk_mut<T, const W: usize>(m: &mut [T], at: usize) -> Option<&mut [T; W]> {
    m.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<W>())
}

/// `m[row][cols] *= factor`.
#[inline(always)]
pub(super) fn scale_row<T: Real>(m: &mut [T], stride: usize, row: usize, cols: Range<usize>, factor: T) {
    for x in &mut m[row * stride..][cols] {
        *x *= factor;
    }
}
