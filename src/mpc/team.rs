//! Nodes linearized side by side: they do not depend on each other, only the backward pass goes from one to the next.
//!
//! The result is that of a solve without a team, bit for bit.

use super::cost::Quadratic;
use super::iterate::Halt;
use super::linearize::{Around, Desk, Place};
use super::stages::{Stage, Stages};
use super::{Clock, MpcDims};
use crate::contact::Solver;
use crate::derivatives::Derivatives;
use crate::memory::{Arena, ArenaTooSmall, carved, copy, part_mut, split_mut};
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

/// Memory for several threads that linearize the nodes of a plan side by side; see
/// [`Mpc::solve_with`](super::Mpc::solve_with).
#[derive(Debug)]
pub struct Team<'a, T> {
    members: [Option<Member<'a, T>>; MOST_MEMBERS],
    count: usize,
    pub(super) dims: MpcDims,
}

impl<'a, T: Real> Team<'a, T> {
    /// Arena blocks for a team of `members` that serves an optimizer of these dimensions.
    pub const fn blocks(dims: MpcDims, members: usize) -> usize {
        most(members) * Member::<T>::blocks(dims)
    }

    /// A team of `members`: one per thread, at least one and at most [`MOST_MEMBERS`].
    pub fn carve(arena: &mut Arena<'a>, dims: MpcDims, members: usize) -> Result<Self, ArenaTooSmall> {
        let count = most(members);
        let mut team = Self { members: [const { None }; MOST_MEMBERS], count, dims };
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

/// Who linearizes nodes before the backward pass comes by.
pub(super) trait Ahead<T: Real, S, C> {
    /// Whether it linearizes all of them at once; if not, that is done along with the steps that lead to them.
    const ALL_AT_ONCE: bool;

    /// All nodes, into `stages`.
    fn linearize(
        &mut self,
        around: &Around<'_, '_, T, S, C>,
        impulses_wanted: bool,
        stages: &mut Stages<'_, T>,
        warm: &mut WarmStore<'_, T>,
        gap: &mut [T],
    ) -> Result<(), Halt>;
}

/// Nobody: a node that is not kept is linearized when the backward pass needs it.
pub(super) struct Nobody;

impl<T: Real, S, C> Ahead<T, S, C> for Nobody {
    const ALL_AT_ONCE: bool = false;

    fn linearize(
        &mut self,
        _: &Around<'_, '_, T, S, C>,
        _: bool,
        _: &mut Stages<'_, T>,
        _: &mut WarmStore<'_, T>,
        _: &mut [T],
    ) -> Result<(), Halt> {
        Ok(())
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
    const ALL_AT_ONCE: bool = true;

    fn linearize(
        &mut self,
        around: &Around<'_, '_, T, S, C>,
        impulses_wanted: bool,
        stages: &mut Stages<'_, T>,
        warm: &mut WarmStore<'_, T>,
        gap: &mut [T],
    ) -> Result<(), Halt> {
        let Team { members, count, .. } = &mut *self.team;
        let members = members.get_mut(..*count).unwrap_or(&mut []);
        for member in members.iter_mut().flatten() {
            member.derivatives.impulses_wanted = impulses_wanted;
        }
        // The first gap is that of the measured state.
        let (_, gap) = split_mut(gap, 2 * around.shared.model.nv());
        let nodes = Nodes { first: 0, stages: stages.split_at(0).1, warm: warm.split_at(0).1, gap };
        share(around, self.fork, members, nodes)
    }
}

/// Some nodes in a row, and where their numbers go.
struct Nodes<'s, T> {
    first: usize,
    stages: Stages<'s, T>,
    warm: WarmStore<'s, T>,
    gap: &'s mut [T],
}

impl<T: Real<Plain = T>> Nodes<'_, T> {
    /// The first `count` of them, and the others.
    fn split(&mut self, count: usize) -> (Nodes<'_, T>, Nodes<'_, T>) {
        let gaps = self.gap.len() / self.stages.len().max(1) * count;
        let (stages, warm) = (self.stages.split_at(count), self.warm.split_at(count));
        let gap = self.gap.split_at_mut(gaps);
        let near = Nodes { first: self.first, stages: stages.0, warm: warm.0, gap: gap.0 };
        let far = Nodes { first: self.first + count, stages: stages.1, warm: warm.1, gap: gap.1 };
        (near, far)
    }

    /// All of them, one after the other.
    fn linearize<S: Solver<T> + Copy, C: Clock>(
        &mut self,
        around: &Around<'_, '_, T, S, C>,
        member: &mut Member<'_, T>,
    ) -> Result<(), Halt> {
        let nodes = self.stages.len();
        for k in 0..nodes {
            let Some(Stage { step, cost, next_v, parts, told }) = self.stages.stage(k) else { continue };
            parts.fill(T::ZERO);
            let desk = Desk {
                step: &mut member.step,
                derivatives: &mut member.derivatives,
                quadratic: &mut member.quadratic.over(cost, false),
            };
            let (warm, place) = ((&mut self.warm, k), Place { gap: part_mut(self.gap, nodes, k), parts });
            *told = Some(around.linearize(self.first + k, desk, (member.next_q, next_v), warm, place)?);
            copy(step, member.derivatives.all().data());
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
    let (hands, work) = (members.len(), nodes.stages.len());
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
