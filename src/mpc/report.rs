//! What a solve says about itself.

use core::fmt;

use super::clock::Stopwatch;
use crate::derivatives::Quality;
use crate::input::InputError;
use crate::scalar::Real;
use crate::step::StepError;

/// Why a solve stopped. Whatever it is, the plan is the last one that was worth keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// No step promises a decrease above the tolerance, and no gap is left.
    Converged,
    /// The time was up; an iteration that was under way is forgotten.
    DeadlineReached,
    /// The bound on iterations came first. The usual end where the plan is improved once a tick.
    #[default]
    IterationLimit,
    /// No step along any direction lowers the cost, however short.
    Stalled,
    /// The plan met more contacts than there is room for; the deepest ones were kept.
    ContactCapacity,
    /// The plan left the range of numbers. The next solve starts afresh.
    Diverged,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Converged => "converged",
            Self::DeadlineReached => "deadline reached",
            Self::IterationLimit => "iteration limit",
            Self::Stalled => "stalled",
            Self::ContactCapacity => "contact capacity",
            Self::Diverged => "diverged",
        })
    }
}

/// Why a solve was not begun; the plan is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MpcError {
    /// The state, the task or the memory does not fit the robot, or a number is not finite.
    Step(StepError),
    /// The task has more terms than there is room for.
    Terms {
        /// Terms that fit.
        room: usize,
        /// Terms of the task.
        got: usize,
    },
    /// A weight is negative or not a finite number.
    Weight {
        /// Index of its term.
        term: usize,
    },
    /// A plan needs at least one step, each of them longer than zero.
    Horizon,
    /// The team was made for other dimensions, or the optimizer for ones without [`keep_nodes`](super::MpcDims::keep_nodes).
    Team,
    /// A step that is taken without a trial needs an optimizer with [`keep_nodes`](super::MpcDims::keep_nodes).
    Untried,
}

impl fmt::Display for MpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(error) => error.fmt(f),
            Self::Terms { room, got } => write!(f, "the task has {got} terms, and there is room for {room}"),
            Self::Weight { term } => write!(f, "a weight of term {term} is negative or not a number"),
            Self::Horizon => write!(f, "the plan needs at least one step, each longer than zero"),
            Self::Team => write!(f, "the team needs an optimizer of its own dimensions, one that keeps its nodes"),
            Self::Untried => write!(f, "no trials need an optimizer that keeps its nodes"),
        }
    }
}

impl core::error::Error for MpcError {}

impl From<StepError> for MpcError {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

impl From<InputError> for MpcError {
    fn from(error: InputError) -> Self {
        Self::Step(StepError::Input(error))
    }
}

/// How a solve went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report<T> {
    /// Why it stopped.
    pub status: Status,
    /// Iterations begun.
    pub iterations: u16,
    /// Of the plan; before its last step if that was taken untried.
    pub cost: T,
    /// Decrease that the last iteration promised for a full step.
    pub promised: T,
    /// Sum of the gaps that are left in the plan; before its last step if that was taken untried.
    pub gap: T,
    /// Of the last step taken; zero if none was.
    pub step_length: T,
    /// At the end.
    pub regularization: T,
    /// Contact problems that ended at their bound, over all steps computed.
    pub unsolved_contacts: u32,
    /// Contacts and constraints that did not fit, at the worst node.
    pub dropped: u32,
    /// Of the worst-conditioned gradient.
    pub quality: Option<Quality<T>>,
    /// Where the time went.
    pub times: Times,
}

impl<T: Real> Default for Report<T> {
    fn default() -> Self {
        Self {
            status: Status::IterationLimit,
            iterations: 0,
            cost: T::ZERO,
            promised: T::ZERO,
            gap: T::ZERO,
            step_length: T::ZERO,
            regularization: T::ZERO,
            unsolved_contacts: 0,
            dropped: 0,
            quality: None,
            times: Times::default(),
        }
    }
}

/// Nanoseconds spent in each stage, by the clock of the solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Following the old policy from the measured state; without the derivatives and costs of nodes that are kept.
    pub rollout: u64,
    /// Steps around which the plan is linearized, where they had to be taken again.
    pub step: u64,
    /// Their derivatives.
    pub derivatives: u64,
    /// Expansion of the cost.
    pub cost: u64,
    /// Value function and gains.
    pub backward: u64,
    /// Trials of step lengths.
    pub line_search: u64,
    /// Finding contacts, in all steps of the stages above.
    pub collision: u64,
    /// Assembling and solving contact problems, in all steps of the stages above.
    pub contact: u64,
    /// All of the solve.
    pub total: u64,
}

impl Times {
    pub(super) fn note<C>(&mut self, step: &Stopwatch<'_, C>) {
        self.collision += step.collision;
        self.contact += step.contact;
    }
}
