//! Inverse dynamics as a linear function of the bodies' inertial parameters.

use nalgebra::Vector3;

use super::inverse::accelerate_bodies;
use super::{Dynamics, check_workspace};
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::memory::Values;
use crate::model::{BodyId, Model};
use crate::scalar::Real;
use crate::spatial::{CompositeInertia, Force, Inertia, Symmetric3};

/// Inertial parameters per body: m, m cₓ, m c_y, m c_z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the origin of the body frame.
pub const PARAMETERS: usize = 10;

/// The ten parameters of a body, in the order of [`PARAMETERS`].
pub fn inertial_parameters<T: Real>(inertia: &Inertia<T>) -> [T; PARAMETERS] {
    let CompositeInertia { mass, first_moment: c, second_moment: i } = inertia.about_origin();
    [mass, c.x, c.y, c.z, i.xx, i.xy, i.yy, i.xz, i.yz, i.zz]
}

/// Y, nv × 10·bodies: the joint forces of [`inverse`](super::inverse), less armature, are Y π. O(nv · bodies).
///
/// Call [`update`](super::update) first.
pub fn regressor<T: Real>(
    model: Model<'_, T>,
    acceleration: &[T],
    mut out: MatMut<'_, T>,
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    check_length("acceleration", model.nv(), acceleration.len())?;
    check_length("regressor rows", model.nv(), out.rows())?;
    check_length("regressor columns", PARAMETERS * model.bodies.len(), out.cols())?;
    accelerate_bodies(model, |dof| acceleration.at(dof), &[], work);
    out.fill(T::ZERO);
    for (index, body) in model.indexed_bodies() {
        let first = PARAMETERS * (index - 1);
        for k in 0..PARAMETERS {
            let force = inertial_force(BodyId::new(index as u16), &unit(k), work);
            for dof in model.tree.runs(body.v_range().end - 1).flatten() {
                out[(dof, first + k)] = work.kinematics.axis.at(dof).dot(&force);
            }
        }
    }
    Ok(())
}

/// Accelerations of all bodies, at joint accelerations `acceleration`.
pub(crate) fn accelerate<T: Real>(
    model: Model<'_, T>,
    acceleration: &[T],
    work: &mut Dynamics<'_, T>,
) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    check_length("acceleration", model.nv(), acceleration.len())?;
    accelerate_bodies(model, |dof| acceleration.at(dof), &[], work);
    Ok(())
}

/// Force that a body would take for `inertia`, given in its own frame: I a + v ×* I v. The bodies must be accelerated.
pub(crate) fn inertial_force<T: Real>(body: BodyId, inertia: &CompositeInertia<T>, work: &Dynamics<'_, T>) -> Force<T> {
    let placement = work.kinematics.placement.at(body.index());
    let velocity = placement.act_inverse_motion(&work.kinematics.velocity.at(body.index()));
    let acceleration = placement.act_inverse_motion(&work.acceleration.at(body.index()));
    placement.act_force(&(*inertia * acceleration + velocity.cross_force(&(*inertia * velocity))))
}

/// The inertia whose parameter `k` is one.
fn unit<T: Real>(k: usize) -> CompositeInertia<T> {
    let on = |n: usize| if n == k { T::ONE } else { T::ZERO };
    CompositeInertia {
        mass: on(0),
        first_moment: Vector3::new(on(1), on(2), on(3)),
        second_moment: Symmetric3 { xx: on(4), xy: on(5), yy: on(6), xz: on(7), yz: on(8), zz: on(9) },
    }
}
