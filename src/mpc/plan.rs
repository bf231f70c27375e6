//! The plan: states, controls and gains over the horizon, and the policy that they make.

use super::{MpcDims, Nanos, Neighbours, Node};
use crate::derivatives::Derivatives;
use crate::input::{InputError, check_length};
use crate::linalg::{MatMut, MatRef, padded, partial_dot};
use crate::memory::{carved, copy, part, part_and_next, part_mut, run, run_mut, split, split_mut};
use crate::model::{Dims, Model, configuration};
use crate::scalar::Real;
use crate::step::{NextState, Step, StepInput};

carved! {
    /// x*, u* and K at each node, from a moment in time on. Written by [`Mpc::solve`](super::Mpc::solve).
    pub struct Plan<'a, T>(d: MpcDims) {
        /// When node zero is.
        pub(super) start: (Nanos),
        /// Of each node, seconds after the start; nodes.
        pub(super) time_s: [T; d.nodes()],
        /// nodes × nq.
        pub(super) q: [T; d.nodes() * d.step.robot.nq],
        /// nodes × nv.
        pub(super) v: [T; d.nodes() * d.step.robot.nv],
        /// (nodes − 1) × nu.
        pub(super) u: [T; d.horizon * d.step.controls],
        /// nodes − 1 matrices of nu × 2nv, rows of `padded(2nv)`.
        pub(super) gain: [T; d.horizon * d.gain()],
    }
}

carved! {
    /// Memory to evaluate a policy in.
    pub struct PolicyScratch<'a, T>(d: Dims) {
        reference_q: [T; d.nq],
        /// Displacement and velocity from the plan.
        apart: [T; padded(2 * d.nv)],
    }
}

/// What all nodes of a plan share.
pub(super) struct Surroundings<'n, T> {
    pub model: Model<'n, T>,
    /// When the plan starts, from the start of the task.
    pub task_time_s: T,
    /// Controls before the first node.
    pub applied: &'n [T],
}

