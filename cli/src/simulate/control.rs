//! What the motors do while nobody controls them.

use clap::ValueEnum;
use saltus::model::{Actuator, Model, Range, Transmission};
use saltus_cli::hold::joint_position;
use serde::Serialize;

use super::Start;

/// What the motors do.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Nothing: all controls are zero.
    Zero,
    /// Each motor keeps its joint where it starts: a servo that gives the motor's full force at 0.1 rad (or m) off, or at
    /// 2 rad/s (or m/s), on top of the controls of the keyframe. Motors without a limit, and those on frames, keep the
    /// keyframe's control.
    Hold,
    /// Evenly within the control range (±1 without one), drawn anew every 20 ms.
    Random,
}

/// Simulated time between two random controls.
const REDRAWN_EVERY_S: f64 = 0.02;

/// The controls of every step.
pub struct Controller {
    control: Vec<f64>,
    ranges: Vec<Range<f64>>,
    random: Option<SplitMix>,
    steps_per_draw: u64,
}

impl Controller {
    /// For steps of `dt_s`.
    pub fn new(kind: Control, model: Model<'_, f64>, start: &Start, seed: u64, dt_s: f64) -> Self {
        let control = match (kind, &start.control) {
            (Control::Hold, Some(control)) => control.clone(),
            (Control::Hold, None) => model.actuators.iter().map(|a| resting_control(model, a, &start.q)).collect(),
            _ => vec![0.0; model.nu()],
        };
        let or_one = |bound: f64, one: f64| if bound.is_finite() { bound } else { one };
        let bounded = |range: &Range<f64>| Range::new(or_one(range.lower, -1.0), or_one(range.upper, 1.0));
        Self {
            control,
            ranges: model.actuators.iter().map(|actuator| bounded(&actuator.control_range)).collect(),
            random: matches!(kind, Control::Random).then_some(SplitMix(seed)),
            steps_per_draw: ((REDRAWN_EVERY_S / dt_s).round() as u64).max(1),
        }
    }

    /// The controls of a step.
    pub fn at(&mut self, step: u64) -> &[f64] {
        if let Some(random) = self.random.as_mut().filter(|_| step.is_multiple_of(self.steps_per_draw)) {
            for (control, range) in self.control.iter_mut().zip(&self.ranges) {
                *control = range.lower + random.uniform() * (range.upper - range.lower);
            }
        }
        &self.control
    }
}

/// The control at which a servo rests at `q`; zero for a motor that is none.
fn resting_control(model: Model<'_, f64>, actuator: &Actuator<f64>, q: &[f64]) -> f64 {
    let Transmission::Joint { dof, gear } = actuator.transmission else { return 0.0 };
    let [constant, per_position, _] = actuator.bias;
    match joint_position(model, usize::from(dof), q) {
        Some(position) if per_position != 0.0 && actuator.gain != 0.0 => {
            -(constant + per_position * gear * position) / actuator.gain
        }
        _ => 0.0,
    }
}

/// SplitMix64: the same seed gives the same numbers everywhere.
struct SplitMix(u64);

impl SplitMix {
    /// Evenly in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
