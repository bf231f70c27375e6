//! One node of the plan, linearized: its step, its gap to the next node, its derivatives, and the expansion of its cost.

use super::clock::Stopwatch;
use super::cost::{self, Expansion, Quadratic, Term};
use super::iterate::Halt;
use super::plan::Surroundings;
use super::{Clock, Nanos, Plan, Times};
use crate::contact::{Solver, SolverStatus};
use crate::derivatives::{Derivatives, Quality, differentiate};
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

/// Memory that one node at a time is linearized in.
pub(super) struct Desk<'w, 'a, T> {
    pub step: &'w mut Step<'a, T>,
    pub derivatives: &'w mut Derivatives<'a, T>,
    pub quadratic: &'w mut Quadratic<'a, T>,
    pub next_q: &'w mut [T],
}

/// Where a node's own numbers go.
pub(super) struct Place<'w, T> {
    /// Its velocity after the step.
    pub next_v: &'w mut [T],
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
    pub times: Times,
}

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock> Around<'_, '_, T, S, C> {
    pub fn check_time(&self) -> Result<(), Halt> {
        if self.clock.now() >= self.deadline { Err(Halt::Deadline) } else { Ok(()) }
    }

    /// Node `k`; its warm start is number `warm.1` of `warm.0`.
    pub fn linearize(
        &self,
        k: usize,
        desk: Desk<'_, '_, T>,
        warm: (&mut WarmStore<'_, T>, usize),
        place: Place<'_, T>,
    ) -> Result<Linearized<T>, Halt> {
        self.check_time()?;
        let began = self.clock.now();
        let Desk { step, derivatives, quadratic, next_q } = desk;
        let (model, settings) = (self.shared.model, settings_of(self.settings, self.dt_s, k));
        if !warm.0.load(warm.1, step) {
            step.forget();
        }
        let mut input = StepInput::new(self.plan.q(k), self.plan.v(k), self.plan.u(k));
        input.force = self.disturbance;
        let mut watch = Stopwatch::start(self.clock);
        let next = NextState { q: next_q, v: place.next_v };
        let report = step_watched(model, (&input, &settings), next, step, &mut watch)?;
        let stepped = self.clock.now();
        let unsolved = !keep_warm(&report, warm, step);
        let quality = differentiate(model, &input, &settings, step, derivatives)?;
        let (gap_q, gap_v) = place.gap.split_at_mut_checked(model.nv()).unwrap_or((&mut [], &mut []));
        configuration::difference(model, self.plan.q(k + 1), next_q, gap_q)?;
        for ((gap, next), planned) in gap_v.iter_mut().zip(&*place.next_v).zip(self.plan.v(k + 1)) {
            *gap = *next - *planned;
        }
        let differentiated = self.clock.now();
        let node = self.plan.node(&self.shared, (k, settings.dt_s), step, Some(derivatives));
        quadratic.clear();
        let mut sink = Expansion { value: T::ZERO, quadratic };
        cost::visit(self.terms, &node, &mut sink, place.parts)?;
        let times = Times {
            step: stepped.since(began),
            derivatives: differentiated.since(stepped),
            cost: self.clock.now().since(differentiated),
            collision: watch.collision,
            contact: watch.contact,
            ..Times::default()
        };
        Ok(Linearized { cost: sink.value, quality: Some(quality), unsolved, times })
    }
}

/// How step `k` of the plan is taken.
pub(super) fn settings_of<T: Real, S: Copy>(settings: &StepSettings<T, S>, dt_s: &[T], k: usize) -> StepSettings<T, S> {
    StepSettings { dt_s: dt_s.get(k).copied().unwrap_or(T::ZERO), substeps: 1, ..*settings }
}

/// Keeps the impulses of a solved step as the next warm start of its node. Whether it was solved.
pub(super) fn keep_warm<T: Real>(
    report: &StepReport<T>,
    (warm, node): (&mut WarmStore<'_, T>, usize),
    step: &Step<'_, T>,
) -> bool {
    let solved = report.outcome.status == SolverStatus::Converged;
    if solved {
        warm.save(node, step);
    }
    solved
}