impl<T: Real> Plan<'_, T> {
    /// Steps that it looks ahead.
    pub fn horizon(&self) -> usize {
        self.time_s.len().saturating_sub(1)
    }

    /// When node zero is.
    pub fn start(&self) -> Nanos {
        self.start
    }

    /// When node `k` is, seconds after the start.
    pub fn time_s(&self, k: usize) -> T {
        self.time_s.get(k).copied().unwrap_or(T::ZERO)
    }

    /// Seconds from the first node to the last.
    pub fn duration_s(&self) -> T {
        self.time_s(self.horizon())
    }

    /// Configuration at node `k`.
    pub fn q(&self, k: usize) -> &[T] {
        part(self.q, self.time_s.len(), k)
    }

    /// Velocity at node `k`.
    pub fn v(&self, k: usize) -> &[T] {
        part(self.v, self.time_s.len(), k)
    }

    /// Controls from node `k` on.
    pub fn u(&self, k: usize) -> &[T] {
        part(self.u, self.horizon(), k)
    }

    /// K at node `k`: what the controls answer to a change of state, nu × 2nv.
    pub fn gain(&self, k: usize) -> MatRef<'_, T> {
        let nv = self.v.len() / self.time_s.len().max(1);
        let nu = self.u.len() / self.horizon().max(1);
        MatRef::with_stride(part(self.gain, self.horizon(), k), nu, 2 * nv, padded(2 * nv))
    }

    pub(super) fn q_mut(&mut self, k: usize) -> &mut [T] {
        part_mut(self.q, self.time_s.len(), k)
    }

    pub(super) fn v_mut(&mut self, k: usize) -> &mut [T] {
        part_mut(self.v, self.time_s.len(), k)
    }

    pub(super) fn u_mut(&mut self, k: usize) -> &mut [T] {
        let horizon = self.horizon();
        part_mut(self.u, horizon, k)
    }

    pub(super) fn gain_mut(&mut self, k: usize) -> MatMut<'_, T> {
        let nv = self.v.len() / self.time_s.len().max(1);
        let nu = self.u.len() / self.horizon().max(1);
        let horizon = self.horizon();
        MatMut::with_stride(part_mut(self.gain, horizon, k), nu, 2 * nv, padded(2 * nv))
    }

    /// State, gain and, to be written, controls of node `k`.
    pub(super) fn state_and_control(&mut self, k: usize) -> (&[T], &[T], MatRef<'_, T>, &mut [T]) {
        let (nodes, horizon) = (self.time_s.len(), self.horizon());
        let (q, v, u) = (part(self.q, nodes, k), part(self.v, nodes, k), part_mut(self.u, horizon, k));
        let n = 2 * v.len();
        (q, v, MatRef::with_stride(part(self.gain, horizon, k), u.len(), n, padded(n)), u)
    }

    /// State of node `k`, to be written.
    pub(super) fn state_mut(&mut self, k: usize) -> (&mut [T], &mut [T]) {
        (part_mut(self.q, self.time_s.len(), k), part_mut(self.v, self.time_s.len(), k))
    }

    /// State of node `k`, from that of another plan and how far it is from there, 2nv.
    pub(super) fn move_state(
        &mut self,
        model: Model<'_, T>,
        k: usize,
        from: &Plan<'_, T>,
        apart: &[T],
    ) -> Result<(), InputError> {
        let (q, v) = self.state_mut(k);
        let (apart_q, apart_v) = split(apart, v.len());
        configuration::integrate(model, from.q(k), apart_q, q)?;
        for ((v, from), apart) in v.iter_mut().zip(from.v(k)).zip(apart_v) {
            *v = *from + *apart;
        }
        Ok(())
    }

    /// Whether all states and controls are numbers.
    pub(super) fn is_finite(&self) -> bool {
        self.q.iter().chain(&*self.v).chain(&*self.u).all(|x| x.is_finite())
    }

    /// What the step from node `k` starts from and, to be written, where it leads.
    pub(super) fn around(&mut self, k: usize) -> (StepInput<'_, T>, NextState<'_, T>) {
        let (nodes, horizon) = (self.time_s.len(), self.horizon());
        let (q, next_q) = part_and_next(self.q, nodes, k);
        let (v, next_v) = part_and_next(self.v, nodes, k);
        (StepInput::new(q, v, part(self.u, horizon, k)), NextState { q: next_q, v: next_v })
    }

    /// Node `k` with the step that follows; its duration is zero at the last one.
    pub(super) fn node<'n, 's>(
        &'n self,
        surroundings: &Surroundings<'n, T>,
        (k, dt_s): (usize, T),
        step: &'n Step<'s, T>,
        derivatives: Option<&'n Derivatives<'s, T>>,
    ) -> Node<'n, 's, T> {
        let last = k >= self.horizon();
        Node {
            model: surroundings.model,
            index: k,
            time_s: surroundings.task_time_s + self.time_s(k),
            dt_s,
            q: self.q(k),
            v: self.v(k),
            u: if last { &[] } else { self.u(k) },
            neighbours: if last { Neighbours::NONE } else { self.neighbours(k, surroundings.applied) },
            step,
            derivatives,
        }
    }

    /// The controls around those of node `k`; `applied` come before the first.
    fn neighbours<'n>(&'n self, k: usize, applied: &'n [T]) -> Neighbours<'n, T> {
        let before = if k == 0 { applied } else { self.u(k - 1) };
        let (after, dt_after_s) = if k + 1 < self.horizon() {
            (self.u(k + 1), self.time_s(k + 2) - self.time_s(k + 1))
        } else {
            (&[][..], T::ZERO)
        };
        Neighbours { before, after, dt_after_s }
    }

    /// Makes this plan a copy of another one of the same size.
    pub fn copy_from(&mut self, other: &Plan<'_, T>) -> Result<(), InputError> {
        check_length("plan nodes", self.time_s.len(), other.time_s.len())?;
        check_length("plan q", self.q.len(), other.q.len())?;
        check_length("plan v", self.v.len(), other.v.len())?;
        check_length("plan u", self.u.len(), other.u.len())?;
        self.start = other.start;
        copy(self.time_s, other.time_s);
        copy(self.q, other.q);
        copy(self.v, other.v);
        copy(self.u, other.u);
        copy(self.gain, other.gain);
        Ok(())
    }

    /// The node whose interval holds the time, and the share of the interval that has passed; the last interval and its
    /// end when the time is later. O(nodes).
    pub(super) fn locate(&self, time_s: T) -> (usize, T) {
        self.locate_near(0, time_s)
    }

    /// The same where it is likely to be node `near` or one soon after it.
    pub(super) fn locate_near(&self, near: usize, time_s: T) -> (usize, T) {
        let last = self.horizon().saturating_sub(1);
        let first = if time_s >= self.time_s(near) { near.min(last) } else { 0 };
        let ends = self.time_s.get(first + 1..=last).unwrap_or(&[]);
        let k = ends.iter().position(|end| time_s < *end).map_or(last, |passed| first + passed);
        let (from, to) = (self.time_s(k), self.time_s(k + 1));
        let share = if to > from { (time_s - from) / (to - from) } else { T::ZERO };
        (k, share.max(T::ZERO).min(T::ONE))
    }

    /// x* between nodes: along the shortest way for the configuration, evenly for the velocity.
    pub(super) fn reference(
        &self,
        model: Model<'_, T>,
        (k, share): (usize, T),
        q: &mut [T],
        v: &mut [T],
    ) -> Result<(), InputError> {
        configuration::difference(model, self.q(k), self.q(k + 1), v)?;
        v.iter_mut().for_each(|x| *x *= share);
        configuration::integrate(model, self.q(k), v, q)?;
        for ((v, from), to) in v.iter_mut().zip(self.v(k)).zip(self.v(k + 1)) {
            *v = share.mul_add(*to - *from, *from);
        }
        Ok(())
    }

    /// The policy at a time: u = u* + K (x ⊖ x*), within the range of the controls. O(nu · nv).
    ///
    /// Past the end of the plan it is that of the last node.
    pub fn control(
        &self,
        model: Model<'_, T>,
        now: Nanos,
        (q, v): (&[T], &[T]),
        u: &mut [T],
        scratch: &mut PolicyScratch<'_, T>,
    ) -> Result<(), InputError> {
        let at = self.locate(now.seconds_since(self.start));
        self.answer(model, at, (q, v), u, scratch)?;
        clamp(model, u);
        Ok(())
    }

    /// The policy for a step that starts at a place between nodes and lasts about as long as those of the plan: it takes
    /// part in two of them, so the planned controls are their mean over it.
    pub(super) fn mean_control(
        &self,
        model: Model<'_, T>,
        at: (usize, T),
        (q, v): (&[T], &[T]),
        u: &mut [T],
        scratch: &mut PolicyScratch<'_, T>,
    ) -> Result<(), InputError> {
        self.answer(model, at, (q, v), u, scratch)?;
        for ((u, now), next) in u.iter_mut().zip(self.u(at.0)).zip(self.u(at.0 + 1)) {
            *u = at.1.mul_add(*next - *now, *u);
        }
        clamp(model, u);
        Ok(())
    }

    /// u* + K (x ⊖ x*) at a place between nodes, wherever that is.
    fn answer(
        &self,
        model: Model<'_, T>,
        at: (usize, T),
        (q, v): (&[T], &[T]),
        u: &mut [T],
        scratch: &mut PolicyScratch<'_, T>,
    ) -> Result<(), InputError> {
        let nv = model.nv();
        check_length("u", model.nu(), u.len())?;
        check_length("v", nv, v.len())?;
        check_length("scratch", model.nq(), scratch.reference_q.len())?;
        check_length("plan", model.nv() * self.time_s.len(), self.v.len())?;
        let (apart, rest) = split_mut(scratch.apart, nv);
        let velocity = run_mut(rest, 0, nv);
        self.reference(model, at, scratch.reference_q, velocity)?;
        configuration::difference(model, scratch.reference_q, q, apart)?;
        for (reference, v) in velocity.iter_mut().zip(v) {
            *reference = *v - *reference;
        }
        let gain = self.gain(at.0);
        for (i, (u, planned)) in u.iter_mut().zip(self.u(at.0)).enumerate() {
            *u = *planned + partial_dot(gain.row(i), run(scratch.apart, 0, 2 * nv));
        }
        Ok(())
    }
}

/// Moves controls into the range of their motors.
pub(super) fn clamp<T: Real>(model: Model<'_, T>, u: &mut [T]) {
    for (u, actuator) in u.iter_mut().zip(model.actuators) {
        *u = actuator.control_range.clamp(*u);
    }
}
