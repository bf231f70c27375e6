//! The neutral robot JSON that `tools/peers/robots.py` writes.

use std::path::Path;

use anyhow::{Context, Result, bail};
use nalgebra::{Matrix3, Vector3};
use saltus::model::{BodySpec, DofParameters, JointSpec, ModelBuilder, OwnedModel};
use saltus::spatial::{Inertia, Placement, Symmetric3};
use serde::Deserialize;

/// A robot as figures, in the order of a peer's model.
#[derive(Clone, Debug, Deserialize)]
pub struct RobotFile {
    /// Short name.
    pub robot: String,
    gravity: [f64; 3],
    bodies: Vec<BodyFile>,
    frames: Vec<FrameFile>,
}

#[derive(Clone, Debug, Deserialize)]
struct BodyFile {
    name: String,
    parent: String,
    joint: JointFile,
    placement: PlacementFile,
    mass: f64,
    com: [f64; 3],
    inertia: [f64; 6],
    armature: Vec<f64>,
    position_lower: Option<f64>,
    position_upper: Option<f64>,
    velocity_limit: Vec<Option<f64>>,
    effort_limit: Vec<Option<f64>>,
}

#[derive(Clone, Debug, Deserialize)]
struct JointFile {
    kind: String,
    axis: Option<[f64; 3]>,
}

#[derive(Clone, Debug, Deserialize)]
struct PlacementFile {
    rotation: [f64; 9],
    translation: [f64; 3],
}

#[derive(Clone, Debug, Deserialize)]
struct FrameFile {
    name: String,
    body: String,
    placement: PlacementFile,
}

impl RobotFile {
    /// Reads a robot from a JSON file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not robot JSON", path.display()))
    }

    /// The model that these figures describe.
    pub fn build(&self) -> Result<OwnedModel<f64>> {
        let mut builder = ModelBuilder::new().gravity(self.gravity.into());
        for body in &self.bodies {
            builder = builder.body(body.spec()?);
        }
        for frame in &self.frames {
            builder = builder.frame(&frame.name, &frame.body, frame.placement.build());
        }
        builder.build().with_context(|| format!("robot {}", self.robot))
    }
}

impl BodyFile {
    fn spec(&self) -> Result<BodySpec> {
        let [xx, xy, xz, yy, yz, zz] = self.inertia;
        let inertia = Inertia::new(self.mass, self.com.into(), Symmetric3 { xx, xy, xz, yy, yz, zz });
        let mut spec = BodySpec::new(&self.name, self.joint.build()?)
            .parent(&self.parent)
            .placement(self.placement.build())
            .inertia(inertia);
        if let (Some(lower), Some(upper)) = (self.position_lower, self.position_upper) {
            spec = spec.position_limits(lower, upper);
        }
        for (k, &armature) in self.armature.iter().enumerate() {
            let or_infinite = |limits: &[Option<f64>]| limits.get(k).copied().flatten().unwrap_or(f64::INFINITY);
            let dof = DofParameters {
                armature,
                velocity_limit: or_infinite(&self.velocity_limit),
                effort_limit: or_infinite(&self.effort_limit),
                ..DofParameters::default()
            };
            spec = spec.dof(k, dof);
        }
        Ok(spec)
    }
}

impl JointFile {
    fn build(&self) -> Result<JointSpec> {
        let axis = || self.axis.map(Vector3::from).context("the joint has no axis");
        Ok(match self.kind.as_str() {
            "revolute" => JointSpec::revolute(axis()?),
            "continuous" => JointSpec::continuous(axis()?),
            "prismatic" => JointSpec::prismatic(axis()?),
            "spherical" => JointSpec::spherical(),
            "planar" => JointSpec::planar(),
            "free_flyer" => JointSpec::free_flyer(),
            other => bail!("unknown joint kind \"{other}\""),
        })
    }
}

impl PlacementFile {
    fn build(&self) -> Placement<f64> {
        Placement::new(Matrix3::from_row_slice(&self.rotation), self.translation.into())
    }
}
