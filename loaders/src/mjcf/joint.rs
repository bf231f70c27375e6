//! `<joint>` and `<freejoint>`.

use nalgebra::{Rotation3, Unit, Vector3};
use saltus::model::{BodySpec, JointSpec};
use saltus::spatial::Placement;

use super::compiler::{Compiler, Physics};
use super::defaults::Attributes;
use super::orientation::unit_vector;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;

/// Attributes that are read, or have no bearing on motion.
pub(super) const KNOWN: [&str; 19] = [
    "name",
    "class",
    "type",
    "group",
    "pos",
    "axis",
    "springref",
    "springdamper",
    "ref",
    "stiffness",
    "damping",
    "armature",
    "frictionloss",
    "limited",
    "range",
    "actuatorfrclimited",
    "actuatorfrcrange",
    "user",
    "align",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hinge,
    Slide,
    Ball,
    Free,
}

impl Kind {
    /// Numbers in MuJoCo's qpos and qvel, which are as many as in q and v.
    pub fn nq(self) -> usize {
        match self {
            Self::Hinge | Self::Slide => 1,
            Self::Ball => 4,
            Self::Free => 7,
        }
    }

    pub fn nv(self) -> usize {
        match self {
            Self::Hinge | Self::Slide => 1,
            Self::Ball => 3,
            Self::Free => 6,
        }
    }
}

/// A joint, in the frame of its body.
#[derive(Clone, Debug)]
pub(super) struct Joint<'d> {
    pub element: Element<'d>,
    pub kind: Kind,
    pub anchor: Vector3<f64>,
    axis: Vector3<f64>,
    /// Position in which the body is placed as stated.
    pub reference: f64,
    pub limits: Option<[f64; 2]>,
    stiffness: f64,
    spring_reference: f64,
    damping: f64,
    armature: f64,
    dry_friction: f64,
    effort: f64,
    /// Time constant and damping ratio that stiffness and damping are worked out from.
    pub spring_damper: Option<[f64; 2]>,
}

impl<'d> Joint<'d> {
    /// Reads a joint stated in a frame that is placed at `around` in the body.
    pub fn read(
        attributes: &Attributes<'d>,
        around: &Placement<f64>,
        compiler: &Compiler<'_>,
        physics: &Physics,
        warnings: &mut Warnings,
    ) -> Result<Self, LoadError> {
        let element = attributes.element();
        warnings.unknown(element, &KNOWN, &[]);
        let kinds = [("hinge", Kind::Hinge), ("slide", Kind::Slide), ("ball", Kind::Ball), ("free", Kind::Free)];
        let free = element.name() == "freejoint";
        let kind = if free { Kind::Free } else { attributes.choice("type", &kinds)?.unwrap_or(Kind::Hinge) };
        let unit = if matches!(kind, Kind::Hinge | Kind::Ball) { compiler.angle } else { 1.0 };
        let axis = attributes.vector("axis")?.unwrap_or(Vector3::z());
        let axis = if matches!(kind, Kind::Hinge | Kind::Slide) {
            around.rotation * unit_vector(attributes.stating("axis"), "axis", axis)?
        } else {
            Vector3::z()
        };
        let limits = attributes.range("range", "limited", compiler.autolimits)?.map(|range| range.map(|x| x * unit));
        let has_position = matches!(kind, Kind::Hinge | Kind::Slide);
        if limits.is_some() && !has_position {
            warnings.add(element, "<joint> range: the limit of a ball or free joint is ignored");
        }
        let stiffness = first(attributes, "stiffness", warnings)?;
        if stiffness != 0.0 && kind == Kind::Free {
            warnings.add(element, "<joint> stiffness: the spring of a free joint is ignored");
        }
        Ok(Self {
            element,
            kind,
            anchor: around.act_point(&attributes.vector("pos")?.unwrap_or_default()),
            axis,
            reference: attributes.float_or("ref", 0.0)? * unit,
            limits: limits.filter(|_| has_position && physics.limits),
            stiffness: if kind == Kind::Free { 0.0 } else { stiffness },
            spring_reference: if has_position { attributes.float_or("springref", 0.0)? * unit } else { 0.0 },
            damping: first(attributes, "damping", warnings)?,
            armature: attributes.float_or("armature", 0.0)?,
            dry_friction: attributes.float_or("frictionloss", 0.0)?,
            effort: effort(attributes, compiler, warnings)?,
            spring_damper: attributes.array("springdamper")?.filter(|&[time, ratio]| time > 0.0 && ratio > 0.0),
        })
    }

    /// The body that this joint carries, placed at `placement` with its origin in the anchor.
    pub fn spec(&self, name: &str, joint_name: &str, placement: Placement<f64>) -> BodySpec {
        let back = match self.kind {
            Kind::Hinge => {
                let turn = Rotation3::from_axis_angle(&Unit::new_unchecked(self.axis), -self.reference);
                Placement::new(turn.into_inner(), Vector3::zeros())
            }
            Kind::Slide => {
                let back = -self.reference * self.axis;
                Placement::translation(back.x, back.y, back.z)
            }
            Kind::Ball | Kind::Free => Placement::IDENTITY,
        };
        let joint = match self.kind {
            Kind::Hinge => JointSpec::revolute(self.axis),
            Kind::Slide => JointSpec::prismatic(self.axis),
            Kind::Ball => JointSpec::spherical(),
            Kind::Free => JointSpec::free_flyer(),
        };
        let spec = BodySpec::new(name, joint)
            .joint_name(joint_name)
            .placement(placement * back)
            .spring(self.stiffness, self.spring_reference)
            .damping(self.damping)
            .armature(self.armature)
            .dry_friction(self.dry_friction)
            .effort_limit(self.effort)
            .actuated(false);
        match self.limits {
            Some([lower, upper]) => spec.position_limits(lower, upper),
            None => spec,
        }
    }
}

/// The first of several coefficients; higher ones make the force a polynomial.
fn first(attributes: &Attributes<'_>, name: &str, warnings: &mut Warnings) -> Result<f64, LoadError> {
    let values = attributes.stating(name).floats(name, 8)?.unwrap_or_default();
    if values.iter().skip(1).any(|&value| value != 0.0) {
        let message = format!("<joint> {name}: only the first of its coefficients is used");
        warnings.add(attributes.stating(name), message);
    }
    Ok(values.first().copied().unwrap_or(0.0))
}

fn effort(attributes: &Attributes<'_>, compiler: &Compiler<'_>, warnings: &mut Warnings) -> Result<f64, LoadError> {
    let range = attributes.range("actuatorfrcrange", "actuatorfrclimited", compiler.autolimits)?;
    let Some([lower, upper]) = range else { return Ok(f64::INFINITY) };
    if lower != -upper {
        let message = "<joint> actuatorfrcrange: it is not symmetric; the larger bound holds on both sides";
        warnings.add(attributes.element(), message);
    }
    Ok(lower.abs().max(upper.abs()))
}
