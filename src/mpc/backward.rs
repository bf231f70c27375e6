//! The backward pass: value function, feedforward and gains, one node at a time.
//!
//! It uses how the step integrates: with F = ∂v⁺/∂(q, v, u), the next state changes by E δq + D F δ(q, v, u), where
//! D = (T; 1), and E and T are the block diagonal Jacobians of q ⊕ Δt v⁺. With the value function's blocks V, all is in
//! W = Dᵀ V D and P = Dᵀ V E, which are nv × nv: Q = l + Fᵀ W F + Fᵀ P + Pᵀ F + Eᵀ V_qq E. Joints of one axis move along
//! it, so there E = 1 and T = Δt; only the others have blocks worth multiplying with.

use core::ops::Range;

use super::bounds::{Bounds, objective};
use super::{MpcDims, Quadratic};
use crate::input::InputError;
use crate::linalg::{
    MatMut, MatRef, NotPositiveDefinite, add_at_b, add_at_b_upper, padded, partial_dot, solve_lower, solve_upper,
};
use crate::memory::{Values, carved, copy, rest, run, run_mut, split, split_mut};
use crate::model::Model;
use crate::model::configuration::Argument;
use crate::scalar::Real;
use crate::step::advance_jacobian;

carved! {
    /// The value function of the nodes to come, and memory to go one node back.
    pub(super) struct Backward<'a, T>(d: MpcDims) {
        /// V_x, 2nv.
        gradient: [T; d.state()],
        /// V_xx, 2nv × 2nv, both triangles.
        hessian: [T; d.state_square()],
        /// E and T, nv × nv.
        from: [T; d.velocities_square()],
        to: [T; d.velocities_square()],
        /// Dᵀ V, nv × 2nv.
        lifted: [T; d.step.robot.nv * padded(d.state())],
        /// W.
        weight: [T; d.velocities_square()],
        /// P.
        coupling: [T; d.velocities_square()],
        /// What Q_qq has beside Mᵀ F.
        square: [T; d.velocities_square()],
        /// M = W F + (P, 0, 0).
        product: [T; d.step.robot.nv * d.step.columns()],
        /// Dᵀ V_x.
        pulled: [T; d.step.robot.nv],
        /// Q_ux, nu × 2nv.
        crossed: [T; d.gain()],
        pub(super) bounds: { Bounds(d.step.controls) },
    }
}

/// What a node answers.
pub(super) struct Answer<'n, T> {
    /// nu.
    pub feedforward: &'n mut [T],
    /// nu × 2nv.
    pub gain: MatMut<'n, T>,
}

/// What the optimizer asks of a node.
#[derive(Clone, Copy)]
pub(super) struct Demand<T> {
    pub dt_s: T,
    pub regularization: T,
    pub bound_iterations: u16,
}

/// How often the regularization of one node grows tenfold before the node is given up.
const RETRIES: usize = 8;

