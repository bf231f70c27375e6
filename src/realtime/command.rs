//! What the motors are told.

use super::Invalid;

/// How a command came about, from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// A fresh plan is followed.
    Plan,
    /// An old plan is followed along its later part.
    ShiftedPlan,
    /// The robot is held at the end of an old plan by its gains.
    Feedback,
    /// The motors give no force but against their own speed. They do so by themselves: no state is needed.
    Damping,
    /// The motors are off, until the controller is made anew.
    #[default]
    Stop,
}

impl Mode {
    /// A number for the wire.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The mode of a number; [`Stop`](Mode::Stop) for one that is none.
    pub const fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Plan,
            1 => Self::ShiftedPlan,
            2 => Self::Feedback,
            3 => Self::Damping,
            _ => Self::Stop,
        }
    }
}

/// What the motors are told for one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Command<'c, T> {
    /// How it came about.
    pub mode: Mode,
    /// One number per motor, within its range; zero when damping or stopped.
    pub u: &'c [T],
    /// Units of control per rad/s (or m/s) against the motor's own speed; zero unless damping.
    pub damping: T,
    /// Why the state of this tick was not used, if it was there.
    pub invalid: Option<Invalid>,
}
