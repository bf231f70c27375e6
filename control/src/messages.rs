//! What plant and controller tell each other, in frames of [`saltus::link`].

use saltus::link::Numbers;
use saltus::mpc::Times;
use serde::{Deserialize, Serialize};

/// From the plant: where the robot is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateMessage<'a> {
    /// Configuration.
    #[serde(borrow)]
    pub q: Numbers<'a>,
    /// Velocity.
    #[serde(borrow)]
    pub v: Numbers<'a>,
}

/// From the controller: what the motors shall do, and how the controller fares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandMessage<'a> {
    /// [`Mode::code`](saltus::realtime::Mode::code).
    pub mode: u8,
    /// What each motor does against its own speed.
    pub damping: f32,
    /// One number per motor.
    #[serde(borrow)]
    pub u: Numbers<'a>,
    /// Start of the plan that was followed, ns.
    pub plan_start_ns: u64,
    /// What the solve of that plan cost.
    pub solve: SolveFigures,
    /// Counter ticks that the tick before this one took, all of it.
    pub last_tick: u32,
    /// Frames from the plant by what became of them.
    pub link: LinkFigures,
    /// States that were whole and could not be true.
    pub invalid_states: u32,
}

/// What a solve cost, in ticks of the target's counter; ticks of the control loop in between are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolveFigures {
    /// Number of the solve, from one.
    pub number: u32,
    /// The solve and the hand-over of the plan.
    pub total: u32,
    /// The same with everything that came in between: what a deadline is held against.
    pub elapsed: u32,
    /// In the order of [`STAGES`].
    pub stages: [u32; 6],
    /// How it ended.
    pub status: u8,
}

/// Names of [`SolveFigures::stages`].
pub const STAGES: [&str; 6] = ["rollout", "step", "derivatives", "cost", "backward", "line_search"];

/// The times of a solve in the order of [`STAGES`], as the clock that took them counts.
pub fn stages(times: &Times) -> [u32; 6] {
    [times.rollout, times.step, times.derivatives, times.cost, times.backward, times.line_search].map(|x| x as u32)
}

/// [`saltus::link::Counts`] on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// Whole, new and in time.
    pub received: u32,
    /// Never seen.
    pub lost: u32,
    /// Seen before.
    pub duplicated: u32,
    /// Too old.
    pub late: u32,
    /// Not what was sent.
    pub corrupt: u32,
    /// Longer than the buffer.
    pub overlong: u32,
}

impl From<saltus::link::Counts> for LinkFigures {
    fn from(counts: saltus::link::Counts) -> Self {
        let saltus::link::Counts { received, lost, duplicated, late, corrupt, overlong } = counts;
        Self { received, lost, duplicated, late, corrupt, overlong }
    }
}

/// From the controller at the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The most that the main loop had on its stack, bytes.
    pub main_stack_bytes: u32,
    /// The most that interrupts had on theirs.
    pub handler_stack_bytes: u32,
    /// Ticks of the control loop.
    pub ticks: u32,
    /// Counter ticks that the last one took.
    pub last_tick: u32,
    /// Solves that failed with an error.
    pub failed_solves: u32,
}