impl<T: Real> Backward<'_, T> {
    fn nv(&self) -> usize {
        self.pulled.len()
    }

    /// Starts from the cost at the end.
    pub fn start(&mut self, end: &Quadratic<'_, T>) {
        let (n, stride) = (self.gradient.len(), padded(self.gradient.len()));
        copy(self.gradient, run(end.gradient, 0, n));
        let h = end.hessian();
        for i in 0..n {
            for j in i..n {
                let x = h[(i, j)];
                self.hessian.set(i * stride + j, x);
                self.hessian.set(j * stride + i, x);
            }
        }
    }

    /// Moves V to where the gap leads; the change of cost that this brings. O(nv²).
    pub fn cross_gap(&mut self, gap: &[T]) -> T {
        let (stride, half) = (padded(gap.len()), T::from_f64(0.5));
        if gap.iter().all(|x| *x == T::ZERO) {
            return T::ZERO;
        }
        let mut change = T::ZERO;
        for ((row, gradient), own) in self.hessian.chunks_exact(stride.max(1)).zip(self.gradient.iter_mut()).zip(gap) {
            let moved = partial_dot(run(row, 0, gap.len()), gap);
            change = own.mul_add(half.mul_add(moved, *gradient), change);
            *gradient += moved;
        }
        change
    }

    /// One node back: from V after the step, its derivatives `f` and the cost's expansion to V before it. Returns the
    /// change of cost that the node promises. O(nv (2nv + nu)²).
    pub fn go_back(
        &mut self,
        model: Model<'_, T>,
        (f, v_next): (MatRef<'_, T>, &[T]),
        quadratic: &mut Quadratic<'_, T>,
        demand: Demand<T>,
        answer: Answer<'_, T>,
    ) -> Result<T, BackwardError> {
        let (nv, stride) = (self.nv(), padded(self.nv()));
        for (argument, out) in [(Argument::From, &mut *self.from), (Argument::To, &mut *self.to)] {
            advance_jacobian(model, demand.dt_s, v_next, argument, MatMut::with_stride(out, nv, nv, stride))?;
        }
        self.project(model, demand.dt_s);
        self.pull_gradient(model, f, quadratic.gradient);
        self.add_value(model, f, quadratic);
        let promised = self.choose_controls(quadratic, demand)?;
        let Answer { feedforward, mut gain } = answer;
        self.write_gains(feedforward, gain.reborrow());
        self.update_value(quadratic, gain.as_ref());
        Ok(promised)
    }

    /// `lifted`, `weight` and `coupling`, from V. O(nv²), with the joints' own blocks.
    fn project(&mut self, model: Model<'_, T>, dt_s: T) {
        let (nv, stride, wide) = (self.nv(), padded(self.nv()), padded(2 * self.nv()));
        let (q_rows, v_rows) = split(self.hessian, nv * wide);
        for body in model.bodies {
            for i in body.v_range() {
                let out = run_mut(self.lifted, i * wide, 2 * nv);
                let v_row = run(v_rows, i * wide, 2 * nv);
                if body.joint.nv() == 1 {
                    for ((out, by_q), by_v) in out.iter_mut().zip(run(q_rows, i * wide, 2 * nv)).zip(v_row) {
                        *out = dt_s.mul_add(*by_q, *by_v);
                    }
                    continue;
                }
                copy(out, v_row);
                for j in body.v_range() {
                    add_scaled(out, self.to.at(j * stride + i), run(q_rows, j * wide, 2 * nv));
                }
            }
        }
        for i in 0..nv {
            let (by_q, by_v) = (run(self.lifted, i * wide, nv), run(self.lifted, i * wide + nv, nv));
            copy(run_mut(self.coupling, i * stride, nv), by_q);
            let weight = run_mut(self.weight, i * stride, nv);
            for ((out, by_v), by_q) in weight.iter_mut().zip(by_v).zip(by_q) {
                *out = dt_s.mul_add(*by_q, *by_v);
            }
        }
        for body in model.bodies.iter().filter(|body| body.joint.nv() > 1) {
            let (first, n) = (usize::from(body.first_v), body.joint.nv());
            times_block(block(self.from, first, n, stride), self.coupling, stride, first, 0..nv);
            self.weigh_joint(first, n);
        }
    }

    /// Columns of W that belong to a joint of several axes: its own block, and by symmetry the rest.
    fn weigh_joint(&mut self, first: usize, n: usize) {
        let (nv, stride, wide) = (self.nv(), padded(self.nv()), padded(2 * self.nv()));
        let to = columns_of(block(self.to, first, n, stride));
        for i in first..first + n {
            let (by_q, by_v) = (run(self.lifted, i * wide, nv), run(self.lifted, i * wide + nv, nv));
            let mut sums = [T::ZERO; MOST_AXES];
            copy(run_mut(&mut sums, 0, n), run(by_v, first, n));
            for (x, column) in run(by_q, first, n).iter().zip(&to) {
                add_scaled(&mut sums, *x, column);
            }
            copy(run_mut(self.weight, i * stride + first, n), run(&sums, 0, n));
        }
        for i in (0..first).chain(first + n..nv) {
            for j in first..first + n {
                self.weight.set(i * stride + j, self.weight.at(j * stride + i));
            }
        }
    }

    /// l_x ← Q_x.
    fn pull_gradient(&mut self, model: Model<'_, T>, f: MatRef<'_, T>, out: &mut [T]) {
        let (nv, stride) = (self.nv(), padded(self.nv()));
        let (by_q, by_v) = (run(self.gradient, 0, nv), run(self.gradient, nv, nv));
        copy(self.pulled, by_v);
        for body in model.bodies {
            let (first, n) = (usize::from(body.first_v), body.joint.nv());
            let (pulled, kept) = (run_mut(self.pulled, first, n), run_mut(out, first, n));
            for (j, by_q) in run(by_q, first, n).iter().enumerate() {
                let at = (first + j) * stride + first;
                add_scaled(pulled, *by_q, run(self.to, at, n));
                add_scaled(kept, *by_q, run(self.from, at, n));
            }
        }
        for (dof, &pulled) in self.pulled.iter().enumerate() {
            add_scaled(out, pulled, f.row(dof));
        }
    }

    /// l ← Q: xx and uu in place, on and above their diagonals, ux into `crossed`.
    fn add_value(&mut self, model: Model<'_, T>, f: MatRef<'_, T>, quadratic: &mut Quadratic<'_, T>) {
        let (nv, stride, n) = (self.nv(), padded(self.nv()), self.gradient.len());
        let (columns, nu) = (f.cols(), f.cols() - n);
        self.carry_configuration(model);
        let square = |m| MatRef::with_stride(m, nv, nv, stride);
        for (row, coupling) in
            self.product.chunks_exact_mut(padded(columns).max(1)).zip(self.coupling.chunks_exact(stride.max(1)))
        {
            let (by_q, rest) = row.split_at_mut_checked(nv).unwrap_or((&mut [], &mut []));
            copy(by_q, run(coupling, 0, nv));
            rest.fill(T::ZERO);
        }
        let mut product = MatMut::with_stride(self.product, nv, columns, padded(columns));
        // W is symmetric, and read by columns the kernel is faster.
        add_at_b(product.reborrow(), square(&*self.weight), f);
        let product = product.as_ref();
        quadratic.read_crossed(n, self.crossed);
        let (by_state, by_control) = (f.columns(0, n), f.columns(n, nu));
        let crossed = MatMut::with_stride(self.crossed, nu, n, padded(n));
        add_at_b(crossed, by_control, product.columns(0, n));
        // The columns after the state's, where Q_xu was, may be overwritten: it has been read.
        add_at_b_upper(states_block(quadratic, n), product.columns(0, n), by_state);
        add_at_b_upper(controls_block_mut(quadratic, n), product.columns(n, nu), by_control);
        add_at_b_upper(MatMut::with_stride(self.square, nv, nv, stride), f.columns(0, nv), square(&*self.coupling));
        let mut hessian = states_block(quadratic, n);
        for i in 0..nv {
            add(run_mut(hessian.row_mut(i), i, nv - i), run(self.square, i * stride + i, nv - i));
        }
    }

    /// square = Eᵀ V_qq E.
    fn carry_configuration(&mut self, model: Model<'_, T>) {
        let (nv, stride, wide) = (self.nv(), padded(self.nv()), padded(2 * self.nv()));
        for i in 0..nv {
            copy(run_mut(self.square, i * stride, nv), run(self.hessian, i * wide, nv));
        }
        for body in model.bodies.iter().filter(|body| body.joint.nv() > 1) {
            for i in body.v_range() {
                let row = run_mut(self.square, i * stride, nv);
                row.fill(T::ZERO);
                for j in body.v_range() {
                    add_scaled(row, self.from.at(j * stride + i), run(self.hessian, j * wide, nv));
                }
            }
        }
        // On and above the diagonal a joint's columns end with its own rows.
        for body in model.bodies.iter().filter(|body| body.joint.nv() > 1) {
            let (first, n) = (usize::from(body.first_v), body.joint.nv());
            times_block(block(self.from, first, n, stride), self.square, stride, first, 0..first + n);
        }
    }

    /// The feedforward within its bounds, with as much regularization as it takes.
    fn choose_controls(&mut self, quadratic: &mut Quadratic<'_, T>, demand: Demand<T>) -> Result<T, BackwardError> {
        let first = self.gradient.len();
        let (gradient, mut hessian) = quadratic.parts_mut();
        let g = rest(gradient, first);
        let (n, stride) = (g.len(), hessian.stride());
        let mut added = T::ZERO;
        let mut wanted = demand.regularization;
        let mut outcome = Err(NotPositiveDefinite { pivot: 0 });
        for _ in 0..RETRIES {
            for k in 0..n {
                hessian[(first + k, first + k)] += wanted - added;
            }
            added = wanted;
            let h = controls_block(hessian.as_ref(), first, n, stride);
            outcome = self.bounds.solve(h, g, demand.bound_iterations);
            if outcome.is_ok() {
                break;
            }
            wanted = (wanted * T::from_f64(10.0)).max(T::EPSILON);
        }
        let bounded = outcome.map_err(BackwardError::Curvature)?;
        let (step, half) = (&*self.bounds.x, T::from_f64(0.5));
        let least = if bounded {
            objective(controls_block(hessian.as_ref(), first, n, stride), g, step)
        } else {
            half * partial_dot(g, step)
        };
        let promised = least - half * added * partial_dot(step, step);
        if promised.is_finite() { Ok(promised) } else { Err(BackwardError::NotFinite) }
    }

    /// K = −Q_uu⁻¹ Q_ux over the free controls, zero for the others.
    fn write_gains(&self, feedforward: &mut [T], mut gain: MatMut<'_, T>) {
        let n = self.gradient.len();
        let (stride, free) = (padded(n), self.bounds.free());
        copy(feedforward, self.bounds.x);
        for (row, &control) in free.iter().enumerate() {
            let crossed = run(self.crossed, usize::from(control) * stride, n);
            for (out, x) in gain.row_mut(row).iter_mut().zip(crossed) {
                *out = -*x;
            }
        }
        let (nu, gain_stride) = (gain.rows(), gain.stride());
        if free.is_empty() {
            gain.fill(T::ZERO);
            return;
        }
        let mut rows = MatMut::with_stride(gain.data_mut(), free.len(), n, gain_stride);
        solve_lower(self.bounds.factor(), rows.reborrow());
        solve_upper(self.bounds.factor(), rows);
        // From the first rows to where they belong, the last one first.
        let mut row = free.len();
        for control in (0..nu).rev() {
            if row > 0 && usize::from(free.at(row - 1)) == control {
                row -= 1;
                if row < control {
                    let (above, below) = split_mut(gain.data_mut(), control * gain_stride);
                    copy(run_mut(below, 0, n), run(above, row * gain_stride, n));
                }
            } else {
                gain.row_mut(control).fill(T::ZERO);
            }
        }
    }

    /// V = Q_xx + Q_xu K and V_x = Q_x + Q_xu k.
    fn update_value(&mut self, quadratic: &mut Quadratic<'_, T>, gain: MatRef<'_, T>) {
        let n = self.gradient.len();
        let (stride, nu) = (padded(n), gain.rows());
        copy(self.gradient, run(quadratic.gradient, 0, n));
        for (row, step) in self.crossed.chunks_exact(stride.max(1)).zip(&*self.bounds.x) {
            add_scaled(self.gradient, *step, row);
        }
        let mut hessian = states_block(quadratic, n);
        add_at_b_upper(hessian.reborrow(), MatRef::with_stride(self.crossed, nu, n, stride), gain);
        mirror(hessian.as_ref(), self.hessian, stride);
    }
}

