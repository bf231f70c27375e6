//! Loads every robot file of the peers' packages, and holds the model against the peer's figures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, Model};
use saltus_loaders::{LoadOptions, load};
use serde::{Deserialize, Serialize};

/// Largest deviation, relative to the largest figure of its kind: sums of some hundred products in another order.
const TOLERANCE: f64 = 1e-9;

/// What a peer's script wrote.
#[derive(Deserialize)]
struct Dump {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    file: String,
    path: PathBuf,
    free_flyer: bool,
    error: Option<String>,
    /// The joints have the order of the model, whatever their names: MJCF leaves many unnamed.
    #[serde(default)]
    same_order: bool,
    #[serde(default)]
    joints: Vec<PeerJoint>,
    #[serde(default)]
    states: Vec<PeerState>,
}

#[derive(Deserialize)]
struct PeerJoint {
    name: String,
    first_v: usize,
    nv: usize,
}

#[derive(Deserialize)]
struct PeerState {
    q: BTreeMap<String, Vec<f64>>,
    mass: f64,
    com: Option<[f64; 3]>,
    mass_matrix: Vec<f64>,
}

/// How the files fared with strict options; `lenient` repeats it for those refused, with options that mend them.
#[derive(Default, Serialize)]
pub struct Report {
    /// Files that became a model, fixed to the world and free-flying.
    loaded: usize,
    /// Models that differ from the peer's.
    disagree: usize,
    /// Files that were not loaded.
    refused: Vec<Refused>,
    /// Models whose figures were compared.
    compared: usize,
    /// Largest deviation from the peer, relative.
    worst: f64,
    /// What differed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disagreements: Vec<Refused>,
    /// Models that the peer refused, so that there was nothing to compare with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused_by_peer: Vec<Refused>,
    #[serde(skip)]
    loaded_files: BTreeSet<String>,
    /// With impossible inertias mended and followers free.
    #[serde(skip_serializing_if = "Option::is_none")]
    lenient: Option<Box<Report>>,
}

#[derive(Serialize)]
struct Refused {
    file: String,
    reason: String,
}

impl Case {
    /// What the peer calls the joint that carries a body.
    fn joint_name<'c>(&'c self, model: Model<'c, f64>, body: BodyId) -> &'c str {
        match self.joints.get(body.index() - 1) {
            Some(joint) if self.same_order => &joint.name,
            _ => model.joint_name(body),
        }
    }
}

/// Loads and compares everything that the scripts wrote into `folder`.
pub fn compare(folder: &Path) -> Result<Report> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let dump: Dump = serde_json::from_str(&text).with_context(|| format!("{} is no dump", path.display()))?;
        cases.extend(dump.cases);
    }
    let mut strict = Report::default();
    let mut lenient = Report::default();
    for case in &cases {
        if !strict.add(case, &options(case)) {
            lenient.add(case, &LoadOptions { balance_inertia: true, free_mimic: true, ..options(case) });
        }
    }
    lenient.count_files();
    strict.count_files();
    strict.lenient = Some(Box::new(lenient));
    Ok(strict)
}

fn options(case: &Case) -> LoadOptions {
    LoadOptions { free_flyer: case.free_flyer, ..LoadOptions::default() }
}

impl Report {
    fn count_files(&mut self) {
        let refused: BTreeSet<&str> = self.refused.iter().map(|refused| refused.file.as_str()).collect();
        self.loaded = self.loaded_files.iter().filter(|file| !refused.contains(file.as_str())).count();
    }

    /// Loads one file and compares it; false if it is refused.
    fn add(&mut self, case: &Case, options: &LoadOptions) -> bool {
        let note = |reason: String| Refused { file: case.file.clone(), reason };
        let robot = match load(&case.path, options) {
            Ok(robot) => robot,
            Err(error) => {
                let refused = note(without_folder(&error.to_string(), case));
                // One reason for each file: its second base seldom has another.
                if !self.refused.iter().any(|other| other.file == refused.file) {
                    self.refused.push(refused);
                }
                return false;
            }
        };
        self.loaded_files.insert(case.file.clone());
        if let Some(error) = &case.error {
            self.refused_by_peer.push(note(error.clone()));
            return true;
        }
        // A mended inertia differs from the file's, and so from the peer's.
        if robot.warnings.iter().any(|warning| warning.message.ends_with("mended")) {
            return true;
        }
        self.compared += 1;
        match deviation(robot.model.model(), case) {
            Ok(deviation) => {
                self.worst = self.worst.max(deviation);
                if deviation > TOLERANCE {
                    self.disagree += 1;
                    self.disagreements.push(note(format!("relative deviation {deviation:.1e}")));
                }
            }
            Err(error) => {
                self.disagree += 1;
                self.disagreements.push(note(format!("{error:#}")));
            }
        }
        true
    }
}

