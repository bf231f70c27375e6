//! Two capsules.

use nalgebra::Vector3;

use super::feature::{Feature, Side, plain_placement, tangents, unit};
use super::witness::witness;
use super::{Manifold, Solid, parallel};
use crate::scalar::Real;
use crate::spatial::vector::{column, cross, dot};

/// Half the length of the segment and the radius around it.
pub(super) type Size<P> = (P, P);

/// Points where two capsules are closer than `margin`: two where they are parallel and side by side, otherwise one.
pub(super) fn collide<T: Real>(
    (a, (half_a, radius_a)): (&Solid<'_, T>, Size<T::Plain>),
    (b, (half_b, radius_b)): (&Solid<'_, T>, Size<T::Plain>),
    margin: T,
) -> Manifold<T> {
    let (place_a, place_b) = (plain_placement(&a.placement), plain_placement(&b.placement));
    let (u, v) = (column(&place_a.rotation, 2), column(&place_b.rotation, 2));
    let between = place_b.translation - place_a.translation;
    let (s, t) = nearest_parameters(&u, &v, &between, half_a, half_b);
    let gap = between + v * t - u * s;
    let limit = margin.plain() + radius_a + radius_b;
    let square = dot(&gap, &gap);
    if limit < T::Plain::ZERO || square >= limit * limit {
        return Manifold::new();
    }
    // Crossing axes leave the common perpendicular, coincident ones any.
    let across = unit(&cross(&u, &v)).unwrap_or(tangents(&u).0);
    let hint: Vector3<T::Plain> = unit(&gap).unwrap_or(across);
    if let Some(manifold) = parallel::collide(a, b, &hint, margin) {
        return manifold;
    }
    let side = |solid: &Solid<'_, T>, along: T::Plain, half: T::Plain, radius: T::Plain| {
        let feature = if along.abs() < half {
            Feature::Line { point: solid.placement.translation, direction: solid.axis() }
        } else {
            Feature::Point(solid.placed_corner(u16::from(along > T::Plain::ZERO)))
        };
        Side { feature, radius: T::constant(radius) }
    };
    let mut manifold = Manifold::new();
    let point = witness(&side(a, s, half_a, radius_a), &side(b, t, half_b, radius_b), &hint, 0);
    manifold.meet(point, margin);
    manifold
}

/// Where on two segments, along their unit vectors from their middles, the nearest points are.
fn nearest_parameters<P: Real>(u: &Vector3<P>, v: &Vector3<P>, between: &Vector3<P>, half_a: P, half_b: P) -> (P, P) {
    let (along_u, along_v, cosine) = (dot(u, between), dot(v, between), dot(u, v));
    let sine = P::ONE - cosine * cosine;
    let clamp = |x: P, half: P| x.max(-half).min(half);
    let on_a = |t: P| clamp(along_u + cosine * t, half_a);
    let crossing = if sine > P::EPSILON { (along_u - cosine * along_v) / sine } else { P::ZERO };
    let s = clamp(crossing, half_a);
    let t = clamp(cosine * s - along_v, half_b);
    (on_a(t), t)
}
