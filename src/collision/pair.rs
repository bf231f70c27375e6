//! One pair of shapes: which function knows them.

use super::{Manifold, Solid, box_box, capsule, general, half_space, sphere};
use crate::model::Shape;
use crate::scalar::Real;

/// Points where two solids are closer than `margin`; normals go from `a` to `b`.
///
/// Up to four points where faces meet, two along parallel bars, otherwise one. The search runs on plain values, the
/// points follow from the features it ends with, so a placement in dual numbers gives their derivatives:
///
/// ```
/// use saltus::collision::{Solid, collide};
/// use saltus::model::Shape;
/// use saltus::scalar::Dual;
/// use saltus::spatial::Placement;
///
/// let ball = Shape::Sphere { radius: 0.1 };
/// let [x, z] = [Dual::variable(0.03_f64), Dual::constant(0.04)];
/// let here = Solid::primitive(ball, Placement::IDENTITY);
/// let there = Solid::primitive(ball, Placement::translation(x, Dual::constant(0.0), z));
/// let points = collide(&here, &there, Dual::constant(0.01));
/// let distance = points.points()[0].distance;
/// assert!((distance.value - (0.05 - 0.2)).abs() < 1e-12);
/// assert!((distance.tangent[0] - 0.6).abs() < 1e-12); // moving along x opens the gap by the normal's x
/// ```
pub fn collide<T: Real>(a: &Solid<'_, T>, b: &Solid<'_, T>, margin: T) -> Manifold<T> {
    match (&a.shape, &b.shape) {
        (Shape::HalfSpace, _) => half_space::collide(&a.placement, b, margin),
        (_, Shape::HalfSpace) => half_space::collide(&b.placement, a, margin).flipped(),
        (Shape::Convex { .. }, _) if a.hull.is_empty() => Manifold::new(),
        (_, Shape::Convex { .. }) if b.hull.is_empty() => Manifold::new(),
        (Shape::Sphere { .. }, _) => sphere::collide(a, b, margin),
        (_, Shape::Sphere { .. }) => sphere::collide(b, a, margin).flipped(),
        (
            &Shape::Capsule { radius: radius_a, half_length: half_a },
            &Shape::Capsule { radius: radius_b, half_length: half_b },
        ) => capsule::collide((a, (half_a, radius_a)), (b, (half_b, radius_b)), margin),
        (Shape::Box { half_extents: half_a }, Shape::Box { half_extents: half_b }) => {
            box_box::collide((a, half_a), (b, half_b), margin)
        }
        _ => general::collide(a, b, margin),
    }
}
