//! Impulses carried from one step to the next.

use core::marker::PhantomData;

use super::Step;
use crate::contact::{Constraint, Problem, ProblemDims, SolverStatus};
use crate::memory::carved;
use crate::scalar::Real;

carved! {
    /// The impulses of the last step and what they belonged to.
    pub struct Warm<'a, T>(d: ProblemDims) {
        constraints: [Constraint<T>; d.constraints],
        impulses: [T; d.rows],
        count: (usize),
    }
}

/// What the memory of several warm starts is sized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WarmDims {
    pub problem: ProblemDims,
    pub nodes: usize,
}

carved! {
    /// Warm starts of the steps of a plan, one per node.
    pub(crate) struct WarmStore<'a, T>(d: WarmDims) {
        constraints: [Constraint<T>; d.nodes * d.problem.constraints],
        impulses: [T; d.nodes * d.problem.rows],
        counts: [u16; d.nodes],
    }
}

impl<T: Real> WarmStore<'_, T> {
    /// Keeps what a step has found.
    pub(crate) fn save(&mut self, node: usize, work: &Step<'_, T>) {
        let (constraints, impulses) = self.ranges(node);
        let (count, rows) = work.warm.used();
        self.constraints[constraints][..count].copy_from_slice(&work.warm.constraints[..count]);
        self.impulses[impulses][..rows].copy_from_slice(&work.warm.impulses[..rows]);
        self.counts[node] = count as u16;
    }

    /// Gives it to a step at the same node; false, and nothing given, if there is none.
    pub(crate) fn load(&self, node: usize, work: &mut Step<'_, T>) -> bool {
        let count = usize::from(self.counts[node]);
        if count > 0 {
            let (constraints, impulses) = self.ranges(node);
            work.warm.count = count;
            work.warm.constraints[..count].copy_from_slice(&self.constraints[constraints][..count]);
            let (_, rows) = work.warm.used();
            work.warm.impulses[..rows].copy_from_slice(&self.impulses[impulses][..rows]);
        }
        count > 0
    }

    /// The nodes before `node`, and those from it on.
    pub(crate) fn split_at(&mut self, node: usize) -> (WarmStore<'_, T>, WarmStore<'_, T>) {
        let (constraints, impulses) = self.ranges(node);
        let constraints = self.constraints.split_at_mut(constraints.start);
        let impulses = self.impulses.split_at_mut(impulses.start);
        let counts = self.counts.split_at_mut(node);
        let part = |constraints, impulses, counts| WarmStore { constraints, impulses, counts, _scalar: PhantomData };
        (part(constraints.0, impulses.0, counts.0), part(constraints.1, impulses.1, counts.1))
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
    }

    fn ranges(&self, node: usize) -> (core::ops::Range<usize>, core::ops::Range<usize>) {
        let nodes = self.counts.len().max(1);
        let (constraints, rows) = (self.constraints.len() / nodes, self.impulses.len() / nodes);
        (node * constraints..(node + 1) * constraints, node * rows..(node + 1) * rows)
    }
}

impl<T: Real> Warm<'_, T> {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Constraints and rows that it holds.
    fn used(&self) -> (usize, usize) {
        let last = self.count.checked_sub(1).and_then(|last| self.constraints.get(last));
        (self.count, last.map_or(0, |last| last.rows().end))
    }

    /// Gives each constraint the impulse that the same one had; zero if it is new. O(constraints): both are in order.
    pub(super) fn recall(&self, constraints: &[Constraint<T>], impulses: &mut [T]) {
        let mut old = self.constraints[..self.count].iter().peekable();
        for constraint in constraints {
            while old.next_if(|old| old.source < constraint.source).is_some() {}
            let target = &mut impulses[constraint.rows()];
            match old.next_if(|old| old.source == constraint.source) {
                Some(old) => target.copy_from_slice(&self.impulses[old.rows()]),
                None => target.fill(T::ZERO),
            }
        }
    }

    /// Keeps the impulses of a solve that succeeded; one that failed is no start for the next.
    pub(super) fn remember(&mut self, problem: &Problem<'_, T>, status: SolverStatus, impulses: &[T]) {
        if status != SolverStatus::Converged {
            self.clear();
            return;
        }
        self.count = problem.constraints.len();
        self.constraints[..self.count].copy_from_slice(problem.constraints);
        self.impulses[..impulses.len()].copy_from_slice(impulses);
    }
}
