//! The full step as the derivatives see it, taken without a trial.

use super::Clock;
use super::iterate::{Halt, Pass};
use super::plan::clamp;
use super::team::Ahead;
use crate::contact::Solver;
use crate::linalg::partial_dot;
use crate::memory::{Values, copy, run, run_mut, split_mut};
use crate::model::{Body, Model};
use crate::scalar::Real;
use crate::step::flight::{JointAdvance, MOST_AXES};

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock, A: Ahead<T, S, C>> Pass<'_, '_, '_, T, S, C, A> {
    /// The whole step that the backward pass asked for, into the candidate: its states by the derivatives of the steps. As
    /// a policy it is the one that a trial would follow; who follows it next finds out what it costs. O(horizon · nv²).
    pub fn predict_step(&mut self) -> Result<(), Halt> {
        self.set_times();
        let (model, m) = (self.model, &mut *self.memory);
        let (nu, n) = (model.nu(), 2 * model.nv());
        let apart = run_mut(m.apart, 0, n);
        copy(apart, run(m.gap, 0, n));
        for k in 0..m.dt_s.len() {
            let change = run_mut(m.feedforward, k * nu, nu);
            m.candidate.move_state(model, k, &m.committed, apart)?;
            let (_, _, gain, u) = m.candidate.state_and_control(k);
            for (i, ((u, planned), change)) in u.iter_mut().zip(m.committed.u(k)).zip(&*change).enumerate() {
                *u = *planned + *change + partial_dot(gain.row(i), apart);
            }
            clamp(model, u);
            for ((change, u), planned) in change.iter_mut().zip(&*u).zip(m.committed.u(k)) {
                *change = *u - *planned;
            }
            let (f, v_next, _) = m.stages.matrices(k, n + nu);
            for (i, x) in m.next_v.iter_mut().enumerate() {
                let (by_state, by_control) = (run(f.row(i), 0, n), run(f.row(i), n, nu));
                *x = partial_dot(by_state, apart) + partial_dot(by_control, change);
            }
            let dt_s = m.dt_s.get(k).copied().unwrap_or(T::ZERO);
            advance(model, dt_s, v_next, m.next_v, apart);
            for (apart, gap) in apart.iter_mut().zip(run(m.gap, (k + 1) * n, n)) {
                *apart += *gap;
            }
        }
        m.candidate.move_state(model, m.dt_s.len(), &m.committed, apart)?;
        // No step has looked at these numbers yet.
        if m.candidate.is_finite() { Ok(()) } else { Err(Halt::Diverged) }
    }
}

/// δ(q, v) after a step from that before it: E δq + T δv⁺ with δv⁺ in `by_v`.
fn advance<T: Real>(model: Model<'_, T>, dt_s: T, v_next: &[T], by_v: &[T], apart: &mut [T]) {
    let (by_q, velocity) = split_mut(apart, by_v.len());
    for body in model.bodies {
        if body.joint.nv() == 1 {
            let dof = usize::from(body.first_v);
            by_q.set(dof, dt_s.mul_add(by_v.at(dof), by_q.at(dof)));
        } else {
            advance_joint(body, dt_s, v_next, by_v, by_q);
        }
    }
    copy(velocity, by_v);
}

/// The same for the configuration of a joint of several axes.
fn advance_joint<T: Real>(body: &Body<T>, dt_s: T, v_next: &[T], by_v: &[T], by_q: &mut [T]) {
    let (first, n) = (usize::from(body.first_v), body.joint.nv());
    let advance = JointAdvance::new(body, dt_s, v_next);
    let (by_v, by_q) = (run(by_v, first, n), run_mut(by_q, first, n));
    let mut moved = [T::ZERO; MOST_AXES];
    for (moved, (from, to)) in moved.iter_mut().zip(advance.by_q.iter().zip(&advance.by_v)) {
        *moved = partial_dot(run(from, 0, n), by_q) + partial_dot(run(to, 0, n), by_v);
    }
    copy(by_q, run(&moved, 0, n));
}
