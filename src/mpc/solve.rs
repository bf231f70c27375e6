//! The optimizer: iterations, step lengths, and what is kept of them.

use super::memory::Memory;
use super::{
    Clock, Expansion, MpcDims, MpcError, MpcSettings, Nanos, Neighbours, Node, Plan, Quadratic, Report, Start, Status,
    Term, cost,
};
use crate::contact::{Newton, Solver};
use crate::derivatives::differentiate;
use crate::dynamics::DynamicsError;
use crate::input::{InputError, check_length};
use crate::memory::{Arena, ArenaTooSmall};
use crate::model::{Model, configuration};
use crate::scalar::Real;
use crate::step::{NextState, StepError, StepInput, StepSettings, step};

/// What the plan should achieve.
#[derive(Clone, Copy, Debug)]
pub struct Task<'t, T> {
    /// Summed up.
    pub terms: &'t [Term<'t, T>],
    /// When references that move begin to.
    pub start: Nanos,
}

impl<'t, T: Real> Task<'t, T> {
    /// A task that begins at time zero.
    pub const fn new(terms: &'t [Term<'t, T>]) -> Self {
        Self { terms, start: Nanos(0) }
    }
}

/// Where the robot is, and when.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'s, T> {
    /// When this was measured: the plan starts here.
    pub time: Nanos,
    /// Configuration.
    pub q: &'s [T],
    /// Velocity.
    pub v: &'s [T],
}

/// How long a solve may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'c, C> {
    /// What tells the time.
    pub clock: &'c C,
    /// When to stop.
    pub deadline: Nanos,
}

/// An optimizer for one robot: its plan, and the memory to improve it in.
#[derive(Debug)]
pub struct Mpc<'m, 'a, T, S = Newton<T>> {
    model: Model<'m, T>,
    /// How it works; may be changed between solves.
    pub settings: MpcSettings<T, S>,
    memory: Memory<'a, T>,
    /// There is no plan that a solve may start from.
    fresh: bool,
}

impl<T: Real> Mpc<'_, '_, T> {
    /// Arena blocks that an optimizer of these dimensions takes.
    pub const fn blocks(dims: MpcDims) -> usize {
        Memory::<T>::blocks(dims)
    }
}

impl<'m, 'a, T: Real<Plain = T>, S: Solver<T> + Copy> Mpc<'m, 'a, T, S> {
    /// An optimizer without a plan: until the first solve, its policy is no control at all.
    pub fn new(
        model: Model<'m, T>,
        settings: MpcSettings<T, S>,
        dims: MpcDims,
        arena: &mut Arena<'a>,
    ) -> Result<Self, ArenaTooSmall> {
        let mut mpc = Self { model, settings, memory: Memory::carve(arena, dims)?, fresh: true };
        mpc.forget();
        Ok(mpc)
    }

