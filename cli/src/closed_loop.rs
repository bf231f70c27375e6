//! A controller and a plant in a loop: what `saltus run` runs, and tests and tuning with it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use nalgebra::Vector3;
use saltus::derivatives::Gradient;
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, Model, OwnedModel};
use saltus::mpc::{
    Budget, Measured, Mpc, MpcDims, MpcSettings, Nanos, Plan, PolicyScratch, Report, Status, Task, Times,
};
use saltus::spatial::Force;
use saltus::spatial::vector::multiply_transposed;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_loaders::{LoadOptions, load};
use saltus_scenarios::{Judge, Sample, Scenario, Verdict, plant, prediction, pushes, start};

/// Step of the plant: smaller than any step of a plan.
pub const PLANT_DT_S: f64 = 0.002;
/// Contact points that the plant has room for.
const PLANT_CONTACTS: usize = 48;

/// What may differ from the scenario's own figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How long a run lasts.
    pub seconds: Option<f64>,
    /// Time that a solve may take; without end if there is none, and then a run depends on its seed alone.
    pub budget: Option<Duration>,
    /// Steps of the plan.
    pub horizon: Option<usize>,
    /// Which derivative the plan is made with.
    pub gradient: Option<Gradient<f64>>,
    /// Size of the push, N·s.
    pub impulse_ns: Option<f64>,
    /// Whether simulated time goes no faster than real time.
    pub real_time: bool,
}

/// A scenario with its two robots: the one believed in and the one that is there.
pub struct Loop {
    scenario: Scenario,
    prediction: OwnedModel<f64>,
    plant: OwnedModel<f64>,
}

/// A moment of a run, for whoever watches.
pub struct Moment<'r> {
    /// Simulated time.
    pub time_s: f64,
    /// Of the plant.
    pub q: &'r [f64],
    /// Of the plant.
    pub v: &'r [f64],
    /// What the motors were told.
    pub u: &'r [f64],
    /// Of the last solve.
    pub report: &'r Report<f64>,
    /// How long that took.
    pub solve_us: f64,
    /// Contact points of the plant.
    pub contacts: usize,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether it did what it should.
    pub verdict: Verdict,
    /// Cost of the plans, averaged over the run.
    pub mean_cost: f64,
    /// How often a solve ended in which way.
    pub statuses: BTreeMap<String, u64>,
    /// How long each solve took.
    pub solve_us: Vec<f64>,
    /// Where the time went, of all solves together.
    pub times: Times,
    /// Simulated time at the end.
    pub time_s: f64,
    /// The watcher ended it.
    pub stopped: bool,
}

impl Loop {
    /// Loads the robot of a scenario.
    pub fn new(scenario: Scenario) -> Result<Self> {
        let loaded = load(scenario.facts().robot, &LoadOptions::default())?;
        Ok(Self { scenario, prediction: prediction(&loaded.model), plant: plant(&loaded.model) })
    }

