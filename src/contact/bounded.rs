//! Limits and dry friction while contacts stick or break as they do: a quadratic program over bounds.
//!
//! Where no contact slides, the laws are the optimality conditions of ½ λᵀGλ + gᵀλ over λ ≥ 0 and |λ| ≤ b, and it is
//! convex. With the impulses of what sticks eliminated, one row is left for each limit and each dry joint. Newton steps
//! that are projected to the bounds, or cut short at the first of them, lower the objective every time, so they cannot
//! cycle, which modes of a dozen dry joints above feet that stick do.

use super::ProblemDims;
use crate::linalg::{MatMut, MatRef, cholesky_in_blocks, cholesky_solve_vector, padded};
use crate::memory::carved;
use crate::scalar::Real;

/// Factorizations of the free part of S at most.
const MOST_FACTORS: u16 = 40;
/// A projected step must lower the objective by this share of what its slope promises; half of it is all there is.
const ENOUGH: f64 = 0.1;

carved! {
    /// ½ xᵀ S x + sᵀ x over bounds, at a point x.
    pub(super) struct Program<'a, T>(d: ProblemDims) {
        /// S, both triangles.
        matrix: [T; d.bounded() * padded(d.bounded())],
        /// Velocity per impulse of each row alone: the unit of slopes.
        units: [T; d.bounded()],
        lower: [T; d.bounded()],
        upper: [T; d.bounded()],
        /// x.
        impulses: [T; d.bounded()],
        /// S x + s.
        slopes: [T; d.bounded()],
        /// Rows that may move, ascending; the first `movable` count.
        free: [u16; d.bounded()],
        /// Newton step of each of those.
        steps: [T; d.bounded()],
        /// Where a step leads, and the slopes there.
        next_impulses: [T; d.bounded()],
        next_slopes: [T; d.bounded()],
        count: (usize),
        movable: (usize),
    }
}

/// One row: an impulse, its bounds, and the velocity that it has.
pub(super) struct Bounded<T> {
    /// Within the range.
    pub impulse: T,
    pub range: [T; 2],
    pub slope: T,
    /// Velocity per impulse, other rows held.
    pub unit: T,
}