    /// The plan: always the last one that was worth keeping.
    pub fn plan(&self) -> &Plan<'a, T> {
        &self.memory.committed
    }

    /// Share of each term in the cost of the plan, in the order of the task.
    pub fn cost_parts(&self) -> &[T] {
        self.memory.parts
    }

    /// The robot that it plans for.
    pub fn model(&self) -> Model<'m, T> {
        self.model
    }

    /// Forgets the plan: until the next solve the policy is `control` alone, and that solve starts from it at every node.
    pub fn reset(&mut self, control: &[T]) -> Result<(), InputError> {
        check_length("control", self.model.nu(), control.len())?;
        self.memory.idle.copy_from_slice(control);
        self.forget();
        Ok(())
    }

    /// A plan of idle controls without feedback, in a configuration that is one.
    fn forget(&mut self) {
        let m = &mut self.memory;
        for k in 0..m.committed.time_s.len() {
            // Dimensions of another model are found out by the first solve.
            let _ = configuration::neutral(self.model, m.committed.q_mut(k));
        }
        m.committed.v.fill(T::ZERO);
        m.committed.gain.fill(T::ZERO);
        for u in m.committed.u.chunks_exact_mut(m.idle.len().max(1)) {
            u.copy_from_slice(m.idle);
        }
        m.warm.clear();
        self.fresh = true;
    }

    /// Sets a force on each degree of freedom that plans count on beside the model's own, as an
    /// [`Observer`](super::Observer) finds it; zero at first.
    pub fn set_disturbance(&mut self, force: &[T]) -> Result<(), InputError> {
        check_length("disturbance", self.model.nv(), force.len())?;
        self.memory.disturbance.copy_from_slice(force);
        Ok(())
    }

    /// Improves the plan from the measured state on, until it is as good as it gets or the time is up.
    ///
    /// An error, or a status that says why it stopped early, leaves the last plan worth keeping.
    /// At most `max_iterations` · (horizon · (step + derivatives + backward pass) + trials · horizon · step).
    pub fn solve<C: Clock>(
        &mut self,
        task: &Task<'_, T>,
        measured: Measured<'_, T>,
        budget: Budget<'_, C>,
    ) -> Result<Report<T>, MpcError> {
        self.check(task, &measured)?;
        let began = budget.clock.now();
        if began >= budget.deadline {
            return Ok(Report { status: Status::DeadlineReached, ..Report::default() });
        }
        self.set_spacing();
        let mut pass = Pass {
            model: self.model,
            settings: &self.settings,
            memory: &mut self.memory,
            task,
            measured: &measured,
            clock: budget.clock,
            deadline: budget.deadline,
            now: measured.time,
            task_time_s: measured.time.seconds_since(task.start),
            fresh: self.fresh,
            trial_cost: T::ZERO,
            trial_dropped: 0,
            report: Report::default(),
        };
        let status = pass.run();
        let mut report = pass.report;
        report.status = match status {
            Ok(status) => status,
            Err(Halt::Deadline) => Status::DeadlineReached,
            Err(Halt::Diverged) => Status::Diverged,
            Err(Halt::Input(error)) => return Err(error.into()),
        };
        if report.dropped > 0 && report.status != Status::Diverged {
            report.status = Status::ContactCapacity;
        }
        // A plan that led astray is no start for the next one.
        self.fresh = pass.fresh || report.status == Status::Diverged;
        report.times.total = budget.clock.now().since(began);
        Ok(report)
    }

    /// Cost of one step of `dt_s` from a state, and its expansion over (q, v, u) as the backward pass sees it; for
    /// checking residuals of one's own. The plan stays as it is.
    pub fn expand(
        &mut self,
        task: &Task<'_, T>,
        at: Measured<'_, T>,
        control: &[T],
        dt_s: T,
    ) -> Result<(T, &Quadratic<'a, T>), MpcError> {
        self.check(task, &at)?;
        let m = &mut self.memory;
        let settings = StepSettings { dt_s, substeps: 1, ..self.settings.step };
        let input = StepInput { force: m.disturbance, ..StepInput::new(at.q, at.v, control) };
        m.step.forget();
        m.derivatives.impulses_wanted = cost::needs_impulses(task.terms);
        step(self.model, &input, &settings, NextState { q: m.next_q, v: m.next_v }, &mut m.step)?;
        differentiate(self.model, &input, &settings, &mut m.step, &mut m.derivatives)?;
        let node = Node {
            model: self.model,
            index: 0,
            time_s: at.time.seconds_since(task.start),
            dt_s,
            q: at.q,
            v: at.v,
            u: control,
            neighbours: Neighbours { before: m.applied, ..Neighbours::NONE },
            step: &m.step,
            derivatives: Some(&m.derivatives),
        };
        m.quadratic.clear();
        m.trial_parts.fill(T::ZERO);
        let mut sink = Expansion { value: T::ZERO, quadratic: &mut m.quadratic };
        cost::visit(task.terms, &node, &mut sink, m.trial_parts)?;
        Ok((sink.value, &m.quadratic))
    }

    fn check(&self, task: &Task<'_, T>, measured: &Measured<'_, T>) -> Result<(), MpcError> {
        check_length("q", self.model.nq(), measured.q.len())?;
        check_length("v", self.model.nv(), measured.v.len())?;
        for (what, numbers) in [("q", measured.q), ("v", measured.v)] {
            if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
                return Err(StepError::NotFinite { what, index }.into());
            }
        }
        if task.terms.len() > self.memory.parts.len() {
            return Err(MpcError::Terms { room: self.memory.parts.len(), got: task.terms.len() });
        }
        let spacing = &self.settings.spacing;
        if self.memory.dt_s.is_empty() || !(spacing.first_s > T::ZERO && spacing.growth > T::ZERO) {
            return Err(MpcError::Horizon);
        }
        check_length("plan", self.model.nq() * (self.memory.dt_s.len() + 1), self.memory.committed.q.len())?;
        check_length("plan", self.model.nu() * self.memory.dt_s.len(), self.memory.committed.u.len())?;
        Ok(cost::check(self.model, task.terms)?)
    }

    fn set_spacing(&mut self) {
        let mut dt_s = self.settings.spacing.first_s;
        for out in self.memory.dt_s.iter_mut() {
            *out = dt_s;
            dt_s *= self.settings.spacing.growth;
        }
    }
}

