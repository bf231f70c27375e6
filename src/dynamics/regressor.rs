//! Inverse dynamics as a linear function of the bodies' inertial parameters.

use nalgebra::Vector3;

use super::inverse::accelerate_bodies;
use super::{Dynamics, check_workspace};
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{CompositeInertia, Force, Inertia, Motion, Symmetric3};

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
    accelerate_bodies(model, |dof| acceleration[dof], &[], work);
    out.fill(T::ZERO);
    for (index, body) in model.indexed_bodies() {
        let placement = work.kinematics.placement[index];
        let velocity = placement.act_inverse_motion(&work.kinematics.velocity[index]);
        let acceleration = placement.act_inverse_motion(&work.acceleration[index]);
        let first = PARAMETERS * (index - 1);
        for k in 0..PARAMETERS {
            let force = placement.act_force(&unit_force(k, &velocity, &acceleration));
            for dof in model.tree.runs(body.v_range().end - 1).flatten() {
                out[(dof, first + k)] = work.kinematics.axis[dof].dot(&force);
            }
        }
    }
    Ok(())
}

/// Force that a body takes per unit of its parameter `k`, in its own frame: I a + v ×* I v with a unit inertia.
fn unit_force<T: Real>(k: usize, velocity: &Motion<T>, acceleration: &Motion<T>) -> Force<T> {
    let on = |n: usize| if n == k { T::ONE } else { T::ZERO };
    let unit = CompositeInertia {
        mass: on(0),
        first_moment: Vector3::new(on(1), on(2), on(3)),
        second_moment: Symmetric3 { xx: on(4), xy: on(5), yy: on(6), xz: on(7), yz: on(8), zz: on(9) },
    };
    unit * *acceleration + velocity.cross_force(&(unit * *velocity))
}
