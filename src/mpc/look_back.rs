//! The plan from its end to its start: each node, linearized before or now, is taken into the backward pass.

use super::backward::{Answer, BackwardError, Demand};
use super::iterate::{Halt, Pass};
use super::linearize::{Desk, Linearized, Place, Split, Which};
use super::plan::Surroundings;
use super::team::Ahead;
use super::{Clock, Expansion, cost};
use crate::contact::Solver;
use crate::derivatives::Quality;
use crate::dynamics;
use crate::memory::{copy, run, run_mut, split_mut};
use crate::model::configuration;
use crate::scalar::Real;

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

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock, A: Ahead<T, S, C>> Pass<'_, '_, '_, T, S, C, A> {
    /// Value function, feedforward and gains of the committed plan, from its end to its start.
    pub fn look_back(&mut self, regularization: T) -> Result<Promise<T>, Halt> {
        let mut promise = Promise { cost: T::ZERO, change: T::ZERO, gap: T::ZERO };
        self.memory.trial_parts.fill(T::ZERO);
        promise.cost += self.expand_end()?;
        let wanted = self.memory.derivatives.impulses_wanted;
        let Split { around, stages, warm, gap, ahead, .. } = self.split(Which::Committed);
        ahead.linearize(&around, wanted, stages, warm, gap)?;
        for k in (0..self.horizon()).rev() {
            self.check_time()?;
            let parts = run_mut(self.memory.trial_parts, 0, self.task.terms.len());
            let kept = self.memory.stages.take(k, parts);
            // Whether it is coupled is all that the backward pass asks of a node that is kept.
            let coupled = kept.as_ref().map(|node| node.coupled);
            let linearized = match kept {
                Some(node) => node,
                None => self.linearize(k)?,
            };
            promise.cost += linearized.cost;
            self.note(&linearized);
            let began = self.clock.now();
            promise.change += self.go_back(k, coupled, regularization)?;
            self.report.times.backward += self.clock.now().since(began);
        }
        self.measure_first_gap()?;
        let m = &mut *self.memory;
        let n = 2 * m.next_v.len();
        promise.change += m.backward.cross_gap(run(m.gap, 0, n));
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

    /// Node `k`, into the memory of the pass.
    fn linearize(&mut self, k: usize) -> Result<Linearized<T>, Halt> {
        let Split { around, step, derivatives, quadratic, stages, warm, next, gap, parts, .. } =
            self.split(Which::Committed);
        let n = 2 * around.shared.model.nv();
        let place = Place { gap: run_mut(gap, (k + 1) * n, n), parts };
        let desk = Desk { step, derivatives: &mut *derivatives, quadratic };
        let node = around.linearize(k, desk, (&mut *next.0, &mut *next.1), (warm, k), place)?;
        if let Some(stage) = stages.stage(k) {
            copy(stage.step, derivatives.all().data());
            copy(stage.next_v, next.1);
        }
        Ok(node)
    }

    /// Adds up what a node told.
    fn note(&mut self, node: &Linearized<T>) {
        let (report, times) = (&mut self.report, &node.times);
        report.unsolved_contacts += u32::from(node.unsolved);
        report.quality = match node.quality {
            Some(quality) => Some(worse(report.quality, quality)),
            None => report.quality,
        };
        report.times.step += times.step;
        report.times.derivatives += times.derivatives;
        report.times.cost += times.cost;
        report.times.collision += times.collision;
        report.times.contact += times.contact;
    }

    /// Across the gap after node `k` and one node back; the change of cost that this promises. The node's matrices are
    /// among the stages if it was kept, with a cost that is `coupled` or not; else where [`linearize`](Self::linearize)
    /// wrote them.
    fn go_back(&mut self, k: usize, coupled: Option<bool>, regularization: T) -> Result<T, Halt> {
        let m = &mut *self.memory;
        let nv = self.model.nv();
        let across = m.backward.cross_gap(run(m.gap, (k + 1) * 2 * nv, 2 * nv));
        let nu = self.model.nu();
        let bounds = &mut m.backward.bounds;
        let limits = bounds.lower.iter_mut().zip(bounds.upper.iter_mut());
        for ((actuator, u), (lower, upper)) in self.model.actuators.iter().zip(m.committed.u(k)).zip(limits) {
            *lower = actuator.control_range.lower - *u;
            *upper = actuator.control_range.upper - *u;
        }
        let dt_s = m.dt_s.get(k).copied().unwrap_or(T::ZERO);
        let demand = Demand { dt_s, regularization, bound_iterations: self.settings.bound_iterations };
        let answer = Answer { feedforward: run_mut(m.feedforward, k * nu, nu), gain: m.candidate.gain_mut(k) };
        let promised = match coupled {
            Some(coupled) => {
                let (f, next_v, cost) = m.stages.matrices(k, 2 * nv + nu);
                let mut quadratic = m.quadratic.over(cost, coupled);
                m.backward.go_back(self.model, (f, next_v), &mut quadratic, demand, answer)
            }
            None => {
                let f = (m.derivatives.all(), &*m.next_v);
                m.backward.go_back(self.model, f, &mut m.quadratic, demand, answer)
            }
        };
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
        let (gap_q, gap_v) = split_mut(run_mut(m.gap, 0, 2 * nv), nv);
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
