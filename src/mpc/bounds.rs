//! Quadratic problems with bounds: min ½ xᵀ H x + gᵀ x, lower ≤ x ≤ upper, by projected Newton (Bertsekas 1982).

use crate::linalg::{
    MatMut, MatRef, NotPositiveDefinite, cholesky_in_blocks, cholesky_solve_in_blocks, mirror, padded, partial_dot,
};
use crate::memory::{Values, carved, copy, run, run_mut};
use crate::scalar::Real;

carved! {
    /// Memory for problems of up to `n` variables. After a solve it holds the factor over the free variables.
    pub(super) struct Bounds<'a, T>(n: usize) {
        pub lower: [T; n],
        pub upper: [T; n],
        /// The answer.
        pub x: [T; n],
        gradient: [T; n],
        step: [T; n],
        trial: [T; n],
        factor: [T; n * padded(n)],
        /// Indices of the free variables, in order.
        free: [u16; n],
        count: (usize),
    }
}

/// Halvings of a step that leaves the bounds.
const HALVINGS: usize = 12;

impl<T: Real> Bounds<'_, T> {
    /// Variables that are not at a bound which holds them.
    pub fn free(&self) -> &[u16] {
        run(self.free, 0, self.count)
    }

    /// U of the factor H = Uᵀ U over the free variables, on and above the diagonal.
    pub fn factor(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.factor, self.count, self.count, padded(self.count))
    }

    /// Writes Uᵀ below the diagonal of the factor.
    pub fn mirror_factor(&mut self) {
        mirror(MatMut::with_stride(self.factor, self.count, self.count, padded(self.count)));
    }

    /// Solves the problem; `h` is read on and above its diagonal. Whether the answer met a bound. O(n³) per iteration;
    /// most problems meet none and take one.
    pub fn solve(&mut self, h: MatRef<'_, T>, g: &[T], iterations: u16) -> Result<bool, NotPositiveDefinite> {
        let n = g.len();
        copy(self.gradient, g);
        self.count = n;
        for (k, free) in self.free.iter_mut().enumerate() {
            *free = k as u16;
        }
        self.find_step(h)?;
        copy(self.x, self.step);
        if self.is_within() {
            return Ok(false);
        }
        self.clamp();
        for iteration in 0..iterations {
            self.write_gradient(h, g);
            let changed = self.mark_free();
            if self.count == 0 || !changed && iteration > 0 && self.is_flat(g) {
                break;
            }
            self.find_step(h)?;
            if !self.descend(h, g) {
                break;
            }
        }
        Ok(true)
    }

    fn is_within(&self) -> bool {
        self.x.iter().zip(&*self.lower).zip(&*self.upper).all(|((x, lower), upper)| lower <= x && x <= upper)
    }

    fn clamp(&mut self) {
        for ((x, lower), upper) in self.x.iter_mut().zip(&*self.lower).zip(&*self.upper) {
            *x = x.max(*lower).min(*upper);
        }
    }

    /// g + H x.
    fn write_gradient(&mut self, h: MatRef<'_, T>, g: &[T]) {
        for (i, (gradient, g)) in self.gradient.iter_mut().zip(g).enumerate() {
            *gradient = *g + row_times(h, i, self.x);
        }
    }

    /// Frees all variables but those at a bound that the gradient presses them against. Whether the set has changed.
    fn mark_free(&mut self) -> bool {
        let (mut count, mut changed) = (0, false);
        let limits = self.lower.iter().zip(&*self.upper);
        for (i, ((x, slope), (lower, upper))) in self.x.iter().zip(&*self.gradient).zip(limits).enumerate() {
            let held = (x <= lower && *slope > T::ZERO) || (x >= upper && *slope < T::ZERO);
            let Some(free) = self.free.get_mut(count).filter(|_| !held) else { continue };
            changed |= count >= self.count || usize::from(*free) != i;
            *free = i as u16;
            count += 1;
        }
        changed |= count != self.count;
        self.count = count;
        changed
    }

    /// Whether no free variable wants to move, up to rounding.
    fn is_flat(&self, g: &[T]) -> bool {
        let size = g.iter().fold(T::ZERO, |most, g| most.max(g.abs()));
        let tolerance = size * T::EPSILON * T::from_f64(1e2);
        let slopes = self.free().iter().filter_map(|&i| self.gradient.get(usize::from(i)));
        slopes.map(|slope| slope.abs()).all(|slope| slope <= tolerance)
    }

    /// Newton's step over the free variables, from the gradient.
    fn find_step(&mut self, h: MatRef<'_, T>) -> Result<(), NotPositiveDefinite> {
        if let [only] = run(self.free, 0, self.count) {
            return self.find_only_step(h, usize::from(*only));
        }
        let (count, stride) = (self.count, padded(self.count));
        let free = run(self.free, 0, count);
        for (row, (&i, step)) in free.iter().zip(self.step.iter_mut()).enumerate() {
            *step = self.gradient.get(usize::from(i)).map_or(T::ZERO, |slope| -*slope);
            let (from, to) = (h.row(usize::from(i)), run_mut(self.factor, row * stride, count));
            if count == self.x.len() {
                copy(run_mut(to, row, count - row), run(from, row, count - row));
                continue;
            }
            for (out, &j) in to.iter_mut().zip(free).skip(row) {
                *out = from.get(usize::from(j)).copied().unwrap_or(T::ZERO);
            }
        }
        cholesky_in_blocks(MatMut::with_stride(self.factor, count, count, stride))?;
        let factor = MatRef::with_stride(self.factor, count, count, stride);
        cholesky_solve_in_blocks(factor, run_mut(self.step, 0, count));
        Ok(())
    }

    /// The same for a single free variable, with the same bits.
    fn find_only_step(&mut self, h: MatRef<'_, T>, only: usize) -> Result<(), NotPositiveDefinite> {
        let curvature = h[(only, only)];
        if !(curvature > T::ZERO && curvature.is_finite()) {
            return Err(NotPositiveDefinite { pivot: 0 });
        }
        let root = curvature * (T::ONE / curvature.sqrt());
        self.factor.set(0, root);
        self.step.set(0, -self.gradient.at(only) / root / root);
        Ok(())
    }

    /// Goes along the step, bent at the bounds, as far as it descends. Whether it did.
    fn descend(&mut self, h: MatRef<'_, T>, g: &[T]) -> bool {
        let (mut length, half) = (T::ONE, T::from_f64(0.5));
        let before = objective(h, g, self.x);
        for _ in 0..HALVINGS {
            copy(self.trial, self.x);
            for (&i, step) in run(self.free, 0, self.count).iter().zip(&*self.step) {
                let i = usize::from(i);
                let (Some(x), Some(lower), Some(upper)) = (self.trial.get_mut(i), self.lower.get(i), self.upper.get(i))
                else {
                    continue;
                };
                *x = length.mul_add(*step, *x).max(*lower).min(*upper);
            }
            if objective(h, g, self.trial) < before {
                copy(self.x, self.trial);
                return true;
            }
            length *= half;
        }
        false
    }
}

/// Row `i` of a symmetric matrix, known on and above its diagonal, times `x`.
pub(super) fn row_times<T: Real>(h: MatRef<'_, T>, i: usize, x: &[T]) -> T {
    let column = h.data().chunks(h.stride().max(1)).filter_map(|row| row.get(i));
    let above = column.zip(x).take(i).fold(T::ZERO, |sum, (h, x)| h.mul_add(*x, sum));
    h.row(i).iter().zip(x).skip(i).fold(above, |sum, (h, x)| h.mul_add(*x, sum))
}

/// ½ xᵀ H x + gᵀ x.
pub(super) fn objective<T: Real>(h: MatRef<'_, T>, g: &[T], x: &[T]) -> T {
    let half = T::from_f64(0.5);
    let mut sum = T::ZERO;
    for (i, (&x_i, &g_i)) in x.iter().zip(g).enumerate() {
        let Some((own, after)) = h.row(i).get(i..).and_then(|row| row.split_first()) else { continue };
        let beyond = partial_dot(after, run(x, i + 1, x.len() - i - 1));
        sum = x_i.mul_add(half.mul_add(*own * x_i, g_i + beyond), sum);
    }
    sum
}
