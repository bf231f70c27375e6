//! Pieces of slices that cannot panic: a piece that is not there is empty. Callers have checked sizes at the border.

use core::ops::Range;

use crate::scalar::Real;

/// `len` numbers from `first` on.
#[inline(always)]
pub(crate) fn run<X>(all: &[X], first: usize, len: usize) -> &[X] {
    debug_assert!(first + len <= all.len());
    match all.get(first..first + len) {
        Some(piece) => piece,
        None => nothing(),
    }
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn run_mut<X>(all: &mut [X], first: usize, len: usize) -> &mut [X] {
    debug_assert!(first + len <= all.len());
    match all.get_mut(first..first + len) {
        Some(piece) => piece,
        None => nothing_mut(),
    }
}

/// The numbers of a range.
#[inline(always)]
pub(crate) fn within<X>(all: &[X], range: Range<usize>) -> &[X] {
    debug_assert!(range.start <= range.end && range.end <= all.len());
    match all.get(range) {
        Some(piece) => piece,
        None => nothing(),
    }
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn within_mut<X>(all: &mut [X], range: Range<usize>) -> &mut [X] {
    debug_assert!(range.start <= range.end && range.end <= all.len());
    match all.get_mut(range) {
        Some(piece) => piece,
        None => nothing_mut(),
    }
}

/// Far away, so that the way to what is there stays a branch that is foreseen: with `unwrap_or` every piece waits for a
/// comparison, which cost the step of a UR5 3 %.
#[cold]
#[inline(never)]
fn nothing<'n, X>() -> &'n [X] {
    &[]
}

#[cold]
#[inline(never)]
fn nothing_mut<'n, X>() -> &'n mut [X] {
    &mut []
}

/// Everything from `first` on.
#[inline(always)]
pub(crate) fn rest<X>(all: &[X], first: usize) -> &[X] {
    debug_assert!(first <= all.len());
    match all.get(first..) {
        Some(piece) => piece,
        None => nothing(),
    }
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn rest_mut<X>(all: &mut [X], first: usize) -> &mut [X] {
    debug_assert!(first <= all.len());
    match all.get_mut(first..) {
        Some(piece) => piece,
        None => nothing_mut(),
    }
}

/// What comes before `at`, and the rest; all and nothing if there are not as many.
#[inline(always)]
pub(crate) fn split<X>(all: &[X], at: usize) -> (&[X], &[X]) {
    debug_assert!(at <= all.len());
    match all.split_at_checked(at) {
        Some(parts) => parts,
        None => (all, nothing()),
    }
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn split_mut<X>(all: &mut [X], at: usize) -> (&mut [X], &mut [X]) {
    debug_assert!(at <= all.len());
    all.split_at_mut(at.min(all.len()))
}

/// Single values of slices, without panics: one that is not there reads as the default, and is not written.
pub(crate) trait Values<X> {
    /// Value `k`.
    fn at(&self, k: usize) -> X;
    /// Writes value `k`.
    fn set(&mut self, k: usize, value: X);
    /// Changes value `k`.
    fn change(&mut self, k: usize, change: impl FnOnce(&mut X));
}

impl<X: Copy + Default> Values<X> for [X] {
    #[inline(always)]
    fn at(&self, k: usize) -> X {
        debug_assert!(k < self.len());
        match self.get(k) {
            Some(value) => *value,
            None => missing(),
        }
    }

    #[inline(always)]
    fn set(&mut self, k: usize, value: X) {
        self.change(k, |own| *own = value);
    }

    #[inline(always)]
    fn change(&mut self, k: usize, change: impl FnOnce(&mut X)) {
        debug_assert!(k < self.len());
        if let Some(value) = self.get_mut(k) {
            change(value);
        }
    }
}

#[cold]
#[inline(never)]
fn missing<X: Default>() -> X {
    X::default()
}

/// Part `k` of `count` equal ones; the last one for a `k` that is too large.
#[inline(always)]
pub(crate) fn part<X>(all: &[X], count: usize, k: usize) -> &[X] {
    let size = all.len() / count.max(1);
    run(all, k.min(count.saturating_sub(1)) * size, size)
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn part_mut<X>(all: &mut [X], count: usize, k: usize) -> &mut [X] {
    let size = all.len() / count.max(1);
    run_mut(all, k.min(count.saturating_sub(1)) * size, size)
}

/// Two equal parts in a row, `k` and the one after it; the second is to be written.
#[inline(always)]
pub(crate) fn part_and_next<X>(all: &mut [X], count: usize, k: usize) -> (&[X], &mut [X]) {
    let size = all.len() / count.max(1);
    let (these, next) = run_mut(all, k * size, 2 * size).split_at_mut_checked(size).unwrap_or((&mut [], &mut []));
    (these, next)
}

/// Up to so many bytes a loop is shorter than a call; on a larger processor it always is, for the lengths met here.
const SHORT_BYTES: usize = 16;

/// Copies as many numbers as both have.
#[inline(always)]
pub(crate) fn copy<X: Copy>(to: &mut [X], from: &[X]) {
    debug_assert!(to.len() == from.len());
    let both = to.len().min(from.len());
    if cfg!(target_arch = "arm") && both * size_of::<X>() > SHORT_BYTES {
        if let (Some(to), Some(from)) = (to.get_mut(..both), from.get(..both)) {
            to.copy_from_slice(from);
        }
        return;
    }
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// So many numbers are cleared faster by a call.
const LONG: usize = 64;

/// Zero. Few numbers by whole vectors; the compiler would make a call of that, if it knew what they are set to.
#[inline(always)]
pub(crate) fn clear<T: Real>(numbers: &mut [T]) {
    if cfg!(target_arch = "arm") || numbers.len() >= LONG {
        return numbers.fill(T::ZERO);
    }
    let zero = core::hint::black_box(T::ZERO);
    let (fours, rest) = numbers.as_chunks_mut::<4>();
    fours.iter_mut().for_each(|four| *four = [zero; 4]);
    rest.iter_mut().for_each(|x| *x = zero);
}

/// Exchanges as many numbers as both have.
#[inline(always)]
pub(crate) fn swap<X: Copy>(a: &mut [X], b: &mut [X]) {
    debug_assert!(a.len() == b.len());
    a.iter_mut().zip(b).for_each(|(a, b)| core::mem::swap(a, b));
}

/// Exchanges two numbers.
#[inline(always)]
pub(crate) fn exchange<X: Copy + Default>(all: &mut [X], i: usize, j: usize) {
    let (a, b) = (all.at(i), all.at(j));
    all.set(i, b);
    all.set(j, a);
}

/// The first `N` numbers; defaults where there are fewer.
#[inline(always)]
pub(crate) fn first<X: Copy + Default, const N: usize>(all: &[X]) -> [X; N] {
    debug_assert!(all.len() >= N);
    all.first_chunk().copied().unwrap_or([X::default(); N])
}

/// Writes `N` numbers, which are all; none where there are fewer.
#[inline(always)]
pub(crate) fn put<X, const N: usize>(to: &mut [X], from: [X; N]) {
    debug_assert!(to.len() == N);
    if let Some(to) = to.first_chunk_mut() {
        *to = from;
    }
}
