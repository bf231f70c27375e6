//! Motors: what a control does to the robot.

use super::{FrameId, Range};
use crate::scalar::Real;

/// What a motor pulls at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transmission<T> {
    /// One degree of freedom.
    Joint {
        /// Index in v.
        dof: u16,
        /// Joint force per motor force; motor position and velocity per those of the joint.
        gear: T,
    },
    /// A body, by a wrench at a frame fixed to it.
    Frame {
        /// Where, and along which axes.
        frame: FrameId,
        /// Force and torque per motor force, in the frame.
        gear: [T; 6],
    },
}

/// A motor: force = gain · control + bias₀ + bias₁ · position + bias₂ · velocity, within its range.
///
/// Position and velocity are those of the transmission, gear included; a frame has none, so only bias₀ counts there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actuator<T> {
    /// What it pulls at.
    pub transmission: Transmission<T>,
    /// Motor force per control.
    pub gain: T,
    /// Constant, per position, per velocity.
    pub bias: [T; 3],
    /// Controls are clamped to it.
    pub control_range: Range<T>,
    /// Motor forces are clamped to it, before the gear.
    pub force_range: Range<T>,
}

/// A motor force and what it depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response<T> {
    /// The force itself.
    pub force: T,
    /// Per control.
    pub by_control: T,
    /// Per position of the transmission.
    pub by_position: T,
    /// Per velocity of the transmission.
    pub by_velocity: T,
}

impl<T: Real> Actuator<T> {
    /// A motor whose control is the force itself, within ±`effort_limit`.
    pub fn motor(dof: u16, effort_limit: T) -> Self {
        Self {
            transmission: Transmission::Joint { dof, gear: T::ONE },
            gain: T::ONE,
            bias: [T::ZERO; 3],
            control_range: Range::symmetric(effort_limit),
            force_range: Range::symmetric(effort_limit),
        }
    }

    /// Motor force, from the control and from the position and velocity of the transmission (gear included).
    pub fn force(&self, control: T, position: T, velocity: T) -> T {
        self.response(control, position, velocity).force
    }

    /// Motor force and its derivatives; beyond a range the force does not change. On the bound of the control range it
    /// still does, for that is where optimal controls are.
    #[inline(always)]
    pub fn response(&self, control: T, position: T, velocity: T) -> Response<T> {
        let [constant, by_position, by_velocity] = self.bias;
        let bias = velocity.mul_add(by_velocity, position.mul_add(by_position, constant));
        let used = self.control_range.clamp(control);
        let free = used.mul_add(self.gain, bias);
        let force = self.force_range.clamp(free);
        if force == free {
            let by_control = if used == control { self.gain } else { T::ZERO };
            Response { force, by_control, by_position, by_velocity }
        } else {
            Response { force, by_control: T::ZERO, by_position: T::ZERO, by_velocity: T::ZERO }
        }
    }

    /// The same motor in another scalar type.
    pub fn cast<U: Real>(&self) -> Actuator<U> {
        let cast = |x: T| U::from_f64(x.to_f64());
        Actuator {
            transmission: match self.transmission {
                Transmission::Joint { dof, gear } => Transmission::Joint { dof, gear: cast(gear) },
                Transmission::Frame { frame, gear } => Transmission::Frame { frame, gear: gear.map(cast) },
            },
            gain: cast(self.gain),
            bias: self.bias.map(cast),
            control_range: self.control_range.cast(),
            force_range: self.force_range.cast(),
        }
    }
}
