//! What a loop runs: a scenario of the registry, or a task from a file.

use anyhow::Result;
use saltus::model::{BodyId, GeometryId, Model, OwnedModel, configuration};
use saltus::mpc::{Measured, Mpc, MpcDims, MpcSettings, Task, Term};
use saltus::step::StepDims;
use saltus_loaders::task::TaskFile;
use saltus_scenarios::{Judge, Push, Sample, Scenario, Verdict, pushes, start};
use saltus_testkit::Random;

/// A scenario, or a task.
pub enum Work {
    Scenario(Scenario),
    File(Box<TaskFile>),
}

impl Work {
    /// How long a run lasts.
    pub fn seconds(&self) -> f64 {
        match self {
            Self::Scenario(scenario) => scenario.facts().seconds,
            Self::File(task) => task.seconds,
        }
    }

    /// Time from one solve to the next.
    pub fn period_s(&self) -> f64 {
        match self {
            Self::Scenario(scenario) => scenario.facts().period_s,
            Self::File(task) => task.period_s,
        }
    }

    /// Share of the model's error that an observer takes into account at every solve.
    pub fn observer_gain(&self) -> f64 {
        match self {
            Self::Scenario(scenario) => scenario.facts().observer_gain,
            Self::File(task) => task.observer_gain,
        }
    }

    /// How the optimizer works.
    pub fn settings(&self) -> MpcSettings<f64> {
        match self {
            Self::Scenario(scenario) => scenario.settings(),
            Self::File(task) => task.settings,
        }
    }

    /// Sizes of the optimizer.
    pub fn dims(&self, model: Model<'_, f64>) -> MpcDims {
        match self {
            Self::Scenario(scenario) => scenario.dims(model),
            Self::File(task) => MpcDims::new(StepDims::of(model, task.contacts), task.horizon, task.terms().len()),
        }
    }

    /// Controls that the first plan starts with.
    pub fn idle<'s>(&'s self, model: Model<'s, f64>) -> Result<&'s [f64]> {
        match self {
            Self::Scenario(scenario) => Ok(scenario.idle(model)?),
            Self::File(task) => Ok(&task.idle),
        }
    }

    /// What is asked of the robot.
    pub fn terms<'s>(&'s self, model: Model<'s, f64>) -> Result<Vec<Term<'s, f64>>> {
        match self {
            Self::Scenario(scenario) => Ok(scenario.terms(model)?.into_iter().collect()),
            Self::File(task) => Ok(task.terms()),
        }
    }

    /// Configuration and velocity at the start.
    pub fn start(&self, model: Model<'_, f64>, seed: u64) -> Result<(Vec<f64>, Vec<f64>)> {
        match self {
            Self::Scenario(scenario) => Ok(start(*scenario, model, seed)?),
            Self::File(task) => disturbed(task, model, seed),
        }
    }

    /// What pushes the robot.
    pub fn push(&self, direction: u64, impulse_ns: Option<f64>) -> Option<Push> {
        match self {
            Self::Scenario(scenario) => pushes(*scenario, direction, impulse_ns),
            Self::File(_) => None,
        }
    }

    /// Who watches a run of `seconds`.
    pub fn judge(&self, seconds: f64) -> Option<Judge> {
        match self {
            Self::Scenario(scenario) => Some(Judge::new(*scenario, seconds)),
            Self::File(_) => None,
        }
    }

    /// The verdict of a run that came to its end.
    pub fn verdict(
        &self,
        judge: Option<&Judge>,
        model: Model<'_, f64>,
        end: &Sample<'_>,
        mpc: &mut Mpc<'_, '_, f64>,
        (at, control): (Measured<'_, f64>, &[f64]),
    ) -> Result<Verdict> {
        match (self, judge) {
            (Self::File(task), _) => missed(task, mpc, at, control),
            (_, Some(judge)) => Ok(judge.finish(model, end)),
            (_, None) => Ok(Verdict::Success),
        }
    }
}

/// The robot as the plan of a task believes it to be: without dry friction in the joints, and touching nothing but what
/// does not move, with the geometries that the task names.
pub fn believed(task: &TaskFile, robot: &OwnedModel<f64>) -> OwnedModel<f64> {
    let mut prediction = robot.clone();
    prediction.dofs_mut().iter_mut().for_each(|dof| dof.dry_friction = 0.0);
    let model = robot.model();
    let is_ground = |id: GeometryId| model.geometries[id.index()].body == BodyId::WORLD;
    let touches = |id: GeometryId| task.touches.as_ref().is_none_or(|named| named.contains(&id));
    prediction.retain_pairs(|pair| (is_ground(pair.a) && touches(pair.b)) || (is_ground(pair.b) && touches(pair.a)));
    prediction
}

/// The start of a task with joints and velocities a little off; seed zero is undisturbed.
fn disturbed(task: &TaskFile, model: Model<'_, f64>, seed: u64) -> Result<(Vec<f64>, Vec<f64>)> {
    let start = &task.start;
    let mut random = Random::new(seed);
    let size = if seed == 0 { 0.0 } else { 1.0 };
    let mut offset = random.vector(model.nv());
    offset.iter_mut().for_each(|x| *x *= size * start.joint_spread);
    // A robot that stands starts where its feet are: only its joints vary.
    if model.bodies.first().is_some_and(|body| body.joint.nv() == 6) {
        offset[..6].fill(0.0);
    }
    let mut q = start.q.clone();
    configuration::integrate(model, &start.q, &offset, &mut q)?;
    let v = start.v.iter().map(|v| v + size * start.speed_spread * random.signed()).collect();
    Ok((q, v))
}

/// Which goals of a task were not reached.
fn missed(task: &TaskFile, mpc: &mut Mpc<'_, '_, f64>, at: Measured<'_, f64>, control: &[f64]) -> Result<Verdict> {
    let dt_s = task.settings.spacing.first_s;
    for goal in task.goals() {
        // ½ weight dt ‖r‖² with a weight that leaves ‖r‖².
        let term = Term { weight: 2.0 / dt_s, ..goal.term };
        let (square, _) = mpc.expand(&Task::new(&[term]), at, control, dt_s)?;
        let norm = square.max(0.0).sqrt();
        if norm.is_nan() || norm > goal.within {
            let reason = format!("{} off by {norm:.4} in the end, asked: {}", goal.name, goal.within);
            return Ok(Verdict::Failure(reason));
        }
    }
    Ok(Verdict::Success)
}
