//! The optimizer as its users see it.

use super::iterate::{Halt, Pass};
use super::memory::Memory;
use super::team::{Ahead, Crew, Nobody};
use super::{
    Clock, Expansion, Fork, MpcDims, MpcError, MpcSettings, Nanos, Neighbours, Node, Plan, Quadratic, Report, Status,
    Team, Term, cost,
};
use crate::contact::{Newton, Solver};
use crate::derivatives::differentiate;
use crate::input::{InputError, check_length};
use crate::memory::{Arena, ArenaTooSmall, copy};
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
    dims: MpcDims,
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
        let mut mpc = Self { model, settings, memory: Memory::carve(arena, dims)?, dims, fresh: true };
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
        copy(self.memory.idle, control);
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
            copy(u, m.idle);
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
        self.improve(task, measured, budget, Nobody)
    }

    /// The same with the nodes linearized side by side, by as many threads as `fork` has and as many members as
    /// the team has. The plan is the same, bit for bit; the times of `step`, `derivatives` and `cost` are those of all threads together.
    ///
    /// ```
    /// use saltus::memory::{Arena, Block};
    /// use saltus::mpc::{Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, Residual, Stopped, Task, Team, Term};
    /// use saltus::step::StepDims;
    /// use saltus_loaders::{LoadOptions, load};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let cartpole = load("cartpole", &LoadOptions::default())?.model;
    /// let model = cartpole.model();
    /// let terms = [Term::new(Residual::Posture { dofs: Dofs::ALL, reference: &[0.0, 0.0] }, 1.0).at_end(10.0)];
    /// let dims = MpcDims::new(StepDims::of(model, 1), 40, terms.len());
    /// let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims) + Team::<f64>::blocks(dims, 2)];
    /// let mut arena = Arena::new(&mut memory);
    /// let mut mpc = Mpc::new(model, MpcSettings::default(), dims, &mut arena)?;
    /// let mut team = Team::carve(&mut arena, dims, 2)?;
    ///
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?; // feature `rayon`; once, at the start
    /// let measured = Measured { time: Nanos(0), q: &[0.0, 3.1], v: &[0.0, 0.0] };
    /// let budget = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };
    /// let report = mpc.solve_with(&Task::new(&terms), measured, budget, (&mut team, &pool))?;
    /// assert_eq!(report.iterations, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_with<C: Clock + Sync, F: Fork>(
        &mut self,
        task: &Task<'_, T>,
        measured: Measured<'_, T>,
        budget: Budget<'_, C>,
        (team, fork): (&mut Team<'_, T>, &F),
    ) -> Result<Report<T>, MpcError>
    where
        T: Send + Sync,
        S: Sync,
    {
        if team.dims != self.dims || !self.dims.keep_nodes {
            return Err(MpcError::Team);
        }
        self.improve(task, measured, budget, Crew { team, fork })
    }

    fn improve<C: Clock, A: Ahead<T, S, C>>(
        &mut self,
        task: &Task<'_, T>,
        measured: Measured<'_, T>,
        budget: Budget<'_, C>,
        ahead: A,
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
            linearizing: 0,
            report: Report::default(),
            ahead,
        };
        let status = pass.run();
        let mut report = pass.report;
        report.status = match status {
            Ok(status) => status,
            Err(Halt::Deadline) => Status::DeadlineReached,
            Err(Halt::Diverged | Halt::TooDear) => Status::Diverged,
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
        if let Some(term) = cost::bad_weight(task.terms) {
            return Err(MpcError::Weight { term });
        }
        let spacing = &self.settings.spacing;
        if self.memory.dt_s.is_empty() || !(spacing.first_s > T::ZERO && spacing.growth > T::ZERO) {
            return Err(MpcError::Horizon);
        }
        if self.settings.trials == 0 && !self.dims.keep_nodes {
            return Err(MpcError::Untried);
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
