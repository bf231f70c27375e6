//! The backward pass: value function, feedforward and gains, one node at a time.
//!
//! It uses how the step integrates: with F = ∂v⁺/∂(q, v, u), the next state changes by E δq + D F δ(q, v, u), where
//! D = (T; 1), and E and T are the block diagonal Jacobians of q ⊕ Δt v⁺. With the value function's blocks V, all is in
//! W = Dᵀ V D and P = Dᵀ V E, which are nv × nv: Q = l + Fᵀ W F + Fᵀ P + Pᵀ F + Eᵀ V_qq E.

use super::bounds::{Bounds, objective};
use super::{MpcDims, Quadratic};
use crate::input::InputError;
use crate::linalg::{
    MatMut, MatRef, NotPositiveDefinite, add_a_b, add_at_a_upper, add_at_b_upper, padded, partial_dot, solve_lower,
    solve_upper,
};
use crate::memory::carved;
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
        /// Tᵀ V_qq + V_vq.
        lifted: [T; d.velocities_square()],
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
        /// U⁻ᵀ Q_ux, nu × 2nv.
        half: [T; d.gain()],
        /// Q_xu Q_uu⁻¹ Q_ux.
        gained: [T; d.state_square()],
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
        self.gradient.copy_from_slice(&end.gradient[..n]);
        let h = end.hessian();
        for i in 0..n {
            for j in i..n {
                let x = h[(i, j)];
                (self.hessian[i * stride + j], self.hessian[j * stride + i]) = (x, x);
            }
        }
    }

    /// Moves V to where the gap leads; the change of cost that this brings. O(nv²).
    pub fn cross_gap(&mut self, gap: &[T]) -> T {
        let (n, stride, half) = (gap.len(), padded(gap.len()), T::from_f64(0.5));
        if gap.iter().all(|x| *x == T::ZERO) {
            return T::ZERO;
        }
        let mut change = T::ZERO;
        for i in 0..n {
            let moved = partial_dot(&self.hessian[i * stride..][..n], gap);
            change = gap[i].mul_add(half.mul_add(moved, self.gradient[i]), change);
            self.gradient[i] += moved;
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
        self.project(model);
        self.pull_gradient(model, f, quadratic.gradient);
        self.add_value(model, f, quadratic);
        let promised = self.choose_controls(quadratic, demand)?;
        self.write_gains(quadratic, answer);
        self.update_value(quadratic);
        Ok(promised)
    }

    /// `lifted`, `weight` and `coupling`, from V. O(nv²), with the joints' own blocks.
    fn project(&mut self, model: Model<'_, T>) {
        let (nv, stride) = (self.nv(), padded(self.nv()));
        let wide = padded(2 * nv);
        for body in model.bodies {
            for i in body.v_range() {
                let (q_row, v_row) = self.hessian.split_at(nv * wide);
                let lifted = &mut self.lifted[i * stride..][..nv];
                let weight = &mut self.weight[i * stride..][..nv];
                lifted.copy_from_slice(&v_row[i * wide..][..nv]);
                weight.copy_from_slice(&v_row[i * wide + nv..][..nv]);
                for j in body.v_range() {
                    let to = self.to[j * stride + i];
                    if to != T::ZERO {
                        add_scaled(lifted, to, &q_row[j * wide..][..nv]);
                        add_scaled(weight, to, &q_row[j * wide + nv..][..nv]);
                    }
                }
            }
        }
        self.coupling.fill(T::ZERO);
        add_times_blocks(model, self.lifted, self.from, self.coupling);
        add_times_blocks(model, self.lifted, self.to, self.weight);
    }

    /// l_x ← Q_x.
    fn pull_gradient(&mut self, model: Model<'_, T>, f: MatRef<'_, T>, out: &mut [T]) {
        let (nv, stride) = (self.nv(), padded(self.nv()));
        let (by_q, by_v) = self.gradient.split_at(nv);
        for body in model.bodies {
            for i in body.v_range() {
                let (mut pulled, mut kept) = (by_v[i], out[i]);
                for j in body.v_range() {
                    pulled = self.to[j * stride + i].mul_add(by_q[j], pulled);
                    kept = self.from[j * stride + i].mul_add(by_q[j], kept);
                }
                (self.pulled[i], out[i]) = (pulled, kept);
            }
        }
        for (dof, &pulled) in self.pulled.iter().enumerate() {
            add_scaled(out, pulled, f.row(dof));
        }
    }

    /// l_xx ← Q_xx, on and above the diagonal.
    fn add_value(&mut self, model: Model<'_, T>, f: MatRef<'_, T>, quadratic: &mut Quadratic<'_, T>) {
        let (nv, stride, columns) = (self.nv(), padded(self.nv()), f.cols());
        let square = |m| MatRef::with_stride(m, nv, nv, stride);
        self.product.fill(T::ZERO);
        let mut product = MatMut::with_stride(self.product, nv, columns, padded(columns));
        add_a_b(product.reborrow(), square(&*self.weight), f);
        for i in 0..nv {
            add(&mut product.row_mut(i)[..nv], &self.coupling[i * stride..][..nv]);
        }
        let (_, mut hessian) = quadratic.parts_mut();
        add_at_b_upper(hessian.reborrow(), product.as_ref(), f);
        self.square.fill(T::ZERO);
        add_at_b_upper(MatMut::with_stride(self.square, nv, nv, stride), f.columns(0, nv), square(&*self.coupling));
        self.carry_configuration(model);
        for i in 0..nv {
            add(&mut hessian.row_mut(i)[i..nv], &self.square[i * stride..][i..nv]);
        }
    }

    /// square += Eᵀ V_qq E; `lifted` is used up.
    fn carry_configuration(&mut self, model: Model<'_, T>) {
        let (nv, stride) = (self.nv(), padded(self.nv()));
        let wide = padded(2 * nv);
        for body in model.bodies {
            for i in body.v_range() {
                let row = &mut self.lifted[i * stride..][..nv];
                row.fill(T::ZERO);
                for j in body.v_range() {
                    let from = self.from[j * stride + i];
                    if from != T::ZERO {
                        add_scaled(row, from, &self.hessian[j * wide..][..nv]);
                    }
                }
            }
        }
        add_times_blocks(model, self.lifted, self.from, self.square);
    }

    /// The feedforward within its bounds, with as much regularization as it takes.
    fn choose_controls(&mut self, quadratic: &mut Quadratic<'_, T>, demand: Demand<T>) -> Result<T, BackwardError> {
        let first = self.gradient.len();
        let (gradient, mut hessian) = quadratic.parts_mut();
        let g = &gradient[first..];
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
        outcome.map_err(BackwardError::Curvature)?;
        let h = controls_block(hessian.as_ref(), first, n, stride);
        let step = &*self.bounds.x;
        let promised = objective(h, g, step) - T::from_f64(0.5) * added * partial_dot(step, step);
        if promised.is_finite() { Ok(promised) } else { Err(BackwardError::NotFinite) }
    }

    /// K = −Q_uu⁻¹ Q_ux over the free controls; `half` keeps U⁻ᵀ Q_ux.
    fn write_gains(&mut self, quadratic: &Quadratic<'_, T>, answer: Answer<'_, T>) {
        let Answer { feedforward, mut gain } = answer;
        let n = self.gradient.len();
        let (h, stride, free) = (quadratic.hessian(), padded(n), self.bounds.free());
        feedforward.copy_from_slice(self.bounds.x);
        gain.fill(T::ZERO);
        let half = &mut self.half[..free.len() * stride];
        for (row, &control) in half.chunks_exact_mut(stride).zip(free) {
            row[n..].fill(T::ZERO);
            for (j, x) in row[..n].iter_mut().enumerate() {
                *x = h[(j, n + usize::from(control))];
            }
        }
        if free.is_empty() {
            return;
        }
        solve_lower(self.bounds.factor(), MatMut::with_stride(half, free.len(), n, stride));
        for (row, &control) in half.chunks_exact(stride).zip(free) {
            gain.row_mut(usize::from(control)).copy_from_slice(&row[..n]);
        }
        // The free rows stand together only if all are free; a sparse set is solved row by row from the last on.
        solve_free(self.bounds.factor(), free, gain);
    }

    /// V = Q_xx − Q_xu Q_uu⁻¹ Q_ux and V_x = Q_x + Q_xu k.
    fn update_value(&mut self, quadratic: &Quadratic<'_, T>) {
        let n = self.gradient.len();
        let (h, stride, count) = (quadratic.hessian(), padded(n), self.bounds.free().len());
        self.gained.fill(T::ZERO);
        let half = MatRef::with_stride(self.half, count, n, stride);
        add_at_a_upper(MatMut::with_stride(self.gained, n, n, stride), half);
        for i in 0..n {
            let row = h.row(i);
            self.gradient[i] = quadratic.gradient[i] + partial_dot(&row[n..], self.bounds.x);
            for j in i..n {
                let x = row[j] - self.gained[i * stride + j];
                (self.hessian[i * stride + j], self.hessian[j * stride + i]) = (x, x);
            }
        }
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

/// X ← −U⁻¹ X for the rows of X that `free` names.
fn solve_free<T: Real>(u: MatRef<'_, T>, free: &[u16], mut x: MatMut<'_, T>) {
    if free.len() == x.rows() {
        solve_upper(u, x.reborrow());
        for i in 0..x.rows() {
            x.row_mut(i).iter_mut().for_each(|x| *x = -*x);
        }
        return;
    }
    let (stride, n) = (x.stride(), x.cols());
    let data = x.data_mut();
    for row in (0..free.len()).rev() {
        let at = usize::from(free[row]) * stride;
        let scale = -(T::ONE / u[(row, row)]);
        // Rows further on hold −X already.
        for later in row + 1..free.len() {
            let (head, tail) = data.split_at_mut(usize::from(free[later]) * stride);
            let factor = u[(row, later)];
            add_scaled(&mut head[at..at + n], factor, &tail[..n]);
        }
        data[at..at + n].iter_mut().for_each(|x| *x *= scale);
    }
}

/// out += x B, with B block diagonal by joints.
fn add_times_blocks<T: Real>(model: Model<'_, T>, x: &[T], blocks: &[T], out: &mut [T]) {
    let (nv, stride) = (model.nv(), padded(model.nv()));
    for row in 0..nv {
        let (x, out) = (&x[row * stride..][..nv], &mut out[row * stride..][..nv]);
        for body in model.bodies {
            for j in body.v_range() {
                let block = &blocks[j * stride..][..nv];
                for i in body.v_range() {
                    out[i] = x[j].mul_add(block[i], out[i]);
                }
            }
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
