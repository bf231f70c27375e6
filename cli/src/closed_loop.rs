//! A controller and a plant in a loop: what `saltus run` runs, and tests and tuning with it.

mod outcome;
mod watcher;
mod work;
mod world;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use saltus::derivatives::Gradient;
use saltus::memory::{Arena, Block};
use saltus::model::{Model, OwnedModel};
use saltus::mpc::{Budget, Measured, Mpc, MpcDims, MpcSettings, Nanos, Plan, PolicyScratch, Report, Task, Team};
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_loaders::task::TaskSource;
use saltus_loaders::{LoadOptions, load};
use saltus_scenarios::{Judge, Scenario, Verdict, plant, prediction};

pub use outcome::Outcome;
use watcher::Watcher;
use work::{Work, believed};
use world::World;

/// Step of the plant: smaller than any step of a plan.
pub const PLANT_DT_S: f64 = 0.002;
/// Contact points that the plant has room for.
const PLANT_CONTACTS: usize = 48;

/// Iterations of the first solve, before the robot moves; it may take as many times the budget.
const FIRST_ITERATIONS: u16 = 50;

/// What may differ from the scenario's own figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Threads that linearize the plan side by side; none but the caller's for zero or one.
    pub threads: usize,
    /// How long a run lasts.
    pub seconds: Option<f64>,
    /// Time that a solve may take; without end if there is none, and then a run depends on its seed alone.
    pub budget: Option<Duration>,
    /// Steps of the plan.
    pub horizon: Option<usize>,
    /// Time from one solve to the next.
    pub period_s: Option<f64>,
    /// Which derivative the plan is made with.
    pub gradient: Option<Gradient<f64>>,
    /// Size of the push, N·s.
    pub impulse_ns: Option<f64>,
    /// Direction of the push, in eighths of a turn from forward to the left; that of the seed without it.
    pub direction: Option<u64>,
    /// Whether simulated time goes no faster than real time.
    pub real_time: bool,
}

/// A scenario or task with its two robots: the one believed in and the one that is there.
pub struct Loop {
    work: Work,
    prediction: OwnedModel<f64>,
    plant: OwnedModel<f64>,
}

/// A moment of a run, for whoever watches: a step of the plant, just taken.
pub struct Moment<'r> {
    /// Simulated time, at the end of the step.
    pub time_s: f64,
    /// Of the plant.
    pub q: &'r [f64],
    /// Of the plant.
    pub v: &'r [f64],
    /// The plant itself, with the contacts of the step.
    pub plant: &'r Simulator<'r, 'r, f64>,
    /// What the motors were told.
    pub u: &'r [f64],
    /// Whether there was a solve at its beginning, and it was not the first.
    pub solved: bool,
    /// Of the last solve.
    pub report: &'r Report<f64>,
    /// How long that took.
    pub solve_us: f64,
    /// Contact points of the plant.
    pub contacts: usize,
}

impl Loop {
    /// Loads the robot of a scenario.
    pub fn new(scenario: Scenario) -> Result<Self> {
        let loaded = load(scenario.facts().robot, &LoadOptions::default())?;
        Ok(Self {
            work: Work::Scenario(scenario),
            prediction: prediction(scenario.facts().robot, &loaded.model),
            plant: plant(&loaded.model),
        })
    }

    /// A task for a robot.
    pub fn of_task(source: &TaskSource, robot: &OwnedModel<f64>) -> Result<Self> {
        let task = source.resolve(robot.model())?;
        let prediction = believed(&task, robot);
        Ok(Self { work: Work::File(Box::new(task)), prediction, plant: plant(robot) })
    }

