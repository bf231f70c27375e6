//! Robots that can stand still.

use nalgebra::{UnitQuaternion, Vector3};
use saltus::model::OwnedModel;
use saltus::spatial::{Inertia, Placement};
use saltus_loaders::{LoadOptions, load};

use super::settle;

/// A robot in a pose in which some torques hold it.
pub struct Pose {
    pub name: &'static str,
    pub robot: OwnedModel<f64>,
    pub q: Vec<f64>,
}

/// Go1 on its feet, Go1 with 10 kg on its back, and H1 face down on the ground; each settled under stiff motors.
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
        Pose { name: "go1", q: settle(go1.model(), &standing, 200.0, 2.0)?, robot: go1 },
        Pose { name: "go1 with 10 kg", q: settle(loaded.model(), &standing, 200.0, 2.0)?, robot: loaded },
        Pose { name: "h1 face down", q: settle(h1.model(), &push_up, 2000.0, 4.0)?, robot: h1 },
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
