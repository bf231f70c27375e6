//! What the firmware controls and how, without the board.
//!
//! The image on the target and the host that checks it run this same code in `f32`, and get the same bits: a
//! [`Planner`] that the main loop runs, and a [`TickLoop`] that the timer runs, for one [`Scenario`] each.
#![no_std]

mod bits;
pub mod messages;
mod planner;
pub mod robots;
mod scenario;
mod tick;

pub use bits::bits_of;
pub use planner::Planner;
pub use scenario::{
    ALL, CARTPOLE_SWINGUP, GO1_PUSH, GO1_STAND, HOPPER_HOP, QUADROTOR_TAKEOFF, STACK_ROOM_BYTES, Scenario, find,
};
pub use tick::{FRAME_BYTES, TickLoop, Ticked};
