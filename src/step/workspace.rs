//! The memory of a step.

use super::warm::Warm;
use super::{ContactReport, StepDims};
use crate::collision::Collision;
use crate::contact::{Assembly, Constraint, Mode, Scratch, tangents};
use crate::dynamics::Dynamics;
use crate::memory::{carved, run};
use crate::scalar::Real;
use crate::spatial::Force;

carved! {
    /// Everything that a step computes, for reading afterwards and for its derivatives. Written by [`step`](super::step).
    pub struct Step<'a, T>(d: StepDims) {
        /// Kinematics, mass matrix and factor at the state before the step, or before its last part.
        pub dynamics: { Dynamics(d.robot) },
        /// Contacts there.
        pub collision: { Collision(d.collision()) },
        /// The constraint problem there.
        pub assembly: { Assembly(d.assembly()) },
        pub(crate) scratch: { Scratch(d.problem()) },
        pub(super) warm: { Warm(d.problem()) },
        pub(crate) impulses: [T; d.problem().rows],
        pub(crate) constraint_velocity: [T; d.problem().rows],
        pub(crate) modes: [Mode; d.problem().constraints],
        /// State that the part started from, then the one that it led to.
        pub(super) q: [T; d.robot.nq],
        pub(super) v: [T; d.robot.nv],
        /// Where the part leads to; then, as the two change places, where it started.
        pub(super) next_q: [T; d.robot.nq],
        /// Along the axes that free bodies had at the start.
        pub(crate) next_v: [T; d.robot.nv],
        /// Forces of motors, springs, dampers and from outside, on the degrees of freedom.
        pub(super) force: [T; d.robot.nv],
        /// Δt K: force per velocity that springs and servos gain within the step.
        pub(crate) lag: [T; d.robot.nv],
        /// Δt D + Δt² K: what acts at the end of the step, as inertia.
        pub(crate) implicit_inertia: [T; d.robot.nv],
        /// ∂force/∂displacement of each degree of freedom.
        pub(crate) by_position: [T; d.robot.nv],
        /// ∂force/∂v of each degree of freedom.
        pub(crate) by_velocity: [T; d.robot.nv],
        /// ∂force/∂u of each motor, before the joint's limits.
        pub(crate) by_control: [T; d.controls],
        /// What the limits of a joint leave of a change of its motors' force.
        pub(crate) motor_share: [T; d.robot.nv],
        /// Of each joint from its neutral position.
        pub(super) displacement: [T; d.robot.nv],
        /// v_f.
        pub(super) free_velocity: [T; d.robot.nv],
        pub(crate) change: [T; d.robot.nv],
        /// On each body, in its own frame.
        pub(crate) wrench: [Force<T>; d.robot.bodies],
        /// Some of them may be other than zero.
        pub(crate) pushed: (bool),
    }
}

impl<T: Real> Step<'_, T> {
    /// The constraints of the last step, in the order of their rows.
    pub fn constraints(&self) -> &[Constraint<T>] {
        self.assembly.problem().constraints
    }

    /// Their impulses, N·s or N·m·s; of a contact along its two tangents and its normal.
    pub fn impulses(&self) -> &[T] {
        run(self.impulses, 0, self.assembly.rows())
    }

    /// How each of them holds.
    pub fn modes(&self) -> &[Mode] {
        run(self.modes, 0, self.assembly.len())
    }

    /// The contacts of the last step with their impulses, in world coordinates.
    pub fn contacts(&self) -> impl Iterator<Item = ContactReport<T>> {
        let first = self.assembly.first_contact();
        let held = self.constraints().iter().zip(self.modes()).skip(first);
        self.collision.contacts().iter().zip(held).map(|(contact, (constraint, mode))| {
            let [x, y] = tangents(&contact.at.normal);
            let impulse = &self.impulses[constraint.rows()];
            ContactReport {
                contact: *contact,
                position_world: contact.at.position + self.dynamics.kinematics.origin,
                impulse_world: x * impulse[0] + y * impulse[1] + contact.at.normal * impulse[2],
                mode: *mode,
            }
        })
    }

    /// Forgets the impulses of the last step, so that the next one depends on its input alone.
    pub fn forget(&mut self) {
        self.warm.clear();
    }
}
