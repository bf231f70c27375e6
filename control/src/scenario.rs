//! The scenarios: a robot, a task, and when things happen.

use saltus::contact::{CentralPath, Newton};
use saltus::memory::{Block, blocks_for};
use saltus::mpc::{Mpc, MpcDims, MpcSettings, Spacing, Start};
use saltus::realtime::{Controller, ControllerSettings, PlanSlot};
use saltus::step::{Gradient, StepSettings};

use crate::robots::{self, Robot};
use crate::tasks::TERMS;
use crate::tick::TickLoop;

/// One thing to do with one robot.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// As the image is named.
    pub name: &'static str,
    /// Which robot.
    pub robot: Robot,
    /// Keyframe that it starts from.
    pub from: &'static str,
    /// Nodes of the plan.
    pub horizon: usize,
    /// Duration of the plan's first step, s.
    pub dt_s: f32,
    /// Of each step to the one before.
    pub growth: f32,
    /// Smoothing of contacts in the plan's gradient, J.
    pub kappa: f64,
    /// From one tick of the control loop to the next.
    pub tick_us: u32,
    /// Ticks from the start of one solve to that of the next. A solve must end before.
    pub solve_ticks: u32,
    /// Ticks that a run takes.
    pub ticks: u32,
    /// A push against the first body: tick, ticks, and force in the world, N.
    pub push: Option<(u32, u32, [f32; 3])>,
}

/// Error of the plan's impulses over the largest of them. The plan is renewed many times before it shows, and tighter
/// ones cost several factorizations a node.
const CONTACT_TOLERANCE: f32 = 1e-3;

/// All robots run at 500 Hz.
const TICK_US: u32 = 2000;

/// A pole is swung up.
pub const CARTPOLE_SWINGUP: Scenario = Scenario {
    name: "cartpole-swingup",
    robot: robots::cartpole,
    from: "rest",
    horizon: 30,
    dt_s: 0.04,
    growth: 1.0,
    kappa: 1e-3,
    tick_us: TICK_US,
    solve_ticks: 5,
    ticks: 2500,
    push: None,
};

/// A leg hops on the spot.
pub const HOPPER_HOP: Scenario = Scenario {
    name: "hopper-hop",
    robot: robots::hopper,
    horizon: 20,
    dt_s: 0.02,
    solve_ticks: 10,
    ticks: 2500,
    ..CARTPOLE_SWINGUP
};

/// A quadrotor takes off from the ground and stays at a height of 1 m.
pub const QUADROTOR_TAKEOFF: Scenario = Scenario {
    name: "quadrotor-takeoff",
    robot: robots::quadrotor,
    horizon: 20,
    dt_s: 0.03,
    solve_ticks: 10,
    ticks: 1500,
    ..CARTPOLE_SWINGUP
};

/// A quadruped stands.
pub const GO1_STAND: Scenario = Scenario {
    name: "go1-stand",
    robot: robots::go1,
    horizon: 20,
    dt_s: 0.02,
    solve_ticks: 25,
    ticks: 1000,
    ..CARTPOLE_SWINGUP
};

/// A quadruped that is pushed sideways stays up.
pub const GO1_PUSH: Scenario =
    Scenario { name: "go1-push", ticks: 1500, push: Some((250, 50, [0.0, 40.0, 0.0])), ..GO1_STAND };

/// Every scenario.
pub const ALL: [Scenario; 5] = [CARTPOLE_SWINGUP, HOPPER_HOP, QUADROTOR_TAKEOFF, GO1_STAND, GO1_PUSH];

/// The scenario of that name.
pub fn find(name: &str) -> Option<Scenario> {
    ALL.into_iter().find(|scenario| scenario.name == name)
}

impl Scenario {
    /// What the memory of the solver is sized by.
    pub const fn dims(&self) -> MpcDims {
        MpcDims::new(self.robot.dims, self.horizon, TERMS)
    }

    /// Blocks of memory that all of it takes: solver, three plans, control loop.
    pub const fn blocks(&self) -> usize {
        Mpc::<f32>::blocks(self.dims())
            + 3 * PlanSlot::<f32>::blocks(self.dims())
            + Controller::<f32>::blocks(self.robot.dims)
            + TickLoop::blocks(self.robot.dims)
    }

    /// The same in bytes.
    pub const fn bytes(&self) -> usize {
        self.blocks() * (blocks_for::<Block>(1) * size_of::<Block>())
    }

    /// How the solver works: one iteration from the old plan.
    pub fn mpc_settings(&self) -> MpcSettings<f32> {
        let solver = Newton {
            tolerance: CONTACT_TOLERANCE,
            iterations: 4,
            path: CentralPath { max_iterations: 10, ..CentralPath::default() },
            ..Newton::default()
        };
        let gradient = Gradient::Relaxed { kappa: self.kappa as f32 };
        let step = StepSettings { gradient, solver, ..StepSettings::default() };
        let spacing = Spacing { first_s: self.dt_s, growth: self.growth };
        MpcSettings { step, spacing, start: Start::Gaps, max_iterations: 1, trials: 2, ..MpcSettings::default() }
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
