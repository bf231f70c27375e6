//! `springdamper`: stiffness and damping from a time constant and a damping ratio, once inertias are known.

use nalgebra::DMatrix;
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::OwnedModel;

use super::tree::JointPart;
use crate::error::{LoadError, LoadProblem};

/// Most degrees of freedom of a robot whose springs are worked out: the work grows with their cube.
const MAX_DOFS: usize = 1000;

/// Sets the springs of joints that state a time constant, with the inertia that each sees in the initial configuration.
pub(super) fn apply(model: &mut OwnedModel<f64>, joints: &[JointPart<'_>], initial: &[f64]) -> Result<(), LoadError> {
    let Some(part) = joints.iter().find(|part| part.joint.spring_damper.is_some()) else { return Ok(()) };
    let fail = |reason: &str| {
        let reason = format!("springdamper needs the inertia of the robot: {reason}");
        part.joint.element.error(LoadProblem::Inconsistent { reason })
    };
    if model.model().nv() > MAX_DOFS {
        return Err(fail("it has too many degrees of freedom"));
    }
    let inverse = inverse_mass_matrix(model, initial).ok_or_else(|| fail("its mass matrix is singular"))?;
    let mut first = 0;
    for part in joints {
        let dofs = first..first + part.joint.kind.nv();
        first = dofs.end;
        let Some([time, ratio]) = part.joint.spring_damper else { continue };
        let inertia = dofs.len() as f64 / dofs.clone().map(|dof| inverse[(dof, dof)]).sum::<f64>();
        for dof in &mut model.dofs_mut()[dofs] {
            dof.stiffness = inertia / (time * time * ratio * ratio);
            dof.damping = 2.0 * inertia / time;
        }
    }
    Ok(())
}

fn inverse_mass_matrix(model: &OwnedModel<f64>, q: &[f64]) -> Option<DMatrix<f64>> {
    let model = model.model();
    let nv = model.nv();
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).ok()?;
    dynamics::update(model, q, &vec![0.0; nv], &mut work).ok()?;
    dynamics::mass_matrix(model, &mut work);
    let m = work.mass_matrix_view(model.dims());
    let full = DMatrix::from_fn(nv, nv, |i, j| m[(i.max(j), i.min(j))]);
    full.cholesky().map(|factor| factor.inverse())
}
