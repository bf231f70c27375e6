//! A solve under way: iterations, step lengths, and what is kept of them.

use super::look_back::Promise;
use super::memory::Memory;
use super::team::Ahead;
use super::{Clock, Measured, MpcSettings, Nanos, Report, Start, Status, Task, cost};
use crate::contact::Solver;
use crate::dynamics::DynamicsError;
use crate::input::InputError;
use crate::memory::copy;
use crate::model::Model;
use crate::scalar::Real;
use crate::step::StepError;

/// What ends a pass before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    Deadline,
    Diverged,
    /// A trial costs more than it may, before its end.
    TooDear,
    Input(InputError),
}

impl From<InputError> for Halt {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<StepError> for Halt {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Input(error) => Self::Input(error),
            _ => Self::Diverged,
        }
    }
}

impl From<DynamicsError> for Halt {
    fn from(error: DynamicsError) -> Self {
        StepError::from(error).into()
    }
}

/// A solve under way.
pub(super) struct Pass<'p, 'm, 'a, T, S, C, A> {
    pub model: Model<'m, T>,
    pub settings: &'p MpcSettings<T, S>,
    pub memory: &'p mut Memory<'a, T>,
    pub task: &'p Task<'p, T>,
    pub measured: &'p Measured<'p, T>,
    pub clock: &'p C,
    pub deadline: Nanos,
    /// When the plan starts.
    pub now: Nanos,
    /// The same, from the start of the task.
    pub task_time_s: T,
    /// There is no plan to start from.
    pub fresh: bool,
    pub trial_cost: T,
    pub trial_dropped: u32,
    /// Nanoseconds of linearization while the old policy was followed.
    pub linearizing: u64,
    pub report: Report<T>,
    /// Who linearizes nodes ahead of the backward pass.
    pub ahead: A,
}

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock, A: Ahead<T, S, C>> Pass<'_, '_, '_, T, S, C, A> {
    pub fn horizon(&self) -> usize {
        self.memory.dt_s.len()
    }

    pub fn check_time(&self) -> Result<(), Halt> {
        if self.clock.now() >= self.deadline { Err(Halt::Deadline) } else { Ok(()) }
    }

    /// All iterations.
    pub fn run(&mut self) -> Result<Status, Halt> {
        self.begin()?;
        let schedule = self.settings.regularization;
        let mut regularization = schedule.initial;
        for _ in 0..self.settings.max_iterations {
            self.report.iterations += 1;
            self.report.regularization = regularization;
            let promise = self.look_back(regularization)?;
            self.report.promised = -promise.change;
            self.report.cost = promise.cost;
            self.report.gap = promise.gap;
            let scale = promise.cost.abs().max(T::EPSILON) * self.settings.tolerance;
            if promise.gap <= self.settings.tolerance && promise.change.abs() <= scale {
                self.keep_gains()?;
                return Ok(Status::Converged);
            }
            let length = if self.settings.trials == 0 { self.take_untried()? } else { self.search(promise)? };
            match length {
                Some(length) if length == T::ONE => {
                    regularization = (regularization / schedule.factor).max(schedule.least);
                }
                Some(_) => {}
                None => {
                    regularization = (regularization * schedule.factor).max(schedule.least);
                    if regularization > schedule.most {
                        return Ok(Status::Stalled);
                    }
                }
            }
        }
        Ok(Status::IterationLimit)
    }

    /// The plan that the first iteration improves.
    fn begin(&mut self) -> Result<(), Halt> {
        let began = self.clock.now();
        let m = &mut *self.memory;
        m.derivatives.impulses_wanted = cost::needs_impulses(self.task.terms);
        m.stages.clear();
        let (k, _) = m.committed.locate(self.now.seconds_since(m.committed.start));
        copy(m.applied, if self.fresh { m.idle } else { m.committed.u(k) });
        match self.settings.start {
            Start::Gaps if self.fresh => self.stay()?,
            Start::Rollout => {
                let cost = self.follow_policy()?;
                self.accept(cost);
            }
            Start::Gaps => self.shift()?,
        }
        self.fresh = false;
        self.report.times.rollout += self.clock.now().since(began).saturating_sub(self.linearizing);
        Ok(())
    }

    /// The measured state at every node, with idle controls.
    fn stay(&mut self) -> Result<(), Halt> {
        self.start_candidate();
        let m = &mut *self.memory;
        for k in 1..m.candidate.time_s.len() {
            copy(m.candidate.q_mut(k), self.measured.q);
            copy(m.candidate.v_mut(k), self.measured.v);
        }
        for k in 0..m.dt_s.len() {
            copy(m.candidate.u_mut(k), m.idle);
            m.candidate.gain_mut(k).fill(T::ZERO);
        }
        m.warm.clear();
        m.commit();
        Ok(())
    }

    /// The longest step that keeps enough of its promise; `None` if none does.
    fn search(&mut self, promise: Promise<T>) -> Result<Option<T>, Halt> {
        let began = self.clock.now();
        // Gaps count as much as it takes for their closing to be worth what it costs.
        let (two, half) = (T::from_f64(2.0), T::from_f64(0.5));
        let price = if promise.gap > T::ZERO { (two * promise.change / promise.gap).max(T::ZERO) } else { T::ZERO };
        let slope = promise.change - price * promise.gap;
        let mut length = T::ONE;
        let mut found = None;
        // What rounding hides is no increase.
        let blur = promise.cost.abs() * T::EPSILON * T::from_f64(10.0);
        for _ in 0..self.settings.trials {
            let most = promise.cost + length * (self.settings.keep * slope + price * promise.gap) + blur;
            match self.try_step(length, most) {
                Ok(cost) => {
                    self.accept(cost);
                    self.report.step_length = length;
                    self.report.gap = (T::ONE - length) * promise.gap;
                    found = Some(length);
                    break;
                }
                Err(Halt::Diverged | Halt::TooDear) => {}
                Err(halt) => return Err(halt),
            }
            length *= half;
        }
        self.report.times.line_search += self.clock.now().since(began);
        Ok(found)
    }

    /// The full step, without a trial.
    fn take_untried(&mut self) -> Result<Option<T>, Halt> {
        let began = self.clock.now();
        self.predict_step()?;
        self.memory.commit();
        self.report.step_length = T::ONE;
        self.report.times.line_search += self.clock.now().since(began);
        Ok(Some(T::ONE))
    }

    /// The candidate becomes the plan.
    fn accept(&mut self, cost: T) {
        self.memory.commit();
        self.report.cost = cost;
        self.report.dropped = self.trial_dropped;
    }

    /// The plan as it is, with the gains just found.
    fn keep_gains(&mut self) -> Result<(), Halt> {
        let m = &mut *self.memory;
        core::mem::swap(&mut m.committed.gain, &mut m.candidate.gain);
        copy(m.parts, m.trial_parts);
        Ok(())
    }

    /// The committed plan, moved on to now: states and controls between its nodes, gains of the node before.
    fn shift(&mut self) -> Result<(), Halt> {
        let m = &mut *self.memory;
        let shift_s: T = self.now.seconds_since(m.committed.start);
        let mut time_s = T::ZERO;
        for k in 0..m.candidate.time_s.len() {
            if let Some(at) = m.candidate.time_s.get_mut(k) {
                *at = time_s;
            }
            let at = m.committed.locate_near(k, shift_s + time_s);
            let (q, v) = m.candidate.state_mut(k);
            m.committed.reference(self.model, at, q, v)?;
            if let Some(dt_s) = m.dt_s.get(k) {
                copy(m.candidate.u_mut(k), m.committed.u(at.0));
                let old = m.committed.gain(at.0);
                copy(m.candidate.gain_mut(k).data_mut(), old.data());
                time_s += *dt_s;
            }
        }
        m.candidate.start = self.now;
        m.commit();
        Ok(())
    }
}
