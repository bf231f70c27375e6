//! The memory of the optimizer.

use super::backward::Backward;
use super::plan::PolicyScratch;
use super::stages::Stages;
use super::{MpcDims, Plan, Quadratic};
use crate::derivatives::Derivatives;
use crate::linalg::padded;
use crate::memory::carved;
use crate::scalar::Real;
use crate::step::{Step, WarmDims, WarmStore};

carved! {
    pub(super) struct Memory<'a, T>(d: MpcDims) {
        /// The plan that the outside sees.
        pub committed: { Plan },
        /// The plan being made; takes the place of the other when it is better.
        pub candidate: { Plan },
        pub step: { Step(d.step) },
        pub derivatives: { Derivatives(d.step) },
        pub quadratic: { Quadratic },
        pub stages: { Stages },
        pub backward: { Backward },
        pub warm: { WarmStore(d.warm()) },
        pub policy: { PolicyScratch(d.step.robot) },
        /// Of each step.
        pub dt_s: [T; d.horizon],
        /// Change of the controls that the backward pass asks for, horizon × nu.
        pub feedforward: [T; d.horizon * d.step.controls],
        /// f(x, u) ⊖ x⁺ at each node; at the first one, from the plan to the measured state. nodes × 2nv.
        pub gap: [T; d.nodes() * d.state()],
        /// Controls of a plan that starts afresh, nu.
        pub idle: [T; d.step.controls],
        /// Planned controls of the moment when the plan starts, nu.
        pub applied: [T; d.step.controls],
        /// A force on each degree of freedom that the model does not know of.
        pub disturbance: [T; d.step.robot.nv],
        pub next_q: [T; d.step.robot.nq],
        pub next_v: [T; d.step.robot.nv],
        /// x̂ ⊖ x along a trial.
        pub apart: [T; padded(d.state())],
        /// Share of each term in the cost of the committed plan, and of the one being made.
        pub parts: [T; d.terms],
        pub trial_parts: [T; d.terms],
    }
}

impl MpcDims {
    const fn warm(self) -> WarmDims {
        WarmDims { problem: self.step.problem(), nodes: self.horizon }
    }
}

impl<T: Real> Memory<'_, T> {
    /// The candidate becomes the plan.
    pub fn commit(&mut self) {
        core::mem::swap(&mut self.committed, &mut self.candidate);
        core::mem::swap(&mut self.parts, &mut self.trial_parts);
    }

    /// Sum of all gaps.
    pub fn gap_sum(&self) -> T {
        self.gap.iter().fold(T::ZERO, |sum, gap| sum + gap.abs())
    }
}
