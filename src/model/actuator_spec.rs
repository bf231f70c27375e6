//! A motor and a keyframe, as the user states them.

use alloc::string::String;
use alloc::vec::Vec;

use super::Range;

/// What an [`ActuatorSpec`] pulls at, by name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TransmissionSpec {
    Joint { joint: String, dof: usize, gear: f64 },
    Frame { frame: String, gear: [f64; 6] },
}

/// A motor. Without more words its control is its force, without limits.
///
/// ```
/// use saltus::model::ActuatorSpec;
///
/// let knee = ActuatorSpec::joint("knee", "knee_joint").gear(6.0).control_range(-3.0, 3.0);
/// let servo = ActuatorSpec::joint("hip", "hip_joint").position_servo(80.0, 2.0).force_range(-23.7, 23.7);
/// # let _ = (knee, servo);
/// ```
#[derive(Clone, Debug)]
pub struct ActuatorSpec {
    pub(super) name: String,
    pub(super) transmission: TransmissionSpec,
    pub(super) gain: f64,
    pub(super) bias: [f64; 3],
    pub(super) control_range: Range<f64>,
    pub(super) force_range: Range<f64>,
}

impl ActuatorSpec {
    /// Pulls at a joint by name.
    pub fn joint(name: impl Into<String>, joint: impl Into<String>) -> Self {
        Self::joint_dof(name, joint, 0)
    }

    /// Pulls at degree of freedom `dof` of a joint that has several.
    pub fn joint_dof(name: impl Into<String>, joint: impl Into<String>, dof: usize) -> Self {
        Self::new(name.into(), TransmissionSpec::Joint { joint: joint.into(), dof, gear: 1.0 })
    }

    /// Pulls at a body by the wrench `gear` (force, torque) per unit of motor force, at a frame and along its axes.
    pub fn frame(name: impl Into<String>, frame: impl Into<String>, gear: [f64; 6]) -> Self {
        Self::new(name.into(), TransmissionSpec::Frame { frame: frame.into(), gear })
    }

    fn new(name: String, transmission: TransmissionSpec) -> Self {
        Self { name, transmission, gain: 1.0, bias: [0.0; 3], control_range: Range::none(), force_range: Range::none() }
    }

    /// Joint force per motor force; scales the wrench of a motor at a frame.
    pub fn gear(mut self, ratio: f64) -> Self {
        match &mut self.transmission {
            TransmissionSpec::Joint { gear, .. } => *gear = ratio,
            TransmissionSpec::Frame { gear, .. } => gear.iter_mut().for_each(|g| *g *= ratio),
        }
        self
    }

    /// Motor force per control.
    pub fn gain(mut self, gain: f64) -> Self {
        self.gain = gain;
        self
    }

    /// Motor force without control: constant, per position, per velocity.
    pub fn bias(mut self, bias: [f64; 3]) -> Self {
        self.bias = bias;
        self
    }

    /// The control is a position: force = stiffness (control − position) − damping · velocity.
    pub fn position_servo(self, stiffness: f64, damping: f64) -> Self {
        self.gain(stiffness).bias([0.0, -stiffness, -damping])
    }

    /// The control is a velocity: force = damping (control − velocity).
    pub fn velocity_servo(self, damping: f64) -> Self {
        self.gain(damping).bias([0.0, 0.0, -damping])
    }

    /// Bounds of the control.
    pub fn control_range(mut self, lower: f64, upper: f64) -> Self {
        self.control_range = Range { lower, upper };
        self
    }

    /// Bounds of the motor force, before the gear.
    pub fn force_range(mut self, lower: f64, upper: f64) -> Self {
        self.force_range = Range { lower, upper };
        self
    }
}

/// A state worth remembering, in the order of the built model.
#[derive(Clone, Debug)]
pub struct KeyframeSpec {
    pub(super) name: String,
    pub(super) q: Vec<f64>,
    pub(super) v: Option<Vec<f64>>,
    pub(super) u: Option<Vec<f64>>,
}

impl KeyframeSpec {
    /// At rest, without control.
    pub fn new(name: impl Into<String>, q: impl Into<Vec<f64>>) -> Self {
        Self { name: name.into(), q: q.into(), v: None, u: None }
    }

    /// Moving.
    pub fn velocity(mut self, v: impl Into<Vec<f64>>) -> Self {
        self.v = Some(v.into());
        self
    }

    /// With these controls.
    pub fn control(mut self, u: impl Into<Vec<f64>>) -> Self {
        self.u = Some(u.into());
        self
    }
}
