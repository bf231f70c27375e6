//! One node of the plan, linearized: its step, its gap to the next node, its derivatives, and the expansion of its cost.

use super::clock::Stopwatch;
use super::cost::{self, Expansion, Quadratic, Term};
use super::iterate::{Halt, Pass};
use super::plan::Surroundings;
use super::stages::Stages;
use super::{Clock, Nanos, Plan, Times};
use crate::contact::{Solver, SolverStatus};
use crate::derivatives::{Derivatives, Quality, differentiate};
use crate::memory::split_mut;
use crate::model::configuration;
use crate::scalar::Real;
use crate::step::{NextState, Step, StepInput, StepReport, StepSettings, WarmStore, step_watched};

/// The plan and what its nodes share: all that a node is linearized from.
pub(super) struct Around<'n, 'a, T, S, C> {
    pub plan: &'n Plan<'a, T>,
    pub shared: Surroundings<'n, T>,
    pub settings: &'n StepSettings<T, S>,
    pub dt_s: &'n [T],
    pub disturbance: &'n [T],
    pub terms: &'n [Term<'n, T>],
    pub clock: &'n C,
    pub deadline: Nanos,
}

/// Which of the two plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Committed,
    Candidate,
}

/// A pass, taken apart: what nodes are linearized from, and what they are linearized in.
pub(super) struct Split<'s, 'a, T, S, C, A> {
    pub around: Around<'s, 'a, T, S, C>,
    pub step: &'s mut Step<'a, T>,
    pub derivatives: &'s mut Derivatives<'a, T>,
    pub quadratic: &'s mut Quadratic<'a, T>,
    pub stages: &'s mut Stages<'a, T>,
    pub warm: &'s mut WarmStore<'a, T>,
    /// Where a step leads.
    pub next: (&'s mut [T], &'s mut [T]),
    /// Of all nodes.
    pub gap: &'s mut [T],
    pub parts: &'s mut [T],
    pub ahead: &'s mut A,
}

impl<'a, T: Real, S, C, A> Pass<'_, '_, 'a, T, S, C, A> {
    pub fn split(&mut self, which: Which) -> Split<'_, 'a, T, S, C, A> {
        let m = &mut *self.memory;
        Split {
            around: Around {
                plan: match which {
                    Which::Committed => &m.committed,
                    Which::Candidate => &m.candidate,
                },
                shared: Surroundings { model: self.model, task_time_s: self.task_time_s, applied: m.applied },
                settings: &self.settings.step,
                dt_s: m.dt_s,
                disturbance: m.disturbance,
                terms: self.task.terms,
                clock: self.clock,
                deadline: self.deadline,
            },
            step: &mut m.step,
            derivatives: &mut m.derivatives,
            quadratic: &mut m.quadratic,
            stages: &mut m.stages,
            warm: &mut m.warm,
            next: (m.next_q, m.next_v),
            gap: m.gap,
            parts: m.trial_parts,
            ahead: &mut self.ahead,
        }
    }
}

/// Memory that one node at a time is linearized in.
pub(super) struct Desk<'w, 'a, 'q, T> {
    pub step: &'w mut Step<'a, T>,
    pub derivatives: &'w mut Derivatives<'a, T>,
    pub quadratic: &'w mut Quadratic<'q, T>,
}

/// Where a node's own numbers go.
pub(super) struct Place<'w, T> {
    /// From the next node of the plan to where its step leads.
    pub gap: &'w mut [T],
    /// Share of each term in its cost, added.
    pub parts: &'w mut [T],
}

