//! The three rows of a contact, and exchanges of rows.

use super::rows::combined;
use crate::memory::run_mut;
use crate::scalar::Real;

/// Three rows ← K times these rows, number by number.
#[inline(always)]
pub(crate) fn mix_three_rows<T: Real>(k: &[[T; 3]; 3], [x, y, z]: [&mut [T]; 3]) {
    let ((x, x_rest), (y, y_rest), (z, z_rest)) =
        (x.as_chunks_mut::<4>(), y.as_chunks_mut::<4>(), z.as_chunks_mut::<4>());
    for ((x, y), z) in x.iter_mut().zip(y).zip(z) {
        let given = [*x, *y, *z];
        let mixed = |k: &[T; 3]| combined(k[2], &given[2], &combined(k[1], &given[1], &given[0].map(|x| k[0] * x)));
        (*x, *y, *z) = (mixed(&k[0]), mixed(&k[1]), mixed(&k[2]));
    }
    for ((x, y), z) in x_rest.iter_mut().zip(y_rest).zip(z_rest) {
        let given = [*x, *y, *z];
        let mixed = |k: &[T; 3]| k[2].mul_add(given[2], k[1].mul_add(given[1], k[0] * given[0]));
        (*x, *y, *z) = (mixed(&k[0]), mixed(&k[1]), mixed(&k[2]));
    }
}

/// Three rows from row `first` on, each as wide as `stride`.
#[inline(always)]
pub(crate) fn three_rows<T>(m: &mut [T], first: usize, stride: usize) -> [&mut [T]; 3] {
    let mut rows = run_mut(m, first * stride, 3 * stride).chunks_exact_mut(stride.max(1));
    core::array::from_fn(|_| rows.next().unwrap_or_default())
}

/// Exchanges two rows.
pub(crate) fn exchange_rows<T>(m: &mut [T], stride: usize, (one, other): (usize, usize)) {
    let (one, other) = (one.min(other), one.max(other));
    if one == other {
        return;
    }
    let Some((above, below)) = m.split_at_mut_checked(other * stride) else { return };
    for (x, y) in run_mut(above, one * stride, stride).iter_mut().zip(below) {
        core::mem::swap(x, y);
    }
}