/// Why the pass could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackwardError {
    Input(InputError),
    Curvature(NotPositiveDefinite),
    NotFinite,
}

impl From<InputError> for BackwardError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

/// Q_uu.
fn controls_block<T: Real>(h: MatRef<'_, T>, first: usize, n: usize, stride: usize) -> MatRef<'_, T> {
    let data = h.data().get(first * (stride + 1)..).unwrap_or(&[]);
    MatRef::with_stride(data, n, n, stride)
}

/// The same, to be written.
fn controls_block_mut<'q, T: Real>(quadratic: &'q mut Quadratic<'_, T>, first: usize) -> MatMut<'q, T> {
    let (_, hessian) = quadratic.parts_mut();
    let (n, stride) = (hessian.rows() - first, hessian.stride());
    let data = hessian.into_data().get_mut(first * (stride + 1)..).unwrap_or(&mut []);
    MatMut::with_stride(data, n, n, stride)
}

/// Q_xx, to be written; kernels may overwrite what stands right of it.
fn states_block<'q, T: Real>(quadratic: &'q mut Quadratic<'_, T>, n: usize) -> MatMut<'q, T> {
    let (_, hessian) = quadratic.parts_mut();
    let stride = hessian.stride();
    MatMut::with_stride(hessian.into_data(), n, n, stride)
}

/// A joint's own block of E or T.
fn block<T: Real>(m: &[T], first: usize, n: usize, stride: usize) -> MatRef<'_, T> {
    MatRef::with_stride(m.get(first * (stride + 1)..).unwrap_or(&[]), n, n, stride)
}

