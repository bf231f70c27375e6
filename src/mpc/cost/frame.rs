//! Residuals of bodies and frames: where they are, how they are turned, how they move.

use nalgebra::Vector3;

use super::Node;
use super::sink::Sink;
use crate::input::InputError;
use crate::kinematics::{self, Target};
use crate::linalg::MatMut;
use crate::memory::Values;
use crate::model::{BodyId, Model};
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::lie::{Quaternion, inverse_right_jacobian_rotation, log_rotation, quaternion_to_matrix};
use crate::spatial::vector::{compose_transposed, multiply, multiply_transposed};

/// A placement fixed to a body.
#[derive(Clone, Copy)]
pub(super) struct Site<T> {
    body: BodyId,
    placement: Placement<T>,
}

impl<T: Real> Site<T> {
    pub(super) fn of(model: Model<'_, T>, target: Target) -> Result<Self, InputError> {
        match target {
            Target::Body(body) if body.index() <= model.bodies.len() => {
                Ok(Self { body, placement: Placement::IDENTITY })
            }
            Target::Body(body) => Err(InputError::UnknownIndex { what: "body", index: body.index() }),
            Target::Frame(frame) => match model.frames.get(frame.index()) {
                Some(frame) => Ok(Self { body: frame.body, placement: frame.placement }),
                None => Err(InputError::UnknownIndex { what: "frame", index: frame.index() }),
            },
        }
    }

    fn world(&self, node: &Node<'_, '_, T>) -> Result<Placement<T>, InputError> {
        Ok(node.step.dynamics.kinematics.body_placement_world(self.body)? * self.placement)
    }
}

/// Position in the world, minus where it should be.
pub(super) fn position<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    target: Target,
    reference: Vector3<T>,
    weights: [T; 3],
    sink: &mut S,
) -> Result<(), InputError> {
    let site = Site::of(node.model, target)?;
    let apart = site.world(node)?.translation - reference;
    sink.rows(apart.as_slice(), &weights, node.model.nv(), |out| {
        let kinematics = &node.step.dynamics.kinematics;
        kinematics::point_jacobian(node.model, kinematics, site.body, &site.placement.translation, out)
    })
}

/// log(R_refᵀ R); its derivative is the inverse right Jacobian times the angular velocity in the frame.
pub(super) fn orientation<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    target: Target,
    reference: Quaternion<T>,
    weights: [T; 3],
    sink: &mut S,
) -> Result<(), InputError> {
    let site = Site::of(node.model, target)?;
    let rotation = site.world(node)?.rotation;
    let apart = log_rotation(&compose_transposed(&quaternion_to_matrix(&reference), &rotation));
    sink.rows(apart.as_slice(), &weights, node.model.nv(), |mut out| {
        let slope = inverse_right_jacobian_rotation(&apart);
        let Some(body) = node.model.body(site.body) else { return Ok(()) };
        for dof in node.model.tree.runs(body.v_range().end - 1).flatten() {
            let turn = multiply_transposed(&rotation, &node.step.dynamics.kinematics.axis.at(dof).angular);
            let column = multiply(&slope, &turn);
            for (i, x) in column.iter().enumerate() {
                out[(i, dof)] = *x;
            }
        }
        Ok(())
    })
}

/// Velocity of the origin in world axes, minus what it should be.
pub(super) fn velocity<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    target: Target,
    reference: Vector3<T>,
    weights: [T; 3],
    sink: &mut S,
) -> Result<(), InputError> {
    let site = Site::of(node.model, target)?;
    let kinematics = &node.step.dynamics.kinematics;
    let apart = kinematics::point_velocity(kinematics, site.body, &site.placement.translation)? - reference;
    sink.rows(apart.as_slice(), &weights, 2 * node.model.nv(), |out| velocity_jacobian(node, &site, out))
}

/// ∂(velocity of the origin)/∂(q, v), 3 × 2nv.
fn velocity_jacobian<T: Real>(
    node: &Node<'_, '_, T>,
    site: &Site<T>,
    mut out: MatMut<'_, T>,
) -> Result<(), InputError> {
    let (model, kinematics) = (node.model, &node.step.dynamics.kinematics);
    let (nv, stride, point) = (model.nv(), out.stride(), &site.placement.translation);
    let by_q = MatMut::with_stride(out.data_mut(), 3, nv, stride);
    kinematics::point_velocity_derivatives(model, kinematics, site.body, point, by_q)?;
    let by_v = MatMut::with_stride(out.data_mut().get_mut(nv..).unwrap_or(&mut []), 3, nv, stride);
    kinematics::point_jacobian(model, kinematics, site.body, point, by_v)
}

/// How the speed of a foot counts by its height.
#[derive(Clone, Copy)]
pub(super) enum Fade<T> {
    /// 1 / (1 + (z / fade)²).
    Smooth(T),
    /// 1 − z / height below the height, zero above.
    Below(T),
}

impl<T: Real> Fade<T> {
    /// The factor and its slope.
    fn at(self, height: T) -> (T, T) {
        match self {
            Self::Smooth(fade) => {
                let x = height / fade;
                let factor = T::ONE / x.mul_add(x, T::ONE);
                (factor, -(x + x) * factor * factor / fade)
            }
            Self::Below(full) if height < full => (T::ONE - height / full, -T::ONE / full),
            Self::Below(_) => (T::ZERO, T::ZERO),
        }
    }
}

/// s(z) v_xy.
pub(super) fn low_speed<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    target: Target,
    ground_m: T,
    fade: Fade<T>,
    weight: T,
    sink: &mut S,
) -> Result<(), InputError> {
    let site = Site::of(node.model, target)?;
    let kinematics = &node.step.dynamics.kinematics;
    let point = &site.placement.translation;
    let height = site.world(node)?.translation.z - ground_m;
    let velocity = kinematics::point_velocity(kinematics, site.body, point)?;
    let (factor, slope) = fade.at(height);
    if factor == T::ZERO {
        return Ok(());
    }
    let residual = [factor * velocity.x, factor * velocity.y, T::ZERO];
    let nv = node.model.nv();
    sink.rows(&residual, &[weight, weight, T::ZERO], 2 * nv, |mut out| {
        velocity_jacobian(node, &site, out.reborrow())?;
        // The third row, which does not count, is where ∂z/∂q is found: z moves as v_z does with v.
        for column in 0..2 * nv {
            let rise = if column < nv { out[(2, nv + column)] } else { T::ZERO };
            for (row, v) in [velocity.x, velocity.y].into_iter().enumerate() {
                out[(row, column)] = factor.mul_add(out[(row, column)], slope * rise * v);
            }
        }
        Ok(())
    })
}
