//! Forward passes: the old policy from the measured state, and trials of a new one.

use super::clock::Stopwatch;
use super::iterate::{Halt, Pass};
use super::linearize::{keep_warm, settings_of};
use super::plan::{Surroundings, clamp};
use super::team::Ahead;
use super::{Clock, Sum, cost};
use crate::contact::Solver;
use crate::dynamics;
use crate::linalg::partial_dot;
use crate::memory::{copy, run, run_mut};
use crate::model::configuration;
use crate::scalar::Real;
use crate::step::step_watched;

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock, A: Ahead<T, S, C>> Pass<'_, '_, '_, T, S, C, A> {
    /// Follows the committed policy, or idle controls where there is none, from the measured state into the candidate; the
    /// cost of what comes out.
    pub fn follow_policy(&mut self) -> Result<T, Halt> {
        let shift_s: T = self.now.seconds_since(self.memory.committed.start);
        self.start_candidate();
        if self.fresh {
            self.memory.warm.clear();
        }
        for k in 0..self.horizon() {
            let m = &mut *self.memory;
            if self.fresh {
                copy(m.candidate.u_mut(k), m.idle);
                m.candidate.gain_mut(k).fill(T::ZERO);
                self.advance(k)?;
                continue;
            }
            let time_s = shift_s + m.candidate.time_s(k);
            let (q, v, _, u) = m.candidate.state_and_control(k);
            m.committed.mean_control(self.model, time_s, (q, v), u, &mut m.policy)?;
            let (from, _) = m.committed.locate(time_s);
            let old = m.committed.gain(from);
            copy(m.candidate.gain_mut(k).data_mut(), old.data());
            self.advance(k)?;
        }
        self.finish_rollout()
    }

    /// Tries `length` of the step that the backward pass asked for; the cost of what comes out. No cost is negative, so
    /// it ends as soon as the nodes so far cost more than `most`.
    pub fn try_step(&mut self, length: T, most: T) -> Result<T, Halt> {
        self.start_candidate();
        for k in 0..self.horizon() {
            let m = &mut *self.memory;
            let nv = self.model.nv();
            let (q, v, gain, u) = m.candidate.state_and_control(k);
            let apart = run_mut(m.apart, 0, 2 * nv);
            let (apart_q, apart_v) = apart.split_at_mut_checked(nv).unwrap_or((&mut [], &mut []));
            configuration::difference(self.model, m.committed.q(k), q, apart_q)?;
            for ((apart, v), planned) in apart_v.iter_mut().zip(v).zip(m.committed.v(k)) {
                *apart = *v - *planned;
            }
            let forward = run(m.feedforward, k * u.len(), u.len());
            for (i, ((u, planned), forward)) in u.iter_mut().zip(m.committed.u(k)).zip(forward).enumerate() {
                *u = length.mul_add(*forward, *planned) + partial_dot(gain.row(i), apart);
            }
            clamp(self.model, u);
            self.advance(k)?;
            if self.trial_cost > most {
                return Err(Halt::TooDear);
            }
            self.keep_gap(k + 1, T::ONE - length)?;
        }
        let cost = self.finish_rollout()?;
        if cost <= most { Ok(cost) } else { Err(Halt::TooDear) }
    }

    /// Puts the measured state, and the time grid, into the candidate.
    pub fn start_candidate(&mut self) {
        let m = &mut *self.memory;
        m.trial_parts.fill(T::ZERO);
        m.candidate.start = self.now;
        let mut time_s = T::ZERO;
        for (at, dt_s) in m.candidate.time_s.iter_mut().zip(m.dt_s.iter().chain([&T::ZERO])) {
            *at = time_s;
            time_s += *dt_s;
        }
        copy(m.candidate.q_mut(0), self.measured.q);
        copy(m.candidate.v_mut(0), self.measured.v);
        self.trial_cost = T::ZERO;
        self.trial_dropped = 0;
    }

    /// One step of the candidate from node `k` to the next, and the cost of node `k`.
    fn advance(&mut self, k: usize) -> Result<(), Halt> {
        self.check_time()?;
        let m = &mut *self.memory;
        m.warm.load(k, &mut m.step);
        let settings = settings_of(&self.settings.step, m.dt_s, k);
        let (mut input, next) = m.candidate.around(k);
        input.force = m.disturbance;
        let mut watch = Stopwatch::start(self.clock);
        let report = step_watched(self.model, (&input, &settings), next, &mut m.step, &mut watch)?;
        self.report.times.note(&watch);
        if !keep_warm(&report, (&mut m.warm, k), &m.step) {
            self.report.unsolved_contacts += 1;
        }
        self.trial_dropped = self.trial_dropped.max((report.dropped_constraints + report.detected.dropped) as u32);
        let surroundings = Surroundings { model: self.model, task_time_s: self.task_time_s, applied: m.applied };
        let node = m.candidate.node(&surroundings, (k, settings.dt_s), &m.step, None);
        let mut sum = Sum(T::ZERO);
        cost::visit(self.task.terms, &node, &mut sum, m.trial_parts)?;
        self.trial_cost += sum.0;
        Ok(())
    }

    /// Leaves a share of the gap at a node open.
    fn keep_gap(&mut self, k: usize, share: T) -> Result<(), Halt> {
        let m = &mut *self.memory;
        let nv = self.model.nv();
        let gap = run(m.gap, k * 2 * nv, 2 * nv);
        if share == T::ZERO || gap.iter().all(|x| *x == T::ZERO) {
            return Ok(());
        }
        for (apart, gap) in m.apart.iter_mut().zip(gap) {
            *apart = -(share * *gap);
        }
        copy(m.next_q, m.candidate.q(k));
        configuration::integrate(self.model, m.next_q, run(m.apart, 0, nv), m.candidate.q_mut(k))?;
        for (v, apart) in m.candidate.v_mut(k).iter_mut().zip(run(m.apart, nv, nv)) {
            *v += *apart;
        }
        Ok(())
    }

    /// Adds the cost of the last node; the cost of the whole candidate.
    fn finish_rollout(&mut self) -> Result<T, Halt> {
        let last = self.horizon();
        let m = &mut *self.memory;
        dynamics::update(self.model, m.candidate.q(last), m.candidate.v(last), &mut m.step.dynamics)?;
        dynamics::mass_matrix(self.model, &mut m.step.dynamics)?;
        let surroundings = Surroundings { model: self.model, task_time_s: self.task_time_s, applied: m.applied };
        let node = m.candidate.node(&surroundings, (last, T::ZERO), &m.step, None);
        let mut sum = Sum(T::ZERO);
        cost::visit(self.task.terms, &node, &mut sum, m.trial_parts)?;
        self.trial_cost += sum.0;
        if self.trial_cost.is_finite() { Ok(self.trial_cost) } else { Err(Halt::Diverged) }
    }
}
