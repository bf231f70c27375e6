//! Tasks for the optimizer, from TOML files.
//!
//! ```text
//! TaskSource (text) ─► robot ─► saltus_loaders::load ─► TaskSource::resolve(model) ─► TaskFile { settings, terms, … }
//! ```
//!
//! `docs/tasks.md` names every key. Names of bodies, frames, joints, geometries and keyframes are looked up in the
//! robot; what is wrong is a [`LoadError`] with file, line and key, the value found and what was expected.

mod gradient;
mod reference;
mod table;
mod term;

use std::path::{Path, PathBuf};

use saltus::model::{GeometryId, Model};
use saltus::mpc::{MpcSettings, Spacing, Start, Term};

use crate::xml::read_text;
use crate::{Limits, LoadError, LoadProblem};
pub use gradient::parse_gradient;
use reference::{geometries, keyframe};
use table::{Table, at_least_zero, positive, share};
use term::OwnedTerm;

/// Most steps, contacts or iterations that a file may ask for: a slip of the key must not ask for all memory.
const MOST: usize = 10_000;
/// The keyframe when none is named.
const REST: &str = "rest";

/// The text of a task, not yet read.
#[derive(Clone, Debug)]
pub struct TaskSource {
    path: PathBuf,
    text: String,
}

/// What a robot should do, how its optimizer works, and for how long.
#[derive(Clone, Debug)]
pub struct TaskFile {
    /// The file's name without folder and extension.
    pub name: String,
    /// How long a run lasts.
    pub seconds: f64,
    /// Time from one solve to the next.
    pub period_s: f64,
    /// Where a run starts.
    pub start: StartState,
    /// Controls that the first plan starts with.
    pub idle: Vec<f64>,
    /// Steps of the plan.
    pub horizon: usize,
    /// Contact points that the plan has room for.
    pub contacts: usize,
    /// Geometries that the plan lets touch the ground; all without a list.
    pub touches: Option<Vec<GeometryId>>,
    /// Share of the model's error that an observer takes into account at every solve; zero for none.
    pub observer_gain: f64,
    /// How the optimizer works.
    pub settings: MpcSettings<f64>,
    terms: Vec<OwnedTerm>,
}

/// Where a run starts, and how far seeds other than zero are off.
#[derive(Clone, Debug, PartialEq)]
pub struct StartState {
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// Of the joints, rad or m.
    pub joint_spread: f64,
    /// Of the velocities, rad/s or m/s.
    pub speed_spread: f64,
}

/// A term that must be small in the end.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'t> {
    /// What it is: the residual, and of what.
    pub name: &'t str,
    /// The residual, with weight one.
    pub term: Term<'t, f64>,
    /// Most that its norm may be.
    pub within: f64,
}

