//! Quadratic problems with bounds: min ½ xᵀ H x + gᵀ x, lower ≤ x ≤ upper, by projected Newton (Bertsekas 1982).

use crate::linalg::{MatMut, MatRef, NotPositiveDefinite, cholesky, cholesky_solve, padded, partial_dot};
use crate::memory::carved;
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
        &self.free[..self.count]
    }

    /// U of the factor H = Uᵀ U over the free variables.
    pub fn factor(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.factor, self.count, self.count, padded(self.count))
    }

    /// Solves the problem; `h` is read on and above its diagonal. Whether the answer met a bound. O(n³) per iteration;
    /// most problems meet none and take one.
    pub fn solve(&mut self, h: MatRef<'_, T>, g: &[T], iterations: u16) -> Result<bool, NotPositiveDefinite> {
        let n = g.len();
        self.gradient.copy_from_slice(g);
        self.count = n;
        for (k, free) in self.free.iter_mut().enumerate() {
            *free = k as u16;
        }
        self.find_step(h)?;
        self.x.copy_from_slice(self.step);
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
        for i in 0..g.len() {
            self.gradient[i] = g[i] + row_times(h, i, self.x);
        }
    }

    /// Frees all variables but those at a bound that the gradient presses them against. Whether the set has changed.
    fn mark_free(&mut self) -> bool {
        let (mut count, mut changed) = (0, false);
        for i in 0..self.x.len() {
            let (x, slope) = (self.x[i], self.gradient[i]);
            let held = (x <= self.lower[i] && slope > T::ZERO) || (x >= self.upper[i] && slope < T::ZERO);
            if !held {
                changed |= count >= self.count || usize::from(self.free[count]) != i;
                self.free[count] = i as u16;
                count += 1;
            }
        }
        changed |= count != self.count;
        self.count = count;
        changed
    }

    /// Whether no free variable wants to move, up to rounding.
    fn is_flat(&self, g: &[T]) -> bool {
        let size = g.iter().fold(T::ZERO, |most, g| most.max(g.abs()));
        let tolerance = size * T::EPSILON * T::from_f64(1e2);
        self.free().iter().all(|&i| self.gradient[usize::from(i)].abs() <= tolerance)
    }

    /// Newton's step over the free variables, from the gradient.
    fn find_step(&mut self, h: MatRef<'_, T>) -> Result<(), NotPositiveDefinite> {
        let (count, stride) = (self.count, padded(self.count));
        for (row, &i) in self.free[..count].iter().enumerate() {
            self.step[row] = -self.gradient[usize::from(i)];
            if count == self.x.len() {
                self.factor[row * stride + row..row * stride + count].copy_from_slice(&h.row(row)[row..count]);
                continue;
            }
            for (column, &j) in self.free[..count].iter().enumerate().skip(row) {
                self.factor[row * stride + column] = h[(usize::from(i), usize::from(j))];
            }
        }
        cholesky(MatMut::with_stride(self.factor, count, count, stride))?;
        let factor = MatRef::with_stride(self.factor, count, count, stride);
        cholesky_solve(factor, MatMut::new(&mut self.step[..count], count, 1));
        Ok(())
    }

    /// Goes along the step, bent at the bounds, as far as it descends. Whether it did.
    fn descend(&mut self, h: MatRef<'_, T>, g: &[T]) -> bool {
        let (mut length, half) = (T::ONE, T::from_f64(0.5));
        let before = objective(h, g, self.x);
        for _ in 0..HALVINGS {
            self.trial.copy_from_slice(self.x);
            for (&i, step) in self.free[..self.count].iter().zip(&*self.step) {
                let i = usize::from(i);
                self.trial[i] = length.mul_add(*step, self.x[i]).max(self.lower[i]).min(self.upper[i]);
            }
            if objective(h, g, self.trial) < before {
                self.x.copy_from_slice(self.trial);
                return true;
            }
            length *= half;
        }
        false
    }
}

/// Row `i` of a symmetric matrix, known on and above its diagonal, times `x`.
pub(super) fn row_times<T: Real>(h: MatRef<'_, T>, i: usize, x: &[T]) -> T {
    let above = (0..i).fold(T::ZERO, |sum, j| h[(j, i)].mul_add(x[j], sum));
    (i..x.len()).fold(above, |sum, j| h[(i, j)].mul_add(x[j], sum))
}

/// ½ xᵀ H x + gᵀ x.
pub(super) fn objective<T: Real>(h: MatRef<'_, T>, g: &[T], x: &[T]) -> T {
    let half = T::from_f64(0.5);
    let mut sum = T::ZERO;
    for (i, (&x_i, &g_i)) in x.iter().zip(g).enumerate() {
        let row = h.row(i);
        let beyond = partial_dot(&row[i + 1..], &x[i + 1..]);
        sum = x_i.mul_add(half.mul_add(row[i] * x_i, g_i + beyond), sum);
    }
    sum
}
