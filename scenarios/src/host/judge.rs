//! Whether a run succeeded.

use core::f64::consts::TAU;

use nalgebra::Vector3;
use saltus::model::Model;
use std::format;
use std::string::String;

use crate::{Scenario, go1, h1, ur5};

/// What the judge sees of a moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'s> {
    /// Since the start.
    pub time_s: f64,
    /// Configuration.
    pub q: &'s [f64],
    /// Velocity.
    pub v: &'s [f64],
    /// Position of the tool, where the robot has one.
    pub tool_world: Vector3<f64>,
    /// Normal force on the tool, N.
    pub force_n: f64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It did what it should.
    Success,
    /// Why not.
    Failure(String),
}

/// Watches a run.
#[derive(Clone, Debug)]
pub struct Judge {
    scenario: Scenario,
    seconds: f64,
    /// The first thing that went wrong and cannot be mended.
    failed: Option<String>,
    /// What was wrong, and when, the last time that something was.
    last_wrong: Option<(f64, String)>,
    force: f64,
}

/// Seconds of the end in which all must be well.
const SETTLED_S: f64 = 0.5;
/// Time over which a force is averaged: that of a force sensor's filter.
const FORCE_FILTER_S: f64 = 0.02;

impl Judge {
    /// For a run of `seconds`.
    pub fn new(scenario: Scenario, seconds: f64) -> Self {
        Self { scenario, seconds, failed: None, last_wrong: None, force: 0.0 }
    }

    /// Looks at a moment, `dt_s` after the last one.
    pub fn watch(&mut self, sample: &Sample<'_>, dt_s: f64) {
        self.force += (sample.force_n - self.force) * (dt_s / FORCE_FILTER_S).min(1.0);
        if self.failed.is_none() {
            self.failed = self.fallen(sample);
        }
        if let Some(wrong) = self.unsettled(sample) {
            self.last_wrong = Some((sample.time_s, wrong));
        }
    }

    /// Whether there is no use in going on.
    pub fn is_lost(&self) -> bool {
        self.failed.is_some()
    }

    /// The verdict at the end.
    pub fn finish(&self, model: Model<'_, f64>, end: &Sample<'_>) -> Verdict {
        let _ = model;
        let reason = self.failed.clone().or_else(|| self.missed(end)).or_else(|| {
            let settled = self.seconds - SETTLED_S;
            self.last_wrong.as_ref().filter(|(time_s, _)| *time_s > settled).map(|(_, wrong)| wrong.clone())
        });
        reason.map_or(Verdict::Success, Verdict::Failure)
    }

    /// What cannot be mended.
    fn fallen(&self, sample: &Sample<'_>) -> Option<String> {
        let (q, time_s) = (sample.q, sample.time_s);
        let height = |floor: f64, z: f64| (z < floor).then(|| format!("fell, {z:.2} m high at {time_s:.2} s"));
        match self.scenario {
            Scenario::Go1Push | Scenario::Go1Walk => height(0.13, q[2]),
            Scenario::H1Balance => height(0.7, q[2]),
            Scenario::HopperHop => height(0.6, q[1]),
            _ => None,
        }
    }

    /// What must be well at the end.
    fn unsettled(&self, sample: &Sample<'_>) -> Option<String> {
        let (q, v) = (sample.q, sample.v);
        let far = |what: &str, x: f64, most: f64| (x.abs() > most).then(|| format!("{what} off by {x:.3}"));
        let tilt = |q: &[f64]| 2.0 * (q[3] * q[3] + q[4] * q[4]).sqrt();
        let turned = |x: f64| x - TAU * (x / TAU).round();
        match self.scenario {
            Scenario::CartpoleSwingup => far("pole", turned(q[1]), 0.1),
            Scenario::DoubleCartpoleSwingup => {
                far("first pole", turned(q[1]), 0.15).or_else(|| far("second pole", turned(q[1] + q[2]), 0.15))
            }
            Scenario::QuadrotorTakeoff => {
                let apart = Vector3::new(q[0], q[1], q[2] - 1.0).norm();
                far("position", apart, 0.05).or_else(|| far("speed", Vector3::new(v[0], v[1], v[2]).norm(), 0.1))
            }
            Scenario::Ur5Reach => far("tool", (sample.tool_world - Vector3::from(ur5::GOAL)).norm(), 0.01),
            Scenario::Ur5Press => far("force", self.force - ur5::FORCE_N, 1.0),
            Scenario::HopperHop => None,
            Scenario::Go1Stand | Scenario::Go1Push => {
                far("height", q[2] - go1::HEIGHT, 0.04).or_else(|| far("tilt", tilt(q), 0.15))
            }
            Scenario::Go1Walk => far("tilt", tilt(q), 0.4),
            Scenario::H1Balance => far("height", q[2] - h1::HEIGHT, 0.06).or_else(|| far("tilt", tilt(q), 0.2)),
        }
    }

    /// What must have been reached at the end.
    fn missed(&self, end: &Sample<'_>) -> Option<String> {
        let short = |x: f64, goal: f64| (x < goal).then(|| format!("got {x:.2} m far instead of {goal:.2} m"));
        match self.scenario {
            Scenario::HopperHop => short(end.q[0], 3.0 * self.seconds / 5.0),
            Scenario::Go1Walk => short(end.q[0], 0.9 * go1::SPEED * self.seconds),
            _ => None,
        }
    }
}
