//! The tick.

use super::validity::Invalid;
use super::{Command, ControllerSettings, Mode, Policy};
use crate::input::check_length;
use crate::memory::{Arena, ArenaTooSmall, carved};
use crate::model::Model;
use crate::mpc::{Measured, Nanos};
use crate::scalar::Real;
use crate::step::StepDims;

carved! {
    struct Memory<'a, T>(d: StepDims) {
        /// The last state that was valid.
        q: [T; d.robot.nq],
        v: [T; d.robot.nv],
        u: [T; d.controls],
    }
}

/// Turns states and plans into commands, one per tick.
///
/// It holds no lock, allocates nothing and cannot panic; the same inputs give the same bits.
#[derive(Debug)]
pub struct Controller<'m, 'a, T> {
    model: Model<'m, T>,
    /// May be changed between ticks.
    pub settings: ControllerSettings<T>,
    memory: Memory<'a, T>,
    state_time: Option<Nanos>,
    damping_since: Option<Nanos>,
    stopped: bool,
}

impl<T: Real> Controller<'_, '_, T> {
    /// Arena blocks that a controller of a robot of these dimensions takes.
    pub const fn blocks(dims: StepDims) -> usize {
        Memory::<T>::blocks(dims)
    }
}

impl<'m, 'a, T: Real> Controller<'m, 'a, T> {
    /// A controller that has seen no state.
    pub fn new(
        model: Model<'m, T>,
        settings: ControllerSettings<T>,
        dims: StepDims,
        arena: &mut Arena<'a>,
    ) -> Result<Self, ArenaTooSmall> {
        let memory = Memory::carve(arena, dims)?;
        Ok(Self { model, settings, memory, state_time: None, damping_since: None, stopped: false })
    }

    /// The last valid state, and when it was measured.
    pub fn state(&self) -> Option<Measured<'_, T>> {
        Some(Measured { q: self.memory.q, v: self.memory.v, time: self.state_time? })
    }

    /// What the motors shall do now. `measured` is what arrived since the last tick, if anything did.
    ///
    /// Wrong input never stops it: the worst answer is damping, and after `damping_us` of that the motors are turned off
    /// for good. O(nu · nv).
    pub fn tick<P: Policy<T>>(
        &mut self,
        measured: Option<Measured<'_, T>>,
        plan: Option<&mut P>,
        now: Nanos,
    ) -> Command<'_, T> {
        let invalid = measured.and_then(|measured| self.take_state(&measured).err());
        let mode = self.follow(plan, now).unwrap_or(Mode::Damping);
        let mode = self.limit_damping(mode, now);
        let damping = match mode {
            Mode::Damping => self.settings.damping,
            _ => T::ZERO,
        };
        if mode >= Mode::Damping {
            self.memory.u.fill(T::ZERO);
        }
        Command { mode, u: self.memory.u, damping, invalid }
    }

    /// Keeps a state if it is valid.
    fn take_state(&mut self, measured: &Measured<'_, T>) -> Result<(), Invalid> {
        self.settings.state.check(self.model, measured.q, measured.v)?;
        check_length("memory", self.memory.q.len(), measured.q.len()).map_err(Invalid::Length)?;
        check_length("memory", self.memory.v.len(), measured.v.len()).map_err(Invalid::Length)?;
        self.memory.q.copy_from_slice(measured.q);
        self.memory.v.copy_from_slice(measured.v);
        self.state_time = Some(measured.time);
        Ok(())
    }

    /// Writes the controls of the plan, if state and plan are young enough.
    fn follow<P: Policy<T>>(&mut self, plan: Option<&mut P>, now: Nanos) -> Option<Mode> {
        let settings = &self.settings;
        let plan = plan?;
        if self.stopped || is_older(self.state_time?, settings.held_state_us, now) {
            return None;
        }
        let is_within = |age_us| !is_older(plan.start(), age_us, now);
        let (mode, at) = if is_within(settings.fresh_plan_us) {
            (Mode::Plan, now)
        } else if is_within(settings.shifted_plan_us) {
            (Mode::ShiftedPlan, now)
        } else if is_within(settings.feedback_us) {
            (Mode::Feedback, plan.end())
        } else {
            return None;
        };
        let Memory { q, v, u, .. } = &mut self.memory;
        plan.control(self.model, at, (q, v), u).ok()?;
        clamp(self.model, u)?;
        Some(mode)
    }

    /// Damping that lasts too long ends in a stop, for good.
    fn limit_damping(&mut self, mode: Mode, now: Nanos) -> Mode {
        if mode < Mode::Damping && !self.stopped {
            self.damping_since = None;
            return mode;
        }
        let since = *self.damping_since.get_or_insert(now);
        self.stopped |= is_older(since, self.settings.damping_us, now);
        if self.stopped { Mode::Stop } else { Mode::Damping }
    }
}

/// Whether `then` is more than `age_us` ago.
fn is_older(then: Nanos, age_us: u32, now: Nanos) -> bool {
    now.since(then) > u64::from(age_us) * 1000
}

/// Moves controls into the range of their motors; none if one is not a number.
fn clamp<T: Real>(model: Model<'_, T>, u: &mut [T]) -> Option<()> {
    for (u, actuator) in u.iter_mut().zip(model.actuators) {
        if !u.is_finite() {
            return None;
        }
        *u = actuator.control_range.clamp(*u);
    }
    Some(())
}