/// What ends a pass before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    Deadline,
    Diverged,
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
pub(super) struct Pass<'p, 'm, 'a, T, S, C> {
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
    pub report: Report<T>,
}

impl<T: Real<Plain = T>, S: Solver<T> + Copy, C: Clock> Pass<'_, '_, '_, T, S, C> {
    pub fn horizon(&self) -> usize {
        self.memory.dt_s.len()
    }

    pub fn check_time(&self) -> Result<(), Halt> {
        if self.clock.now() >= self.deadline { Err(Halt::Deadline) } else { Ok(()) }
    }

    /// All iterations.
    fn run(&mut self) -> Result<Status, Halt> {
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
            match self.search(promise)? {
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
        let (k, _) = m.committed.locate(self.now.seconds_since(m.committed.start));
        m.applied.copy_from_slice(if self.fresh { m.idle } else { m.committed.u(k) });
        match self.settings.start {
            Start::Gaps if self.fresh => self.stay()?,
            Start::Rollout => {
                let cost = self.follow_policy()?;
                self.accept(cost);
            }
            Start::Gaps => self.shift()?,
        }
        self.fresh = false;
        self.report.times.rollout += self.clock.now().since(began);
        Ok(())
    }

    /// The measured state at every node, with idle controls.
    fn stay(&mut self) -> Result<(), Halt> {
        self.start_candidate();
        let m = &mut *self.memory;
        for k in 1..m.candidate.time_s.len() {
            m.candidate.q_mut(k).copy_from_slice(self.measured.q);
            m.candidate.v_mut(k).copy_from_slice(self.measured.v);
        }
        for k in 0..m.dt_s.len() {
            m.candidate.u_mut(k).copy_from_slice(m.idle);
            m.candidate.gain_mut(k).fill(T::ZERO);
        }
        m.warm.clear();
        m.commit();
        Ok(())
    }

    /// The longest step that keeps enough of its promise; `None` if none does.
    fn search(&mut self, promise: super::linearize::Promise<T>) -> Result<Option<T>, Halt> {
        let began = self.clock.now();
        // Gaps count as much as it takes for their closing to be worth what it costs.
        let (two, half) = (T::from_f64(2.0), T::from_f64(0.5));
        let price = if promise.gap > T::ZERO { (two * promise.change / promise.gap).max(T::ZERO) } else { T::ZERO };
        let slope = promise.change - price * promise.gap;
        let mut length = T::ONE;
        let mut found = None;
        for _ in 0..self.settings.trials {
            match self.try_step(length) {
                Ok(cost) => {
                    let merit = cost - length * price * promise.gap;
                    // What rounding hides is no increase.
                    let blur = promise.cost.abs() * T::EPSILON * T::from_f64(10.0);
                    if merit <= promise.cost + self.settings.keep * length * slope + blur {
                        self.accept(cost);
                        self.report.step_length = length;
                        self.report.gap = (T::ONE - length) * promise.gap;
                        found = Some(length);
                        break;
                    }
                }
                Err(Halt::Diverged) => {}
                Err(halt) => return Err(halt),
            }
            length *= half;
        }
        self.report.times.line_search += self.clock.now().since(began);
        Ok(found)
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
        m.parts.copy_from_slice(m.trial_parts);
        Ok(())
    }

    /// The committed plan, moved on to now: states and controls between its nodes, gains of the node before.
    fn shift(&mut self) -> Result<(), Halt> {
        let m = &mut *self.memory;
        let shift_s: T = self.now.seconds_since(m.committed.start);
        let mut time_s = T::ZERO;
        for k in 0..m.candidate.time_s.len() {
            m.candidate.time_s[k] = time_s;
            let at = m.committed.locate(shift_s + time_s);
            let nodes = m.candidate.time_s.len();
            let (nq, nv) = (m.candidate.q.len() / nodes, m.candidate.v.len() / nodes);
            let (q, v) = (&mut m.candidate.q[k * nq..][..nq], &mut m.candidate.v[k * nv..][..nv]);
            m.committed.reference(self.model, at, q, v)?;
            if let Some(dt_s) = m.dt_s.get(k) {
                m.candidate.u_mut(k).copy_from_slice(m.committed.u(at.0));
                let old = m.committed.gain(at.0);
                m.candidate.gain_mut(k).data_mut().copy_from_slice(old.data());
                time_s += *dt_s;
            }
        }
        m.candidate.start = self.now;
        m.commit();
        Ok(())
    }
}
