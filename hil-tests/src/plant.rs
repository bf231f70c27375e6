//! The robot on the other side of the link, in `f32`: the same bits on every host, so the same instructions on the target.

use anyhow::{Context, Result};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, Transmission};
use saltus::nalgebra::Vector3;
use saltus::realtime::Mode;
use saltus::spatial::Force;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_control::Scenario;

/// Room for contacts: more than the controller has.
const CONTACTS: usize = 32;

/// What the motors of the plant were told last.
#[derive(Clone, Debug)]
pub struct Orders {
    /// How the command came about.
    pub mode: Mode,
    /// One number per motor.
    pub u: Vec<f32>,
    /// Against each motor's own speed.
    pub damping: f32,
}

/// A simulated robot.
pub struct Plant {
    simulator: Simulator<'static, 'static, f32>,
    scenario: Scenario,
    tick: u32,
    wrenches: Vec<Force<f32>>,
    control: Vec<f32>,
}

impl Plant {
    /// The robot of a scenario in its first state. Its memory is never freed: a run has one plant.
    pub fn new(scenario: &Scenario) -> Result<Self> {
        let model = *scenario.robot.model;
        let dims = StepDims::of(model, CONTACTS);
        let memory = vec![Block::EMPTY; Simulator::<f32>::blocks(dims)].leak();
        let settings = StepSettings::with_dt(scenario.tick_us as f32 * 1e-6);
        let mut simulator = Simulator::new(model, settings, dims, &mut Arena::new(memory))?;
        let start = model.find_keyframe(scenario.from).context("the robot lacks the keyframe to start from")?;
        simulator.set_keyframe(&start)?;
        let wrenches = vec![Force::ZERO; model.bodies.len()];
        Ok(Self { simulator, scenario: *scenario, tick: 0, wrenches, control: vec![0.0; model.nu()] })
    }

    /// Configuration and velocity.
    pub fn state(&self) -> (&[f32], &[f32]) {
        (self.simulator.q(), self.simulator.v())
    }

    /// One tick under the given orders.
    pub fn step(&mut self, orders: &Orders) -> Result<()> {
        let model = *self.scenario.robot.model;
        self.control.copy_from_slice(&orders.u);
        match orders.mode {
            Mode::Damping => damp(model, self.simulator.v(), orders.damping, &mut self.control),
            Mode::Stop => self.control.fill(0.0),
            _ => {}
        }
        self.push();
        self.simulator.step_with(&self.control, &[], &self.wrenches).context("the simulated robot failed")?;
        self.tick += 1;
        Ok(())
    }

    /// The push of the scenario, in the frame of the first body.
    fn push(&mut self) {
        let Some((first, count, force)) = self.scenario.push else { return };
        let active = (first..first + count).contains(&self.tick);
        let world = if active { Vector3::from(force) } else { Vector3::zeros() };
        let rotation = self.simulator.work().dynamics.kinematics.placement[1].rotation;
        if let Some(wrench) = self.wrenches.first_mut() {
            *wrench = Force { linear: rotation.transpose() * world, angular: Vector3::zeros() };
        }
    }
}

/// What motors that damp do by themselves.
fn damp(model: Model<'_, f32>, v: &[f32], damping: f32, control: &mut [f32]) {
    for (u, actuator) in control.iter_mut().zip(model.actuators) {
        let speed = match actuator.transmission {
            Transmission::Joint { dof, gear } => gear * v[usize::from(dof)],
            Transmission::Frame { .. } => 0.0,
        };
        *u = actuator.control_range.clamp(-damping * speed);
    }
}
