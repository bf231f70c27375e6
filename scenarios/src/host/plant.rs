//! The robot that the plan predicts, and the one that is there.

use saltus::model::{BodyId, GeometryId, OwnedModel};

/// How much heavier every body of the plant is than the plan believes.
const MASS: f64 = 1.1;
/// How much of the friction that the plan believes in is there.
const FRICTION: f64 = 0.8;

/// The robot as it is: heavier, and on more slippery ground than its controller believes.
pub fn plant(robot: &OwnedModel<f64>) -> OwnedModel<f64> {
    let mut plant = robot.clone();
    for body in plant.bodies_mut() {
        body.inertia = body.inertia.scaled(MASS);
    }
    for pair in plant.pairs_mut() {
        pair.material.friction *= FRICTION;
    }
    plant
}

/// The robot as its controller believes it to be: without dry friction in the joints, and touching the ground with nothing
/// but what it should touch it with. That saves time and memory where neither matters. `name` is that of a built-in robot.
pub fn prediction(name: &str, robot: &OwnedModel<f64>) -> OwnedModel<f64> {
    let mut prediction = robot.clone();
    for dof in prediction.dofs_mut() {
        dof.dry_friction = 0.0;
    }
    let model = robot.model();
    let is_ground = |id: GeometryId| model.geometries[id.index()].body == BodyId::WORLD;
    let touches = |id: GeometryId| is_foot(name, model.geometry_name(id));
    prediction.retain_pairs(|pair| (is_ground(pair.a) && touches(pair.b)) || (is_ground(pair.b) && touches(pair.a)));
    prediction
}

/// Whether a robot should touch the ground with this geometry.
fn is_foot(robot: &str, geometry: &str) -> bool {
    match robot {
        "go1" => geometry.ends_with("_foot"),
        "h1" => geometry.contains("_heel_") || geometry.contains("_toe_"),
        "hopper" => geometry == "foot",
        "ur5" => geometry == "flange",
        _ => true,
    }
}
