//! What tests, benchmarks and the peer comparison share: robots, stored figures, random states.

mod evaluate;
mod oracle;
mod random;
mod robot;
mod rollout;
mod soak;
mod solids;
mod tree;

pub use evaluate::{Results, evaluate, evaluate_regressor};
pub use oracle::{Matrix, Oracle, State};
pub use random::Random;
pub use robot::RobotFile;
pub use rollout::{RandomControls, Watched, builtin_robot, builtin_robots, simulator};
pub use soak::{SoakReport, soak};
pub use solids::SampleShape;
pub use tree::random_tree;
