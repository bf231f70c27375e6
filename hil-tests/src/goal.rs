//! Whether the robot did what its scenario asks.

use saltus_control::Scenario;

/// What was seen of a robot, tick by tick.
#[derive(Clone, Debug)]
pub struct Goal {
    robot: &'static str,
    ticks: u32,
    seen: u32,
    lowest: f32,
    /// Least cosine of the angle between the first body's z axis and the vertical.
    uprightness: f32,
    hops: u32,
    in_air: bool,
    /// Worst error over the last fifth of the run.
    error: f32,
}

/// Height of the hopper's torso above which it is in the air: standing on its toe it reaches 1.27 m.
const IN_AIR_M: f32 = 1.3;
/// And below which it has landed.
const LANDED_M: f32 = 1.25;

impl Goal {
    /// For a run of so many ticks.
    pub fn new(scenario: &Scenario, ticks: u32) -> Self {
        let (lowest, uprightness) = (f32::INFINITY, 1.0);
        Self { robot: scenario.robot.name, ticks, seen: 0, lowest, uprightness, hops: 0, in_air: false, error: 0.0 }
    }

    /// Looks at a configuration.
    pub fn observe(&mut self, q: &[f32]) {
        let settled = self.seen * 5 >= self.ticks * 4;
        self.seen += 1;
        let error = match (self.robot, q) {
            ("cartpole", [x, angle]) => x.abs().max(angle.abs()),
            ("hopper", [x, height, pitch, ..]) => {
                self.lowest = self.lowest.min(*height);
                self.uprightness = self.uprightness.min(pitch.cos());
                let lifts = !self.in_air && *height > IN_AIR_M;
                self.hops += u32::from(lifts);
                self.in_air = lifts || (self.in_air && *height > LANDED_M);
                x.abs()
            }
            (_, [x, y, z, i, j, ..]) => {
                self.lowest = self.lowest.min(*z);
                self.uprightness = self.uprightness.min(1.0 - 2.0 * (i * i + j * j));
                let height = if self.robot == "quadrotor" { 1.0 } else { 0.287 };
                x.abs().max(y.abs()).max((z - height).abs())
            }
            _ => f32::INFINITY,
        };
        if settled {
            self.error = self.error.max(error);
        }
    }

    /// What is missing, if anything is.
    pub fn missing(&self) -> Option<String> {
        let seconds = self.ticks as f32 / 500.0;
        match self.robot {
            "cartpole" if self.error > 0.1 => Some(format!("the pole is {:.2} rad or m off at the end", self.error)),
            // One hop in 0.8 s, the first one after a second.
            "hopper" if (self.hops as f32) < (seconds - 1.0) / 0.8 - 1.0 => Some(format!("only {} hops", self.hops)),
            "hopper" if self.lowest < 0.9 => Some(format!("the torso came down to {:.2} m", self.lowest)),
            "hopper" if self.error > 0.5 => Some(format!("it strayed {:.2} m", self.error)),
            "quadrotor" if self.error > 0.05 => Some(format!("{:.2} m off its place at the end", self.error)),
            "go1" if self.lowest < 0.22 || self.uprightness < 0.9 => {
                Some(format!("it fell: lowest {:.2} m, uprightness {:.2}", self.lowest, self.uprightness))
            }
            "go1" if self.error > 0.1 => Some(format!("{:.2} m off its place at the end", self.error)),
            _ => None,
        }
    }
}
