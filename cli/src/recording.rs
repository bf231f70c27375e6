//! Recordings in MCAP, which Foxglove and Rerun open: JSON messages, each channel with its JSON schema.
//!
//! ```
//! use saltus_cli::recording::Recording;
//!
//! let path = std::env::temp_dir().join("pendulum.mcap");
//! let mut recording = Recording::create(&path)?;
//! recording.state(0.001, &[0.3], &[0.0])?;
//! recording.finish()?;
//! # std::fs::remove_file(path)?;
//! # Ok::<(), anyhow::Error>(())
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use saltus::model::Model;
use saltus::step::{ContactReport, Step};
use serde::Serialize;

/// A file that messages are added to. The time of a message is that of the simulation, from 0.
pub struct Recording {
    writer: Writer<BufWriter<File>>,
    state: Channel,
    contacts: Channel,
    statistics: Channel,
    /// Added with the first solve.
    solve: Option<Channel>,
}

/// A point where two geometries touch or nearly do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContactRow<'a> {
    /// Their names.
    pub geometries: [&'a str; 2],
    /// Where, in the world, m.
    pub point_world: [f64; 3],
    /// Unit vector from the first geometry to the second.
    pub normal_world: [f64; 3],
    /// Between the surfaces along the normal, m; negative when they overlap.
    pub distance_m: f64,
    /// What the second geometry received in the step, N·s.
    pub impulse_world: [f64; 3],
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Kinetic energy before it, J.
    pub kinetic_j: f64,
    /// Potential energy before it, J.
    pub potential_j: f64,
    /// Contacts that took part.
    pub contacts: usize,
    /// Deepest penetration, m.
    pub penetration_m: f64,
    /// Of the contact solver.
    pub iterations: u16,
    /// Of the contact solver, relative to the largest impulse.
    pub residual: f64,
    /// What the step took on the clock, µs.
    pub step_us: f64,
}

/// How a solve of the optimizer went, and what the motors were told then.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solve<'a> {
    /// Why it stopped.
    pub status: String,
    /// Iterations begun.
    pub iterations: u16,
    /// Of the plan.
    pub cost: f64,
    /// Sum of the gaps in the plan.
    pub gap: f64,
    /// Of the last step taken.
    pub step_length: f64,
    /// At the end.
    pub regularization: f64,
    /// What it took on the clock, µs.
    pub solve_us: f64,
    /// Controls.
    pub u: &'a [f64],
}

#[derive(Serialize)]
struct TimedSolve<'a> {
    time_s: f64,
    #[serde(flatten)]
    solve: &'a Solve<'a>,
}

#[derive(Serialize)]
struct State<'a> {
    time_s: f64,
    q: &'a [f64],
    v: &'a [f64],
}

#[derive(Serialize)]
struct Contacts<'a> {
    time_s: f64,
    contacts: &'a [ContactRow<'a>],
}

#[derive(Serialize)]
struct TimedStatistics<'a> {
    time_s: f64,
    #[serde(flatten)]
    statistics: &'a Statistics,
}

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "time_s": { "type": "number", "description": "simulated time, s" },
    "q": { "type": "array", "items": { "type": "number" }, "description": "configuration" },
    "v": { "type": "array", "items": { "type": "number" }, "description": "velocity" }
  }
}"#;

const CONTACTS: &str = r#"{
  "type": "object",
  "properties": {
    "time_s": { "type": "number", "description": "simulated time, s" },
    "contacts": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "geometries": { "type": "array", "items": { "type": "string" }, "description": "names of the two" },
          "point_world": { "type": "array", "items": { "type": "number" }, "description": "m" },
          "normal_world": { "type": "array", "items": { "type": "number" }, "description": "from first to second" },
          "distance_m": { "type": "number", "description": "negative when they overlap" },
          "impulse_world": { "type": "array", "items": { "type": "number" }, "description": "on the second, N s" }
        }
      }
    }
  }
}"#;

const STATISTICS: &str = r#"{
  "type": "object",
  "properties": {
    "time_s": { "type": "number", "description": "simulated time, s" },
    "kinetic_j": { "type": "number", "description": "kinetic energy, J" },
    "potential_j": { "type": "number", "description": "potential energy, J" },
    "contacts": { "type": "integer", "description": "contacts that took part" },
    "penetration_m": { "type": "number", "description": "deepest penetration, m" },
    "iterations": { "type": "integer", "description": "of the contact solver" },
    "residual": { "type": "number", "description": "of the contact solver, relative to the largest impulse" },
    "step_us": { "type": "number", "description": "time of the step on the clock, us" }
  }
}"#;

