//! Robots that can stand still.

use nalgebra::{UnitQuaternion, Vector3};
use saltus::dynamics::center_of_mass;
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, GeometryId, Model, OwnedModel};
use saltus::spatial::{Inertia, Placement};
use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};
use saltus_loaders::{LoadOptions, load};

use super::{CONTACTS, settings, settle};

/// A robot in a pose in which some torques hold it.
pub struct Pose {
    pub name: &'static str,
    pub robot: OwnedModel<f64>,
    pub q: Vec<f64>,
}

/// Go1 on its feet, Go1 with 10 kg on its back, and H1 in a push-up, each settled under stiff motors; and Go1 in a
/// hand-stand, which no motors would settle in: it is balanced.
pub fn poses() -> Result<Vec<Pose>, Box<dyn std::error::Error>> {
    let go1 = load("go1", &LoadOptions::default())?.model;
    let standing = go1.model().find_keyframe("rest").ok_or("go1 has a keyframe")?.q.to_vec();
    let mut loaded = go1.clone();
    let sack = Inertia::solid_box(10.0, &Vector3::new(0.1, 0.1, 0.05)).moved_by(&Placement::translation(0.0, 0.0, 0.1));
    let trunk = &mut loaded.bodies_mut()[0].inertia;
    *trunk = *trunk + sack;
    let h1 = load("h1", &LoadOptions::default())?.model;
    let push_up = push_up(&h1)?;
    Ok(vec![
        Pose { name: "go1", q: settle(go1.model(), &standing, 200.0, 2.0)?, robot: go1.clone() },
        Pose { name: "go1 with 10 kg", q: settle(loaded.model(), &standing, 200.0, 2.0)?, robot: loaded },
        Pose { name: "go1 in a hand-stand", q: hand_stand(&go1)?, robot: go1.clone() },
        Pose { name: "h1 in a push-up", q: settle(h1.model(), &push_up, 2000.0, 4.0)?, robot: h1 },
    ])
}

/// Face down, arms straight down, toes on the ground: from there it settles.
fn push_up(h1: &OwnedModel<f64>) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let model = h1.model();
    let mut q = model.find_keyframe("rest").ok_or("h1 has a keyframe")?.q.to_vec();
    let lean = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 1.2);
    q[2] = 0.55;
    q[3..7].copy_from_slice(lean.coords.as_slice());
    for id in model.body_ids() {
        let (name, body) = (model.joint_name(id), model.body(id).ok_or("no body")?);
        let angle = match name {
            _ if name.ends_with("shoulder_pitch") => -1.2,
            _ if name.ends_with("elbow") => 1.5,
            _ if name.ends_with("ankle") => -0.4,
            _ if name.ends_with("hip_pitch") || name.ends_with("knee") => 0.0,
            _ => continue,
        };
        q[usize::from(body.first_q)] = angle;
    }
    Ok(q)
}

/// On its front feet, head down, hind legs in the air, with the centre of mass above the line between the feet.
fn hand_stand(go1: &OwnedModel<f64>) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    /// Halvings of the range of pitch: to the last digit.
    const HALVINGS: usize = 60;
    let model = go1.model();
    let mut q = model.find_keyframe("rest").ok_or("go1 has a keyframe")?.q.to_vec();
    for id in model.body_ids() {
        let angle = match model.joint_name(id) {
            "FR_thigh" | "FL_thigh" => -0.6,
            "FR_calf" | "FL_calf" => -1.0,
            "RR_thigh" | "RL_thigh" => 1.5,
            "RR_calf" | "RL_calf" => -1.2,
            name if name.ends_with("hip") => 0.0,
            _ => continue,
        };
        q[usize::from(model.body(id).ok_or("no body")?.first_q)] = angle;
    }
    let (mut leaning_back, mut leaning_over) = (0.3, 2.2);
    for _ in 0..HALVINGS {
        let pitch = 0.5 * (leaning_back + leaning_over);
        if stand_at(model, pitch, &mut q)? > 0.0 { leaning_over = pitch } else { leaning_back = pitch }
    }
    stand_at(model, leaning_back, &mut q)?;
    Ok(q)
}

/// Sets pitch and height so that the lowest points touch the floor; how far the centre of mass is ahead of them.
fn stand_at(model: Model<'_, f64>, pitch: f64, q: &mut [f64]) -> Result<f64, Box<dyn std::error::Error>> {
    q[2] = 0.5;
    q[3..7].copy_from_slice(UnitQuaternion::from_axis_angle(&Vector3::y_axis(), pitch).coords.as_slice());
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims)];
    let mut work = Step::carve(&mut Arena::new(&mut memory), dims)?;
    let far = StepSettings { contact_margin_m: 1.0, ..settings() };
    let (v, mut q_next, mut v_next) = (vec![0.0; model.nv()], q.to_vec(), vec![0.0; model.nv()]);
    step(model, &StepInput::new(q, &v, &[]), &far, NextState { q: &mut q_next, v: &mut v_next }, &mut work)?;
    let stands_still = |geometry: GeometryId| model.geometries[geometry.index()].body == BodyId::WORLD;
    let floor = work.contacts().filter(|c| {
        let pair = &model.pairs[usize::from(c.contact.pair)];
        stands_still(pair.a) || stands_still(pair.b)
    });
    let lowest = floor.min_by(|a, b| a.contact.at.distance.total_cmp(&b.contact.at.distance)).ok_or("no floor")?;
    q[2] -= lowest.contact.at.distance;
    Ok(center_of_mass(&work.dynamics).position_world.x - lowest.position_world.x)
}
