//! Names in a task, looked up in the robot.

use saltus::dynamics::{self, Dynamics};
use saltus::kinematics::Target;
use saltus::memory::{Arena, Block};
use saltus::model::{FrameId, GeometryId, Keyframe, Model};
use saltus::mpc::Dofs;
use saltus::spatial::Placement;

use super::table::Table;
use crate::LoadError;

/// The keyframe of this name, which `key` gives.
pub fn keyframe<'m>(
    table: &Table<'_>,
    key: &str,
    name: &str,
    model: Model<'m, f64>,
) -> Result<Keyframe<'m, f64>, LoadError> {
    let known = || (0..).map_while(|k| model.keyframe(k).map(|_| model.keyframe_name(k)));
    model.find_keyframe(name).ok_or_else(|| table.unexpected(key, choice("a keyframe", known())))
}

/// The `frame` or the `body` of a term.
pub fn target(table: &Table<'_>, model: Model<'_, f64>) -> Result<Target, LoadError> {
    match (table.text_of("frame")?, table.text_of("body")?) {
        (Some(name), None) => {
            let names = || (0..model.frames.len() as u16).map(|k| model.frame_name(FrameId::new(k)));
            let found = model.find_frame(name).map(Target::Frame);
            found.ok_or_else(|| table.unexpected("frame", choice("a frame", names())))
        }
        (None, Some(name)) => {
            let names = || model.body_ids().map(|id| model.body_name(id));
            let found = model.find_body(name).map(Target::Body);
            found.ok_or_else(|| table.unexpected("body", choice("a body", names())))
        }
        (Some(_), Some(_)) => Err(table.unexpected("body", "either a frame or a body, not both")),
        (None, None) => Err(table.missing("frame or body")),
    }
}

/// The `geometry` of a term.
pub fn geometry(table: &Table<'_>, model: Model<'_, f64>) -> Result<GeometryId, LoadError> {
    let name = table.required_text("geometry")?;
    let refuse = || table.unexpected("geometry", choice("a geometry", geometry_names(model)));
    model.find_geometry(name).ok_or_else(refuse)
}

/// A list of geometries.
pub fn geometries(table: &Table<'_>, key: &str, model: Model<'_, f64>) -> Result<Option<Vec<GeometryId>>, LoadError> {
    let Some(names) = table.texts(key)? else { return Ok(None) };
    let refuse = || table.unexpected(key, choice("geometries", geometry_names(model)));
    names.into_iter().map(|name| model.find_geometry(name).ok_or_else(refuse)).collect::<Result<_, _>>().map(Some)
}

fn geometry_names<'m>(model: Model<'m, f64>) -> impl Iterator<Item = &'m str> {
    (0..model.geometries.len() as u16).map(move |k| model.geometry_name(GeometryId::new(k)))
}

/// The degrees of freedom of `joints`, or of `dofs`; all without either.
pub fn dofs(table: &Table<'_>, model: Model<'_, f64>) -> Result<Dofs, LoadError> {
    if table.has("joints") && table.has("dofs") {
        return Err(table.unexpected("dofs", "either joints or dofs, not both"));
    }
    if let Some([first, last]) = table.one_or_two("joints")? {
        let names = || model.body_ids().map(|id| model.joint_name(id));
        let refuse = || table.unexpected("joints", choice("joints", names()));
        let range = |name: &str| {
            let body = model.find_joint(name).ok_or_else(refuse)?;
            Ok(model.bodies[body.index() - 1].v_range())
        };
        let (first, last) = (range(first)?, range(last)?);
        if last.end <= first.start {
            return Err(table.unexpected("joints", "the first joint before the last one"));
        }
        return Ok(Dofs::new(first.start as u16, (last.end - first.start) as u16));
    }
    let nv = model.nv();
    let expected = format!("[first, count] of the robot's {nv} degrees of freedom, from 0");
    let Some(list) = table.list("dofs", 2, &expected)? else { return Ok(Dofs::ALL) };
    let (first, count) = (list[0], list[1]);
    let whole = first >= 0.0 && first.fract() == 0.0 && count >= 1.0 && count.fract() == 0.0;
    if !whole || first + count > nv as f64 {
        return Err(table.unexpected("dofs", expected));
    }
    Ok(Dofs::new(first as u16, count as u16))
}

/// Where a body or frame is in a keyframe.
pub fn placement(model: Model<'_, f64>, keyframe: &Keyframe<'_, f64>, target: Target) -> Option<Placement<f64>> {
    with_dynamics(model, keyframe, |work| match target {
        Target::Body(body) => work.kinematics.body_placement_world(body).ok(),
        Target::Frame(frame) => work.kinematics.frame_placement_world(model, frame).ok(),
    })
}

/// Where the centre of mass is in a keyframe.
pub fn center_of_mass(model: Model<'_, f64>, keyframe: &Keyframe<'_, f64>) -> Option<[f64; 3]> {
    with_dynamics(model, keyframe, |work| Some(dynamics::center_of_mass(work).position_world.into()))
}

fn with_dynamics<X>(
    model: Model<'_, f64>,
    keyframe: &Keyframe<'_, f64>,
    read: impl FnOnce(&Dynamics<'_, f64>) -> Option<X>,
) -> Option<X> {
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).ok()?;
    dynamics::update(model, keyframe.q, keyframe.v, &mut work).ok()?;
    read(&work)
}

/// `a frame of the robot (imu, tool)`.
fn choice<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return format!("{what} of the robot, which has none");
    }
    format!("{what} of the robot ({})", names.join(", "))
}