    /// The robot that plans are made for.
    pub fn prediction(&self) -> Model<'_, f64> {
        self.prediction.model()
    }

    /// Settings of the optimizer with what `options` changes.
    pub fn settings(&self, options: &Options) -> MpcSettings<f64> {
        let mut settings: MpcSettings<f64> = self.scenario.settings();
        if let Some(gradient) = options.gradient {
            settings.step.gradient = gradient;
        }
        settings
    }

    /// Sizes of the optimizer with what `options` changes.
    pub fn dims(&self, options: &Options) -> MpcDims {
        let dims = self.scenario.dims(self.prediction.model());
        MpcDims { horizon: options.horizon.unwrap_or(dims.horizon), ..dims }
    }

    /// Runs the loop once. `watch` sees every tick; the run ends when it answers false.
    pub fn run(&self, seed: u64, options: &Options, mut watch: impl FnMut(&Moment<'_>) -> bool) -> Result<Outcome> {
        let (scenario, facts) = (self.scenario, self.scenario.facts());
        let (model, plant) = (self.prediction.model(), self.plant.model());
        let dims = self.dims(options);
        let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
        let mut mpc = Mpc::new(model, self.settings(options), dims, &mut Arena::new(&mut memory))?;
        mpc.reset(scenario.idle(model)?)?;
        let terms = scenario.terms(model)?;
        let task = Task::new(&terms);
        let mut policy = Policy::new(model, dims)?;

        let step_dims = StepDims::of(plant, PLANT_CONTACTS);
        let mut plant_memory = vec![Block::EMPTY; Simulator::<f64>::blocks(step_dims)];
        let settings = StepSettings::with_dt(PLANT_DT_S);
        let mut simulator = Simulator::new(plant, settings, step_dims, &mut Arena::new(&mut plant_memory))?;
        let (q, v) = start(scenario, plant, seed)?;
        simulator.set_state(&q, &v)?;
        let mut world = World::new(plant, scenario, seed, options)?;

        let seconds = options.seconds.unwrap_or(facts.seconds);
        let steps = (seconds / PLANT_DT_S).round() as u64;
        let steps_per_solve = (facts.period_s / PLANT_DT_S).round().max(1.0) as u64;
        let mut judge = Judge::new(scenario, seconds);
        let mut outcome = Outcome::default();
        let (mut report, mut solve_us) = (Report::default(), 0.0);
        let mut u = vec![0.0; model.nu()];
        let began = Instant::now();
        for step in 0..steps {
            let time_s = step as f64 * PLANT_DT_S;
            let now = Nanos((time_s * 1e9).round() as u64);
            if step.is_multiple_of(steps_per_solve) {
                // The plan made in the last period takes over; the next one is made meanwhile.
                policy.take_over(mpc.plan(), step > 0)?;
                let measured = Measured { time: now, q: simulator.q(), v: simulator.v() };
                (report, solve_us) = solve(&mut mpc, &task, measured, options.budget)?;
                outcome.note(&report, solve_us);
                if step == 0 {
                    policy.take_over(mpc.plan(), true)?;
                }
            }
            policy.control(model, now, simulator.q(), simulator.v(), &mut u)?;
            world.push_at(time_s, &mut simulator)?;
            let stepped = simulator.step_with(&u, &[], &world.wrenches);
            let contacts = stepped.with_context(|| format!("the plant at {time_s:.3} s"))?.detected.kept;
            let sample = world.sample(time_s + PLANT_DT_S, &mut simulator)?;
            judge.watch(&sample, PLANT_DT_S);
            outcome.time_s = sample.time_s;
            let moment = Moment { time_s, q: sample.q, v: sample.v, u: &u, report: &report, solve_us, contacts };
            if !watch(&moment) {
                outcome.stopped = true;
                break;
            }
            if judge.is_lost() {
                break;
            }
            if options.real_time {
                let due = began + Duration::from_secs_f64(time_s + PLANT_DT_S);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        }
        let end = world.sample(outcome.time_s, &mut simulator)?;
        outcome.verdict = judge.finish(plant, &end);
        outcome.mean_cost /= outcome.solve_us.len().max(1) as f64;
        Ok(outcome)
    }
}

/// One solve by the wall clock.
fn solve(
    mpc: &mut Mpc<'_, '_, f64>,
    task: &Task<'_, f64>,
    measured: Measured<'_, f64>,
    budget: Option<Duration>,
) -> Result<(Report<f64>, f64)> {
    let began = Instant::now();
    let clock = || Nanos(began.elapsed().as_nanos() as u64);
    let deadline = budget.map_or(Nanos::NEVER, |budget| Nanos(budget.as_nanos() as u64));
    let report = mpc.solve(task, measured, Budget { clock: &clock, deadline })?;
    Ok((report, began.elapsed().as_secs_f64() * 1e6))
}

/// The plan that the motors follow, while the next one is made.
struct Policy {
    plan: Plan<'static, f64>,
    scratch: PolicyScratch<'static, f64>,
}

impl Policy {
    fn new(model: Model<'_, f64>, dims: MpcDims) -> Result<Self> {
        // A few kilobytes per run, kept for the life of the program.
        let blocks = Plan::<f64>::blocks(dims) + PolicyScratch::<f64>::blocks(model.dims());
        let mut arena = Arena::new(vec![Block::EMPTY; blocks].leak());
        Ok(Self { plan: Plan::carve(&mut arena, dims)?, scratch: PolicyScratch::carve(&mut arena, model.dims())? })
    }

    fn take_over(&mut self, plan: &Plan<'_, f64>, there: bool) -> Result<()> {
        if there { Ok(self.plan.copy_from(plan)?) } else { Ok(()) }
    }

    fn control(&mut self, model: Model<'_, f64>, now: Nanos, q: &[f64], v: &[f64], u: &mut [f64]) -> Result<()> {
        Ok(self.plan.control(model, now, (q, v), u, &mut self.scratch)?)
    }
}

/// What surrounds the plant: pushes, and a tool to look at.
struct World {
    push: Option<(saltus_scenarios::Push, BodyId)>,
    wrenches: Vec<Force<f64>>,
    tool: Option<saltus::model::FrameId>,
    flange: Option<saltus::model::GeometryId>,
}

impl World {
    fn new(plant: Model<'_, f64>, scenario: Scenario, seed: u64, options: &Options) -> Result<Self> {
        let push = match pushes(scenario, seed, options.impulse_ns) {
            Some(push) => {
                let body = plant.find_body(push.body).ok_or_else(|| anyhow!("the robot has no body {}", push.body))?;
                Some((push, body))
            }
            None => None,
        };
        let wrenches = vec![Force::ZERO; plant.bodies.len()];
        Ok(Self { push, wrenches, tool: plant.find_frame("tool"), flange: plant.find_geometry("flange") })
    }

    /// Sets the wrenches of this moment.
    fn push_at(&mut self, time_s: f64, simulator: &mut Simulator<'_, '_, f64>) -> Result<()> {
        let Some((push, body)) = &self.push else { return Ok(()) };
        let (model, q, v) = (simulator.model(), simulator.q().to_vec(), simulator.v().to_vec());
        let pushes = time_s >= push.start_s && time_s < push.start_s + push.duration_s;
        let wrench = &mut self.wrenches[body.index() - 1];
        *wrench = Force::ZERO;
        if pushes {
            let kinematics = &mut simulator.work_mut().dynamics.kinematics;
            saltus::kinematics::forward(model, &q, &v, kinematics)?;
            let rotation = kinematics.body_placement_world(*body)?.rotation;
            wrench.linear = multiply_transposed(&rotation, &push.force_world);
        }
        Ok(())
    }

    fn sample<'s>(&self, time_s: f64, simulator: &'s mut Simulator<'_, '_, f64>) -> Result<Sample<'s>> {
        let force_n = self.flange.map_or(0.0, |flange| normal_force(simulator, flange));
        let mut tool_world = Vector3::zeros();
        if let Some(tool) = self.tool {
            let (model, q, v) = (simulator.model(), simulator.q().to_vec(), simulator.v().to_vec());
            let kinematics = &mut simulator.work_mut().dynamics.kinematics;
            saltus::kinematics::forward(model, &q, &v, kinematics)?;
            tool_world = kinematics.frame_placement_world(model, tool)?.translation;
        }
        Ok(Sample { time_s, q: simulator.q(), v: simulator.v(), tool_world, force_n })
    }
}