/// Axes of a free joint.
const MOST_AXES: usize = 6;

/// The rows of a joint's block, with zeros up to a fixed size.
fn columns_of<T: Real>(b: MatRef<'_, T>) -> [[T; MOST_AXES]; MOST_AXES] {
    let n = b.rows().min(MOST_AXES);
    let mut columns = [[T::ZERO; MOST_AXES]; MOST_AXES];
    for (column, j) in columns.iter_mut().zip(0..n) {
        copy(run_mut(column, 0, n), run(b.row(j), 0, n));
    }
    columns
}

/// Some rows of X times B, for the columns of X from `first` on that B has rows for.
fn times_block<T: Real>(b: MatRef<'_, T>, x: &mut [T], stride: usize, first: usize, rows: Range<usize>) {
    let (n, columns) = (b.rows().min(MOST_AXES), columns_of(b));
    for row in x.chunks_exact_mut(stride.max(1)).take(rows.end).skip(rows.start) {
        let Some(row) = row.get_mut(first..first + n) else { return };
        let mut sums = [T::ZERO; MOST_AXES];
        for (x, column) in row.iter().zip(&columns) {
            add_scaled(&mut sums, *x, column);
        }
        copy(row, run(&sums, 0, n));
    }
}

/// Both triangles of a symmetric matrix from its upper one, in squares of four rows and columns.
fn mirror<T: Real>(upper: MatRef<'_, T>, out: &mut [T], stride: usize) {
    let n = upper.rows();
    for i in 0..n {
        copy(run_mut(out, i * stride + i, n - i), run(upper.row(i), i, n - i));
    }
    for first in (0..n).step_by(4) {
        let end = (first + 4).min(n);
        for i in first..end {
            for j in i + 1..end {
                out.set(j * stride + i, upper[(i, j)]);
            }
        }
        if end < first + 4 {
            return;
        }
        let rows: [&[T]; 4] = core::array::from_fn(|k| run(upper.row(first + k), end, n - end));
        let below = out.get_mut(end * stride..).unwrap_or(&mut []).chunks_exact_mut(stride.max(1));
        for ((((out, a), b), c), d) in below.zip(rows[0]).zip(rows[1]).zip(rows[2]).zip(rows[3]) {
            let Some(out) = out.get_mut(first..).and_then(|out| out.first_chunk_mut::<4>()) else { return };
            *out = [*a, *b, *c, *d];
        }
    }
}

#[inline(always)]
fn add_scaled<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = factor.mul_add(*x, *out);
    }
}

#[inline(always)]
fn add<T: Real>(out: &mut [T], x: &[T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += *x;
    }
}
