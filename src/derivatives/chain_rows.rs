//! Sums along the chain of a body: over whole vectors where those are wide, over its degrees of freedom alone on a
//! Cortex-M7. Each number gets the same summands in the same order.

use core::ops::Range;

use crate::linalg::tree::Tree;
use crate::memory::{within, within_mut};
use crate::scalar::Real;
use crate::spatial::Motion;

/// Degrees of freedom side by side in [`Chain::for_each_vector`].
pub(super) const LANES: usize = if cfg!(target_arch = "arm") { 1 } else { 4 };

/// Four degrees of freedom: a line for each of the six numbers of an axis, and of its drift.
type Block<T> = [[T; 4]; 12];

/// The degrees of freedom that move one body.
#[derive(Clone, Copy)]
pub(super) struct Chain<'m> {
    pub tree: Tree<'m>,
    /// The last of them.
    pub last: usize,
}

impl Chain<'_> {
    /// Axes and their drifts in blocks, zero where a degree of freedom is not of the chain; nothing where vectors are narrow.
    pub fn write<T: Real>(self, axes: &[Motion<T>], drifts: &[Motion<T>], out: &mut [T]) {
        if cfg!(target_arch = "arm") {
            return;
        }
        let nothing = Motion::ZERO;
        let blocks = out.as_chunks_mut::<4>().0.as_chunks_mut::<12>().0;
        for range in self.blocks() {
            let first = 4 * range.start;
            for (k, block) in blocks.get_mut(range).unwrap_or_default().iter_mut().enumerate() {
                let [w, x, y, z] = [0, 1, 2, 3].map(|i| {
                    let dof = first + 4 * k + i;
                    let motions = axes.get(dof).zip(drifts.get(dof)).filter(|_| self.has(dof));
                    motions.unwrap_or((&nothing, &nothing))
                });
                let (axes, drifts) = block.split_at_mut(6);
                transpose([w.0, x.0, y.0, z.0], axes);
                transpose([w.1, x.1, y.1, z.1], drifts);
            }
        }
    }

    /// Z ← Z + Sᵀ T S, for rows of Z that start every `stride` numbers; of T the last K rows, those before are zero. O(depth²).
    pub fn add_product<T: Real, const K: usize>(
        self,
        z: &mut [T],
        stride: usize,
        turned: &[[T; 6]; K],
        axes: &[Motion<T>],
        blocks: &[T],
    ) {
        if cfg!(target_arch = "arm") {
            for dof in self.tree.runs(self.last).flatten() {
                let Some(axis) = axes.get(dof) else { return };
                self.add_columns(z, (stride, dof), turned, axes, &axis.to_array().map(|x| [x]));
            }
            return;
        }
        let blocks: &[Block<T>] = blocks.as_chunks::<4>().0.as_chunks::<12>().0;
        for index in self.blocks().flatten() {
            let Some(block) = blocks.get(index).and_then(|block| block.first_chunk::<6>()) else { return };
            self.add_columns(z, (stride, 4 * index), turned, axes, block);
        }
    }

    /// W columns of that, from `first` on; S has them by lines.
    #[inline(always)]
    fn add_columns<T: Real, const K: usize, const W: usize>(
        self,
        z: &mut [T],
        (stride, first): (usize, usize),
        turned: &[[T; 6]; K],
        axes: &[Motion<T>],
        columns: &[[T; W]; 6],
    ) {
        let products: [[T; W]; K] = core::array::from_fn(|k| combination(&[T::ZERO; W], &turned[k], columns));
        for dofs in self.tree.runs(self.last) {
            for (dof, axis) in dofs.clone().zip(within(axes, dofs)) {
                let place = z.get_mut(dof * stride + first..).and_then(|z| z.first_chunk_mut::<W>());
                let Some(sums) = place else { return };
                let Some(axis) = axis.to_array().last_chunk::<K>().copied() else { return };
                *sums = combination(sums, &axis, &products);
            }
        }
    }

    /// line += factors · (axes, drifts).
    #[inline(always)]
    pub fn add_axes_and_drifts<T: Real>(
        self,
        line: &mut [T],
        factors: &[[T; 6]; 2],
        (axes, drifts): (&[Motion<T>], &[Motion<T>]),
        blocks: &[T],
    ) {
        if cfg!(target_arch = "arm") {
            self.add_by_one(line, factors, (axes, drifts));
        } else {
            let [[a, b, c, d, e, f], [g, h, i, j, k, l]] = *factors;
            self.add_blocks(line, &[a, b, c, d, e, f, g, h, i, j, k, l], blocks);
        }
    }

    /// The same without blocks: for axes and drifts that [`write`](Self::write) has not taken.
    #[inline(always)]
    pub fn add_by_one<T: Real>(
        self,
        line: &mut [T],
        factors: &[[T; 6]; 2],
        (axes, drifts): (&[Motion<T>], &[Motion<T>]),
    ) {
        for dofs in self.tree.runs(self.last) {
            let motions = within(axes, dofs.clone()).iter().zip(within(drifts, dofs.clone()));
            for (x, (axis, drift)) in within_mut(line, dofs).iter_mut().zip(motions) {
                let [axis, drift] = [axis, drift].map(|motion| motion.to_array().map(|x| [x]));
                [*x] = combination(&combination(&[*x], &factors[0], &axis), &factors[1], &drift);
            }
        }
    }

    #[inline(always)]
    fn add_blocks<T: Real>(self, line: &mut [T], factors: &[T; 12], blocks: &[T]) {
        let fours = line.as_chunks_mut::<4>().0;
        let blocks: &[Block<T>] = blocks.as_chunks::<4>().0.as_chunks::<12>().0;
        for range in self.blocks() {
            let (Some(fours), Some(blocks)) = (fours.get_mut(range.clone()), blocks.get(range)) else { return };
            for (four, block) in fours.iter_mut().zip(blocks) {
                *four = combination(four, factors, block);
            }
        }
    }

    /// Calls `visit` with the first column of each vector that covers the chain.
    #[inline(always)]
    pub fn for_each_vector(self, mut visit: impl FnMut(usize)) {
        if cfg!(target_arch = "arm") {
            for run in self.tree.runs(self.last) {
                run.for_each(&mut visit);
            }
            return;
        }
        for blocks in self.blocks() {
            for block in blocks {
                visit(LANES * block);
            }
        }
    }

    /// Blocks with degrees of freedom of the chain, each once.
    #[inline(always)]
    fn blocks(self) -> impl Iterator<Item = Range<usize>> {
        let mut end = usize::MAX;
        self.tree.runs(self.last).map(move |run| {
            let blocks = run.start / 4..run.end.div_ceil(4).min(end);
            end = blocks.start;
            blocks
        })
    }

    /// Whether a degree of freedom is one of the chain.
    #[inline(always)]
    fn has(self, dof: usize) -> bool {
        dof <= self.last && self.tree.0.get(dof).is_some_and(|link| usize::from(link.subtree_end) > self.last)
    }
}

/// Four motions, a line for each of their numbers.
#[inline(always)]
fn transpose<T: Real>(motions: [&Motion<T>; 4], lines: &mut [[T; 4]]) {
    let [w, x, y, z] = motions.map(|motion| motion.to_array());
    for (line, k) in lines.iter_mut().zip(0..6) {
        *line = [w[k], x[k], y[k], z[k]];
    }
}

/// sums + factors · lines, in their order.
#[inline(always)]
fn combination<T: Real, const N: usize, const W: usize>(
    sums: &[T; W],
    factors: &[T; N],
    lines: &[[T; W]; N],
) -> [T; W] {
    let mut sums = *sums;
    for (factor, line) in factors.iter().zip(lines) {
        sums = core::array::from_fn(|k| factor.mul_add(line[k], sums[k]));
    }
    sums
}
