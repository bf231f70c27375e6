//! The row kernel: subtract from one row a combination of other rows of the same matrix.

use core::ops::Range;

use crate::scalar::Real;

/// `m[target][cols] −= Σ_k coefficient(m, k) · m[k][cols]` over k in `sources`, ascending. O(sources · cols).
///
/// The target row stays in registers, 16 columns at a time; it must not be among the sources.
#[inline(always)]
pub(super) fn subtract_rows<T: Real>(
    m: &mut [T],
    stride: usize,
    target: usize,
    sources: Range<usize>,
    cols: Range<usize>,
    coefficient: impl Fn(&[T], usize) -> T,
) {
    if sources.is_empty() {
        return;
    }
    let mut first = cols.start;
    while first + 16 <= cols.end {
        subtract_chunk::<T, 16>(m, stride, target, &sources, first, &coefficient);
        first += 16;
    }
    while first + 4 <= cols.end {
        subtract_chunk::<T, 4>(m, stride, target, &sources, first, &coefficient);
        first += 4;
    }
    while first < cols.end {
        subtract_chunk::<T, 1>(m, stride, target, &sources, first, &coefficient);
        first += 1;
    }
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
    if let Some(out) = m.get_mut(target * stride + first..).and_then(|rest| rest.first_chunk_mut::<W>()) {
        *out = sum;
    }
}

#[inline(always)]
fn chunk<T, const W: usize>(m: &[T], at: usize) -> Option<&[T; W]> {
    m.get(at..).and_then(|rest| rest.first_chunk::<W>())
}

/// `m[row][cols] *= factor`.
#[inline(always)]
pub(super) fn scale_row<T: Real>(m: &mut [T], stride: usize, row: usize, cols: Range<usize>, factor: T) {
    for x in &mut m[row * stride..][cols] {
        *x *= factor;
    }
}
