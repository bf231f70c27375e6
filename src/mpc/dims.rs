//! What the memory of the optimizer is sized by.

use crate::linalg::padded;
use crate::step::StepDims;

/// Sizes of a robot, its constraints, the horizon and the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpcDims {
    /// Of the robot and its constraints.
    pub step: StepDims,
    /// Steps that the plan looks ahead.
    pub horizon: usize,
    /// Terms of the cost that fit.
    pub terms: usize,
    /// Whether the linearization of every node is kept until the backward pass comes by. That saves a step per node where
    /// a solve starts with [`Start::Rollout`](super::Start::Rollout), and a [`Team`](super::Team) needs it.
    pub keep_nodes: bool,
}

impl MpcDims {
    /// Of a robot whose plan has `horizon` steps, with room for `terms` terms in the cost; every node is kept.
    pub const fn new(step: StepDims, horizon: usize, terms: usize) -> Self {
        Self { step, horizon, terms, keep_nodes: true }
    }

    /// The same plans in less memory: a node is linearized when the backward pass needs it, and not kept.
    pub const fn without_kept_nodes(self) -> Self {
        Self { keep_nodes: false, ..self }
    }

    /// Nodes whose linearization is kept.
    pub(super) const fn kept(self) -> usize {
        if self.keep_nodes { self.horizon } else { 0 }
    }

    /// States of the plan.
    pub(super) const fn nodes(self) -> usize {
        self.horizon + 1
    }

    /// Length of a change of state: of the configuration, then of the velocity.
    pub(super) const fn state(self) -> usize {
        2 * self.step.robot.nv
    }

    /// Length of a change of state and control.
    pub(super) const fn variables(self) -> usize {
        self.state() + self.step.controls
    }

    /// Numbers of an nv × nv matrix.
    pub(super) const fn velocities_square(self) -> usize {
        self.step.robot.square()
    }

    /// Numbers of a matrix over states and controls.
    pub(super) const fn variables_square(self) -> usize {
        self.variables() * padded(self.variables())
    }

    /// Numbers of the feedback gain of one node: controls × states.
    pub(super) const fn gain(self) -> usize {
        self.step.controls * padded(self.state())
    }
}
