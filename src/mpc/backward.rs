//! The backward pass: value function, feedforward and gains, one node at a time.
//!
//! It uses how the step integrates: with F = ∂v⁺/∂(q, v, u), the next state changes by E δq + D F δ(q, v, u), where
//! D = (T; 1), and E and T are the block diagonal Jacobians of q ⊕ Δt v⁺. With the value function V, all is in
//! W = Dᵀ V D and P = Dᵀ V E, which are nv × nv: Q = l + Fᵀ W F + Fᵀ P + Pᵀ F + Eᵀ V_qq E. Joints of one axis move along
//! it, so there E = 1 and T = Δt; only the others have blocks worth multiplying with. V before the node is Q_xx − Yᵀ Y with
//! Q_uu = Uᵀ U and Y = U⁻ᵀ Q_ux, summed up on and above the diagonal and then mirrored.

mod few;
mod value;

use super::bounds::{Bounds, objective};
use super::{MpcDims, Quadratic};
use crate::input::InputError;
use crate::linalg::{
    MatMut, MatRef, NotPositiveDefinite, add_at_b, add_at_b_upper, add_rows_a_b, padded, partial_dot,
    solve_lower_in_blocks, solve_upper_in_blocks, subtract_at_a_upper, write_at_b, write_sum_upper,
};
use crate::memory::{Values, carved, copy, rest, run, run_mut, split_mut};
use crate::model::{Body, Model};
use crate::scalar::Real;
use crate::step::flight::{JointAdvance, MOST_AXES};
use value::Value;

