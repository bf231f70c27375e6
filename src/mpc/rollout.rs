//! Forward passes: the old policy from the measured state, and trials of a new one.

use super::clock::Stopwatch;
use super::iterate::{Halt, Pass};
use super::linearize::{Desk, Place, Split, Which, keep_warm, settings_of};
use super::plan::{Surroundings, clamp};
use super::team::Ahead;
use super::{Clock, Sum, cost};
use crate::contact::Solver;
use crate::dynamics;
use crate::linalg::partial_dot;
use crate::memory::{copy, run, run_mut, split_mut};
use crate::model::configuration;
use crate::scalar::Real;
use crate::step::step_watched;

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock, A: Ahead<T, S, C>> Pass<'_, '_, '_, T, S, C, A> {
    /// Follows the committed policy, or idle controls where there is none, from the measured state into the candidate; the
    /// cost of what comes out. Nodes that are kept are linearized on the way, around the steps that are taken anyhow.
    pub fn follow_policy(&mut self) -> Result<T, Halt> {
        let shift_s: T = self.now.seconds_since(self.memory.committed.start);
        self.start_candidate();
        if self.fresh {
            self.memory.warm.clear();
        }
        let keep = !A::ALL_AT_ONCE && self.memory.stages.len() > 0;
        self.choose(0, shift_s)?;
        for k in 0..self.horizon() {
            let solved = self.take_step(k)?;
            // Costs may look at the controls that come next.
            self.choose(k + 1, shift_s)?;
            // A step that is not solved is taken again by the backward pass, so that plans do not depend on what is kept.
            if keep && solved {
                self.linearize_taken(k)?;
            } else {
                self.add_cost(k)?;
            }
        }
        self.finish_rollout()
    }

    /// Controls and gain of node `k` of the candidate, from the old policy at its state; nothing where the plan ends.
    fn choose(&mut self, k: usize, shift_s: T) -> Result<(), Halt> {
        let m = &mut *self.memory;
        if k >= m.dt_s.len() {
            return Ok(());
        }
        if self.fresh {
            copy(m.candidate.u_mut(k), m.idle);
            m.candidate.gain_mut(k).fill(T::ZERO);
            return Ok(());
        }
        let at = m.committed.locate_near(k, shift_s + m.candidate.time_s(k));
        let (q, v, _, u) = m.candidate.state_and_control(k);
        m.committed.mean_control(self.model, at, (q, v), u, &mut m.policy)?;
        let old = m.committed.gain(at.0);
        copy(m.candidate.gain_mut(k).data_mut(), old.data());
        Ok(())
    }

    /// Keeps node `k` of the candidate, whose step has just been taken, with its derivatives and cost.
    fn linearize_taken(&mut self, k: usize) -> Result<(), Halt> {
        let Split { around, step, derivatives, quadratic, stages, gap, parts, .. } = self.split(Which::Candidate);
        let (plan, n, terms) = (around.plan, 2 * around.shared.model.nv(), around.terms.len());
        let Some(stage) = stages.stage(k) else { return Ok(()) };
        let own_parts = run_mut(stage.parts, 0, terms);
        own_parts.fill(T::ZERO);
        copy(stage.next_v, plan.v(k + 1));
        let desk = Desk { step, derivatives: &mut *derivatives, quadratic: &mut quadratic.over(stage.cost, false) };
        let place = Place { gap: run_mut(gap, (k + 1) * n, n), parts: &mut *own_parts };
        let node = around.expand(k, desk, (plan.q(k + 1), plan.v(k + 1)), place)?;
        copy(stage.step, derivatives.all().data());
        for (part, own) in parts.iter_mut().zip(&*own_parts) {
            *part += *own;
        }
        *stage.told = Some(node);
        self.trial_cost += node.cost;
        self.linearizing += node.times.derivatives + node.times.cost;
        Ok(())
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
            let (apart_q, apart_v) = split_mut(apart, nv);
            configuration::difference(self.model, m.committed.q(k), q, apart_q)?;
            for ((apart, v), planned) in apart_v.iter_mut().zip(v).zip(m.committed.v(k)) {
                *apart = *v - *planned;
            }
            let forward = run(m.feedforward, k * u.len(), u.len());
            for (i, ((u, planned), forward)) in u.iter_mut().zip(m.committed.u(k)).zip(forward).enumerate() {
                *u = length.mul_add(*forward, *planned) + partial_dot(gain.row(i), apart);
            }
            clamp(self.model, u);
            self.take_step(k)?;
            self.add_cost(k)?;
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
        self.set_times();
        let m = &mut *self.memory;
        m.trial_parts.fill(T::ZERO);
        copy(m.candidate.q_mut(0), self.measured.q);
        copy(m.candidate.v_mut(0), self.measured.v);
        self.trial_cost = T::ZERO;
        self.trial_dropped = 0;
    }

    /// Puts the time grid into the candidate.
    pub fn set_times(&mut self) {
        let m = &mut *self.memory;
        m.candidate.start = self.now;
        let mut time_s = T::ZERO;
        for (at, dt_s) in m.candidate.time_s.iter_mut().zip(m.dt_s.iter().chain([&T::ZERO])) {
            *at = time_s;
            time_s += *dt_s;
        }
    }

    /// One step of the candidate from node `k` to the next; whether its contact problem was solved.
    fn take_step(&mut self, k: usize) -> Result<bool, Halt> {
        self.check_time()?;
        let m = &mut *self.memory;
        m.warm.load(k, &mut m.step);
        let settings = settings_of(&self.settings.step, m.dt_s, k);
        let (mut input, next) = m.candidate.around(k);
        input.force = m.disturbance;
        let mut watch = Stopwatch::start(self.clock, self.deadline);
        let report = step_watched(self.model, (&input, &settings), next, &mut m.step, &mut watch)?;
        self.report.times.note(&watch);
        let solved = keep_warm(&report, (&mut m.warm, k), &m.step)?;
        self.report.unsolved_contacts += u32::from(!solved);
        self.trial_dropped = self.trial_dropped.max((report.dropped_constraints + report.detected.dropped) as u32);
        Ok(solved)
    }

    /// The cost of node `k` of the candidate, whose step has just been taken.
    fn add_cost(&mut self, k: usize) -> Result<(), Halt> {
        let m = &mut *self.memory;
        let surroundings = Surroundings { model: self.model, task_time_s: self.task_time_s, applied: m.applied };
        let dt_s = m.dt_s.get(k).copied().unwrap_or(T::ZERO);
        let node = m.candidate.node(&surroundings, (k, dt_s), &m.step, None);
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
        self.add_cost(last)?;
        if self.trial_cost.is_finite() { Ok(self.trial_cost) } else { Err(Halt::Diverged) }
    }
}
