//! What the main loop runs: one solve after the other.

use saltus::memory::{Arena, ArenaTooSmall};
use saltus::mpc::{Budget, Clock, Measured, Mpc, MpcError, Nanos, Plan, Report, Task};
use saltus_scenarios::{Missing, Terms};

use crate::scenario::Scenario;

/// A solver with its task.
#[derive(Debug)]
pub struct Planner<'a> {
    mpc: Mpc<'static, 'a, f32>,
    terms: Terms<'static, f32>,
}

/// Why there is no planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannerError {
    /// The memory is too small; size it with [`Scenario::blocks`].
    Memory(ArenaTooSmall),
    /// The robot lacks something that the task names.
    Robot(Missing),
    /// The robot does not fit its own task.
    Controls,
}

impl<'a> Planner<'a> {
    /// A planner that has not planned yet.
    pub fn new(scenario: &Scenario, arena: &mut Arena<'a>) -> Result<Self, PlannerError> {
        let model = *scenario.robot.model;
        let terms = scenario.task.terms(model).map_err(PlannerError::Robot)?;
        let idle = scenario.task.idle(model).map_err(PlannerError::Robot)?;
        let mpc = Mpc::new(model, scenario.mpc_settings(), scenario.dims(), arena).map_err(PlannerError::Memory)?;
        let mut planner = Self { mpc, terms };
        planner.mpc.reset(idle).map_err(|_| PlannerError::Controls)?;
        Ok(planner)
    }

    /// One solve from a state. The clock only measures: no deadline cuts the solve short, so that the same state gives
    /// the same plan on any machine, and a deadline that is missed shows.
    pub fn solve(&mut self, measured: Measured<'_, f32>, clock: &impl Clock) -> Result<Report<f32>, MpcError> {
        let task = Task::new(&self.terms);
        self.mpc.solve(&task, measured, Budget { clock, deadline: Nanos::NEVER })
    }

    /// The last plan worth keeping.
    pub fn plan(&self) -> &Plan<'a, f32> {
        self.mpc.plan()
    }
}
