//! Products by whole rows of sums in registers: every multiply-add reads its operand from memory, and nothing else.

use super::rows::{chunk, chunk_mut};
use super::{MatMut, MatRef};
use crate::scalar::Real;

/// Sums of a row that are kept in registers, at most: all but two of the vectors of x86-64-v3.
pub(crate) const WIDEST: usize = if cfg!(target_arch = "arm") { 16 } else { 56 };

/// How many of the columns that are left to take next: whole vectors, or one of some that fill none.
#[inline(always)]
fn next_width(left: usize) -> usize {
    if left < 4 { 1 } else { (left / 4 * 4).min(WIDEST) }
}

/// Calls a function with a width of [`next_width`] as a constant.
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

/// Z ← scale · A Z − F S. S has its rows whole, padding included; what Z has in its padding is spoiled. `band` has
/// [`WIDEST`] numbers for each row of Z. O(rows² · columns).
pub(crate) fn multiply_in_place<T: Real>(
    mut z: MatMut<'_, T>,
    (a, scale): (MatRef<'_, T>, T),
    (f, s): (MatRef<'_, T>, MatRef<'_, T>),
    band: &mut [T],
) {
    debug_assert!(a.rows() == z.rows() && f.cols() == s.rows() && s.data().len() >= s.rows() * s.stride());
    let (end, mut first) = (z.full_cols(), 0);
    while first < end {
        let width = next_width(end - first);
        with_width!(width, W, write_band::<T, W>(&mut z, (a, scale), (f, s), first, band));
        first += width;
    }
}

fn write_band<T: Real, const W: usize>(
    z: &mut MatMut<'_, T>,
    (a, scale): (MatRef<'_, T>, T),
    (f, s): (MatRef<'_, T>, MatRef<'_, T>),
    first: usize,
    band: &mut [T],
) {
    let (rows, stride) = (z.rows(), z.stride());
    let Some(packed) = band.as_chunks_mut::<W>().0.get_mut(..rows) else { return };
    let mut at = first;
    for place in &mut *packed {
        let Some(from) = chunk::<T, W>(z.as_ref().data(), at) else { return };
        *place = from.map(|x| scale * x);
        at += stride;
    }
    let (data, mut at, held) = (z.data_mut(), first, s.data().chunks_exact(s.stride().max(1)));
    for i in 0..rows {
        let mut sums = [T::ZERO; W];
        for (factor, line) in a.row(i).iter().zip(&*packed) {
            add_scaled(*factor, line, &mut sums);
        }
        if f.rows() > 0 {
            for (factor, line) in f.row(i).iter().zip(held.clone()) {
                let Some(line) = chunk::<T, W>(line, first) else { return };
                add_scaled(-*factor, line, &mut sums);
            }
        }
        let Some(out) = chunk_mut::<T, W>(data, at) else { return };
        *out = sums;
        at += stride;
    }
}

/// C = A B, where rows of A may be empty in places. B has its rows whole, padding included.
pub(crate) fn write_sparse_product<T: Real>(mut c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.cols() == b.rows() && c.rows() == a.rows() && b.data().len() >= b.rows() * b.stride());
    let (end, mut first) = (c.full_cols(), 0);
    while first < end {
        let width = next_width(end - first);
        with_width!(width, W, write_sparse_band::<T, W>(&mut c, a, b, first));
        first += width;
    }
}

fn write_sparse_band<T: Real, const W: usize>(c: &mut MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, first: usize) {
    let (rows, stride, lines) = (c.rows(), c.stride(), b.data().chunks_exact(b.stride().max(1)));
    let (data, mut at) = (c.data_mut(), first);
    for i in 0..rows {
        let mut sums = [T::ZERO; W];
        for (factor, line) in a.row(i).iter().zip(lines.clone()) {
            if *factor != T::ZERO {
                let Some(line) = chunk::<T, W>(line, first) else { return };
                add_scaled(*factor, line, &mut sums);
            }
        }
        let Some(out) = chunk_mut::<T, W>(data, at) else { return };
        *out = sums;
        at += stride;
    }
}

/// C −= A B. B has its rows whole, padding included.
pub(crate) fn subtract_whole_rows<T: Real>(mut c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    debug_assert!(a.cols() == b.rows() && c.rows() == a.rows() && b.data().len() >= b.rows() * b.stride());
    let (end, mut first) = (c.full_cols(), 0);
    while first < end {
        let width = next_width(end - first);
        with_width!(width, W, subtract_band::<T, W>(&mut c, a, b, first));
        first += width;
    }
}

fn subtract_band<T: Real, const W: usize>(c: &mut MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, first: usize) {
    let (rows, stride, lines) = (c.rows(), c.stride(), b.data().chunks_exact(b.stride().max(1)));
    let (data, mut at) = (c.data_mut(), first);
    for i in 0..rows {
        let Some(out) = chunk_mut::<T, W>(data, at) else { return };
        let mut sums = *out;
        for (factor, line) in a.row(i).iter().zip(lines.clone()) {
            let Some(line) = chunk::<T, W>(line, first) else { return };
            add_scaled(-*factor, line, &mut sums);
        }
        *out = sums;
        at += stride;
    }
}

/// sums += factor · line.
#[inline(always)]
fn add_scaled<T: Real, const W: usize>(factor: T, line: &[T; W], sums: &mut [T; W]) {
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
