//! Impulses carried from one step to the next.

use core::marker::PhantomData;

use super::Step;
use crate::contact::{Constraint, Problem, ProblemDims, SolverStatus};
use crate::memory::{carved, copy, part, part_mut, run_mut, within, within_mut};
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
        let nodes = self.counts.len();
        let (count, rows) = work.warm.used();
        copy_first(part_mut(self.constraints, nodes, node), work.warm.constraints, count);
        copy_first(part_mut(self.impulses, nodes, node), work.warm.impulses, rows);
        if let Some(saved) = self.counts.get_mut(node) {
            *saved = count as u16;
        }
    }

    /// Gives it to a step at the same node; false, and nothing given, if there is none.
    pub(crate) fn load(&self, node: usize, work: &mut Step<'_, T>) -> bool {
        let (nodes, count) = (self.counts.len(), self.counts.get(node).map_or(0, |count| usize::from(*count)));
        if count > 0 {
            work.warm.count = count;
            copy_first(work.warm.constraints, part(self.constraints, nodes, node), count);
            let (_, rows) = work.warm.used();
            copy_first(work.warm.impulses, part(self.impulses, nodes, node), rows);
        }
        count > 0
    }

    /// The nodes before `node`, and those from it on.
    pub(crate) fn split_at(&mut self, node: usize) -> (WarmStore<'_, T>, WarmStore<'_, T>) {
        let nodes = self.counts.len().max(1);
        let (constraints, rows) = (self.constraints.len() / nodes, self.impulses.len() / nodes);
        let constraints = self.constraints.split_at_mut(node * constraints);
        let impulses = self.impulses.split_at_mut(node * rows);
        let counts = self.counts.split_at_mut(node);
        let part = |constraints, impulses, counts| WarmStore { constraints, impulses, counts, _scalar: PhantomData };
        (part(constraints.0, impulses.0, counts.0), part(constraints.1, impulses.1, counts.1))
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
    }
}

/// The first `count` numbers of one slice into another.
fn copy_first<X: Copy>(to: &mut [X], from: &[X], count: usize) {
    to.iter_mut().zip(from).take(count).for_each(|(to, from)| *to = *from);
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
        let old = self.constraints.get(..self.count).unwrap_or(&[]);
        if old.len() == constraints.len() && old.iter().zip(constraints).all(|(old, new)| old.source == new.source) {
            // The same constraints have the same rows.
            return copy_first(impulses, self.impulses, impulses.len());
        }
        let mut old = old.iter().peekable();
        for constraint in constraints {
            while old.next_if(|old| old.source < constraint.source).is_some() {}
            let target = within_mut(impulses, constraint.rows());
            match old.next_if(|old| old.source == constraint.source) {
                Some(old) => copy(target, within(self.impulses, old.rows())),
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
        copy(run_mut(self.constraints, 0, self.count), problem.constraints);
        copy(run_mut(self.impulses, 0, impulses.len()), impulses);
    }
}
