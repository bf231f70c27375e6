//! Nodes linearized side by side: they do not depend on each other, only the backward pass goes from one to the next.
//!
//! The result is that of a solve without a team, bit for bit.

use super::cost::Quadratic;
use super::iterate::Halt;
use super::linearize::{Around, Desk, Linearized, Place};
use super::{Clock, MpcDims};
use crate::contact::Solver;
use crate::derivatives::Derivatives;
use crate::linalg::MatRef;
use crate::memory::{Arena, ArenaTooSmall, carved, part};
use crate::scalar::Real;
use crate::step::{Step, WarmStore};

/// Members of the largest team.
pub const MOST_MEMBERS: usize = 16;

/// Does two things, at the same time if it can. The core has no threads of its own; with the feature `rayon` a
/// `rayon::ThreadPool` is one.
pub trait Fork: Sync {
    /// Returns when both are done.
    fn both<A: FnOnce() + Send, B: FnOnce() + Send>(&self, a: A, b: B);
}

/// One thing after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InTurn;

impl Fork for InTurn {
    fn both<A: FnOnce() + Send, B: FnOnce() + Send>(&self, a: A, b: B) {
        a();
        b();
    }
}

/// Threads that wait for work: none is started in a solve.
#[cfg(feature = "rayon")]
impl Fork for rayon::ThreadPool {
    fn both<A: FnOnce() + Send, B: FnOnce() + Send>(&self, a: A, b: B) {
        self.join(a, b);
    }
}

carved! {
    /// What one member works in.
    struct Member<'a, T>(d: MpcDims) {
        step: { Step(d.step) },
        derivatives: { Derivatives(d.step) },
        quadratic: { Quadratic },
        next_q: [T; d.step.robot.nq],
    }
}

carved! {
    /// What is kept of each node until the backward pass comes by.
    struct Stages<'a, T>(d: MpcDims) {
        /// F, horizon matrices of nv × (2nv + nu).
        steps: [T; d.horizon * d.step.robot.nv * d.step.columns()],
        /// Gradient and Hessian of the cost.
        costs: [T; d.horizon * Quadratic::<T>::numbers(d)],
        next_v: [T; d.horizon * d.step.robot.nv],
        parts: [T; d.horizon * d.terms],
        told: [Linearized<T>; d.horizon],
    }
}

/// Memory for several threads that linearize the nodes of a plan side by side; see
/// [`Mpc::solve_with`](super::Mpc::solve_with).
#[derive(Debug)]
pub struct Team<'a, T> {
    members: [Option<Member<'a, T>>; MOST_MEMBERS],
    count: usize,
    stages: Stages<'a, T>,
    pub(super) dims: MpcDims,
}

impl<'a, T: Real> Team<'a, T> {
    /// Arena blocks for a team of `members` that serves an optimizer of these dimensions.
    pub const fn blocks(dims: MpcDims, members: usize) -> usize {
        most(members) * Member::<T>::blocks(dims) + Stages::<T>::blocks(dims)
    }

    /// A team of `members`: one per thread, at least one and at most [`MOST_MEMBERS`].
    pub fn carve(arena: &mut Arena<'a>, dims: MpcDims, members: usize) -> Result<Self, ArenaTooSmall> {
        let count = most(members);
        let stages = Stages::carve(arena, dims)?;
        let mut team = Self { members: [const { None }; MOST_MEMBERS], count, stages, dims };
        for member in team.members.iter_mut().take(count) {
            *member = Some(Member::carve(arena, dims)?);
        }
        Ok(team)
    }
}

const fn most(members: usize) -> usize {
    match members {
        0 => 1,
        1..=MOST_MEMBERS => members,
        _ => MOST_MEMBERS,
    }
}

/// How nodes are linearized before the backward pass comes by, if they are.
pub(super) trait Ahead<T: Real, S, C> {
    /// All nodes.
    fn linearize(
        &mut self,
        around: &Around<'_, '_, T, S, C>,
        impulses_wanted: bool,
        warm: &mut WarmStore<'_, T>,
        gap: &mut [T],
    ) -> Result<(), Halt>;

