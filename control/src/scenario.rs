//! Scenarios on the target: a task of the registry, a robot in flash, and when things happen.

use saltus::contact::{CentralPath, Newton};
use saltus::memory::BLOCK_BYTES;
use saltus::mpc::{Mpc, MpcDims, MpcSettings, Start};
use saltus::realtime::{Controller, ControllerSettings, PlanSlot};
use saltus::step::StepDims;
use saltus_scenarios::MOST_TERMS;

use crate::robots::{self, Robot};
use crate::tick::TickLoop;

/// One thing to do with one robot.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// What the robot should do.
    pub task: saltus_scenarios::Scenario,
    /// The robot, as its controller believes it to be.
    pub robot: Robot,
    /// From one tick of the control loop to the next.
    pub tick_us: u32,
    /// Ticks from the start of one solve to that of the next. A solve must end before.
    pub solve_ticks: u32,
    /// Step lengths that a solve may try; none: it takes the full step untried.
    pub trials: u16,
    /// Where a solve starts.
    pub start: Start,
    /// What is added to the curvature along the controls; steps that are taken untried are damped by it.
    pub regularization: f32,
    /// Error of the plan's impulses over the largest of them, at which their solver stops.
    pub contact_tolerance: f32,
}

/// Room for the stacks, as `memory.x` has it.
pub const STACK_ROOM_BYTES: usize = 72 * 1024;
/// Buffers of the control loop on the board, and its log.
const FIRMWARE_BYTES: usize = 2112;

/// A pole is swung up.
pub const CARTPOLE_SWINGUP: Scenario = Scenario {
    task: saltus_scenarios::Scenario::CartpoleSwingup,
    robot: robots::cartpole,
    tick_us: 2000,
    solve_ticks: 5,
    // The next solve follows the plan before anything else: that is its trial.
    trials: 0,
    start: Start::Rollout,
    regularization: 2e-3,
    // The plan is renewed many times before it shows, and tighter ones cost several factorizations a node.
    contact_tolerance: 1e-3,
};

/// A leg hops.
pub const HOPPER_HOP: Scenario = Scenario {
    task: saltus_scenarios::Scenario::HopperHop,
    robot: robots::hopper,
    solve_ticks: 10,
    regularization: 1e-2,
    contact_tolerance: 1e-2,
    ..CARTPOLE_SWINGUP
};

/// A quadrotor takes off from the ground and hovers.
pub const QUADROTOR_TAKEOFF: Scenario = Scenario {
    task: saltus_scenarios::Scenario::QuadrotorTakeoff,
    robot: robots::quadrotor,
    solve_ticks: 10,
    trials: 5,
    start: Start::Gaps,
    regularization: 1e-6,
    ..CARTPOLE_SWINGUP
};

/// A quadruped stands up.
pub const GO1_STAND: Scenario = Scenario {
    task: saltus_scenarios::Scenario::Go1Stand,
    robot: robots::go1,
    solve_ticks: 35,
    trials: 2,
    start: Start::Gaps,
    regularization: 1e-6,
    ..CARTPOLE_SWINGUP
};

/// A quadruped is pushed and stays up.
pub const GO1_PUSH: Scenario = Scenario { task: saltus_scenarios::Scenario::Go1Push, trials: 1, ..GO1_STAND };

/// Every scenario.
pub const ALL: [Scenario; 5] = [CARTPOLE_SWINGUP, HOPPER_HOP, QUADROTOR_TAKEOFF, GO1_STAND, GO1_PUSH];

/// The scenario of that name.
pub fn find(name: &str) -> Option<Scenario> {
    ALL.into_iter().find(|scenario| scenario.name() == name)
}

impl Scenario {
    /// As the image is named.
    pub const fn name(&self) -> &'static str {
        self.task.facts().name
    }

    /// Ticks that a run takes.
    pub fn ticks(&self) -> u32 {
        (self.task.facts().seconds * 1e6) as u32 / self.tick_us
    }

    /// What the memory of a step is sized by.
    pub const fn step_dims(&self) -> StepDims {
        StepDims { contacts: self.task.facts().contacts, ..self.robot.dims }
    }

    /// What the memory of the solver is sized by.
    pub const fn dims(&self) -> MpcDims {
        let dims = MpcDims::new(self.step_dims(), self.task.facts().horizon, MOST_TERMS);
        // Kept nodes serve those who follow the old policy first.
        if matches!(self.start, Start::Rollout) { dims } else { dims.without_kept_nodes() }
    }

    /// Blocks of memory that all of it takes: solver, three plans, control loop.
    pub const fn blocks(&self) -> usize {
        Mpc::<f32>::blocks(self.dims())
            + 3 * PlanSlot::<f32>::blocks(self.dims())
            + Controller::<f32>::blocks(self.step_dims())
            + TickLoop::blocks(self.step_dims())
    }

    /// The same in bytes.
    pub const fn bytes(&self) -> usize {
        self.blocks() * BLOCK_BYTES
    }

    /// RAM of its image: memory of the controller, room for the stacks, and what the firmware itself holds.
    pub const fn image_ram_bytes(&self) -> usize {
        self.bytes() + STACK_ROOM_BYTES + FIRMWARE_BYTES
    }

    /// How the solver works: one iteration from the old plan, with as little time on contacts as serves.
    pub fn mpc_settings(&self) -> MpcSettings<f32> {
        let mut settings = self.task.settings::<f32>();
        settings.step.solver = Newton {
            tolerance: self.contact_tolerance,
            iterations: 4,
            path: CentralPath { max_iterations: 10, ..CentralPath::default() },
            ..Newton::default()
        };
        settings.regularization.initial = self.regularization;
        MpcSettings { start: self.start, max_iterations: 1, trials: self.trials, ..settings }
    }

    /// When plans and states are too old.
    ///
    /// A plan is followed from when its solve ends until the next one's does: twice the period at most.
    pub fn controller_settings(&self) -> ControllerSettings<f32> {
        let period_us = self.solve_ticks * self.tick_us;
        ControllerSettings {
            fresh_plan_us: 2 * period_us + self.tick_us,
            shifted_plan_us: 6 * period_us,
            feedback_us: 12 * period_us,
            ..ControllerSettings::default()
        }
    }
}
