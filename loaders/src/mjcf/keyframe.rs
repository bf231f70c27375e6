//! `<keyframe>`, and the robot as the file places it. Quaternions are (w, x, y, z) in MuJoCo and (x, y, z, w) here; the
//! linear velocity of a free joint is along the world's axes there, along the body's here.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use saltus::model::KeyframeSpec;

use super::actuator::Actuators;
use super::files::Files;
use super::joint::Kind;
use super::tree::JointPart;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;

const KNOWN: [&str; 5] = ["name", "time", "qpos", "qvel", "ctrl"];
/// More numbers than 16-bit indices can count are refused before they are compared.
const MAX_NUMBERS: usize = 1 << 16;
/// Name of the keyframe that holds the robot as the file places it.
pub(super) const INITIAL: &str = "qpos0";

/// All keyframes in order, each with its element, and the initial one after them.
pub(super) fn read<'d>(
    files: Files<'d>,
    joints: &[JointPart<'d>],
    actuators: &Actuators<'d>,
    warnings: &mut Warnings,
) -> Result<Vec<(Element<'d>, KeyframeSpec)>, LoadError> {
    let initial: Vec<f64> = joints.iter().flat_map(|part| part.initial.iter().copied()).collect();
    let nv = joints.iter().map(|part| part.joint.kind.nv()).sum();
    let mut keyframes = Vec::new();
    let mut named_initial = false;
    for element in files.section("keyframe") {
        if element.name() != "key" {
            warnings.add(element, "an element other than <key> in <keyframe> is ignored");
            continue;
        }
        warnings.unknown(element, &KNOWN, &[]);
        let numbers = |name: &str, expected: usize| {
            let values = element.floats(name, MAX_NUMBERS)?;
            match values {
                Some(values) if values.len() != expected => {
                    Err(element.unexpected(name, format!("{expected} finite numbers, as the joints and motors need")))
                }
                values => Ok(values),
            }
        };
        let qpos = numbers("qpos", initial.len())?.unwrap_or_else(|| initial.clone());
        let q =
            configuration(joints, &qpos).ok_or_else(|| element.unexpected("qpos", "quaternions that are not zero"))?;
        let name = element.attribute("name").unwrap_or("");
        named_initial |= name == INITIAL;
        let mut key = KeyframeSpec::new(name, q);
        if let Some(qvel) = numbers("qvel", nv)? {
            key = key.velocity(velocity(joints, &qpos, &qvel));
        }
        if let Some(ctrl) = numbers("ctrl", actuators.len())? {
            let kept = actuators.iter().zip(ctrl).filter(|((_, spec), _)| spec.is_some());
            key = key.control(kept.map(|(_, control)| control).collect::<Vec<_>>());
        }
        keyframes.push((element, key));
    }
    if !named_initial {
        keyframes.push((files.root, KeyframeSpec::new(INITIAL, self::initial(joints))));
    }
    Ok(keyframes)
}

/// The robot as the file places it.
pub(super) fn initial(joints: &[JointPart<'_>]) -> Vec<f64> {
    let qpos: Vec<f64> = joints.iter().flat_map(|part| part.initial.iter().copied()).collect();
    configuration(joints, &qpos).unwrap_or(qpos)
}

/// q from qpos; `None` when a quaternion is zero.
fn configuration(joints: &[JointPart<'_>], qpos: &[f64]) -> Option<Vec<f64>> {
    let mut q = Vec::with_capacity(qpos.len());
    let mut rest = qpos;
    for part in joints {
        let (own, after) = rest.split_at_checked(part.joint.kind.nq())?;
        rest = after;
        match part.joint.kind {
            Kind::Hinge | Kind::Slide => q.extend(own),
            Kind::Ball => q.extend(quaternion(own)?.coords.iter()),
            Kind::Free => {
                q.extend(&own[..3]);
                q.extend(quaternion(&own[3..])?.coords.iter());
            }
        }
    }
    Some(q)
}

/// v from qvel.
fn velocity(joints: &[JointPart<'_>], qpos: &[f64], qvel: &[f64]) -> Vec<f64> {
    let mut v = qvel.to_vec();
    let (mut at_q, mut at_v) = (0, 0);
    for part in joints {
        let kind = part.joint.kind;
        let turn = qpos.get(at_q + 3..at_q + 7).and_then(quaternion);
        if let (Kind::Free, Some(turn), Some(linear)) = (kind, turn, v.get_mut(at_v..at_v + 3)) {
            let along_body = turn.inverse() * Vector3::from_column_slice(linear);
            linear.copy_from_slice(along_body.as_slice());
        }
        at_q += kind.nq();
        at_v += kind.nv();
    }
    v
}

fn quaternion(wxyz: &[f64]) -> Option<UnitQuaternion<f64>> {
    let &[w, x, y, z] = wxyz else { return None };
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-14)
}
