//! `<actuator>`: motors and servos.

use saltus::model::ActuatorSpec;

use super::compiler::Compiler;
use super::defaults::{Attributes, ClassId, Defaults};
use super::files::Files;
use super::joint::Kind;
use super::tree::JointPart;
use crate::error::{LoadError, excerpt};
use crate::warning::Warnings;
use crate::xml::Element;

/// Attributes that are read, or have no bearing on motion.
pub(super) const KNOWN: [&str; 24] = [
    "name",
    "class",
    "group",
    "user",
    "joint",
    "jointinparent",
    "site",
    "tendon",
    "gear",
    "ctrllimited",
    "ctrlrange",
    "forcelimited",
    "forcerange",
    "gaintype",
    "biastype",
    "gainprm",
    "biasprm",
    "dyntype",
    "dynprm",
    "kp",
    "kv",
    "inheritrange",
    "lengthrange",
    "cranklength",
];

/// What the robot has that a motor may pull at.
pub(super) struct Targets<'c, 'd> {
    pub joints: &'c [JointPart<'d>],
    /// Names of sites, and of the frames that they became.
    pub sites: &'c [(&'d str, String)],
}

/// An actuator of the file: what it became, or nothing when it is not supported. Keyframes count all.
pub(super) type Actuators<'d> = Vec<(Element<'d>, Option<ActuatorSpec>)>;

pub(super) fn read<'d>(
    files: Files<'d>,
    defaults: &Defaults<'d>,
    compiler: &Compiler<'_>,
    targets: &Targets<'_, 'd>,
    warnings: &mut Warnings,
) -> Result<Actuators<'d>, LoadError> {
    let mut found = Vec::new();
    for element in files.section("actuator") {
        let tag = element.name();
        if !matches!(tag, "general" | "motor" | "position" | "velocity") {
            warnings.add(element, format!("<{}> in <actuator>: this actuator is left out", excerpt(tag)));
            found.push((element, None));
            continue;
        }
        warnings.unknown(element, &KNOWN, &[]);
        let attributes = defaults.of(element, ClassId::default())?;
        let spec = transmission(&attributes, targets, warnings)?;
        let spec = match spec {
            Some(spec) => Some(complete(spec, &attributes, compiler, targets, warnings)?),
            None => None,
        };
        found.push((element, spec));
    }
    Ok(found)
}