impl<T: Real> Program<'_, T> {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a row; false if it does not fit.
    pub fn push(&mut self, row: &Bounded<T>) -> bool {
        let Some(unit) = self.units.get_mut(self.count) else { return false };
        *unit = row.unit;
        set(self.lower, self.count, row.range[0]);
        set(self.upper, self.count, row.range[1]);
        set(self.impulses, self.count, row.impulse);
        set(self.slopes, self.count, row.slope);
        self.count += 1;
        true
    }

    /// x, one for each row.
    pub fn impulses(&self) -> &[T] {
        self.impulses.get(..self.count).unwrap_or(&[])
    }

    /// S, from the upper triangle of `schur`.
    pub fn set_matrix(&mut self, schur: MatRef<'_, T>) {
        let stride = padded(self.count);
        for (i, row) in self.matrix.chunks_mut(stride.max(1)).enumerate().take(self.count) {
            for (j, entry) in row.iter_mut().enumerate().take(self.count) {
                let (above, below) = (i.min(j), i.max(j));
                *entry = schur.row(above).get(below).copied().unwrap_or(T::ZERO);
            }
        }
    }

    /// Moves x to where no slope is above `tolerance`, in units of impulse, but against a bound. False if it stopped
    /// before. `proximal` is added to the diagonal of each system, relative to its unit; `memory` is for its factor.
    pub fn solve(&mut self, tolerance: T, proximal: T, memory: &mut [T]) -> bool {
        let mut left = MOST_FACTORS;
        loop {
            self.release(tolerance);
            if !self.is_open(tolerance) {
                return true;
            }
            if !self.find_step(proximal, memory, &mut left) {
                return false;
            }
            let [promised, gained] = self.look_ahead(T::ONE, None);
            if gained < T::from_f64(ENOUGH) * promised && !self.step_back(tolerance, proximal, memory, &mut left) {
                return false;
            }
            self.commit();
        }
    }

    /// All rows are free but those whose slope presses them against a bound.
    fn release(&mut self, tolerance: T) {
        self.movable = 0;
        for i in 0..self.count {
            let (x, slope, noise) = (get(self.impulses, i), get(self.slopes, i), tolerance * get(self.units, i));
            let below = x <= get(self.lower, i) && slope > -noise;
            let above = x >= get(self.upper, i) && slope < noise;
            if !(below || above) {
                set(self.free, self.movable, i as u16);
                self.movable += 1;
            }
        }
    }

    fn free(&self) -> impl Iterator<Item = usize> + Clone + use<'_, T> {
        self.free.iter().take(self.movable).map(|i| usize::from(*i))
    }

    /// Whether a free row has a slope.
    fn is_open(&self, tolerance: T) -> bool {
        self.free().any(|i| get(self.slopes, i).abs() > tolerance * get(self.units, i))
    }

    /// The Newton step of the free rows.
    fn find_step(&mut self, proximal: T, memory: &mut [T], left: &mut u16) -> bool {
        let (n, stride) = (self.movable, padded(self.movable));
        let matrix = MatRef::with_stride(self.matrix, self.count, self.count, padded(self.count));
        for ((k, i), row) in self.free().enumerate().zip(memory.chunks_mut(stride.max(1))) {
            let source = matrix.row(i);
            for (entry, j) in row.iter_mut().zip(self.free()).skip(k) {
                *entry = get(source, j);
            }
            if let Some(pivot) = row.get_mut(k) {
                *pivot += proximal * get(self.units, i);
            }
        }
        for (k, i) in self.free.iter().take(n).enumerate() {
            set(self.steps, k, -get(self.slopes, usize::from(*i)));
        }
        let (Some(memory), Some(steps)) = (memory.get_mut(..n * stride), self.steps.get_mut(..n)) else { return false };
        if *left == 0 || cholesky_in_blocks(MatMut::with_stride(memory, n, n, stride)).is_err() {
            return false;
        }
        *left -= 1;
        cholesky_solve_vector(MatRef::with_stride(memory, n, n, stride), steps);
        true
    }

    /// Where the step leads, over a share of its length and projected to the bounds; row `pinned` ends on the bound that
    /// it goes for. What the slopes promise that the objective loses, and what it does lose.
    fn look_ahead(&mut self, length: T, pinned: Option<usize>) -> [T; 2] {
        let stride = padded(self.count).max(1);
        copy(self.next_impulses, self.impulses, self.count);
        copy(self.next_slopes, self.slopes, self.count);
        for (i, step) in self.free.iter().take(self.movable).map(|i| usize::from(*i)).zip(&*self.steps) {
            let (x, lower, upper) = (get(self.impulses, i), get(self.lower, i), get(self.upper, i));
            let bound = if *step > T::ZERO { upper } else { lower };
            let next = if pinned == Some(i) { bound } else { length.mul_add(*step, x).max(lower).min(upper) };
            set(self.next_impulses, i, next);
            let change = next - x;
            let row = self.matrix.get(i * stride..).unwrap_or(&[]);
            for (slope, s) in self.next_slopes.iter_mut().zip(row).take(self.count) {
                *slope = change.mul_add(*s, *slope);
            }
        }
        let (mut promised, mut twice) = (T::ZERO, T::ZERO);
        for i in self.free() {
            let change = get(self.next_impulses, i) - get(self.impulses, i);
            promised -= change * get(self.slopes, i);
            twice -= change * (get(self.slopes, i) + get(self.next_slopes, i));
        }
        [promised, T::from_f64(0.5) * twice]
    }

    fn commit(&mut self) {
        copy(self.impulses, self.next_impulses, self.count);
        copy(self.slopes, self.next_slopes, self.count);
    }

    /// A step along a direction that no bound blocks at once, up to the first bound.
    fn step_back(&mut self, tolerance: T, proximal: T, memory: &mut [T], left: &mut u16) -> bool {
        while self.drop_blocked() {
            if !self.is_open(tolerance) {
                self.free_inside_and_steepest();
            }
            if !self.find_step(proximal, memory, left) {
                return false;
            }
        }
        let (length, first) = self.room();
        self.look_ahead(length, first);
        true
    }

    /// Takes the freedom of rows that stand on a bound and would leave it outwards; whether there were any.
    fn drop_blocked(&mut self) -> bool {
        let (before, mut kept) = (self.movable, 0);
        for k in 0..before {
            let (i, step) = (self.free.get(k).copied().unwrap_or(0), get(self.steps, k));
            let (x, row) = (get(self.impulses, usize::from(i)), usize::from(i));
            let out = x <= get(self.lower, row) && step < T::ZERO || x >= get(self.upper, row) && step > T::ZERO;
            if !out {
                set(self.free, kept, i);
                kept += 1;
            }
        }
        self.movable = kept;
        kept < before
    }

    /// Only rows between their bounds are free, and the one that a slope draws off its bound the most.
    fn free_inside_and_steepest(&mut self) {
        let (mut steepest, mut most) = (self.count, T::ZERO);
        let is_inside = |i: usize, x: T, this: &Self| x > get(this.lower, i) && x < get(this.upper, i);
        for i in 0..self.count {
            let (x, slope) = (get(self.impulses, i), get(self.slopes, i));
            let inward = if x <= get(self.lower, i) { -slope } else { slope } / get(self.units, i);
            if !is_inside(i, x, self) && inward > most {
                (steepest, most) = (i, inward);
            }
        }
        self.movable = 0;
        for i in 0..self.count {
            if i == steepest || is_inside(i, get(self.impulses, i), self) {
                set(self.free, self.movable, i as u16);
                self.movable += 1;
            }
        }
    }

    /// The share of the step up to the first bound, and the row that meets it.
    fn room(&self) -> (T, Option<usize>) {
        let (mut length, mut first) = (T::ONE, None);
        for (i, step) in self.free().zip(&*self.steps) {
            let bound = if *step > T::ZERO { get(self.upper, i) } else { get(self.lower, i) };
            let way = bound - get(self.impulses, i);
            if way.abs() < length * step.abs() {
                (length, first) = (way / *step, Some(i));
            }
        }
        (length, first)
    }
}

