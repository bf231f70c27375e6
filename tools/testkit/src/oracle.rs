//! Figures that Pinocchio gave, stored in `tests/oracles` by `tools/peers/oracles.py`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use saltus::model::OwnedModel;
use serde::Deserialize;

use crate::RobotFile;

/// A robot and what a peer computed for it.
pub struct Oracle {
    /// Short name of the robot.
    pub robot: String,
    /// The robot.
    pub model: OwnedModel<f64>,
    /// Random states and all results at each.
    pub states: Vec<State>,
}

/// One state: named matrices.
pub struct State(BTreeMap<String, Matrix>);

/// Row-major numbers.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Row by row.
    pub data: Vec<f64>,
}

#[derive(Deserialize)]
struct Layout {
    fields: Vec<Field>,
    states: usize,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    rows: usize,
    cols: usize,
}

impl Oracle {
    /// Every robot that has stored figures.
    pub const ROBOTS: [&str; 6] = ["panda7", "go1", "g1", "talos", "cartpole", "mixed_tree"];

    /// Reads the stored figures of a robot.
    pub fn load(robot: &str) -> Result<Self> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oracles"));
        let json = folder.join(format!("{robot}.json"));
        let model = RobotFile::read(&json)?.build()?;
        let layout: Layout = serde_json::from_str(&std::fs::read_to_string(&json)?)?;
        let bytes = std::fs::read(folder.join(format!("{robot}.bin"))).context("cannot read the figures")?;
        let mut numbers = bytes.as_chunks::<8>().0.iter().map(|&eight| f64::from_le_bytes(eight));
        let per_state: usize = layout.fields.iter().map(|field| field.rows * field.cols).sum();
        ensure!(bytes.len() == 8 * per_state * layout.states, "{robot}.bin does not have the size that its JSON says");
        let states = (0..layout.states)
            .map(|_| {
                let fields = layout.fields.iter().map(|field| {
                    let data = numbers.by_ref().take(field.rows * field.cols).collect();
                    (field.name.clone(), Matrix { rows: field.rows, cols: field.cols, data })
                });
                State(fields.collect())
            })
            .collect();
        Ok(Self { robot: robot.to_string(), model, states })
    }
}

impl State {
    /// A stored matrix; panics with its name when there is none.
    pub fn matrix(&self, name: &str) -> &Matrix {
        self.0.get(name).unwrap_or_else(|| panic!("no stored figure is called {name}"))
    }

    /// The numbers of a stored matrix, row by row.
    pub fn get(&self, name: &str) -> &[f64] {
        &self.matrix(name).data
    }
}
