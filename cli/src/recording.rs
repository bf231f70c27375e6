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
use serde::Serialize;

/// A file that messages are added to. The time of a message is that of the simulation, from 0.
pub struct Recording {
    writer: Writer<BufWriter<File>>,
    state: Channel,
    contacts: Channel,
    statistics: Channel,
}

/// A point where two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContactRow {
    /// Where, in the world, m.
    pub point_world: [f64; 3],
    /// Unit vector from the second body to the first.
    pub normal_world: [f64; 3],
    /// What the first body received in the step, N·s.
    pub impulse_world: [f64; 3],
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Kinetic energy, J.
    pub kinetic_j: f64,
    /// Potential energy, J.
    pub potential_j: f64,
    /// What the step took on the clock, µs.
    pub step_us: f64,
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
    contacts: &'a [ContactRow],
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
          "point_world": { "type": "array", "items": { "type": "number" }, "description": "m" },
          "normal_world": { "type": "array", "items": { "type": "number" }, "description": "to the first body" },
          "impulse_world": { "type": "array", "items": { "type": "number" }, "description": "on the first body, N s" }
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
    "step_us": { "type": "number", "description": "time of the step on the clock, us" }
  }
}"#;

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
        Ok(Self { writer, state, contacts, statistics })
    }

    /// Adds where the robot is and how it moves.
    pub fn state(&mut self, time_s: f64, q: &[f64], v: &[f64]) -> Result<()> {
        self.state.write(&mut self.writer, time_s, &State { time_s, q, v })
    }

    /// Adds what touches.
    pub fn contacts(&mut self, time_s: f64, contacts: &[ContactRow]) -> Result<()> {
        self.contacts.write(&mut self.writer, time_s, &Contacts { time_s, contacts })
    }

    /// Adds how a step went.
    pub fn statistics(&mut self, time_s: f64, statistics: &Statistics) -> Result<()> {
        self.statistics.write(&mut self.writer, time_s, &TimedStatistics { time_s, statistics })
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