#[inline(always)]
fn get<T: Real>(all: &[T], i: usize) -> T {
    all.get(i).copied().unwrap_or(T::ZERO)
}

#[inline(always)]
fn set<X>(all: &mut [X], i: usize, x: X) {
    if let Some(place) = all.get_mut(i) {
        *place = x;
    }
}

#[inline(always)]
fn copy<X: Copy>(to: &mut [X], from: &[X], count: usize) {
    to.iter_mut().zip(from).take(count).for_each(|(to, from)| *to = *from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Arena, Block};

    const ROWS: usize = 12;
    /// Of S: as a robot on four feet that stick leaves it to its twelve joints.
    const RANK: usize = 6;
    const TOLERANCE: f64 = 1e-12;

    /// Numbers in −1 .. 1, the same each time.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    #[test]
    fn every_slope_vanishes_or_presses_against_a_bound_though_the_matrix_is_singular() {
        const DIMS: ProblemDims = ProblemDims { constraints: ROWS, rows: ROWS };
        let mut memory = [Block::EMPTY; Program::<f64>::blocks(DIMS)];
        let mut program = Program::<f64>::carve(&mut Arena::new(&mut memory), DIMS).unwrap();
        for seed in 0..500 {
            let mut draw = numbers(seed);
            let basis = [(); ROWS].map(|()| [(); RANK].map(|()| draw()));
            let dot = |i: usize, j: usize| (0..RANK).map(|k| basis[i][k] * basis[j][k]).sum::<f64>();
            let matrix: [f64; ROWS * ROWS] = core::array::from_fn(|k| dot(k / ROWS, k % ROWS));
            let target = [(); RANK].map(|()| 3.0 * draw());
            program.clear();
            for i in 0..ROWS {
                let range = if i % 3 == 0 { [0.0, f64::INFINITY] } else { [-0.3, 0.3] };
                let slope = (0..RANK).map(|k| basis[i][k] * target[k]).sum::<f64>();
                assert!(program.push(&Bounded { impulse: 0.0, range, slope, unit: dot(i, i) }));
            }
            program.set_matrix(MatRef::new(&matrix, ROWS, ROWS));
            let start: [f64; ROWS] = core::array::from_fn(|i| program.slopes[i]);
            assert!(program.solve(TOLERANCE, 1e-10, &mut [0.0; ROWS * ROWS]), "seed {seed}");
            for i in 0..ROWS {
                let slope = start[i] + (0..ROWS).map(|j| matrix[i * ROWS + j] * program.impulses[j]).sum::<f64>();
                let x = program.impulses[i];
                assert!(x >= program.lower[i] && x <= program.upper[i]);
                assert!(x <= program.lower[i] || slope < 1e-10, "seed {seed}: slope {slope:e} off the lower bound");
                assert!(x >= program.upper[i] || slope > -1e-10, "seed {seed}: slope {slope:e} off the upper bound");
            }
        }
    }
}
