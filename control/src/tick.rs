//! What the timer runs: bytes from the plant in, a command out.

use saltus::link::{FrameTooLong, Header, Numbers, Receiver, encode};
use saltus::memory::{Arena, ArenaTooSmall, blocks_for};
use saltus::mpc::{Measured, Nanos};
use saltus::realtime::{Controller, PlanSlot, Policy};
use saltus::step::StepDims;

use crate::messages::{CommandMessage, SolveFigures, StateMessage};
use crate::scenario::Scenario;

/// Bytes of the longest frame in either direction: state of the largest robot, or a command with all its figures.
pub const FRAME_BYTES: usize = 384;

/// A state older than this many ticks is not worth having.
const LATE_TICKS: u32 = 5;

/// The control loop.
#[derive(Debug)]
pub struct TickLoop<'a> {
    receiver: Receiver<'a>,
    controller: Controller<'static, 'a, f32>,
    q: &'a mut [f32],
    v: &'a mut [f32],
    frame: &'a mut [u8],
    sequence: u16,
    invalid_states: u32,
}

/// What a tick leads to.
#[derive(Debug)]
pub struct Ticked<'t> {
    /// Bytes for the plant.
    pub frame: Result<&'t [u8], FrameTooLong>,
    /// Whether the motors may have power.
    pub powered: bool,
}

impl<'a> TickLoop<'a> {
    /// Blocks of memory that the control loop takes beside its [`Controller`].
    pub const fn blocks(dims: StepDims) -> usize {
        blocks_for::<f32>(dims.robot.nq) + blocks_for::<f32>(dims.robot.nv) + 2 * blocks_for::<u8>(FRAME_BYTES)
    }

    /// A control loop that has heard nothing.
    pub fn new(scenario: &Scenario, arena: &mut Arena<'a>) -> Result<Self, ArenaTooSmall> {
        let dims = scenario.step_dims();
        let controller = Controller::new(*scenario.robot.model, scenario.controller_settings(), dims, arena)?;
        let late_us = u64::from(LATE_TICKS * scenario.tick_us);
        Ok(Self {
            receiver: Receiver::new(arena.slice(FRAME_BYTES)?).with_max_age_us(late_us),
            controller,
            q: arena.slice(dims.robot.nq)?,
            v: arena.slice(dims.robot.nv)?,
            frame: arena.slice(FRAME_BYTES)?,
            sequence: 0,
            invalid_states: 0,
        })
    }

    /// The last state that was valid, for the planner.
    pub fn state(&self) -> Option<Measured<'_, f32>> {
        self.controller.state()
    }

    /// One tick at time `now`: takes what arrived, follows the plan, answers.
    pub fn tick(
        &mut self,
        mut window: &[u8],
        plan: &mut PlanSlot<'_, f32>,
        figures: (SolveFigures, u32),
        now: Nanos,
    ) -> Ticked<'_> {
        let time = self.take_newest(&mut window, now);
        let measured = time.map(|time| Measured { time, q: self.q, v: self.v });
        let plan = plan.policy();
        let plan_start_ns = plan.as_ref().map_or(0, |plan| plan.start().0);
        let command = self.controller.tick(measured, plan, now);
        self.invalid_states += u32::from(command.invalid.is_some());
        let message = CommandMessage {
            mode: command.mode.code(),
            damping: command.damping,
            u: Numbers::of(command.u),
            plan_start_ns,
            solve: figures.0,
            last_tick: figures.1,
            link: self.receiver.counts().into(),
            invalid_states: self.invalid_states,
        };
        let header = Header { sequence: self.sequence, time_us: now.0 / 1000 };
        self.sequence = self.sequence.wrapping_add(1);
        let powered = command.mode != saltus::realtime::Mode::Stop;
        Ticked { frame: encode(header, &message, self.frame).map(|frame| &*frame), powered }
    }

    /// Copies the newest state in a window; when it was measured.
    fn take_newest(&mut self, window: &mut &[u8], now: Nanos) -> Option<Nanos> {
        let mut newest = None;
        while let Some(event) = self.receiver.next::<StateMessage>(window, now.0 / 1000) {
            let Ok((header, message)) = event else { continue };
            let fits = message.q.len() == self.q.len() && message.v.len() == self.v.len();
            if fits && message.q.copy_to(self.q) && message.v.copy_to(self.v) {
                newest = Some(Nanos(header.time_us * 1000));
            } else {
                self.invalid_states += 1;
            }
        }
        newest
    }
}
