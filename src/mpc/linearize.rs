//! The plan, linearized node by node from its end, and each node taken straight into the backward pass.
//!
//! Nothing but the gains is kept of a node, so the memory does not grow with derivatives along the horizon.

use super::backward::{Answer, BackwardError, Demand};
use super::clock::Stopwatch;
use super::iterate::{Halt, Pass};
use super::plan::Surroundings;
use super::{Clock, Expansion, cost};
use crate::contact::{Solver, SolverStatus};
use crate::derivatives::{Quality, differentiate};
use crate::dynamics;
use crate::model::configuration;
use crate::scalar::Real;
use crate::step::{NextState, StepInput, step_watched};

/// What a backward pass found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise<T> {
    /// Cost of the plan as it is.
    pub cost: T,
    /// Change of it that a full step should bring.
    pub change: T,
    /// Sum of all gaps.
    pub gap: T,
}

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock> Pass<'_, '_, '_, T, S, C> {
    /// Value function, feedforward and gains of the committed plan, from its end to its start.
    pub fn look_back(&mut self, regularization: T) -> Result<Promise<T>, Halt> {
        self.memory.derivatives.impulses_wanted = cost::needs_impulses(self.task.terms);
        let mut promise = Promise { cost: T::ZERO, change: T::ZERO, gap: T::ZERO };
        self.memory.trial_parts.fill(T::ZERO);
        promise.cost += self.expand_end()?;
        for k in (0..self.horizon()).rev() {
            self.check_time()?;
            self.linearize(k)?;
            let linearized = self.clock.now();
            promise.cost += self.expand(k)?;
            let expanded = self.clock.now();
            promise.change += self.go_back(k, regularization)?;
            self.report.times.cost += expanded.since(linearized);
            self.report.times.backward += self.clock.now().since(expanded);
        }
        self.measure_first_gap()?;
        let m = &mut *self.memory;
        let n = 2 * m.next_v.len();
        promise.change += m.backward.cross_gap(&m.gap[..n]);
        promise.gap = m.gap_sum();
        Ok(promise)
    }

    /// Cost at the last node, and its expansion as the first value function.
    fn expand_end(&mut self) -> Result<T, Halt> {
        let last = self.horizon();
        let m = &mut *self.memory;
        dynamics::update(self.model, m.committed.q(last), m.committed.v(last), &mut m.step.dynamics)?;
        dynamics::mass_matrix(self.model, &mut m.step.dynamics)?;
        let surroundings = Surroundings { model: self.model, task_time_s: self.task_time_s, applied: m.applied };
        let node = m.committed.node(&surroundings, (last, T::ZERO), &m.step, None);
        m.quadratic.clear();
        let mut sink = Expansion { value: T::ZERO, quadratic: &mut m.quadratic };
        cost::visit(self.task.terms, &node, &mut sink, m.trial_parts)?;
        let value = sink.value;
        m.backward.start(&m.quadratic);
        Ok(value)
    }

    /// The step at node `k`, its gap to the next node and its derivatives.
    fn linearize(&mut self, k: usize) -> Result<(), Halt> {
        let m = &mut *self.memory;
        let began = self.clock.now();
        if !m.warm.load(k, &mut m.step) {
            m.step.forget();
        }
        let mut settings = self.settings.step;
        settings.dt_s = m.dt_s[k];
        settings.substeps = 1;
        let mut input = StepInput::new(m.committed.q(k), m.committed.v(k), m.committed.u(k));
        input.force = m.disturbance;
        let next = NextState { q: m.next_q, v: m.next_v };
        let mut watch = Stopwatch::start(self.clock);
        let report = step_watched(self.model, (&input, &settings), next, &mut m.step, &mut watch)?;
        self.report.times.note(&watch);
        if report.outcome.status == SolverStatus::Converged {
            m.warm.save(k, &m.step);
        } else {
            self.report.unsolved_contacts += 1;
        }
        let stepped = self.clock.now();
        let quality = differentiate(self.model, &input, &settings, &mut m.step, &mut m.derivatives)?;
        let nv = self.model.nv();
        let (gap_q, gap_v) = m.gap[(k + 1) * 2 * nv..][..2 * nv].split_at_mut(nv);
        configuration::difference(self.model, m.committed.q(k + 1), m.next_q, gap_q)?;
        for ((gap, next), planned) in gap_v.iter_mut().zip(&*m.next_v).zip(m.committed.v(k + 1)) {
            *gap = *next - *planned;
        }
        self.report.quality = Some(worse(self.report.quality, quality));
        self.report.times.step += stepped.since(began);
        self.report.times.derivatives += self.clock.now().since(stepped);
        Ok(())
    }

    /// Cost at node `k` and its expansion.
    fn expand(&mut self, k: usize) -> Result<T, Halt> {
        let m = &mut *self.memory;
        let surroundings = Surroundings { model: self.model, task_time_s: self.task_time_s, applied: m.applied };
        let node = m.committed.node(&surroundings, (k, m.dt_s[k]), &m.step, Some(&m.derivatives));
        m.quadratic.clear();
        let mut sink = Expansion { value: T::ZERO, quadratic: &mut m.quadratic };
        cost::visit(self.task.terms, &node, &mut sink, m.trial_parts)?;
        Ok(sink.value)
    }

    /// Across the gap after node `k` and one node back; the change of cost that this promises.
    fn go_back(&mut self, k: usize, regularization: T) -> Result<T, Halt> {
        let m = &mut *self.memory;
        let nv = self.model.nv();
        let across = m.backward.cross_gap(&m.gap[(k + 1) * 2 * nv..][..2 * nv]);
        let nu = self.model.nu();
        let bounds = &mut m.backward.bounds;
        for (i, (actuator, u)) in self.model.actuators.iter().zip(m.committed.u(k)).enumerate() {
            bounds.lower[i] = actuator.control_range.lower - *u;
            bounds.upper[i] = actuator.control_range.upper - *u;
        }
        let demand = Demand { dt_s: m.dt_s[k], regularization, bound_iterations: self.settings.bound_iterations };
        let answer = Answer { feedforward: &mut m.feedforward[k * nu..][..nu], gain: m.candidate.gain_mut(k) };
        let f = (m.derivatives.all(), &*m.next_v);
        let promised = m.backward.go_back(self.model, f, &mut m.quadratic, demand, answer);
        match promised {
            Ok(promised) => Ok(across + promised),
            Err(BackwardError::Input(error)) => Err(error.into()),
            Err(BackwardError::Curvature(_) | BackwardError::NotFinite) => Err(Halt::Diverged),
        }
    }

    /// From the first node of the plan to the measured state.
    fn measure_first_gap(&mut self) -> Result<(), Halt> {
        let m = &mut *self.memory;
        let nv = self.model.nv();
        let (gap_q, gap_v) = m.gap[..2 * nv].split_at_mut(nv);
        configuration::difference(self.model, m.committed.q(0), self.measured.q, gap_q)?;
        for ((gap, v), planned) in gap_v.iter_mut().zip(self.measured.v).zip(m.committed.v(0)) {
            *gap = *v - *planned;
        }
        Ok(())
    }
}

/// The quality of the worse-conditioned of two gradients.
fn worse<T: Real>(worst: Option<Quality<T>>, quality: Quality<T>) -> Quality<T> {
    match worst {
        Some(worst) if worst.singular || worst.pivot_ratio <= quality.pivot_ratio && !quality.singular => worst,
        _ => quality,
    }
}