    /// The robot that plans are made for.
    pub fn prediction(&self) -> Model<'_, f64> {
        self.prediction.model()
    }

    /// Size of its push, N·s, if it has one.
    pub fn push_ns(&self) -> Option<f64> {
        self.work.push(0, None).map(|push| push.force_world.norm() * push.duration_s)
    }

    /// Time from one solve to the next.
    pub fn period_s(&self) -> f64 {
        self.work.period_s()
    }

    /// Settings of the optimizer with what `options` changes.
    pub fn settings(&self, options: &Options) -> MpcSettings<f64> {
        let mut settings = self.work.settings();
        if let Some(gradient) = options.gradient {
            settings.step.gradient = gradient;
        }
        settings
    }

    /// Sizes of the optimizer with what `options` changes.
    pub fn dims(&self, options: &Options) -> MpcDims {
        let dims = self.work.dims(self.prediction.model());
        MpcDims { horizon: options.horizon.unwrap_or(dims.horizon), ..dims }
    }

    /// Runs the loop once. `watch` sees every step of the plant; the run ends when it answers false.
    ///
    /// A plant or a controller that breaks down on the way is a failure of the run, not an error.
    pub fn run(&self, seed: u64, options: &Options, watch: impl FnMut(&Moment<'_>) -> bool + Send) -> Result<Outcome> {
        if options.threads < 2 {
            return self.run_among(None, seed, options, watch);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
        let pool = pool.build().context("cannot start threads")?;
        // The loop is one of the pool's threads: a solve then wakes the others only.
        pool.install(|| self.run_among(Some(&pool), seed, options, watch))
    }

    /// The same, on one of the threads of a pool if there is one.
    fn run_among(
        &self,
        pool: Option<&rayon::ThreadPool>,
        seed: u64,
        options: &Options,
        mut watch: impl FnMut(&Moment<'_>) -> bool,
    ) -> Result<Outcome> {
        let work = &self.work;
        let (model, plant) = (self.prediction.model(), self.plant.model());
        let dims = self.dims(options);
        let crowd = if options.threads > 1 { Team::<f64>::blocks(dims, options.threads) } else { 0 };
        let blocks = Mpc::<f64>::blocks(dims) + Policy::blocks(dims) + Watcher::blocks(dims) + crowd;
        let mut memory = vec![Block::EMPTY; blocks];
        let mut arena = Arena::new(&mut memory);
        let mut mpc = Mpc::new(model, self.settings(options), dims, &mut arena)?;
        mpc.reset(work.idle(model)?)?;
        let mut policy = Policy::carve(&mut arena, dims)?;
        let mut watcher = Watcher::carve(&mut arena, dims, work.observer_gain())?;
        let mut helpers = match pool {
            Some(pool) => Some((Team::carve(&mut arena, dims, options.threads)?, pool)),
            None => None,
        };
        let terms = work.terms(model)?;
        let task = Task::new(&terms);

        let step_dims = StepDims::of(plant, PLANT_CONTACTS);
        let mut plant_memory = vec![Block::EMPTY; Simulator::<f64>::blocks(step_dims)];
        let settings = StepSettings::with_dt(PLANT_DT_S);
        let mut simulator = Simulator::new(plant, settings, step_dims, &mut Arena::new(&mut plant_memory))?;
        let (q, v) = work.start(plant, seed)?;
        simulator.set_state(&q, &v)?;
        let direction = options.direction.unwrap_or(seed);
        let mut world = World::new(plant, work.push(direction, options.impulse_ns))?;

        let seconds = options.seconds.unwrap_or(work.seconds());
        let steps = (seconds / PLANT_DT_S).round() as u64;
        let period_s = options.period_s.unwrap_or(work.period_s());
        let steps_per_solve = (period_s / PLANT_DT_S).round().max(1.0) as u64;
        let mut judge = work.judge(seconds);
        let mut outcome = Outcome::default();
        let (mut report, mut solve_us) = (Report::default(), 0.0);
        let mut u = vec![0.0; model.nu()];
        let mut began = Instant::now();
        let mut tick = |step: u64, outcome: &mut Outcome| -> Result<bool> {
            let time_s = step as f64 * PLANT_DT_S;
            let now = Nanos((time_s * 1e9).round() as u64);
            let solved = step.is_multiple_of(steps_per_solve);
            if solved {
                // The plan made in the last period takes over; the next one is made meanwhile.
                if step > 0 {
                    policy.plan.copy_from(mpc.plan())?;
                }
                watcher.look(&mut mpc, simulator.q(), simulator.v())?;
                let measured = Measured { time: now, q: simulator.q(), v: simulator.v() };
                if step == 0 {
                    // Before it moves, a robot has time to think.
                    let usual = std::mem::replace(&mut mpc.settings.max_iterations, FIRST_ITERATIONS);
                    let budget = options.budget.map(|budget| budget * u32::from(FIRST_ITERATIONS));
                    (report, solve_us) = solve(&mut mpc, &task, measured, (budget, &mut helpers))?;
                    mpc.settings.max_iterations = usual;
                    outcome.note_first(&report, solve_us);
                    policy.plan.copy_from(mpc.plan())?;
                    began = Instant::now();
                } else {
                    (report, solve_us) = solve(&mut mpc, &task, measured, (options.budget, &mut helpers))?;
                    outcome.note(&report, solve_us);
                }
            }
            policy.control(model, now, simulator.q(), simulator.v(), &mut u)?;
            watcher.note(&u);
            world.push_at(time_s, &mut simulator)?;
            let stepped = simulator.step_with(&u, &[], &world.wrenches);
            let contacts = stepped.context("the plant broke down")?.detected.kept;
            outcome.time_s = time_s + PLANT_DT_S;
            if let Some(judge) = &mut judge {
                judge.watch(&world.sample(outcome.time_s, &mut simulator)?, PLANT_DT_S);
            }
            let time_s = outcome.time_s;
            let moment = Moment {
                time_s,
                q: simulator.q(),
                v: simulator.v(),
                plant: &simulator,
                u: &u,
                solved: solved && step > 0,
                report: &report,
                solve_us,
                contacts,
            };
            outcome.stopped = !watch(&moment);
            if options.real_time {
                let due = began + Duration::from_secs_f64(time_s);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            Ok(!outcome.stopped && !judge.as_ref().is_some_and(Judge::is_lost))
        };
        let mut broken = None;
        for step in 0..steps {
            match tick(step, &mut outcome) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    broken = Some(format!("{error:#}, at {:.3} s", outcome.time_s));
                    break;
                }
            }
        }
        outcome.verdict = match broken {
            Some(reason) => Verdict::Failure(reason),
            None => {
                let (q, v) = (simulator.q().to_vec(), simulator.v().to_vec());
                let at = Measured { time: Nanos((outcome.time_s * 1e9).round() as u64), q: &q, v: &v };
                let end = world.sample(outcome.time_s, &mut simulator)?;
                work.verdict(judge.as_ref(), plant, &end, &mut mpc, (at, &u))?
            }
        };
        outcome.mean_cost /= outcome.solves().max(1) as f64;
        Ok(outcome)
    }
}

/// Memory for threads that linearize side by side, and the threads.
type Helpers<'p, 'a> = Option<(Team<'a, f64>, &'p rayon::ThreadPool)>;

/// One solve by the wall clock.
fn solve(
    mpc: &mut Mpc<'_, '_, f64>,
    task: &Task<'_, f64>,
    measured: Measured<'_, f64>,
    (budget, helpers): (Option<Duration>, &mut Helpers<'_, '_>),
) -> Result<(Report<f64>, f64)> {
    let began = Instant::now();
    let clock = || Nanos(began.elapsed().as_nanos() as u64);
    let deadline = budget.map_or(Nanos::NEVER, |budget| Nanos(budget.as_nanos() as u64));
    let budget = Budget { clock: &clock, deadline };
    let report = match helpers {
        Some((team, pool)) => mpc.solve_with(task, measured, budget, (team, *pool))?,
        None => mpc.solve(task, measured, budget)?,
    };
    Ok((report, began.elapsed().as_secs_f64() * 1e6))
}

/// The plan that the motors follow, while the next one is made.
struct Policy<'a> {
    plan: Plan<'a, f64>,
    scratch: PolicyScratch<'a, f64>,
}

impl<'a> Policy<'a> {
    fn blocks(dims: MpcDims) -> usize {
        Plan::<f64>::blocks(dims) + PolicyScratch::<f64>::blocks(dims.step.robot)
    }

    fn carve(arena: &mut Arena<'a>, dims: MpcDims) -> Result<Self> {
        Ok(Self { plan: Plan::carve(arena, dims)?, scratch: PolicyScratch::carve(arena, dims.step.robot)? })
    }

    fn control(&mut self, model: Model<'_, f64>, now: Nanos, q: &[f64], v: &[f64], u: &mut [f64]) -> Result<()> {
        Ok(self.plan.control(model, now, (q, v), u, &mut self.scratch)?)
    }
}