    /// The cost's expansion at node `k`, if it was linearized; the share of each term is added to `parts`.
    fn take(&self, k: usize, quadratic: &mut Quadratic<'_, T>, parts: &mut [T]) -> Option<Linearized<T>>;

    /// The derivatives of its step, and the velocity after it.
    fn step(&self, k: usize) -> Option<(MatRef<'_, T>, &[T])>;
}

/// Nobody: each node is linearized when the backward pass needs it.
pub(super) struct Nobody;

impl<T: Real, S, C> Ahead<T, S, C> for Nobody {
    fn linearize(
        &mut self,
        _: &Around<'_, '_, T, S, C>,
        _: bool,
        _: &mut WarmStore<'_, T>,
        _: &mut [T],
    ) -> Result<(), Halt> {
        Ok(())
    }

    fn take(&self, _: usize, _: &mut Quadratic<'_, T>, _: &mut [T]) -> Option<Linearized<T>> {
        None
    }

    fn step(&self, _: usize) -> Option<(MatRef<'_, T>, &[T])> {
        None
    }
}

/// A team at work.
pub(super) struct Crew<'t, 'a, T, F> {
    pub team: &'t mut Team<'a, T>,
    pub fork: &'t F,
}

impl<T, S, C, F> Ahead<T, S, C> for Crew<'_, '_, T, F>
where
    T: Real<Plain = T> + Send + Sync,
    S: Solver<T> + Copy + Sync,
    C: Clock + Sync,
    F: Fork,
{
    fn linearize(
        &mut self,
        around: &Around<'_, '_, T, S, C>,
        impulses_wanted: bool,
        warm: &mut WarmStore<'_, T>,
        gap: &mut [T],
    ) -> Result<(), Halt> {
        let Team { members, count, stages, .. } = &mut *self.team;
        let members = &mut members[..*count];
        for member in members.iter_mut().flatten() {
            member.derivatives.impulses_wanted = impulses_wanted;
        }
        // The first gap is that of the measured state.
        let (_, gap) = gap.split_at_mut(2 * around.shared.model.nv());
        let nodes = Nodes {
            first: 0,
            steps: stages.steps,
            costs: stages.costs,
            next_v: stages.next_v,
            parts: stages.parts,
            told: stages.told,
            warm: warm.split_at(0).1,
            gap,
        };
        share(around, self.fork, members, nodes)
    }

    fn take(&self, k: usize, quadratic: &mut Quadratic<'_, T>, parts: &mut [T]) -> Option<Linearized<T>> {
        let stages = &self.team.stages;
        quadratic.restore(part(stages.costs, self.team.dims.horizon, k));
        for (part, own) in parts.iter_mut().zip(part(stages.parts, self.team.dims.horizon, k)) {
            *part += *own;
        }
        stages.told.get(k).copied()
    }

    fn step(&self, k: usize) -> Option<(MatRef<'_, T>, &[T])> {
        let (stages, horizon) = (&self.team.stages, self.team.dims.horizon);
        let next_v = part(stages.next_v, horizon, k);
        let steps = part(stages.steps, horizon, k);
        let stride = steps.len() / next_v.len().max(1);
        let columns = self.team.members.first()?.as_ref()?.derivatives.all().cols();
        Some((MatRef::with_stride(steps, next_v.len(), columns, stride), next_v))
    }
}

/// Some nodes in a row, and where their numbers go.
struct Nodes<'s, T> {
    first: usize,
    steps: &'s mut [T],
    costs: &'s mut [T],
    next_v: &'s mut [T],
    parts: &'s mut [T],
    told: &'s mut [Linearized<T>],
    warm: WarmStore<'s, T>,
    gap: &'s mut [T],
}

impl<T: Real<Plain = T>> Nodes<'_, T> {
    /// The first `count` of them, and the others.
    fn split(&mut self, count: usize) -> (Nodes<'_, T>, Nodes<'_, T>) {
        let nodes = self.told.len().max(1);
        let cut = |all: usize| all / nodes * count;
        let steps = self.steps.split_at_mut(cut(self.steps.len()));
        let costs = self.costs.split_at_mut(cut(self.costs.len()));
        let next_v = self.next_v.split_at_mut(cut(self.next_v.len()));
        let parts = self.parts.split_at_mut(cut(self.parts.len()));
        let gap = self.gap.split_at_mut(cut(self.gap.len()));
        let told = self.told.split_at_mut(count);
        let warm = self.warm.split_at(count);
        let near = Nodes {
            first: self.first,
            steps: steps.0,
            costs: costs.0,
            next_v: next_v.0,
            parts: parts.0,
            told: told.0,
            warm: warm.0,
            gap: gap.0,
        };
        let far = Nodes {
            first: self.first + count,
            steps: steps.1,
            costs: costs.1,
            next_v: next_v.1,
            parts: parts.1,
            told: told.1,
            warm: warm.1,
            gap: gap.1,
        };
        (near, far)
    }

    /// All of them, one after the other.
    fn linearize<S: Solver<T> + Copy, C: Clock>(
        &mut self,
        around: &Around<'_, '_, T, S, C>,
        member: &mut Member<'_, T>,
    ) -> Result<(), Halt> {
        let nodes = self.told.len().max(1);
        let size = |all: usize| (all / nodes).max(1);
        let steps = self.steps.chunks_exact_mut(size(self.steps.len()));
        let costs = self.costs.chunks_exact_mut(size(self.costs.len()));
        let velocities = self.next_v.chunks_exact_mut(size(self.next_v.len()));
        let gaps = self.gap.chunks_exact_mut(size(self.gap.len()));
        let (terms, told) = (self.parts.len() / nodes, self.told.iter_mut());
        let places = steps.zip(costs).zip(velocities.zip(gaps)).zip(told).enumerate();
        for (k, (((step, cost), (next_v, gap)), told)) in places {
            let parts = self.parts.get_mut(k * terms..(k + 1) * terms).unwrap_or(&mut []);
            parts.fill(T::ZERO);
            let desk = Desk {
                step: &mut member.step,
                derivatives: &mut member.derivatives,
                quadratic: &mut member.quadratic,
                next_q: member.next_q,
            };
            let place = Place { next_v, gap, parts };
            *told = around.linearize(self.first + k, desk, (&mut self.warm, k), place)?;
            step.copy_from_slice(member.derivatives.all().data());
            member.quadratic.store(cost);
        }
        Ok(())
    }
}

/// Shares nodes among members, each of them about as many, in halves: as deep as the team has powers of two.
fn share<T, S, C, F>(
    around: &Around<'_, '_, T, S, C>,
    fork: &F,
    members: &mut [Option<Member<'_, T>>],
    mut nodes: Nodes<'_, T>,
) -> Result<(), Halt>
where
    T: Real<Plain = T> + Send + Sync,
    S: Solver<T> + Copy + Sync,
    C: Clock + Sync,
    F: Fork,
{
    let (hands, work) = (members.len(), nodes.told.len());
    match members {
        [Some(member)] => nodes.linearize(around, member),
        [] | [None] => Ok(()),
        _ => {
            let (some, others) = members.split_at_mut(hands / 2);
            let (near, far) = nodes.split(work * some.len() / hands);
            let (mut first, mut second) = (Ok(()), Ok(()));
            fork.both(|| first = share(around, fork, some, near), || second = share(around, fork, others, far));
            first.and(second)
        }
    }
}
