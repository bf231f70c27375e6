//! Motors that keep a robot in its pose.

use saltus::model::{Actuator, Joint, Model, Range, Transmission};

/// How far off, in rad or m, a held motor gives its full force.
const HOLD_ERROR: f64 = 0.1;
/// How fast, in rad/s or m/s.
const HOLD_SPEED: f64 = 2.0;

/// The motors of `model`, each with a servo that holds its joint at `q`.
///
/// A servo gives the motor's full force at 0.1 rad (or m) off, or at 2 rad/s (or m/s). A motor that is a servo already,
/// that nothing limits, or that pulls at a frame, stays as it is.
///
/// ```
/// use saltus::model::Model;
/// use saltus_cli::hold::holding_motors;
/// use saltus_loaders::{LoadOptions, load};
///
/// let robot = load("go1", &LoadOptions::default())?.model;
/// let rest = robot.model().find_keyframe("rest").expect("every built-in robot has one");
/// let motors = holding_motors(robot.model(), rest.q);
/// let held = Model { actuators: &motors, ..robot.model() }; // stands, with the keyframe's controls
/// # let _ = held;
/// # Ok::<(), saltus_loaders::LoadError>(())
/// ```
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
pub fn joint_position(model: Model<'_, f64>, dof: usize, q: &[f64]) -> Option<f64> {
    let body = model.bodies.iter().find(|body| usize::from(body.first_v) == dof)?;
    match (&body.joint, &q[body.q_range()]) {
        (Joint::Revolute { .. } | Joint::Prismatic { .. }, [position]) => Some(*position),
        (Joint::Continuous { .. }, [cosine, sine]) => Some(sine.atan2(*cosine)),
        _ => None,
    }
}
