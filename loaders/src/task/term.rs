//! Terms of the cost.

use nalgebra::Vector3;
use saltus::model::{Keyframe, Model};
use saltus::mpc::{Dofs, Moving, Residual, Term};
use saltus::spatial::lie::matrix_to_quaternion;

use super::Goal;
use super::reference::{center_of_mass, dofs, geometry, keyframe, placement, target};
use super::table::{Table, any, at_least_zero, positive};
use crate::LoadError;

/// A term that owns its references.
#[derive(Clone, Debug)]
pub struct OwnedTerm {
    name: String,
    residual: Owned,
    weight: f64,
    terminal: f64,
    schedule: Vec<f64>,
    within: Option<f64>,
}

/// A residual that owns its references.
#[derive(Clone, Debug)]
enum Owned {
    Posture(Dofs, Vec<f64>),
    Velocity(Dofs, Vec<f64>),
    Control(Vec<f64>),
    /// One that borrows nothing.
    Plain(Residual<'static, f64>),
}

/// Every residual, and the keys that it has besides those of all terms.
const RESIDUALS: [(&str, &[&str]); 14] = [
    ("posture", &["keyframe", "reference", "joints", "dofs"]),
    ("velocity", &["keyframe", "reference", "joints", "dofs"]),
    ("control", &["keyframe", "reference"]),
    ("control_rate", &[]),
    ("position", &["frame", "body", "keyframe", "reference", "rate", "axes"]),
    ("orientation", &["frame", "body", "keyframe", "reference", "axes"]),
    ("point_velocity", &["frame", "body", "reference", "axes"]),
    ("center_of_mass", &["keyframe", "reference", "rate", "axes"]),
    ("momentum", &["reference", "axes"]),
    ("slip", &["frame", "body", "ground_m", "fade_m"]),
    ("clearance", &["frame", "body", "ground_m", "height_m"]),
    ("normal_force", &["geometry", "reference_n"]),
    ("position_limits", &["margin"]),
    ("velocity_limits", &["margin"]),
];

/// Keys that every term has.
const COMMON: [&str; 5] = ["residual", "weight", "terminal", "schedule", "within"];

impl OwnedTerm {
    /// Reads a `[[term]]`.
    pub fn read(table: &Table<'_>, model: Model<'_, f64>) -> Result<Self, LoadError> {
        let kind = table.required_text("residual")?;
        let Some((_, keys)) = RESIDUALS.iter().find(|(name, _)| *name == kind) else {
            let names: Vec<&str> = RESIDUALS.iter().map(|(name, _)| *name).collect();
            return Err(table.unexpected("residual", format!("one of {}", names.join(", "))));
        };
        table.only(&[&COMMON, *keys].concat())?;
        let of =
            ["frame", "body", "geometry"].into_iter().find_map(|key| table.text_of(key).transpose()).transpose()?;
        Ok(Self {
            name: of.map_or(kind.to_owned(), |of| format!("{kind} of {of}")),
            residual: Owned::read(kind, table, model)?,
            weight: table.required_number("weight", at_least_zero)?,
            terminal: table.number("terminal", at_least_zero)?.unwrap_or(0.0),
            schedule: table.factors("schedule")?.unwrap_or_default(),
            within: table.number("within", positive)?,
        })
    }

    /// As the optimizer takes it.
    pub fn term(&self) -> Term<'_, f64> {
        let term = Term::new(self.residual.borrow(), self.weight).at_end(self.terminal);
        term.scheduled(&self.schedule)
    }

    /// What must be small in the end.
    pub fn goal(&self) -> Option<Goal<'_>> {
        let term = Term::new(self.residual.borrow(), 1.0);
        self.within.map(|within| Goal { name: &self.name, term, within })
    }
}

