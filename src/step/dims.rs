//! What the memory of a step is sized by.

use crate::collision::CollisionDims;
use crate::contact::{AssemblyDims, ProblemDims};
use crate::model::{Dims, Model};
use crate::scalar::Real;

/// Sizes of a robot and its constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepDims {
    /// Of the robot.
    pub robot: Dims,
    /// Motors.
    pub controls: usize,
    /// Shapes of the model.
    pub geometries: usize,
    /// Rows of all loops and anchors.
    pub closure_rows: usize,
    /// Joint coordinates with a limit on either side.
    pub limits: usize,
    /// Degrees of freedom with dry friction.
    pub dry_frictions: usize,
    /// Contact points that fit.
    pub contacts: usize,
}

impl StepDims {
    /// Of a model, with room for `contacts` contact points.
    pub fn of<T: Real>(model: Model<'_, T>, contacts: usize) -> Self {
        let limits = model.position_limits.iter().filter(|r| r.lower.is_finite() || r.upper.is_finite()).count();
        let dry_frictions = model.dofs.iter().filter(|dof| dof.dry_friction > T::ZERO).count();
        let closure_rows = model.closures.iter().map(|closure| closure.kind.rows()).sum();
        Self {
            robot: model.dims(),
            controls: model.nu(),
            geometries: model.geometries.len(),
            closure_rows,
            limits,
            dry_frictions,
            contacts,
        }
    }

    pub(super) const fn collision(self) -> CollisionDims {
        CollisionDims { geometries: self.geometries, contacts: self.contacts }
    }

    pub(crate) const fn problem(self) -> ProblemDims {
        let single = self.closure_rows + self.limits + self.dry_frictions;
        ProblemDims { constraints: single + self.contacts, rows: single + 3 * self.contacts }
    }

    /// Columns of ∂v⁺/∂(q, v, u), padding included.
    pub(crate) const fn columns(self) -> usize {
        row_stride(2 * self.robot.nv + self.controls)
    }

    pub(super) const fn assembly(self) -> AssemblyDims {
        AssemblyDims { nv: self.robot.nv, problem: self.problem() }
    }
}

/// Numbers from one row of ∂v⁺/∂(q, v, u) to the next: whole pieces of the row kernel, which has eight columns or more.
pub(crate) const fn row_stride(columns: usize) -> usize {
    columns.next_multiple_of(8)
}
