//! One pair of shapes: which function knows them.

use super::{Manifold, Solid, half_space};
use crate::model::Shape;
use crate::scalar::Real;

/// Points where two solids are closer than `margin`; normals go from `a` to `b`.
pub fn collide<T: Real>(a: &Solid<'_, T>, b: &Solid<'_, T>, margin: T) -> Manifold<T> {
    match (&a.shape, &b.shape) {
        (Shape::HalfSpace, _) => half_space::collide(&a.placement, b, margin),
        (_, Shape::HalfSpace) => half_space::collide(&b.placement, a, margin).flipped(),
        _ => Manifold::new(),
    }
}