impl TaskSource {
    /// Reads a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let text = read_text(path.as_ref(), &Limits::default())?;
        Ok(Self::from_text(path.as_ref(), text))
    }

    /// From text; `path`, which need not exist, is named in errors.
    pub fn from_text(path: &Path, text: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), text: text.into() }
    }

    /// The robot that the file names, and whether its root flies freely. Its file is looked for beside the task first.
    pub fn robot(&self) -> Result<(Option<PathBuf>, bool), LoadError> {
        let document = table::parse(&self.path, &self.text)?;
        let root = Table::root(&self.path, &self.text, &document);
        let robot = root.text_of("robot")?.map(|name| {
            let beside = self.path.with_file_name(name);
            if beside.is_file() { beside } else { PathBuf::from(name) }
        });
        Ok((robot, root.flag("free_flyer")?.unwrap_or(false)))
    }

    /// Reads the task for a robot.
    ///
    /// ```
    /// use std::path::Path;
    /// use saltus_loaders::{LoadOptions, load, task::TaskSource};
    ///
    /// let text = "
    ///     seconds = 2.0
    ///     [plan]
    ///     horizon = 10
    ///     step_s = 0.02
    ///     [[term]]
    ///     residual = 'posture'
    ///     keyframe = 'rest'
    ///     weight = 1.0
    /// ";
    /// let robot = load("pendulum", &LoadOptions::default())?.model;
    /// let task = TaskSource::from_text(Path::new("hang.toml"), text).resolve(robot.model())?;
    /// assert_eq!((task.horizon, task.terms().len()), (10, 1));
    /// # Ok::<(), saltus_loaders::LoadError>(())
    /// ```
    pub fn resolve(&self, model: Model<'_, f64>) -> Result<TaskFile, LoadError> {
        let document = table::parse(&self.path, &self.text)?;
        let root = Table::root(&self.path, &self.text, &document);
        root.only(&["robot", "free_flyer", "seconds", "period_s", "start", "plan", "term"])?;
        let start = read_start(&root, model)?;
        let plan = root.required_table("plan")?;
        plan.only(&[
            "horizon",
            "step_s",
            "growth",
            "contacts",
            "idle",
            "gradient",
            "iterations",
            "trials",
            "contact_margin_m",
            "warm_start",
            "touches",
            "observer_gain",
        ])?;
        let idle = match plan.text_of("idle")? {
            Some(name) => keyframe(&plan, "idle", name, model)?.u.to_vec(),
            None => start.1,
        };
        let terms = root.tables("term")?;
        if terms.is_empty() {
            return Err(LoadError::of_file(&self.path, LoadProblem::Missing { what: "[[term]]".to_owned() }));
        }
        let name = self.path.file_stem().map_or("task".into(), |stem| stem.to_string_lossy().into_owned());
        Ok(TaskFile {
            name,
            seconds: root.required_number("seconds", positive)?,
            period_s: root.number("period_s", positive)?.unwrap_or(0.02),
            start: start.0,
            idle,
            horizon: plan.required_count("horizon", MOST)?,
            contacts: plan.count("contacts", MOST)?.unwrap_or(16),
            touches: geometries(&plan, "touches", model)?,
            observer_gain: plan.number("observer_gain", share)?.unwrap_or(0.0),
            settings: read_settings(&plan)?,
            terms: terms.iter().map(|table| OwnedTerm::read(table, model)).collect::<Result<_, _>>()?,
        })
    }
}

impl TaskFile {
    /// The terms of the cost.
    pub fn terms(&self) -> Vec<Term<'_, f64>> {
        self.terms.iter().map(OwnedTerm::term).collect()
    }

    /// What must be small in the end, for the run to count as a success.
    pub fn goals(&self) -> Vec<Goal<'_>> {
        self.terms.iter().filter_map(OwnedTerm::goal).collect()
    }
}

/// The start, and the controls of its keyframe.
fn read_start(root: &Table<'_>, model: Model<'_, f64>) -> Result<(StartState, Vec<f64>), LoadError> {
    let Some(table) = root.table("start")? else {
        let rest = keyframe(root, "[start] keyframe", REST, model)?;
        let start = StartState { q: rest.q.to_vec(), v: rest.v.to_vec(), joint_spread: 0.0, speed_spread: 0.0 };
        return Ok((start, rest.u.to_vec()));
    };
    table.only(&["keyframe", "joint_spread", "speed_spread"])?;
    let name = table.text_of("keyframe")?.unwrap_or(REST);
    let keyframe = keyframe(&table, "keyframe", name, model)?;
    let start = StartState {
        q: keyframe.q.to_vec(),
        v: keyframe.v.to_vec(),
        joint_spread: table.number("joint_spread", at_least_zero)?.unwrap_or(0.0),
        speed_spread: table.number("speed_spread", at_least_zero)?.unwrap_or(0.0),
    };
    Ok((start, keyframe.u.to_vec()))
}

fn read_settings(plan: &Table<'_>) -> Result<MpcSettings<f64>, LoadError> {
    let first_s = plan.required_number("step_s", positive)?;
    let growth = plan.number("growth", positive)?.unwrap_or(1.0);
    let mut settings = MpcSettings { spacing: Spacing { first_s, growth }, ..MpcSettings::default() };
    if let Some(text) = plan.text_of("gradient")? {
        settings.step.gradient = parse_gradient(text).map_err(|expected| plan.unexpected("gradient", expected))?;
    }
    if let Some(iterations) = plan.count("iterations", MOST)? {
        settings.max_iterations = iterations as u16;
    }
    if let Some(trials) = plan.count("trials", MOST)? {
        settings.trials = trials as u16;
    }
    if let Some(margin) = plan.number("contact_margin_m", at_least_zero)? {
        settings.step.contact_margin_m = margin;
    }
    settings.start = match plan.text_of("warm_start")? {
        None | Some("rollout") => Start::Rollout,
        Some("gaps") => Start::Gaps,
        Some(_) => return Err(plan.unexpected("warm_start", "\"rollout\" or \"gaps\"")),
    };
    Ok(settings)
}