carved! {
    /// The value function of the nodes to come, and memory to go one node back.
    pub(super) struct Backward<'a, T>(d: MpcDims) {
        value: { Value },
        /// Rows of E and of T / Δt of the joints of several axes, nv × 6: each joint's block from its first degree of
        /// freedom on.
        from: [T; d.step.robot.nv * MOST_AXES],
        to: [T; d.step.robot.nv * MOST_AXES],
        /// Eᵀ V in the rows of these joints, nv × 2nv, rows of `padded(2nv)`.
        turned: [T; d.step.robot.nv * padded(d.state())],
        /// Rows of one of them.
        rows: [T; MOST_AXES * padded(d.state())],
        /// W and P, nv × nv, rows of `padded(nv)`.
        weight: [T; d.velocities_square()],
        coupling: [T; d.velocities_square()],
        /// M = W F + (P, 0, 0).
        product: [T; d.step.robot.nv * d.step.columns()],
        /// Dᵀ V_x.
        pulled: [T; d.step.robot.nv],
        /// Q_ux, nu × 2nv, and then Y over the free controls.
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
        self.value.start(end);
    }

    /// Moves V to where the gap leads; the change of cost that this brings. O(nv²).
    pub fn cross_gap(&mut self, gap: &[T]) -> T {
        self.value.cross_gap(gap)
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
        let Answer { feedforward, gain } = answer;
        let single = of_several_axes(model).next().is_none();
        if !(single && self.add_value_of_few(demand.dt_s, f, quadratic)) {
            self.add_value_of_many(model, demand.dt_s, (f, v_next), quadratic);
        }
        let promised = self.choose_controls(quadratic, demand)?;
        copy(feedforward, self.bounds.x);
        self.update_gradient(quadratic);
        self.write_gains(gain);
        if !(single && self.update_hessian_of_few(f, quadratic)) {
            self.update_hessian(f, quadratic);
        }
        Ok(promised)
    }

    /// l ← Q, for any joints.
    fn add_value_of_many(
        &mut self,
        model: Model<'_, T>,
        dt_s: T,
        (f, v_next): (MatRef<'_, T>, &[T]),
        quadratic: &mut Quadratic<'_, T>,
    ) {
        self.advance_joints(model, dt_s, v_next);
        self.pull_gradient(model, dt_s, f, quadratic.gradient);
        self.keep_configuration(model, quadratic);
        self.project(model, dt_s);
        self.add_value(f, quadratic);
    }

    /// E and T where they are more than one and Δt.
    fn advance_joints(&mut self, model: Model<'_, T>, dt_s: T, v_next: &[T]) {
        let per_second = T::ONE / dt_s;
        for body in of_several_axes(model) {
            let advance = JointAdvance::new(body, dt_s, v_next);
            copy(block_mut(self.from, body), &advance.by_q.as_flattened()[..MOST_AXES * body.joint.nv()]);
            for (to, by_v) in block_mut(self.to, body).iter_mut().zip(advance.by_v.as_flattened()) {
                *to = per_second * *by_v;
            }
        }
    }

    /// l_x ← Q_x.
    fn pull_gradient(&mut self, model: Model<'_, T>, dt_s: T, f: MatRef<'_, T>, out: &mut [T]) {
        let nv = self.nv();
        let (by_q, by_v) = (run(self.value.gradient, 0, nv), run(self.value.gradient, nv, nv));
        for ((pulled, by_q), by_v) in self.pulled.iter_mut().zip(by_q).zip(by_v) {
            *pulled = dt_s.mul_add(*by_q, *by_v);
        }
        for body in model.bodies {
            let (first, n) = (usize::from(body.first_v), body.joint.nv());
            let (kept, by_q) = (run_mut(out, first, n), run(by_q, first, n));
            if n == 1 {
                add(kept, by_q);
                continue;
            }
            let pulled = run_mut(self.pulled, first, n);
            copy(pulled, run(by_v, first, n));
            let blocks =
                block(self.to, body).chunks_exact(MOST_AXES).zip(block(self.from, body).chunks_exact(MOST_AXES));
            for (by_q, (to, from)) in by_q.iter().zip(blocks) {
                add_scaled(pulled, dt_s * *by_q, to);
                add_scaled(kept, *by_q, from);
            }
        }
        let (columns, pulled) = (out.len(), MatRef::new(self.pulled, 1, nv));
        add_rows_a_b(MatMut::new(out, 1, columns), pulled, f);
    }

    /// l_qq ← l_qq + Eᵀ V_qq E, on and above the diagonal; leaves `turned`. O(nv²).
    fn keep_configuration(&mut self, model: Model<'_, T>, quadratic: &mut Quadratic<'_, T>) {
        let (nv, stride) = (self.nv(), self.value.stride());
        for body in of_several_axes(model) {
            let (first, n) = span(body);
            let out = run_mut(self.turned, first * stride, n * stride);
            turn(out, (self.from, body), self.value.rows((first, n)), stride);
        }
        let (_, mut hessian) = quadratic.parts_mut();
        // From the last whole vector before the diagonal on; below it nobody reads.
        let mut add_row = |i: usize, row: &[T]| {
            let near = i / 4 * 4;
            add(run_mut(hessian.row_mut(i), near, nv - near), run(row, near, nv - near));
        };
        let last = of_several_axes(model).last().map_or(0, |body| usize::from(body.first_v));
        for body in model.bodies {
            let (first, n) = span(body);
            // On and above the diagonal a joint's columns end with its own rows.
            if n == 1 && first >= last {
                add_row(first, run(self.value.rows((first, 1)), 0, nv));
                continue;
            }
            let later = of_several_axes(model).filter(|other| usize::from(other.first_v) >= first);
            let rows = run_mut(self.rows, 0, n * stride);
            if n == 1 {
                copy(run_mut(rows, 0, nv), run(self.value.rows((first, 1)), 0, nv));
                for column in later.flat_map(|other| other.v_range()) {
                    rows.set(column, self.turned.at(column * stride + first));
                }
            } else {
                copy(rows, run(self.turned, first * stride, n * stride));
                later.for_each(|other| times_block(rows, stride, other, self.from));
            }
            rows.chunks_exact(stride).zip(first..).for_each(|(row, i)| add_row(i, row));
        }
    }

    /// `weight` and `coupling`, from V, which is spoiled where joints have several axes. O(nv²).
    ///
    /// With V turned by T / Δt on both sides, T is Δt for every joint. That gives W, and P but for E: the columns of the
    /// joints that have one are those of `turned`.
    fn project(&mut self, model: Model<'_, T>, dt_s: T) {
        let (nv, stride) = (self.nv(), self.value.stride());
        for body in of_several_axes(model) {
            turn(self.rows, (self.to, body), self.value.rows(span(body)), stride);
            times_block(run_mut(self.rows, 0, body.joint.nv() * stride), stride, body, self.to);
            self.value.write_rows(span(body), self.rows);
        }
        self.value.project(dt_s, self.weight, self.coupling);
        let wide = padded(nv);
        for body in of_several_axes(model) {
            let (first, n) = span(body);
            let own = run_mut(self.turned, first * stride, n * stride);
            of_several_axes(model).for_each(|other| times_block(own, stride, other, self.to));
            for column in body.v_range() {
                let row = run(self.turned, column * stride, 2 * nv);
                let (by_q, by_v) = (run(row, 0, nv), run(row, nv, nv));
                let out = self.coupling.chunks_exact_mut(wide.max(1));
                for ((out, by_q), by_v) in out.zip(by_q).zip(by_v) {
                    out.set(column, dt_s.mul_add(*by_q, *by_v));
                }
            }
        }
    }

    /// M, Q_uu in place of l_uu, on and above its diagonal, and Q_ux into `crossed`; l_qq ← l_qq + F_qᵀ P.
    fn add_value(&mut self, f: MatRef<'_, T>, quadratic: &mut Quadratic<'_, T>) {
        let (nv, n, wide) = (self.nv(), self.value.gradient.len(), padded(self.nv()));
        let (columns, nu) = (f.cols(), f.cols().saturating_sub(n));
        let square = |m| MatRef::with_stride(m, nv, nv, wide);
        let stride = padded(columns);
        // W is symmetric, and read by columns the kernel is faster.
        write_at_b(MatMut::with_stride(self.product, nv, columns, stride), square(&*self.weight), f);
        let rows = self.product.chunks_exact_mut(stride.max(1)).zip(self.coupling.chunks_exact(wide.max(1)));
        rows.for_each(|(row, coupling)| add_fours(row, coupling));
        let product = MatRef::with_stride(self.product, nv, columns, stride);
        let by_control = f.columns(n, nu);
        let crossed = MatMut::with_stride(self.crossed, nu, n, padded(n));
        if quadratic.is_coupled() {
            quadratic.read_crossed(n, crossed.into_data());
            add_at_b(MatMut::with_stride(self.crossed, nu, n, padded(n)), by_control, product.columns(0, n));
        } else {
            write_at_b(crossed, by_control, product.columns(0, n));
        }
        add_at_b_upper(controls_block_mut(quadratic, n), product.columns(n, nu), by_control);
        let mut states = states_block(quadratic, n);
        let hessian_stride = states.stride();
        // The padding of P is zero, so nothing is added to what stands right of Q_qq.
        let by_q = MatMut::with_stride(states.data_mut(), nv, nv, hessian_stride);
        add_at_b_upper(by_q, f.columns(0, nv), square(&*self.coupling));
    }

    /// The feedforward within its bounds, with as much regularization as it takes.
    fn choose_controls(&mut self, quadratic: &mut Quadratic<'_, T>, demand: Demand<T>) -> Result<T, BackwardError> {
        let first = self.value.gradient.len();
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

    /// V_x = Q_x + Q_xu k.
    fn update_gradient(&mut self, quadratic: &Quadratic<'_, T>) {
        let (n, nu) = (self.value.gradient.len(), self.bounds.x.len());
        copy(self.value.gradient, run(quadratic.gradient, 0, n));
        let crossed = MatRef::with_stride(self.crossed, nu, n, padded(n));
        add_rows_a_b(MatMut::new(self.value.gradient, 1, n), MatRef::new(self.bounds.x, 1, nu), crossed);
    }

    /// Y = U⁻ᵀ Q_ux and K = −U⁻¹ Y over the free controls, zero for the others.
    fn write_gains(&mut self, mut gain: MatMut<'_, T>) {
        let n = self.value.gradient.len();
        self.bounds.mirror_factor();
        let (stride, free) = (padded(n), self.bounds.free());
        for (row, &control) in free.iter().enumerate().filter(|&(row, &control)| row < usize::from(control)) {
            let (above, below) = split_mut(self.crossed, usize::from(control) * stride);
            copy(run_mut(above, row * stride, n), run(below, 0, n));
        }
        if free.is_empty() {
            gain.fill(T::ZERO);
            return;
        }
        let (nu, gain_stride) = (gain.rows(), gain.stride());
        if free.len() == 1 {
            let inverse = T::ONE / self.bounds.factor()[(0, 0)];
            for (out, y) in gain.row_mut(0).iter_mut().zip(&mut *self.crossed) {
                *y *= inverse;
                *out = -(*y * inverse);
            }
        } else {
            solve_lower_in_blocks(self.bounds.factor(), MatMut::with_stride(self.crossed, free.len(), n, stride));
            for (row, y) in self.crossed.chunks_exact(stride.max(1)).enumerate().take(free.len()) {
                for (out, y) in gain.row_mut(row).iter_mut().zip(y) {
                    *out = -*y;
                }
            }
            let rows = MatMut::with_stride(gain.data_mut(), free.len(), n, gain_stride);
            solve_upper_in_blocks(self.bounds.factor(), rows);
        }
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

    /// V = l + Mᵀ F − Yᵀ Y, where l_qq has been given F_qᵀ P + Eᵀ V_qq E.
    fn update_hessian(&mut self, f: MatRef<'_, T>, quadratic: &mut Quadratic<'_, T>) {
        let (nv, n, columns) = (self.nv(), self.value.gradient.len(), f.cols());
        let product = MatRef::with_stride(self.product, nv, columns, padded(columns));
        let crossed = MatRef::with_stride(self.crossed, self.bounds.free().len(), n, padded(n));
        let states = quadratic.hessian().columns(0, n);
        write_sum_upper(self.value.hessian_mut(), states, product.columns(0, n), f.columns(0, n));
        subtract_at_a_upper(self.value.hessian_mut(), crossed);
        self.value.mirror();
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

/// Joints whose axes are not those of the configuration.
fn of_several_axes<'m, T: Real>(model: Model<'m, T>) -> impl Iterator<Item = &'m Body<T>> {
    model.bodies.iter().filter(|body| body.joint.nv() > 1)
}

/// First degree of freedom of a joint, and how many it has.
fn span<T: Real>(body: &Body<T>) -> (usize, usize) {
    (usize::from(body.first_v), body.joint.nv())
}

/// Bᵀ times the rows of a joint, with its block B of E or T.
fn turn<T: Real>(out: &mut [T], (blocks, body): (&[T], &Body<T>), rows: &[T], stride: usize) {
    let n = body.joint.nv();
    let block = MatRef::with_stride(block(blocks, body), n, n, MOST_AXES);
    let rows = MatRef::with_stride(run(rows, 0, n * stride), n, stride, stride);
    write_at_b(MatMut::with_stride(run_mut(out, 0, n * stride), n, stride, stride), block, rows);
}

/// A joint's own rows of E or T.
fn block<'b, T: Real>(rows: &'b [T], body: &Body<T>) -> &'b [T] {
    run(rows, usize::from(body.first_v) * MOST_AXES, body.joint.nv() * MOST_AXES)
}

