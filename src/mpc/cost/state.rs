//! Residuals of the state and the controls themselves.

use super::sink::Sink;
use super::{Dofs, Node};
use crate::input::InputError;
use crate::memory::{copy, run, run_mut};
use crate::model::Body;
use crate::model::configuration::{difference_joint, joint_difference_jacobian};
use crate::scalar::Real;

/// q ⊖ reference.
pub(super) fn posture<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    dofs: Dofs,
    reference: &[T],
    weight: T,
    sink: &mut S,
) -> Result<(), InputError> {
    for body in node.model.bodies {
        let first = usize::from(body.first_v);
        let mut weights = [T::ZERO; 6];
        let mut any = false;
        for (k, own) in weights.iter_mut().enumerate().take(body.joint.nv()) {
            if dofs.contains(first + k) {
                (*own, any) = (weight, true);
            }
        }
        if any {
            joint_posture(node, body, reference, &weights, sink)?;
        }
    }
    Ok(())
}

fn joint_posture<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    body: &Body<T>,
    reference: &[T],
    weights: &[T; 6],
    sink: &mut S,
) -> Result<(), InputError> {
    let (first_q, nq) = (usize::from(body.first_q), body.joint.nq());
    let (first, n) = (usize::from(body.first_v), body.joint.nv());
    let mut apart = [T::ZERO; 6];
    let (from, to) = (run(reference, first_q, nq), run(node.q, first_q, nq));
    difference_joint(&body.joint, from, to, run_mut(&mut apart, 0, n));
    if n == 1 {
        sink.unit(first, apart[0], weights[0]);
        return Ok(());
    }
    sink.rows(run(&apart, 0, n), weights, node.model.nv(), |mut out| {
        let slope = joint_difference_jacobian(&body.joint, &apart);
        for (i, slope) in slope.iter().enumerate().take(n) {
            copy(run_mut(out.row_mut(i), first, n), run(slope, 0, n));
        }
        Ok(())
    })
}

/// v − reference.
pub(super) fn velocity<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    dofs: Dofs,
    reference: &[T],
    weight: T,
    sink: &mut S,
) -> Result<(), InputError> {
    let nv = node.model.nv();
    for (dof, &v) in node.v.iter().enumerate().filter(|&(dof, _)| dofs.contains(dof)) {
        sink.unit(nv + dof, v - reference.get(dof).copied().unwrap_or(T::ZERO), weight);
    }
    Ok(())
}

/// u − reference.
pub(super) fn control<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    reference: &[T],
    weight: T,
    sink: &mut S,
) -> Result<(), InputError> {
    let first = 2 * node.model.nv();
    for (k, &u) in node.u.iter().enumerate() {
        sink.unit(first + k, u - reference.get(k).copied().unwrap_or(T::ZERO), weight);
    }
    Ok(())
}

/// (u − u before) / Δt. The step after depends on u as well: its slope counts here, its value there. Along all controls
/// the Hessian is tridiagonal; twice its diagonal, block by block, is an upper bound of it.
pub(super) fn control_rate<T: Real, S: Sink<T>>(node: &Node<'_, '_, T>, weight: T, weight_after: T, sink: &mut S) {
    let (first, beside, two) = (2 * node.model.nv(), &node.neighbours, T::from_f64(2.0));
    let weight = weight / (node.dt_s * node.dt_s);
    for (k, &u) in node.u.iter().enumerate() {
        let (mut slope, mut curvature, mut value) = (T::ZERO, T::ZERO, T::ZERO);
        if let Some(before) = beside.before.get(k) {
            let change = u - *before;
            (slope, curvature) = (weight * change, two * weight);
            value = T::from_f64(0.5) * weight * change * change;
        }
        if let Some(after) = beside.after.get(k) {
            let weight = weight_after / (beside.dt_after_s * beside.dt_after_s);
            slope = weight.mul_add(u - *after, slope);
            curvature = two.mul_add(weight, curvature);
        }
        sink.curve(first + k, value, slope, curvature);
    }
}
