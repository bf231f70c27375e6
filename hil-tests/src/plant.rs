//! The robot on the other side of the link, in `f32`: the same bits on every host, so the same instructions on the target.

use anyhow::{Context, Result};
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, Model, Transmission};
use saltus::nalgebra::Vector3;
use saltus::realtime::Mode;
use saltus::spatial::Force;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_control::Scenario;
use saltus_loaders::{LoadOptions, load};
use saltus_scenarios::{Judge, Push, Sample, Verdict, plant, pushes, start};

/// Room for contacts: more than the controller has.
const CONTACTS: usize = 48;

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

/// A simulated robot: heavier than its controller believes, on more slippery ground.
pub struct Plant {
    simulator: Simulator<'static, 'static, f32>,
    double: Model<'static, f64>,
    push: Option<(BodyId, Push)>,
    tick: u32,
    tick_s: f64,
    wrenches: Vec<Force<f32>>,
    control: Vec<f32>,
}

impl Plant {
    /// The robot of a scenario in the first state of a seed. Its memory is never freed: a run has one plant.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self> {
        let robot = plant(&load(scenario.task.facts().robot, &LoadOptions::default())?.model);
        let model = Box::leak(Box::new(robot.cast::<f32>())).model();
        let double = Box::leak(Box::new(robot)).model();
        let dims = StepDims::of(model, CONTACTS);
        let memory = vec![Block::EMPTY; Simulator::<f32>::blocks(dims)].leak();
        let settings = StepSettings::with_dt(scenario.tick_us as f32 * 1e-6);
        let mut simulator = Simulator::new(model, settings, dims, &mut Arena::new(memory))?;
        let (q, v) = start(scenario.task, double, seed)?;
        let single = |x: Vec<f64>| x.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
        simulator.set_state(&single(q), &single(v))?;
        let push = pushes(scenario.task, seed, None)
            .map(|push| Ok::<_, anyhow::Error>((model.find_body(push.body).context("no such body")?, push)))
            .transpose()?;
        let wrenches = vec![Force::ZERO; model.bodies.len()];
        let tick_s = f64::from(scenario.tick_us) * 1e-6;
        Ok(Self { simulator, double, push, tick: 0, tick_s, wrenches, control: vec![0.0; model.nu()] })
    }

    /// Configuration and velocity.
    pub fn state(&self) -> (&[f32], &[f32]) {
        (self.simulator.q(), self.simulator.v())
    }

    /// One tick under the given orders.
    pub fn step(&mut self, orders: &Orders) -> Result<()> {
        self.control.copy_from_slice(&orders.u);
        match orders.mode {
            Mode::Damping => damp(self.simulator.model(), self.simulator.v(), orders.damping, &mut self.control),
            Mode::Stop => self.control.fill(0.0),
            _ => {}
        }
        self.push();
        self.simulator.step_with(&self.control, &[], &self.wrenches).context("the simulated robot failed")?;
        self.tick += 1;
        Ok(())
    }

    /// Shows the present state to the judge.
    pub fn show(&self, judge: &mut Judge) {
        let (q, v) = self.doubled();
        judge.watch(&self.sample(&q, &v), self.tick_s);
    }

    /// What the judge says at the end.
    pub fn verdict(&self, judge: &Judge) -> Verdict {
        let (q, v) = self.doubled();
        judge.finish(self.double, &self.sample(&q, &v))
    }

    fn doubled(&self) -> (Vec<f64>, Vec<f64>) {
        let double = |x: &[f32]| x.iter().copied().map(f64::from).collect();
        (double(self.simulator.q()), double(self.simulator.v()))
    }

    /// None of these robots has a tool.
    fn sample<'s>(&self, q: &'s [f64], v: &'s [f64]) -> Sample<'s> {
        let time_s = f64::from(self.tick) * self.tick_s;
        Sample { time_s, q, v, tool_world: Vector3::zeros(), force_n: 0.0 }
    }

    /// The push of the scenario, in the frame of the body.
    fn push(&mut self) {
        let Some((body, push)) = &self.push else { return };
        let since = f64::from(self.tick) * self.tick_s - push.start_s;
        let active = (0.0..push.duration_s).contains(&since);
        let world = if active { push.force_world.map(|x| x as f32) } else { Vector3::zeros() };
        let rotation = self.simulator.work().dynamics.kinematics.placement[body.index()].rotation;
        self.wrenches[body.index() - 1] = Force { linear: rotation.transpose() * world, angular: Vector3::zeros() };
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
