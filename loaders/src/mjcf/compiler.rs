//! What `<compiler>` and `<option>` say about the rest of the file.

use nalgebra::Vector3;
use saltus::model::STANDARD_GRAVITY;

use super::files::Files;
use crate::error::LoadError;
use crate::warning::Warnings;

/// Whether inertias come from geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromGeom {
    Always,
    WhenNotGiven,
    Never,
}

#[derive(Clone, Debug)]
pub(super) struct Compiler<'d> {
    /// Radians per unit of angle.
    pub angle: f64,
    /// Axes of Euler angles; lower case turns with the frame, upper case does not.
    pub euler: [char; 3],
    pub autolimits: bool,
    pub mesh_folder: &'d str,
    pub strip_path: bool,
    pub balance_inertia: bool,
    pub from_geom: FromGeom,
    pub inertia_groups: [f64; 2],
    pub bound_mass: f64,
    pub bound_inertia: f64,
    /// Kilograms of the whole robot, when above zero.
    pub total_mass: f64,
}

impl<'d> Compiler<'d> {
    pub fn read(files: Files<'d>, warnings: &mut Warnings) -> Result<Self, LoadError> {
        let mut it = Self {
            angle: std::f64::consts::PI / 180.0,
            euler: ['x', 'y', 'z'],
            autolimits: true,
            mesh_folder: "",
            strip_path: false,
            balance_inertia: false,
            from_geom: FromGeom::WhenNotGiven,
            inertia_groups: [0.0, 5.0],
            bound_mass: 0.0,
            bound_inertia: 0.0,
            total_mass: -1.0,
        };
        for element in files.sections("compiler") {
            warnings.unknown(element, &KNOWN, &["lengthrange"]);
            if element.choice("coordinate", &[("local", true), ("global", false)])? == Some(false) {
                return Err(element.unexpected("coordinate", "local; MuJoCo dropped global coordinates in 2.3.4"));
            }
            let angles = [("degree", std::f64::consts::PI / 180.0), ("radian", 1.0)];
            it.angle = element.choice("angle", &angles)?.unwrap_or(it.angle);
            if let Some(sequence) = element.attribute("eulerseq") {
                let axes: Vec<char> = sequence.chars().take(4).collect();
                it.euler = <[char; 3]>::try_from(axes)
                    .ok()
                    .filter(|axes| axes.iter().all(|axis| "xyzXYZ".contains(*axis)))
                    .ok_or_else(|| element.unexpected("eulerseq", "three of x, y, z, X, Y, Z"))?;
            }
            it.autolimits = element.boolean("autolimits")?.unwrap_or(it.autolimits);
            it.mesh_folder = element.attribute("assetdir").unwrap_or(it.mesh_folder);
            it.mesh_folder = element.attribute("meshdir").unwrap_or(it.mesh_folder);
            it.strip_path = element.boolean("strippath")?.unwrap_or(it.strip_path);
            it.balance_inertia = element.boolean("balanceinertia")?.unwrap_or(it.balance_inertia);
            let from_geom = [("true", FromGeom::Always), ("auto", FromGeom::WhenNotGiven), ("false", FromGeom::Never)];
            it.from_geom = element.choice("inertiafromgeom", &from_geom)?.unwrap_or(it.from_geom);
            it.inertia_groups = element.array("inertiagrouprange")?.unwrap_or(it.inertia_groups);
            it.bound_mass = element.float("boundmass")?.unwrap_or(it.bound_mass);
            it.bound_inertia = element.float("boundinertia")?.unwrap_or(it.bound_inertia);
            it.total_mass = element.float("settotalmass")?.unwrap_or(it.total_mass);
        }
        Ok(it)
    }
}

/// Attributes that are read, or have no bearing on motion.
const KNOWN: [&str; 22] = [
    "angle",
    "eulerseq",
    "autolimits",
    "assetdir",
    "meshdir",
    "texturedir",
    "strippath",
    "balanceinertia",
    "inertiafromgeom",
    "inertiagrouprange",
    "boundmass",
    "boundinertia",
    "settotalmass",
    "coordinate",
    "discardvisual",
    "usethread",
    "fusestatic",
    "saveinertial",
    "fitaabb",
    "convexhull",
    "exactmeshinertia",
    "conflict",
];

/// Attributes of `<flag>` that are read, or have no bearing on motion.
const FLAGS: [&str; 7] = ["gravity", "contact", "constraint", "limit", "equality", "energy", "sensor"];

#[derive(Clone, Copy, Debug)]
pub(super) struct Physics {
    pub gravity: Vector3<f64>,
    pub timestep_s: Option<f64>,
    /// Whether bodies touch at all.
    pub contact: bool,
    /// Whether joints have limits at all.
    pub limits: bool,
    /// Whether loops and anchors hold at all.
    pub equality: bool,
}

impl Physics {
    pub fn read(files: Files<'_>, warnings: &mut Warnings) -> Result<Self, LoadError> {
        let gravity = Vector3::new(0.0, 0.0, -STANDARD_GRAVITY);
        let mut it = Self { gravity, timestep_s: None, contact: true, limits: true, equality: true };
        let mut no_gravity = false;
        for option in files.sections("option") {
            warnings.unknown(option, &["gravity", "timestep"], &["flag"]);
            it.gravity = option.vector("gravity")?.unwrap_or(it.gravity);
            it.timestep_s = option.float("timestep")?.or(it.timestep_s);
            for flag in files.children(option).into_iter().filter(|child| child.name() == "flag") {
                warnings.unknown(flag, &FLAGS, &[]);
                let off = |name| Ok(flag.choice(name, &[("enable", true), ("disable", false)])? == Some(false));
                no_gravity |= off("gravity")?;
                let constraint = !off("constraint")?;
                it.contact &= constraint && !off("contact")?;
                it.limits &= constraint && !off("limit")?;
                it.equality &= constraint && !off("equality")?;
            }
        }
        if no_gravity {
            it.gravity = Vector3::zeros();
        }
        Ok(it)
    }
}