/// Normal force on a geometry in the step just taken.
fn normal_force(simulator: &Simulator<'_, '_, f64>, geometry: saltus::model::GeometryId) -> f64 {
    let model = simulator.model();
    let touches = |pair: u16| {
        let pair = &model.pairs[usize::from(pair)];
        pair.a == geometry || pair.b == geometry
    };
    let contacts = simulator.work().contacts().filter(|held| touches(held.contact.pair));
    contacts.map(|held| held.impulse_world.dot(&held.contact.at.normal) / PLANT_DT_S).sum()
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            verdict: Verdict::Success,
            mean_cost: 0.0,
            statuses: BTreeMap::new(),
            solve_us: Vec::new(),
            times: Times::default(),
            time_s: 0.0,
            stopped: false,
        }
    }
}

impl Outcome {
    fn note(&mut self, report: &Report<f64>, solve_us: f64) {
        self.mean_cost += report.cost;
        *self.statuses.entry(name(report.status)).or_default() += 1;
        self.solve_us.push(solve_us);
        let (sum, one) = (&mut self.times, &report.times);
        sum.rollout += one.rollout;
        sum.step += one.step;
        sum.derivatives += one.derivatives;
        sum.cost += one.cost;
        sum.backward += one.backward;
        sum.line_search += one.line_search;
        sum.total += one.total;
    }
}

/// A status as a key: `iteration_limit`.
fn name(status: Status) -> String {
    status.to_string().replace(' ', "_")
}
