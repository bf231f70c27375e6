//! The memory and the result of a differentiation.

use crate::contact::Assembly;
use crate::contact::reduced::Linear;
use crate::input::{InputError, check_length};
use crate::linalg::{MatMut, MatRef, padded};
use crate::memory::carved;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Force, Motion};
use crate::step::{Step, StepDims};

carved! {
    /// ∂v⁺/∂(q, v, u) and the memory to find it. Written by [`differentiate`](super::differentiate).
    pub struct Derivatives<'a, T>(d: StepDims) {
        /// nv × (2nv + nu), rows of [`stride`](Self::stride).
        pub(super) velocity: [T; d.robot.nv * d.columns()],
        /// Right-hand sides of the reduced system, then its solution: unknowns × (2nv + nu).
        pub(super) rows: [T; d.problem().rows * d.columns()],
        /// Wᵀ of the equations and of the unknowns: nv × unknowns each.
        by_equation: [T; d.robot.nv * padded(d.problem().rows)],
        by_unknown: [T; d.robot.nv * padded(d.problem().rows)],
        /// Of each body after the step.
        pub(super) velocity_after: [Motion<T>; d.robot.with_world()],
        /// The degrees of freedom that move the two sides of a constraint against each other.
        pub(super) entries: [Entry<T>; d.robot.nv],
        pub(super) unknowns: (usize),
        columns: (usize),
        controls: (usize),
    }
}

/// A degree of freedom that moves one side of a constraint and not the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<T> {
    pub dof: usize,
    /// One past the last degree of freedom of its joint.
    pub joint_end: usize,
    /// +1 on the second side, −1 on the first.
    pub sign: T,
    /// Change of the constraint's wrench with its frame.
    pub turned: Force<T>,
    /// Change of the wrench if it moved with this joint.
    pub carried: Force<T>,
}

impl<T: Real> Default for Entry<T> {
    fn default() -> Self {
        Self { dof: 0, joint_end: 0, sign: T::ZERO, turned: Force::ZERO, carried: Force::ZERO }
    }
}

impl<T: Real> Derivatives<'_, T> {
    /// ∂v⁺/∂q, nv × nv, by tangent vectors.
    pub fn by_configuration(&self) -> MatRef<'_, T> {
        self.all().columns(0, self.nv())
    }

    /// ∂v⁺/∂v, nv × nv.
    pub fn by_velocity(&self) -> MatRef<'_, T> {
        self.all().columns(self.nv(), self.nv())
    }

    /// ∂v⁺/∂u, nv × nu.
    pub fn by_control(&self) -> MatRef<'_, T> {
        self.all().columns(2 * self.nv(), self.controls)
    }

    /// ∂v⁺/∂(q, v, u), nv × (2nv + nu).
    pub fn all(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.velocity, self.nv(), self.columns, self.stride())
    }

    /// Numbers from one row to the next.
    pub(super) fn stride(&self) -> usize {
        padded(self.columns)
    }

    fn nv(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn check(&self, model: Model<'_, T>, work: &Step<'_, T>) -> Result<(), InputError> {
        check_length("derivatives' degrees of freedom", model.nv(), self.entries.len())?;
        let columns = padded(2 * model.nv() + model.nu());
        check_length("derivatives' columns", model.nv() * columns, self.velocity.len())?;
        check_length("derivatives' rows", work.impulses.len() * columns, self.rows.len())
    }

    /// Clears what is summed into.
    pub(super) fn start(&mut self, model: Model<'_, T>, work: &mut Step<'_, T>) {
        self.controls = model.nu();
        self.columns = 2 * model.nv() + model.nu();
        let problem = work.assembly.problem();
        let linear = &mut work.scratch.linear[..problem.constraints.len()];
        self.unknowns = crate::contact::reduced::number_unknowns(problem.constraints, linear);
        let stride = self.stride();
        self.rows[..self.unknowns * stride].fill(T::ZERO);
        for dof in 0..model.nv() {
            self.velocity[dof * stride + 2 * model.nv()..(dof + 1) * stride].fill(T::ZERO);
        }
    }

    /// The result, while it is being made.
    pub(super) fn matrix(&mut self) -> MatMut<'_, T> {
        let (nv, columns, stride) = (self.nv(), self.columns, self.stride());
        MatMut::with_stride(self.velocity, nv, columns, stride)
    }

    /// The result, the reduced rows, and W by equations and unknowns.
    pub(super) fn parts(&mut self) -> (MatMut<'_, T>, MatMut<'_, T>, [MatRef<'_, T>; 2]) {
        let (nv, columns, stride, unknowns) = (self.nv(), self.columns, self.stride(), self.unknowns);
        (
            MatMut::with_stride(self.velocity, nv, columns, stride),
            MatMut::with_stride(self.rows, unknowns, columns, stride),
            [&*self.by_equation, &*self.by_unknown].map(|w| MatRef::with_stride(w, nv, unknowns, padded(unknowns))),
        )
    }

    /// W Bᵀ and W C, from W = D^(−½) L^(−ᵀ) Jᵀ. O(nv · rows).
    pub(super) fn gather_half_solved(&mut self, assembly: &Assembly<'_, T>, linear: &[Linear<T>]) {
        let (w, stride) = (assembly.half_solved(), padded(self.unknowns));
        let constraints = assembly.problem().constraints;
        for dof in 0..self.nv() {
            let row = w.row(dof);
            for (l, constraint) in linear.iter().zip(constraints) {
                let n = l.unknowns(&constraint.law);
                let at = dof * stride + usize::from(l.first);
                if n > 0 {
                    l.equations(&constraint.law, &row[constraint.rows()], &mut self.by_equation[at..][..n]);
                    l.gather(&constraint.law, &row[constraint.rows()], &mut self.by_unknown[at..][..n]);
                }
            }
        }
    }
}
