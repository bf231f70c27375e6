//! The backward pass: value function, feedforward and gains, one node at a time.
//!
//! It uses how the step integrates: with F = ∂v⁺/∂(q, v, u), the next state changes by E δq + D F δ(q, v, u), where
//! D = (T; 1), and E and T are the block diagonal Jacobians of q ⊕ Δt v⁺. With the value function's blocks V, all is in
//! W = Dᵀ V D and P = Dᵀ V E, which are nv × nv: Q = l + Fᵀ W F + Fᵀ P + Pᵀ F + Eᵀ V_qq E. Joints of one axis move along
//! it, so there E = 1 and T = Δt; only the others have blocks worth multiplying with.

mod few;

use super::bounds::{Bounds, objective};
use super::{MpcDims, Quadratic};
use crate::input::InputError;
use crate::linalg::{
    MatMut, MatRef, NotPositiveDefinite, add_at_b, add_at_b_upper, mirror, padded, partial_dot, solve_lower,
    solve_upper, transpose_square,
};
use crate::memory::{Values, carved, copy, rest, run, run_mut, split_mut};
use crate::model::{Body, Model};
use crate::scalar::Real;
use crate::step::flight::{JointAdvance, MOST_AXES};

carved! {
    /// The value function of the nodes to come, and memory to go one node back. Square blocks are nv × nv with rows of
    /// `padded(nv)`, whose padding is zero.
    pub(super) struct Backward<'a, T>(d: MpcDims) {
        /// V_x, 2nv.
        gradient: [T; d.state()],
        /// V_qq, V_qv, V_vq and V_vv, whole.
        qq: [T; d.velocities_square()],
        qv: [T; d.velocities_square()],
        vq: [T; d.velocities_square()],
        vv: [T; d.velocities_square()],
        /// Rows of E and T of the joints of several axes, nv × 6: each joint's block from its first degree of freedom on.
        from: [T; d.step.robot.nv * MOST_AXES],
        to: [T; d.step.robot.nv * MOST_AXES],
        /// Rows of a joint in a square block.
        rows: [T; MOST_AXES * padded(d.step.robot.nv)],
        /// W.
        weight: [T; d.velocities_square()],
        /// P.
        coupling: [T; d.velocities_square()],
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

    /// Of the square blocks.
    fn stride(&self) -> usize {
        padded(self.nv()).max(1)
    }

    /// Starts from the cost at the end.
    pub fn start(&mut self, end: &Quadratic<'_, T>) {
        copy(self.gradient, run(end.gradient, 0, self.gradient.len()));
        self.take_hessian(end.hessian());
    }

    /// V_xx, from its upper triangle. O(nv²).
    fn take_hessian(&mut self, upper: MatRef<'_, T>) {
        let (nv, stride) = (self.nv(), self.stride());
        let blocks = self.qq.chunks_exact_mut(stride).zip(self.qv.chunks_exact_mut(stride));
        for (i, ((qq, qv), vv)) in blocks.zip(self.vv.chunks_exact_mut(stride)).enumerate() {
            copy_row(qq, upper.row(i), nv);
            copy_row(qv, upper.row(i).get(nv..).unwrap_or(&[]), nv);
            copy_row(vv, upper.row(nv + i).get(nv..).unwrap_or(&[]), nv);
        }
        mirror(MatMut::with_stride(self.qq, nv, nv, stride));
        mirror(MatMut::with_stride(self.vv, nv, nv, stride));
        transpose_square(MatRef::with_stride(self.qv, nv, nv, stride), MatMut::with_stride(self.vq, nv, nv, stride));
    }

    /// Moves V to where the gap leads; the change of cost that this brings. O(nv²).
    pub fn cross_gap(&mut self, gap: &[T]) -> T {
        let (nv, stride, half) = (self.nv(), self.stride(), T::from_f64(0.5));
        if gap.iter().all(|x| *x == T::ZERO) {
            return T::ZERO;
        }
        let (by_q, by_v) = (run(gap, 0, nv), run(gap, nv, nv));
        let above = self.qq.chunks_exact(stride).zip(self.qv.chunks_exact(stride));
        let below = self.vq.chunks_exact(stride).zip(self.vv.chunks_exact(stride));
        let mut change = T::ZERO;
        for (((q_row, v_row), slope), own) in above.chain(below).zip(self.gradient.iter_mut()).zip(gap) {
            let moved = partial_dot(run(q_row, 0, nv), by_q) + partial_dot(run(v_row, 0, nv), by_v);
            change = own.mul_add(half.mul_add(moved, *slope), change);
            *slope += moved;
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
        let single = of_several_axes(model).next().is_none();
        if !(single && self.add_value_of_few(demand.dt_s, f, quadratic)) {
            self.add_value_of_many(model, demand.dt_s, (f, v_next), quadratic);
        }
        let promised = self.choose_controls(quadratic, demand)?;
        let Answer { feedforward, mut gain } = answer;
        self.write_gains(feedforward, gain.reborrow());
        if !(single && self.update_value_of_few(quadratic, gain.as_ref())) {
            self.update_value(quadratic, gain.as_ref());
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
        self.project(model, dt_s);
        self.pull_gradient(model, dt_s, f, quadratic.gradient);
        self.add_value(model, f, quadratic);
    }

    /// E and T where they are more than one and Δt.
    fn advance_joints(&mut self, model: Model<'_, T>, dt_s: T, v_next: &[T]) {
        for body in of_several_axes(model) {
            let advance = JointAdvance::new(body, dt_s, v_next);
            copy(block_mut(self.from, body), &advance.by_q.as_flattened()[..MOST_AXES * body.joint.nv()]);
            copy(block_mut(self.to, body), &advance.by_v.as_flattened()[..MOST_AXES * body.joint.nv()]);
        }
    }

    /// `weight` and `coupling`, from V: all joints as if they had one axis, then those that have more. O(nv²).
    fn project(&mut self, model: Model<'_, T>, dt_s: T) {
        let (nv, stride) = (self.nv(), self.stride());
        let out = self.coupling.iter_mut().zip(self.weight.iter_mut());
        let from = self.qq.iter().zip(&*self.qv).zip(self.vq.iter().zip(&*self.vv));
        for ((p, w), ((qq, qv), (vq, vv))) in out.zip(from) {
            *p = dt_s.mul_add(*qq, *vq);
            *w = dt_s.mul_add(*p, dt_s.mul_add(*qv, *vv));
        }
        for body in of_several_axes(model) {
            self.project_joint(model, body, dt_s);
        }
        for body in of_several_axes(model) {
            times_block(self.coupling, stride, body, self.from);
            // Above the diagonal, from below it.
            let columns = body.v_range();
            for i in 0..columns.start {
                for j in columns.clone() {
                    let below = self.weight.at(j * stride + i);
                    self.weight.set(i * stride + j, below);
                }
            }
        }
        mirror(MatMut::with_stride(self.weight, nv, nv, stride));
    }

    /// The rows of W and P of a joint of several axes, P's without E.
    fn project_joint(&mut self, model: Model<'_, T>, body: &Body<T>, dt_s: T) {
        let (nv, stride, n) = (self.nv(), self.stride(), body.joint.nv());
        let (first, count) = (usize::from(body.first_v) * stride, n * stride);
        let (p, w) = (run_mut(self.coupling, first, count), run_mut(self.weight, first, count));
        let to = MatRef::with_stride(block(self.to, body), n, n, MOST_AXES);
        let rows = |all| MatRef::with_stride(run(all, first, count), n, nv, stride);
        copy(p, run(self.vq, first, count));
        add_at_b(MatMut::with_stride(p, n, nv, stride), to, rows(self.qq));
        copy(w, run(self.vv, first, count));
        add_at_b(MatMut::with_stride(w, n, nv, stride), to, rows(self.qv));
        // P T, where T is Δt for most columns.
        let turned = run_mut(self.rows, 0, count);
        turned.iter_mut().zip(&*p).for_each(|(out, p)| *out = dt_s * *p);
        for other in of_several_axes(model) {
            let columns = other.v_range();
            for (out, p) in turned.chunks_exact_mut(stride).zip(p.chunks_exact(stride)) {
                copy(run_mut(out, columns.start, columns.len()), run(p, columns.start, columns.len()));
            }
            times_block(turned, stride, other, self.to);
        }
        w.iter_mut().zip(turned).for_each(|(w, x)| *w += *x);
    }

    /// l_x ← Q_x.
    fn pull_gradient(&mut self, model: Model<'_, T>, dt_s: T, f: MatRef<'_, T>, out: &mut [T]) {
        let nv = self.nv();
        let (by_q, by_v) = (run(self.gradient, 0, nv), run(self.gradient, nv, nv));
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
                add_scaled(pulled, *by_q, to);
                add_scaled(kept, *by_q, from);
            }
        }
        for (dof, &pulled) in self.pulled.iter().enumerate() {
            add_scaled(out, pulled, f.row(dof));
        }
    }

    /// l ← Q: xx and uu in place, on and above their diagonals, ux into `crossed`.
    fn add_value(&mut self, model: Model<'_, T>, f: MatRef<'_, T>, quadratic: &mut Quadratic<'_, T>) {
        let (nv, stride, n) = (self.nv(), self.stride(), self.gradient.len());
        let (columns, nu) = (f.cols(), f.cols().saturating_sub(n));
        let square = |m| MatRef::with_stride(m, nv, nv, stride);
        for (row, coupling) in
            self.product.chunks_exact_mut(padded(columns).max(1)).zip(self.coupling.chunks_exact(stride))
        {
            let (by_q, rest) = split_mut(row, nv);
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
        self.add_configuration(model, f.columns(0, nv), states_block(quadratic, n));
    }

    /// Q_qq ← Q_qq + F_qᵀ P + Eᵀ V_qq E, on and above the diagonal.
    fn add_configuration(&mut self, model: Model<'_, T>, by_q: MatRef<'_, T>, mut hessian: MatMut<'_, T>) {
        let (nv, stride) = (self.nv(), self.stride());
        let wide = hessian.stride();
        // Beyond its nv columns P is zero, so nothing is added to what stands right of Q_qq.
        let out = MatMut::with_stride(hessian.data_mut(), nv, nv, wide);
        add_at_b_upper(out, by_q, MatRef::with_stride(self.coupling, nv, nv, stride));
        // From the last whole vector before the diagonal on; below it nobody reads, and padding adds zero.
        let end = stride.min(2 * nv);
        let add_row = |hessian: &mut MatMut<'_, T>, i: usize, row: &[T]| {
            let near = i / 4 * 4;
            add(run_mut(hessian.row_mut(i), near, end - near), run(row, near, end - near));
        };
        let last = of_several_axes(model).last().map_or(0, |body| usize::from(body.first_v));
        for body in model.bodies {
            let (first, n) = (usize::from(body.first_v), body.joint.nv());
            let own = run(self.qq, first * stride, n * stride);
            // On and above the diagonal a joint's columns end with its own rows.
            if first > last {
                add_row(&mut hessian, first, own);
                continue;
            }
            let rows = run_mut(self.rows, 0, n * stride);
            if n == 1 {
                copy(rows, own);
            } else {
                rows.fill(T::ZERO);
                let from = MatRef::with_stride(block(self.from, body), n, n, MOST_AXES);
                let out = MatMut::with_stride(rows, n, nv, stride);
                add_at_b(out, from, MatRef::with_stride(own, n, nv, stride));
            }
            for other in of_several_axes(model).filter(|other| usize::from(other.first_v) >= first) {
                times_block(rows, stride, other, self.from);
            }
            rows.chunks_exact(stride).zip(first..).for_each(|(row, i)| add_row(&mut hessian, i, row));
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
        if free.len() == 1 {
            let inverse = T::ONE / self.bounds.factor()[(0, 0)];
            rows.row_mut(0).iter_mut().for_each(|x| *x = *x * inverse * inverse);
        } else {
            solve_lower(self.bounds.factor(), rows.reborrow());
            solve_upper(self.bounds.factor(), rows);
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

    /// V = Q_xx + Q_xu K and V_x = Q_x + Q_xu k.
    fn update_value(&mut self, quadratic: &mut Quadratic<'_, T>, gain: MatRef<'_, T>) {
        let n = self.gradient.len();
        let (stride, nu) = (padded(n), gain.rows());
        copy(self.gradient, run(quadratic.gradient, 0, n));
        for (row, step) in self.crossed.chunks_exact(stride.max(1)).zip(&*self.bounds.x) {
            add_scaled(self.gradient, *step, row);
        }
        add_at_b_upper(states_block(quadratic, n), MatRef::with_stride(self.crossed, nu, n, stride), gain);
        self.take_hessian(quadratic.hessian());
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

/// The first `count` numbers of a row into one whose padding is zero. In fours: loops for a few numbers become calls.
#[inline(always)]
fn copy_row<T: Real>(to: &mut [T], from: &[T], count: usize) {
    let (whole, o) = (count / 4, T::ZERO);
    let (fours, rest) = from.as_chunks::<4>();
    let end = fours.get(whole).copied().unwrap_or_else(|| {
        let mut end = [o; 4];
        end.iter_mut().zip(rest).for_each(|(end, x)| *end = *x);
        end
    });
    let [x, y, z, _] = end;
    let end = match count % 4 {
        0 | 1 => [x, o, o, o],
        2 => [x, y, o, o],
        _ => [x, y, z, o],
    };
    let (to, _) = to.as_chunks_mut::<4>();
    to.iter_mut().zip(fours).take(whole).for_each(|(to, from)| *to = *from);
    if let Some(to) = to.get_mut(whole) {
        *to = end;
    }
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
    let ((fours, rest), (x_fours, x_rest)) = (out.as_chunks_mut::<4>(), x.as_chunks::<4>());
    for (out, x) in fours.iter_mut().zip(x_fours) {
        *out = [0, 1, 2, 3].map(|k| out[k] + x[k]);
    }
    rest.iter_mut().zip(x_rest).for_each(|(out, x)| *out += *x);
}

#[cfg(test)]
mod tests;
