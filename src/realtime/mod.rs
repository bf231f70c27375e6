//! From plan to motors, every tick: what a timer interrupt or a real-time thread runs.
//!
//! A [`TripleBuffer`] carries plans from the solver to the tick; neither side ever waits. [`Controller::tick`] checks the
//! measured state, evaluates the plan, keeps to the limits, and says what to do when plan or state are too old: go on
//! along the old plan, then feedback around its end, then damping, then stop. Time comes in as an argument.

mod command;
mod controller;
mod plan_slot;
mod policy;
mod settings;
mod swap;
mod triple_buffer;
mod validity;

pub use command::{Command, Mode};
pub use controller::Controller;
pub use plan_slot::PlanSlot;
pub use policy::Policy;
pub use settings::{ControllerSettings, StateLimits};
pub use triple_buffer::{Reader, TripleBuffer, Writer};
pub use validity::Invalid;
