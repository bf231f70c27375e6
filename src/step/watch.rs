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

/// Is told when a part of a step has passed; it may look at a clock, which the step itself does not know.
pub trait Watch {
    /// This part has just ended.
    fn passed(&mut self, part: Part);
}

/// Nobody watches.
impl Watch for () {
    #[inline(always)]
    fn passed(&mut self, _: Part) {}
}
