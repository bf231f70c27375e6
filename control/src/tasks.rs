//! What each scenario asks of the plan.

use saltus::mpc::{Dofs, Residual, Term};

use crate::hop;
use crate::scenario::Scenario;

/// Terms of the longest task.
pub(crate) const TERMS: usize = 7;

/// The terms of a scenario, and what the motors do before there is a plan; none if its robot lacks a keyframe.
pub(crate) fn terms(scenario: &Scenario) -> Option<([Term<'static, f32>; TERMS], &'static [f32])> {
    let model = scenario.robot.model;
    let rest = model.find_keyframe(scenario.from)?;
    let mut terms = [Term::new(Residual::Control { reference: &[] }, 0.0); TERMS];
    let list: &[Term<'static, f32>] = match scenario.robot.name {
        "cartpole" => {
            let upright = model.find_keyframe("upright")?;
            &[
                Term::new(Residual::Posture { dofs: Dofs::ALL, reference: upright.q }, 1.0).at_end(100.0),
                Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 0.1).at_end(10.0),
                Term::new(Residual::Control { reference: &[] }, 0.01),
                Term::new(Residual::PositionLimits { margin: 0.3 }, 1.0),
            ]
        }
        "hopper" => &[
            Term::new(Residual::Custom(&hop::HEIGHT), 600.0).at_end(60.0),
            Term::new(Residual::Posture { dofs: Dofs::new(0, 1), reference: rest.q }, 10.0).at_end(20.0),
            Term::new(Residual::Posture { dofs: Dofs::new(2, 1), reference: rest.q }, 20.0).at_end(20.0),
            Term::new(Residual::Posture { dofs: Dofs::new(3, 3), reference: &hop::CROUCH }, 1.0).at_end(1.0),
            Term::new(Residual::Velocity { dofs: Dofs::new(0, 1), reference: &[] }, 5.0).at_end(5.0),
            Term::new(Residual::Velocity { dofs: Dofs::new(2, 4), reference: &[] }, 0.1).at_end(0.5),
            Term::new(Residual::Control { reference: &[] }, 0.1),
        ],
        "quadrotor" => {
            let hover = model.find_keyframe("hover")?;
            &[
                Term::new(Residual::Posture { dofs: Dofs::new(0, 3), reference: hover.q }, 10.0).at_end(10.0),
                Term::new(Residual::Posture { dofs: Dofs::new(3, 3), reference: hover.q }, 1.0).at_end(1.0),
                Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 1.0).at_end(1.0),
                Term::new(Residual::Control { reference: hover.u }, 0.1),
            ]
        }
        _ => &[
            Term::new(Residual::Posture { dofs: Dofs::new(0, 3), reference: rest.q }, 200.0).at_end(40.0),
            Term::new(Residual::Posture { dofs: Dofs::new(3, 3), reference: rest.q }, 100.0).at_end(20.0),
            Term::new(Residual::Posture { dofs: Dofs::new(6, 12), reference: rest.q }, 10.0).at_end(2.0),
            Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 1.0).at_end(0.2),
            Term::new(Residual::Control { reference: rest.u }, 0.01),
        ],
    };
    for (term, from) in terms.iter_mut().zip(list) {
        *term = *from;
    }
    Some((terms, rest.u))
}
