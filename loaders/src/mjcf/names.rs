//! Names for what the file leaves unnamed, each taken once.

use std::collections::BTreeSet;

/// Names that are taken, by kind.
#[derive(Default)]
pub(super) struct Names {
    bodies: BTreeSet<String>,
    joints: BTreeSet<String>,
    frames: BTreeSet<String>,
    made: usize,
}

impl Names {
    /// Reserves the names that the file states, so that none that is made up takes them.
    pub fn reserve(bodies: BTreeSet<String>, joints: BTreeSet<String>, frames: BTreeSet<String>) -> Self {
        Self { bodies, joints, frames, made: 0 }
    }

    pub fn body(&mut self, stated: Option<&str>) -> String {
        stated.map_or_else(|| make("body", &mut self.bodies, &mut self.made), str::to_owned)
    }

    /// A body between two joints of one body.
    pub fn between(&mut self, body: &str, joint: &str) -> String {
        make(&format!("{body}/{joint}"), &mut self.bodies, &mut self.made)
    }

    pub fn joint(&mut self, stated: Option<&str>, body: &str) -> String {
        stated.map_or_else(|| make(body, &mut self.joints, &mut self.made), str::to_owned)
    }

    pub fn site(&mut self, stated: Option<&str>) -> String {
        stated.map_or_else(|| make("site", &mut self.frames, &mut self.made), str::to_owned)
    }

    /// A name like this one for a frame.
    pub fn like(&mut self, name: &str) -> String {
        make(name, &mut self.frames, &mut self.made)
    }
}

/// `wish`, or `wish` with a number. Each number is tried once, so all names together take linear time.
fn make(wish: &str, taken: &mut BTreeSet<String>, made: &mut usize) -> String {
    let mut name = wish.to_owned();
    while !taken.insert(name.clone()) {
        *made += 1;
        name = format!("{wish}_{made}");
    }
    name
}
