//! Barriers before the limits of joints.

use super::Node;
use super::sink::Sink;
use crate::model::Joint;
use crate::scalar::Real;

/// Before the position limits.
pub(super) fn position<T: Real, S: Sink<T>>(node: &Node<'_, '_, T>, margin: T, weight: T, sink: &mut S) {
    for body in node.model.bodies {
        if !matches!(body.joint, Joint::Revolute { .. } | Joint::Prismatic { .. }) {
            continue;
        }
        let (Some(&q), Some(limit)) =
            (node.q.get(usize::from(body.first_q)), node.model.position_limits.get(usize::from(body.first_q)))
        else {
            continue;
        };
        let column = usize::from(body.first_v);
        approach(column, q - limit.lower, T::ONE, margin, weight, sink);
        approach(column, limit.upper - q, -T::ONE, margin, weight, sink);
    }
}

/// Before the speed limits.
pub(super) fn velocity<T: Real, S: Sink<T>>(node: &Node<'_, '_, T>, margin: T, weight: T, sink: &mut S) {
    let nv = node.model.nv();
    for (dof, (parameters, &v)) in node.model.dofs.iter().zip(node.v).enumerate() {
        let limit = parameters.velocity_limit;
        if limit.is_finite() {
            approach(nv + dof, v + limit, T::ONE, margin * limit, weight, sink);
            approach(nv + dof, limit - v, -T::ONE, margin * limit, weight, sink);
        }
    }
}

/// The barrier at a distance from a limit, which grows with the variable by `sign`.
fn approach<T: Real, S: Sink<T>>(column: usize, distance: T, sign: T, margin: T, weight: T, sink: &mut S) {
    if !(distance < margin && distance.is_finite() && margin > T::ZERO) {
        return;
    }
    let x = distance / margin;
    let inner = T::from_f64(0.1);
    let at = x.max(inner);
    // x − 1 − ln x at the nearer of x and a tenth, and from there on its parabola.
    let (value, slope, curvature) = (at - T::ONE - at.ln(), T::ONE - T::ONE / at, T::ONE / (at * at));
    let past = x - at;
    let value = past.mul_add(T::from_f64(0.5) * curvature * past + slope, value);
    let slope = curvature.mul_add(past, slope);
    let scale = sign / margin;
    sink.curve(column, weight * value, weight * slope * scale, weight * curvature * scale * scale);
}