/// Paths of one machine say nothing on another.
fn without_folder(message: &str, case: &Case) -> String {
    let path = case.path.display().to_string();
    path.strip_suffix(&case.file).map_or(message.to_owned(), |folder| message.replace(folder, ""))
}

/// The largest relative deviation of mass, centre of mass and mass matrix over all states.
fn deviation(model: Model<'_, f64>, case: &Case) -> Result<f64> {
    anyhow::ensure!(
        model.nv() == case.joints.iter().map(|joint| joint.nv).sum::<usize>(),
        "{} degrees of freedom, the peer has {}",
        model.nv(),
        case.joints.iter().map(|joint| joint.nv).sum::<usize>()
    );
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut worst = 0.0_f64;
    for state in &case.states {
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims())?;
        let mut q = vec![0.0; model.nq()];
        for body in model.body_ids() {
            let name = case.joint_name(model, body);
            let theirs = state.q.get(name).with_context(|| format!("the peer has no joint \"{name}\""))?;
            let range = model.body(body).map(|body| body.q_range()).unwrap_or_default();
            anyhow::ensure!(range.len() == theirs.len(), "joint \"{name}\" has another number of coordinates");
            q[range].copy_from_slice(theirs);
        }
        dynamics::update(model, &q, &vec![0.0; model.nv()], &mut work)?;
        dynamics::mass_matrix(model, &mut work)?;
        worst = worst.max(relative(&[model.total_mass()], &[state.mass]));
        if let Some(com) = state.com {
            worst = worst.max(relative(dynamics::center_of_mass(&work).position_world.as_slice(), &com));
        }
        worst = worst.max(relative(&mass_matrix(model, &work, case)?, &state.mass_matrix));
    }
    Ok(worst)
}

/// Our mass matrix in the peer's order.
fn mass_matrix(model: Model<'_, f64>, work: &Dynamics<'_, f64>, case: &Case) -> Result<Vec<f64>> {
    let mut ours = vec![0; model.nv()];
    for joint in &case.joints {
        let body = model.body_ids().find(|&body| case.joint_name(model, body) == joint.name);
        let body = body.and_then(|body| model.body(body));
        let range = body.with_context(|| format!("saltus has no joint \"{}\"", joint.name))?.v_range();
        for (k, dof) in range.enumerate() {
            ours[joint.first_v + k] = dof;
        }
    }
    let matrix = work.mass_matrix_view(model.dims());
    let entry = |i: usize, j: usize| matrix[(i.max(j), i.min(j))];
    Ok(ours.iter().flat_map(|&i| ours.iter().map(move |&j| entry(i, j))).collect())
}

fn relative(ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.len() != theirs.len() {
        return f64::INFINITY;
    }
    let scale = theirs.iter().fold(f64::MIN_POSITIVE, |scale, x| scale.max(x.abs()));
    let largest = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
    // NaN counts as far off.
    largest.fold(0.0, |largest: f64, d| if d.is_nan() { f64::INFINITY } else { largest.max(d) }) / scale
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} files loaded, {} models compared, {} disagree, worst deviation {:.1e}, {} refused",
            self.loaded,
            self.compared,
            self.disagree,
            self.worst,
            self.refused.len()
        )?;
        for Refused { file, reason } in self.disagreements.iter() {
            writeln!(f, "  DISAGREES {file}: {reason}")?;
        }
        for Refused { file, reason } in self.refused.iter() {
            writeln!(f, "  refused {file}: {reason}")?;
        }
        match &self.lenient {
            Some(lenient) => write!(f, "of these, with inertias mended and followers free: {lenient}"),
            None => Ok(()),
        }
    }
}