/// What linearizing a node tells beside its matrices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linearized<T> {
    pub cost: T,
    pub quality: Option<Quality<T>>,
    /// The contact problem ended at its bound.
    pub unsolved: bool,
    /// Some residual depends on state and control at once.
    pub coupled: bool,
    pub times: Times,
}

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock> Around<'_, '_, T, S, C> {
    pub fn check_time(&self) -> Result<(), Halt> {
        if self.clock.now() >= self.deadline { Err(Halt::Deadline) } else { Ok(()) }
    }

    /// Node `k`, with its step into `next`; its warm start is number `warm.1` of `warm.0`.
    pub fn linearize(
        &self,
        k: usize,
        desk: Desk<'_, '_, '_, T>,
        (next_q, next_v): (&mut [T], &mut [T]),
        warm: (&mut WarmStore<'_, T>, usize),
        place: Place<'_, T>,
    ) -> Result<Linearized<T>, Halt> {
        self.check_time()?;
        let began = self.clock.now();
        if !warm.0.load(warm.1, desk.step) {
            desk.step.forget();
        }
        let settings = settings_of(self.settings, self.dt_s, k);
        let mut watch = Stopwatch::start(self.clock, self.deadline);
        let next = NextState { q: &mut *next_q, v: &mut *next_v };
        let report = step_watched(self.shared.model, (&self.input(k), &settings), next, desk.step, &mut watch)?;
        let unsolved = !keep_warm(&report, warm, desk.step)?;
        let step = self.clock.now().since(began);
        let node = self.expand(k, desk, (next_q, next_v), place)?;
        let times = Times { step, collision: watch.collision, contact: watch.contact, ..node.times };
        Ok(Linearized { unsolved, times, ..node })
    }

    /// The step from node `k` to `next`, which has just been taken, with its derivatives, the gap that it leaves, and the
    /// cost of the node.
    pub fn expand(
        &self,
        k: usize,
        desk: Desk<'_, '_, '_, T>,
        (next_q, next_v): (&[T], &[T]),
        place: Place<'_, T>,
    ) -> Result<Linearized<T>, Halt> {
        let began = self.clock.now();
        let Desk { step, derivatives, quadratic } = desk;
        let (model, settings) = (self.shared.model, settings_of(self.settings, self.dt_s, k));
        let quality = differentiate(model, &self.input(k), &settings, step, derivatives)?;
        let (gap_q, gap_v) = split_mut(place.gap, model.nv());
        configuration::difference(model, self.plan.q(k + 1), next_q, gap_q)?;
        for ((gap, next), planned) in gap_v.iter_mut().zip(next_v).zip(self.plan.v(k + 1)) {
            *gap = *next - *planned;
        }
        let differentiated = self.clock.now();
        let node = self.plan.node(&self.shared, (k, settings.dt_s), step, Some(derivatives));
        quadratic.clear();
        let mut sink = Expansion { value: T::ZERO, quadratic };
        cost::visit(self.terms, &node, &mut sink, place.parts)?;
        let cost = sink.value;
        let times = Times {
            derivatives: differentiated.since(began),
            cost: self.clock.now().since(differentiated),
            ..Times::default()
        };
        Ok(Linearized { cost, quality: Some(quality), unsolved: false, coupled: quadratic.is_coupled(), times })
    }

    /// What the step from node `k` starts from.
    fn input(&self, k: usize) -> StepInput<'_, T> {
        StepInput { force: self.disturbance, ..StepInput::new(self.plan.q(k), self.plan.v(k), self.plan.u(k)) }
    }
}

/// How step `k` of the plan is taken.
pub(super) fn settings_of<T: Real, S: Copy>(settings: &StepSettings<T, S>, dt_s: &[T], k: usize) -> StepSettings<T, S> {
    StepSettings { dt_s: dt_s.get(k).copied().unwrap_or(T::ZERO), substeps: 1, ..*settings }
}

/// Keeps the impulses of a solved step as the next warm start of its node. Whether it was solved; when the time was up
/// before that, the pass ends.
pub(super) fn keep_warm<T: Real>(
    report: &StepReport<T>,
    (warm, node): (&mut WarmStore<'_, T>, usize),
    step: &Step<'_, T>,
) -> Result<bool, Halt> {
    let status = report.outcome.status;
    if status == SolverStatus::Converged {
        warm.save(node, step);
    }
    if status == SolverStatus::Stopped { Err(Halt::Deadline) } else { Ok(status == SolverStatus::Converged) }
}
