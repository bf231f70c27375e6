//! How a controller keeps a robot safe.

use crate::scalar::Real;

/// Limits of age, and what a state may be.
///
/// Plan ages are from the plan's start, that is from the state that it was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerSettings<T> {
    /// A plan up to this age is followed as it was meant.
    pub fresh_plan_us: u32,
    /// Up to this age its later part is followed, and the command says so.
    pub shifted_plan_us: u32,
    /// Up to this age the robot is held at the plan's last state by its gains.
    pub feedback_us: u32,
    /// Up to this age the last valid state stands in for a missing one; then the motors damp.
    pub held_state_us: u32,
    /// Damping for longer than this ends in a stop, for good.
    pub damping_us: u32,
    /// What each motor does against its own speed when damping, in units of control per rad/s (or m/s) of the motor.
    pub damping: T,
    /// What a measured state may be.
    pub state: StateLimits<T>,
}

/// A state outside of these is not believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateLimits<T> {
    /// Beyond a joint's limit, rad or m.
    pub position_margin: T,
    /// Of any degree of freedom, rad/s or m/s.
    pub max_speed: T,
    /// Of any coordinate, rad or m.
    pub max_position: T,
}

impl<T: Real> Default for ControllerSettings<T> {
    fn default() -> Self {
        let real = T::from_f64;
        Self {
            fresh_plan_us: 60_000,
            shifted_plan_us: 200_000,
            feedback_us: 500_000,
            held_state_us: 20_000,
            damping_us: 2_000_000,
            damping: real(1.0),
            state: StateLimits { position_margin: real(0.2), max_speed: real(100.0), max_position: real(1000.0) },
        }
    }
}