/// The same, to be written.
fn block_mut<'b, T: Real>(rows: &'b mut [T], body: &Body<T>) -> &'b mut [T] {
    run_mut(rows, usize::from(body.first_v) * MOST_AXES, body.joint.nv() * MOST_AXES)
}

/// X ← X B in the columns of a joint, with its block B of E or T.
#[inline(always)]
fn times_block<T: Real>(x: &mut [T], stride: usize, body: &Body<T>, rows: &[T]) {
    let stride = stride.max(1);
    match body.joint.nv() {
        MOST_AXES => x.chunks_exact_mut(stride).for_each(|x| times_sized_block::<T, MOST_AXES>(x, body, rows)),
        _ => x.chunks_exact_mut(stride).for_each(|x| times_sized_block::<T, 3>(x, body, rows)),
    }
}

#[inline(always)]
fn times_sized_block<T: Real, const N: usize>(x: &mut [T], body: &Body<T>, rows: &[T]) {
    let own = x.get_mut(usize::from(body.first_v)..).and_then(|x| x.first_chunk_mut::<N>());
    let Some(own) = own else { return };
    let mut sums = [T::ZERO; N];
    for (x, row) in own.iter().zip(block(rows, body).as_chunks::<MOST_AXES>().0) {
        for k in 0..N {
            sums[k] = x.mul_add(row[k], sums[k]);
        }
    }
    *own = sums;
}

