//! Who wants to know how long the parts of a step take.

/// A part of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Kinematics, mass matrix, motors, integration.
    Dynamics,
    /// Finding contacts.
    Collision,
    /// Assembling and solving the problem of impulses.
    Contact,
}

/// Is told when a part of a step has passed, and may end the search for impulses; it may look at a clock, which the step
/// itself does not know.
pub trait Watch {
    /// This part has just ended.
    fn passed(&mut self, part: Part);

    /// Whether the solver must stop; asked before each of its iterations. The step then goes on with the best impulses
    /// so far, and its report says [`SolverStatus::Stopped`](crate::contact::SolverStatus::Stopped).
    #[inline(always)]
    fn time_is_up(&mut self) -> bool {
        false
    }
}

/// Nobody watches.
impl Watch for () {
    #[inline(always)]
    fn passed(&mut self, _: Part) {}
}
