//! The mass matrix by the composite rigid body algorithm, its sparse factor, and solves with it.

use nalgebra::Matrix3;

use super::{Dynamics, DynamicsError, check_workspace};
use crate::input::{InputError, check_length};
use crate::linalg::{MatMut, MatRef, tree};
use crate::memory::{Values, copy, run_mut, within, within_mut};
use crate::model::{BodyId, Dims, Joint, Model};
use crate::scalar::Real;
use crate::spatial::Force;
use crate::spatial::vector::multiply_transposed;

/// M(q), armature included: the lower triangle in [`Dynamics::mass_matrix`]. O(nv · depth).
///
/// Entries whose row and column lie on different branches are zero and never written. Call [`update`](super::update)
/// first.
pub fn mass_matrix<T: Real>(model: Model<'_, T>, work: &mut Dynamics<'_, T>) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    let stride = model.dims().stride();
    copy(work.composite, work.inertia);
    let base = model.bodies.first().filter(|body| body.joint == Joint::FreeFlyer && body.parent == BodyId::WORLD);
    let base = base.and_then(|_| work.kinematics.placement.get(1)).map(|placement| placement.rotation);
    for (index, body) in model.indexed_bodies().rev() {
        let Some(&composite) = work.composite.get(index) else { continue };
        work.composite.change(body.parent.index(), |parent| *parent += composite);
        for dof in body.v_range() {
            let Some(&axis) = work.kinematics.axis.get(dof) else { continue };
            let momentum = composite * axis;
            work.unit_momentum.set(dof, momentum);
            let row = run_mut(work.mass_matrix, dof * stride, dof + 1);
            let (from, mut root) = (if base.is_some() && dof >= BASE { BASE } else { 0 }, dof);
            for run in model.tree.runs(dof) {
                root = run.start;
                let run = root.max(from)..run.end;
                let axes = within(work.kinematics.axis, run.clone());
                for (entry, axis) in within_mut(row, run).iter_mut().zip(axes) {
                    *entry = axis.dot(&momentum);
                }
            }
            if let (Some(base), Some(entries), true) = (&base, row.first_chunk_mut::<BASE>(), root < from) {
                *entries = along_base(base, &momentum);
            }
            if let (Some(entry), Some(dof)) = (row.last_mut(), model.dofs.get(dof)) {
                *entry += dof.armature;
            }
        }
    }
    Ok(())
}

/// Degrees of freedom of a floating base.
const BASE: usize = 6;

/// A momentum along the axes of a floating base, the first body. It stands at the origin of the working frame, so that
/// its axes are those of its rotation, once as translations and once as turns.
#[inline(always)]
fn along_base<T: Real>(rotation: &Matrix3<T>, momentum: &Force<T>) -> [T; BASE] {
    let (linear, angular) =
        (multiply_transposed(rotation, &momentum.linear), multiply_transposed(rotation, &momentum.angular));
    [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
}

/// M = Lᵀ D L, from [`mass_matrix`] into [`Dynamics::factor`]. O(nv · depth²).
pub fn factorize<T: Real>(model: Model<'_, T>, work: &mut Dynamics<'_, T>) -> Result<(), DynamicsError> {
    factorize_with(model, &[], work)
}

/// The same for M + diag(`added`), as implicit damping and stiffness make it; nothing is added if that is empty.
pub fn factorize_with<T: Real>(
    model: Model<'_, T>,
    added: &[T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), DynamicsError> {
    check_workspace(&model, work)?;
    if !added.is_empty() {
        check_length("added inertia", model.nv(), added.len())?;
    }
    copy(work.factor, work.mass_matrix);
    let (nv, stride) = (model.nv(), model.dims().stride());
    for (pivot, added) in work.factor.iter_mut().step_by(stride + 1).zip(added) {
        *pivot += *added;
    }
    let factor = MatMut::with_stride(work.factor, nv, nv, stride);
    tree::factorize(model.tree, factor, work.inverse_pivots)
        .map_err(|error| DynamicsError::SingularMassMatrix { dof: error.pivot })
}

/// X ← M⁻¹ X, for X with nv rows. Call [`factorize`] first. O(nv · depth · columns).
pub fn solve<T: Real>(model: Model<'_, T>, work: &Dynamics<'_, T>, x: MatMut<'_, T>) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    check_length("right-hand side rows", model.nv(), x.rows())?;
    tree::solve(model.tree, work.factor_view(model.dims()), |dof| work.inverse_pivots.at(dof), x);
    Ok(())
}

impl<T: Real> Dynamics<'_, T> {
    /// The factor as a matrix.
    pub(crate) fn factor_view(&self, dims: Dims) -> MatRef<'_, T> {
        MatRef::with_stride(self.factor, dims.nv, dims.nv, dims.stride())
    }

    /// The mass matrix; only the lower triangle is set, and only where one degree of freedom carries the other.
    pub fn mass_matrix_view(&self, dims: Dims) -> MatRef<'_, T> {
        MatRef::with_stride(self.mass_matrix, dims.nv, dims.nv, dims.stride())
    }
}
