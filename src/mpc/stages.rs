//! Linearized nodes, kept until the backward pass comes by.

use core::marker::PhantomData;

use super::linearize::Linearized;
use super::{MpcDims, Quadratic};
use crate::linalg::MatRef;
use crate::memory::{carved, part, part_mut};
use crate::scalar::Real;

carved! {
    /// What is kept of each node, if [`MpcDims::keep_nodes`] says so.
    pub(super) struct Stages<'a, T>(d: MpcDims) {
        /// F, one matrix of nv × (2nv + nu) per node.
        steps: [T; d.kept() * d.step.robot.nv * d.step.columns()],
        /// Gradient and Hessian of the cost.
        costs: [T; d.kept() * Quadratic::<T>::numbers(d)],
        /// Velocity after the step.
        next_v: [T; d.kept() * d.step.robot.nv],
        /// Share of each term in the cost.
        parts: [T; d.kept() * d.terms],
        /// The rest; nothing where a node is not linearized, or where the backward pass has been.
        told: [Option<Linearized<T>>; d.kept()],
    }
}

/// Where the numbers of one node go.
pub(super) struct Stage<'s, T> {
    pub step: &'s mut [T],
    pub cost: &'s mut [T],
    pub next_v: &'s mut [T],
    pub parts: &'s mut [T],
    pub told: &'s mut Option<Linearized<T>>,
}

impl<T: Real> Stages<'_, T> {
    /// Nodes that there is room for.
    pub fn len(&self) -> usize {
        self.told.len()
    }

    /// Forgets every node.
    pub fn clear(&mut self) {
        self.told.fill(None);
    }

    /// Node `k`, to be written, if there is room for it.
    pub fn stage(&mut self, k: usize) -> Option<Stage<'_, T>> {
        let nodes = self.told.len();
        Some(Stage {
            told: self.told.get_mut(k)?,
            step: part_mut(self.steps, nodes, k),
            cost: part_mut(self.costs, nodes, k),
            next_v: part_mut(self.next_v, nodes, k),
            parts: part_mut(self.parts, nodes, k),
        })
    }

    /// What was told of node `k`, once; the share of each term is added to `parts`.
    pub fn take(&mut self, k: usize, parts: &mut [T]) -> Option<Linearized<T>> {
        let told = self.told.get_mut(k)?.take()?;
        for (part, own) in parts.iter_mut().zip(part(self.parts, self.told.len(), k)) {
            *part += *own;
        }
        Some(told)
    }

    /// Of node `k`: the derivatives of its step, the velocity after it, and its cost's expansion.
    pub fn matrices(&mut self, k: usize, columns: usize) -> (MatRef<'_, T>, &[T], &mut [T]) {
        let nodes = self.told.len();
        let (steps, next_v) = (part(self.steps, nodes, k), part(self.next_v, nodes, k));
        let stride = steps.len() / next_v.len().max(1);
        let steps = MatRef::with_stride(steps, next_v.len(), columns, stride);
        (steps, next_v, part_mut(self.costs, nodes, k))
    }

    /// The first `count` nodes, and the others.
    pub fn split_at(&mut self, count: usize) -> (Stages<'_, T>, Stages<'_, T>) {
        let nodes = self.told.len().max(1);
        let cut = |all: usize| all / nodes * count.min(nodes);
        let steps = self.steps.split_at_mut(cut(self.steps.len()));
        let costs = self.costs.split_at_mut(cut(self.costs.len()));
        let next_v = self.next_v.split_at_mut(cut(self.next_v.len()));
        let parts = self.parts.split_at_mut(cut(self.parts.len()));
        let told = self.told.split_at_mut(cut(self.told.len()));
        let near = Stages {
            steps: steps.0,
            costs: costs.0,
            next_v: next_v.0,
            parts: parts.0,
            told: told.0,
            _scalar: PhantomData,
        };
        let far = Stages {
            steps: steps.1,
            costs: costs.1,
            next_v: next_v.1,
            parts: parts.1,
            told: told.1,
            _scalar: PhantomData,
        };
        (near, far)
    }
}
