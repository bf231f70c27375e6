//! Model-predictive control: an iLQR that sees contact, bounds its time and tells the truth.
//!
//! [`Mpc::solve`] improves a [`Plan`] from the measured state on. The old policy is followed from there, and each step is
//! linearized as it is taken; the backward pass goes from the last node to the first (and linearizes those that are not
//! kept); step lengths are tried by following the new policy through the exact contact step. The plan that the outside sees is
//! replaced whole, and only by a better one (or, with [`trials: 0`](MpcSettings::trials), by one that the next solve tries), so
//! whenever the time is up there is a plan to follow. Between solves the [`Plan`] is a policy: u = u* + K (x ⊖ x*) at any time.
//!
//! A [`Task`] is a list of weighted squares, see [`Residual`].

mod backward;
mod bounds;
mod clock;
mod cost;
mod dims;
mod iterate;
mod linearize;
mod look_back;
mod memory;
mod observer;
mod plan;
mod predict;
mod report;
mod rollout;
mod settings;
mod solve;
mod stages;
mod team;

pub use clock::{Clock, Nanos, Stopped};
pub use cost::{CustomResidual, Dofs, MOST_ROWS, Moving, Neighbours, Node, Quadratic, Residual, Term};
use cost::{Expansion, Sum};
pub use dims::MpcDims;
pub use observer::{Observer, Passage};
pub use plan::{Plan, PolicyScratch};
pub use report::{MpcError, Report, Status, Times};
pub use settings::{MpcSettings, Regularization, Spacing, Start};
pub use solve::{Budget, Measured, Mpc, Task};
pub use team::{Fork, InTurn, MOST_MEMBERS, Team};