/// What it pulls at; `None`, with a warning, when saltus has no such transmission.
fn transmission<'d>(
    attributes: &Attributes<'d>,
    targets: &Targets<'_, 'd>,
    warnings: &mut Warnings,
) -> Result<Option<ActuatorSpec>, LoadError> {
    let element = attributes.element();
    let name = element.attribute("name").unwrap_or("");
    let gear: [f64; 6] = attributes.partial("gear", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
    let mut left_out = |why: &str| {
        warnings.add(element, format!("<{}>: {why}; this actuator is left out", element.name()));
        Ok(None)
    };
    if let Some(attribute) = ["joint", "jointinparent"].into_iter().find(|a| element.attribute(a).is_some()) {
        let wanted = element.attribute(attribute).unwrap_or("");
        let Some(part) = targets.joints.iter().find(|part| part.name == wanted) else {
            return Err(element.unexpected(attribute, "the name of a joint"));
        };
        let kind = part.joint.kind;
        let dofs: Vec<usize> = (0..kind.nv().min(6)).filter(|&k| gear[k] != 0.0).collect();
        return match (kind, dofs.as_slice()) {
            (Kind::Hinge | Kind::Slide, _) => Ok(Some(ActuatorSpec::joint(name, wanted).gear(gear[0]))),
            (Kind::Ball, &[dof]) if attribute == "joint" => {
                Ok(Some(ActuatorSpec::joint_dof(name, wanted, dof).gear(gear[dof])))
            }
            // Linear velocity of a free joint is along the world's axes in MuJoCo, along the body's here.
            (Kind::Free, &[dof @ 3..=5]) if attribute == "joint" => {
                Ok(Some(ActuatorSpec::joint_dof(name, wanted, dof).gear(gear[dof])))
            }
            _ => left_out("a ball or free joint can be pulled along one axis of its body only"),
        };
    }
    if let Some(wanted) = element.attribute("site") {
        let Some((_, frame)) = targets.sites.iter().find(|(site, _)| *site == wanted) else {
            return Err(element.unexpected("site", "the name of a site"));
        };
        if element.attribute("refsite").is_some() {
            return left_out("a reference site is not supported");
        }
        return Ok(Some(ActuatorSpec::frame(name, frame, gear)));
    }
    if element.attribute("tendon").is_some() {
        return left_out("tendons are not supported");
    }
    if ["body", "cranksite"].into_iter().any(|attribute| element.attribute(attribute).is_some()) {
        return left_out("this transmission is not supported");
    }
    Err(element.missing("attribute joint, jointinparent or site"))
}

/// Gains and ranges. Defaults apply in turn, each kind of element with what its own attributes mean.
fn complete(
    spec: ActuatorSpec,
    attributes: &Attributes<'_>,
    compiler: &Compiler<'_>,
    targets: &Targets<'_, '_>,
    warnings: &mut Warnings,
) -> Result<ActuatorSpec, LoadError> {
    let (mut gain, mut bias) = ([1.0, 0.0, 0.0], [0.0; 3]);
    let (mut affine_gain, mut affine_bias) = (false, false);
    let mut activation = false;
    for element in attributes.outermost_first() {
        activation |= element.attribute("dyntype").is_some_and(|kind| kind != "none");
        match element.name() {
            "motor" => (gain, bias, affine_gain, affine_bias) = ([1.0, 0.0, 0.0], [0.0; 3], false, false),
            "position" => {
                gain[0] = element.float("kp")?.unwrap_or(gain[0]);
                bias = [0.0, -gain[0], -element.float("kv")?.unwrap_or(-bias[2])];
                (affine_gain, affine_bias) = (false, true);
            }
            "velocity" => {
                gain[0] = element.float("kv")?.unwrap_or(gain[0]);
                bias = [0.0, 0.0, -gain[0]];
                (affine_gain, affine_bias) = (false, true);
            }
            _ => {
                overwrite(&mut gain, element.floats("gainprm", 10)?);
                overwrite(&mut bias, element.floats("biasprm", 10)?);
                let kinds = [("fixed", Some(false)), ("affine", Some(true)), ("muscle", None), ("user", None)];
                if let Some(kind) = element.choice("gaintype", &kinds)? {
                    affine_gain = kind.ok_or_else(|| element.unsupported("a muscle or user gain"))?;
                }
                let kinds = [("none", Some(false)), ("affine", Some(true)), ("muscle", None), ("user", None)];
                if let Some(kind) = element.choice("biastype", &kinds)? {
                    affine_bias = kind.ok_or_else(|| element.unsupported("a muscle or user bias"))?;
                }
            }
        }
    }
    let element = attributes.element();
    if affine_gain && (gain[1] != 0.0 || gain[2] != 0.0) {
        return Err(element.unsupported("a gain that varies with position or velocity (gaintype=\"affine\")"));
    }
    if activation {
        let message =
            format!("<{}> dyntype: activation dynamics are ignored; the control acts at once", element.name());
        warnings.add(element, message);
    }
    let mut spec = spec.gain(gain[0]).bias(if affine_bias { bias } else { [0.0; 3] });
    if let Some([lower, upper]) = attributes.range("forcerange", "forcelimited", compiler.autolimits)? {
        spec = spec.force_range(lower, upper);
    }
    let range = attributes.range("ctrlrange", "ctrllimited", compiler.autolimits)?;
    if let Some([lower, upper]) = range.or(inherited_range(attributes, targets)?) {
        spec = spec.control_range(lower, upper);
    }
    Ok(spec)
}

fn overwrite(values: &mut [f64; 3], stated: Option<Vec<f64>>) {
    for (value, stated) in values.iter_mut().zip(stated.unwrap_or_default()) {
        *value = stated;
    }
}

/// `inheritrange` of a position servo: the range of its joint, widened or narrowed about its middle.
fn inherited_range(attributes: &Attributes<'_>, targets: &Targets<'_, '_>) -> Result<Option<[f64; 2]>, LoadError> {
    let factor = attributes.float_or("inheritrange", 0.0)?;
    let element = attributes.element();
    let joint = targets.joints.iter().find(|part| element.attribute("joint") == Some(&part.name));
    let limits = joint.and_then(|part| part.joint.limits);
    let (true, Some([lower, upper])) = (factor > 0.0 && element.name() == "position", limits) else {
        return Ok(None);
    };
    let (middle, half) = (0.5 * (lower + upper), 0.5 * (upper - lower) * factor);
    Ok(Some([middle - half, middle + half]))
}
