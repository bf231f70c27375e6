//! What surrounds the plant.

use anyhow::{Result, anyhow};
use nalgebra::Vector3;
use saltus::kinematics;
use saltus::model::{BodyId, FrameId, GeometryId, Model};
use saltus::spatial::Force;
use saltus::spatial::vector::multiply_transposed;
use saltus::step::Simulator;
use saltus_scenarios::{Push, Sample};

use super::PLANT_DT_S;

/// What surrounds the plant: pushes, and a tool to look at.
pub struct World {
    push: Option<(Push, BodyId)>,
    /// On each body, at this moment.
    pub wrenches: Vec<Force<f64>>,
    tool: Option<FrameId>,
    flange: Option<GeometryId>,
}

impl World {
    /// Around a plant that is pushed, or not.
    pub fn new(plant: Model<'_, f64>, push: Option<Push>) -> Result<Self> {
        let push = match push {
            Some(push) => {
                let body = plant.find_body(push.body).ok_or_else(|| anyhow!("the robot has no body {}", push.body))?;
                Some((push, body))
            }
            None => None,
        };
        let wrenches = vec![Force::ZERO; plant.bodies.len()];
        Ok(Self { push, wrenches, tool: plant.find_frame("tool"), flange: plant.find_geometry("flange") })
    }

    /// Sets the wrenches of this moment.
    pub fn push_at(&mut self, time_s: f64, simulator: &mut Simulator<'_, '_, f64>) -> Result<()> {
        let Some((push, body)) = &self.push else { return Ok(()) };
        let (model, q, v) = (simulator.model(), simulator.q().to_vec(), simulator.v().to_vec());
        let pushes = time_s >= push.start_s && time_s < push.start_s + push.duration_s;
        let wrench = &mut self.wrenches[body.index() - 1];
        *wrench = Force::ZERO;
        if pushes {
            let work = &mut simulator.work_mut().dynamics.kinematics;
            kinematics::forward(model, &q, &v, work)?;
            let rotation = work.body_placement_world(*body)?.rotation;
            wrench.linear = multiply_transposed(&rotation, &push.force_world);
        }
        Ok(())
    }

    /// What the judge sees.
    pub fn sample<'s>(&self, time_s: f64, simulator: &'s mut Simulator<'_, '_, f64>) -> Result<Sample<'s>> {
        let force_n = self.flange.map_or(0.0, |flange| normal_force(simulator, flange));
        let mut tool_world = Vector3::zeros();
        if let Some(tool) = self.tool {
            let (model, q, v) = (simulator.model(), simulator.q().to_vec(), simulator.v().to_vec());
            let work = &mut simulator.work_mut().dynamics.kinematics;
            kinematics::forward(model, &q, &v, work)?;
            tool_world = work.frame_placement_world(model, tool)?.translation;
        }
        Ok(Sample { time_s, q: simulator.q(), v: simulator.v(), tool_world, force_n })
    }
}

/// Normal force on a geometry in the step just taken.
fn normal_force(simulator: &Simulator<'_, '_, f64>, geometry: GeometryId) -> f64 {
    let model = simulator.model();
    let touches = |pair: u16| {
        let pair = &model.pairs[usize::from(pair)];
        pair.a == geometry || pair.b == geometry
    };
    let contacts = simulator.work().contacts().filter(|held| touches(held.contact.pair));
    contacts.map(|held| held.impulse_world.dot(&held.contact.at.normal) / PLANT_DT_S).sum()
}