const SOLVE: &str = r#"{
  "type": "object",
  "properties": {
    "time_s": { "type": "number", "description": "simulated time, s" },
    "status": { "type": "string", "description": "why it stopped" },
    "iterations": { "type": "integer", "description": "iterations begun" },
    "cost": { "type": "number", "description": "of the plan" },
    "gap": { "type": "number", "description": "sum of the gaps in the plan" },
    "step_length": { "type": "number", "description": "of the last step taken" },
    "regularization": { "type": "number", "description": "at the end" },
    "solve_us": { "type": "number", "description": "time of the solve on the clock, us" },
    "u": { "type": "array", "items": { "type": "number" }, "description": "controls" }
  }
}"#;

/// What touches in the step that a workspace has just taken.
pub fn contact_rows<'m>(model: Model<'m, f64>, step: &Step<'_, f64>) -> Vec<ContactRow<'m>> {
    let row = |held: ContactReport<f64>| {
        let pair = &model.pairs[usize::from(held.contact.pair)];
        ContactRow {
            geometries: [pair.a, pair.b].map(|id| model.geometry_name(id)),
            point_world: held.position_world.into(),
            normal_world: held.contact.at.normal.into(),
            distance_m: held.contact.at.distance,
            impulse_world: held.impulse_world.into(),
        }
    };
    step.contacts().map(row).collect()
}

impl Recording {
    /// Starts a file, over what was there.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        // Uncompressed: the compressors are C libraries, and `mcap compress` does it afterwards.
        let options = WriteOptions::new().compression(None).library(concat!("saltus ", env!("CARGO_PKG_VERSION")));
        let mut writer = options.create(BufWriter::new(file))?;
        let state = Channel::add(&mut writer, "/state", "saltus.State", STATE)?;
        let contacts = Channel::add(&mut writer, "/contacts", "saltus.Contacts", CONTACTS)?;
        let statistics = Channel::add(&mut writer, "/statistics", "saltus.Statistics", STATISTICS)?;
        Ok(Self { writer, state, contacts, statistics, solve: None })
    }

    /// Adds where the robot is and how it moves.
    pub fn state(&mut self, time_s: f64, q: &[f64], v: &[f64]) -> Result<()> {
        self.state.write(&mut self.writer, time_s, &State { time_s, q, v })
    }

    /// Adds what touches.
    pub fn contacts(&mut self, time_s: f64, contacts: &[ContactRow<'_>]) -> Result<()> {
        self.contacts.write(&mut self.writer, time_s, &Contacts { time_s, contacts })
    }

    /// Adds how a step went.
    pub fn statistics(&mut self, time_s: f64, statistics: &Statistics) -> Result<()> {
        self.statistics.write(&mut self.writer, time_s, &TimedStatistics { time_s, statistics })
    }

    /// Adds how a solve went.
    pub fn solve(&mut self, time_s: f64, solve: &Solve<'_>) -> Result<()> {
        let channel = match self.solve.take() {
            Some(channel) => channel,
            None => Channel::add(&mut self.writer, "/solve", "saltus.Solve", SOLVE)?,
        };
        self.solve.insert(channel).write(&mut self.writer, time_s, &TimedSolve { time_s, solve })
    }

    /// Writes the index and closes the file. A recording that is dropped is closed too, but its errors are lost.
    pub fn finish(mut self) -> Result<()> {
        self.writer.finish().context("cannot finish the recording")?;
        Ok(())
    }
}

/// Messages of one kind, numbered.
struct Channel {
    id: u16,
    sequence: u32,
}

impl Channel {
    fn add(writer: &mut Writer<BufWriter<File>>, topic: &str, name: &str, schema: &str) -> Result<Self> {
        let schema = writer.add_schema(name, "jsonschema", schema.as_bytes())?;
        Ok(Self { id: writer.add_channel(schema, topic, "json", &BTreeMap::new())?, sequence: 0 })
    }

    fn write(&mut self, writer: &mut Writer<BufWriter<File>>, time_s: f64, message: &impl Serialize) -> Result<()> {
        let time_ns = (time_s * 1e9).round() as u64;
        let header =
            MessageHeader { channel_id: self.id, sequence: self.sequence, log_time: time_ns, publish_time: time_ns };
        self.sequence = self.sequence.wrapping_add(1);
        writer.write_to_known_channel(&header, &serde_json::to_vec(message)?).context("cannot write to the recording")
    }
}
