//! What the motors do while nobody controls them.

use clap::ValueEnum;
use saltus::model::{Actuator, Joint, Model, Range, Transmission};
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

/// How far off, in rad or m, a held motor gives its full force.
const HOLD_ERROR: f64 = 0.1;
/// How fast, in rad/s or m/s.
const HOLD_SPEED: f64 = 2.0;
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

/// The motors of `model`, each with a servo that holds its joint at `q`.
pub fn holding_motors(model: Model<'_, f64>, q: &[f64]) -> Vec<Actuator<f64>> {
    let hold = |actuator: &Actuator<f64>| with_servo(model, actuator, q).unwrap_or(*actuator);
    model.actuators.iter().map(hold).collect()
}

/// A motor with a servo; none if it is one already, if nothing limits it, or if it has no single joint position.
fn with_servo(model: Model<'_, f64>, actuator: &Actuator<f64>, q: &[f64]) -> Option<Actuator<f64>> {
    let Transmission::Joint { dof, gear } = actuator.transmission else { return None };
    let [constant, per_position, per_velocity] = actuator.bias;
    let limit = force_limit(model, actuator, usize::from(dof), gear)?;
    if per_position != 0.0 || gear == 0.0 {
        return None;
    }
    let position = gear * joint_position(model, usize::from(dof), q)?;
    let (stiffness, damping) = (limit / (HOLD_ERROR * gear.abs()), limit / (HOLD_SPEED * gear.abs()));
    let bias = [constant + stiffness * position, -stiffness, per_velocity - damping];
    Some(Actuator { bias, force_range: Range::symmetric(limit), ..*actuator })
}

/// The most that a motor gives, before the gear.
fn force_limit(model: Model<'_, f64>, actuator: &Actuator<f64>, dof: usize, gear: f64) -> Option<f64> {
    let of_joint = model.dofs[dof].effort_limit / gear.abs();
    let of_control = (actuator.control_range.upper * actuator.gain).abs();
    [actuator.force_range.upper, of_control, of_joint].into_iter().find(|limit| limit.is_finite() && *limit > 0.0)
}

/// The position of a joint with one degree of freedom.
fn joint_position(model: Model<'_, f64>, dof: usize, q: &[f64]) -> Option<f64> {
    let body = model.bodies.iter().find(|body| usize::from(body.first_v) == dof)?;
    match (&body.joint, &q[body.q_range()]) {
        (Joint::Revolute { .. } | Joint::Prismatic { .. }, [position]) => Some(*position),
        (Joint::Continuous { .. }, [cosine, sine]) => Some(sine.atan2(*cosine)),
        _ => None,
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