/// factor · x + y.
#[inline(always)]
fn combine<T: Real>(factor: T, x: &[T; 4], y: &[T; 4]) -> [T; 4] {
    [0, 1, 2, 3].map(|k| factor.mul_add(x[k], y[k]))
}

#[inline(always)]
fn add_scaled<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = factor.mul_add(*x, *out);
    }
}

/// In fours as far as they go: rows are short, and a loop for long ones would do most of a row number by number.
#[inline(always)]
fn add<T: Real>(out: &mut [T], x: &[T]) {
    add_fours(out, x);
    match (out.as_chunks_mut::<4>().1, x.as_chunks::<4>().1) {
        ([a], [x]) => *a += *x,
        ([a, b], [x, y]) => (*a, *b) = (*a + *x, *b + *y),
        ([a, b, c], [x, y, z]) => (*a, *b, *c) = (*a + *x, *b + *y, *c + *z),
        _ => {}
    }
}

/// As many fours as both have.
#[inline(always)]
fn add_fours<T: Real>(out: &mut [T], x: &[T]) {
    for (out, x) in out.as_chunks_mut::<4>().0.iter_mut().zip(x.as_chunks::<4>().0) {
        *out = [0, 1, 2, 3].map(|k| out[k] + x[k]);
    }
}

#[cfg(test)]
mod tests;