impl Owned {
    fn read(kind: &str, table: &Table<'_>, model: Model<'_, f64>) -> Result<Self, LoadError> {
        let axes = || table.weights::<3>("axes");
        let vector = |key: &str| Ok::<_, LoadError>(Vector3::from(table.array::<3>(key)?.unwrap_or([0.0; 3])));
        let plain = match kind {
            "posture" => {
                let reference = whole(table, model, Part::Configuration)?.ok_or_else(|| reference_missing(table))?;
                return Ok(Self::Posture(dofs(table, model)?, reference));
            }
            "velocity" => {
                let reference = whole(table, model, Part::Velocity)?.unwrap_or_default();
                return Ok(Self::Velocity(dofs(table, model)?, reference));
            }
            "control" => return Ok(Self::Control(whole(table, model, Part::Control)?.unwrap_or_default())),
            "control_rate" => Residual::ControlRate,
            "position" => {
                let target = target(table, model)?;
                let start = match of_keyframe(table, model)? {
                    Some(keyframe) => placement(model, &keyframe, target).map(|placement| placement.translation),
                    None => table.array::<3>("reference")?.map(Vector3::from),
                };
                let reference = Moving { start: start.ok_or_else(|| reference_missing(table))?, rate: vector("rate")? };
                Residual::Position { target, reference, axes: axes()? }
            }
            "orientation" => {
                let target = target(table, model)?;
                let reference = match of_keyframe(table, model)? {
                    Some(keyframe) => {
                        placement(model, &keyframe, target).map(|placement| matrix_to_quaternion(&placement.rotation))
                    }
                    None => table.array::<4>("reference")?,
                };
                let reference = unit(table, reference.ok_or_else(|| reference_missing(table))?)?;
                Residual::Orientation { target, reference, axes: axes()? }
            }
            "point_velocity" => Residual::PointVelocity {
                target: target(table, model)?,
                reference: vector("reference")?,
                axes: axes()?,
            },
            "center_of_mass" => {
                let start = match of_keyframe(table, model)? {
                    Some(keyframe) => center_of_mass(model, &keyframe),
                    None => table.array::<3>("reference")?,
                };
                let start = start.ok_or_else(|| reference_missing(table))?.into();
                Residual::CenterOfMass { reference: Moving { start, rate: vector("rate")? }, axes: axes()? }
            }
            "momentum" => Residual::Momentum {
                reference: table.array::<6>("reference")?.unwrap_or([0.0; 6]),
                axes: table.weights::<6>("axes")?,
            },
            "slip" => Residual::Slip {
                target: target(table, model)?,
                ground_m: table.number("ground_m", any)?.unwrap_or(0.0),
                fade_m: table.required_number("fade_m", positive)?,
            },
            "clearance" => Residual::Clearance {
                target: target(table, model)?,
                ground_m: table.number("ground_m", any)?.unwrap_or(0.0),
                height_m: table.required_number("height_m", positive)?,
            },
            "normal_force" => Residual::NormalForce {
                geometry: geometry(table, model)?,
                reference_n: table.required_number("reference_n", any)?,
            },
            "position_limits" => Residual::PositionLimits { margin: table.required_number("margin", positive)? },
            // The list of names has no other.
            _ => Residual::VelocityLimits { margin: table.required_number("margin", positive)? },
        };
        Ok(Self::Plain(plain))
    }

    fn borrow(&self) -> Residual<'_, f64> {
        match self {
            Self::Posture(dofs, reference) => Residual::Posture { dofs: *dofs, reference },
            Self::Velocity(dofs, reference) => Residual::Velocity { dofs: *dofs, reference },
            Self::Control(reference) => Residual::Control { reference },
            Self::Plain(residual) => *residual,
        }
    }
}

/// Which numbers of a keyframe.
#[derive(Clone, Copy)]
enum Part {
    Configuration,
    Velocity,
    Control,
}

/// A whole configuration, velocity or control: that of a keyframe, or a list.
fn whole(table: &Table<'_>, model: Model<'_, f64>, part: Part) -> Result<Option<Vec<f64>>, LoadError> {
    if let Some(keyframe) = of_keyframe(table, model)? {
        let numbers = match part {
            Part::Configuration => keyframe.q,
            Part::Velocity => keyframe.v,
            Part::Control => keyframe.u,
        };
        return Ok(Some(numbers.to_vec()));
    }
    let (len, what) = match part {
        Part::Configuration => (model.nq(), "coordinates"),
        Part::Velocity => (model.nv(), "velocities"),
        Part::Control => (model.nu(), "controls"),
    };
    table.list("reference", len, &format!("a list of the robot's {len} {what}"))
}

/// The keyframe that gives the reference, if one does.
fn of_keyframe<'m>(table: &Table<'_>, model: Model<'m, f64>) -> Result<Option<Keyframe<'m, f64>>, LoadError> {
    match table.text_of("keyframe")? {
        Some(_) if table.has("reference") => {
            Err(table.unexpected("reference", "either a keyframe or a reference, not both"))
        }
        Some(name) => keyframe(table, "keyframe", name, model).map(Some),
        None => Ok(None),
    }
}

fn reference_missing(table: &Table<'_>) -> LoadError {
    table.missing("keyframe or reference")
}

/// A quaternion made unit.
fn unit(table: &Table<'_>, quaternion: [f64; 4]) -> Result<[f64; 4], LoadError> {
    let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm.is_finite() && norm > 1e-9 {
        Ok(quaternion.map(|x| x / norm))
    } else {
        Err(table.unexpected("reference", "a quaternion (x, y, z, w) that is not zero"))
    }
}
