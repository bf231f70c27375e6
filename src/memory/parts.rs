//! Pieces of slices that cannot panic: a piece that is not there is empty. Callers have checked sizes at the border.

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

/// Copies as many numbers as both have.
#[inline(always)]
pub(crate) fn copy<X: Copy>(to: &mut [X], from: &[X]) {
    debug_assert!(to.len() == from.len());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// The first `N` numbers; defaults where there are fewer.
#[inline(always)]
pub(crate) fn first<X: Copy + Default, const N: usize>(all: &[X]) -> [X; N] {
    debug_assert!(all.len() >= N);
    all.first_chunk().copied().unwrap_or([X::default(); N])
}
