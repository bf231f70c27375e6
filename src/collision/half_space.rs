//! A half-space against everything else: the deepest points along its normal.

use nalgebra::Vector3;

use super::feature::{constant, plain_placement, tangents};
use super::{Manifold, ManifoldPoint, Solid};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::{column, dot, multiply_transposed, scale_add};

/// Height above its lowest corner, over the size of a hull, up to which it stands on others too, beside the margin.
const BAND: f64 = 1e-2;

/// Points of `solid` that are closer to the half-space below z = 0 of `ground` than `margin`.
pub(super) fn collide<T: Real>(ground: &Placement<T>, solid: &Solid<'_, T>, margin: T) -> Manifold<T> {
    let plane = Plane::new(ground, margin);
    let center = solid.placement.translation;
    let mut manifold = Manifold::new();
    let mut meet = |feature: u16, center: Vector3<T>, radius: T::Plain| {
        manifold.meet(plane.ball(feature, center, T::constant(radius)), margin);
    };
    match &solid.shape {
        Shape::HalfSpace => {}
        Shape::Sphere { radius } => meet(0, center, *radius),
        Shape::Capsule { radius, .. } => (0..2).for_each(|end| meet(end, solid.placed_corner(end), *radius)),
        Shape::Box { .. } => {
            // The four lower corners: of an edge along the ground either face will do.
            let down = -multiply_transposed(&solid.placement.rotation, &plane.normal).map(T::plain);
            (0..8).filter(|&corner| is_lower(&down, corner)).for_each(|corner| {
                meet(corner, solid.placed_corner(corner), T::Plain::ZERO);
            });
        }
        Shape::Cylinder { radius, half_length } => {
            let foot = solid.cylinder_foot(&plane.normal, (*radius, *half_length));
            let spread = if foot.corners().len() > 4 { 2 } else { 1 };
            for corner in foot.corners().iter().step_by(spread) {
                meet(corner.tag, corner.position, T::Plain::ZERO);
            }
        }
        Shape::Ellipsoid { .. } => {
            let down = -plane.normal;
            solid.ellipsoid().iter().for_each(|surface| meet(0, surface.support(&down), T::Plain::ZERO));
        }
        Shape::Convex { .. } => return plane.meet_hull(solid),
    }
    manifold
}

/// Whether a corner of a box is one of the four on the face that looks down most.
fn is_lower<P: Real>(down: &Vector3<P>, corner: u16) -> bool {
    let size = down.map(P::abs);
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    (corner >> axis & 1 == 1) == (down[axis] > P::ZERO)
}

/// The boundary of a half-space.
struct Plane<T> {
    normal: Vector3<T>,
    /// n · x of its points.
    offset: T,
    margin: T,
}

impl<T: Real> Plane<T> {
    fn new(ground: &Placement<T>, margin: T) -> Self {
        let normal = column(&ground.rotation, 2);
        Self { normal, offset: dot(&normal, &ground.translation), margin }
    }

    /// The lowest point of a ball.
    fn ball(&self, feature: u16, center: Vector3<T>, radius: T) -> ManifoldPoint<T> {
        let height = dot(&self.normal, &center) - self.offset;
        let distance = height - radius;
        let position = scale_add(&self.normal, -height, &center);
        ManifoldPoint { feature, distance, position, normal: self.normal }
    }

    /// Of the corners near the ground: the lowest, and those that stand out most along four directions that turn with
    /// the hull, so that the choice stays while the hull slides and turns on the ground.
    fn meet_hull(&self, solid: &Solid<'_, T>) -> Manifold<T> {
        let placement = plain_placement(&solid.placement);
        let up = multiply_transposed(&placement.rotation, &self.normal.map(T::plain));
        let base = dot(&self.normal.map(T::plain), &placement.translation) - self.offset.plain();
        let height = |k: usize| dot(&up, &solid.hull.get(k)) + base;
        let mut manifold = Manifold::new();
        let (mut lowest, mut size) = (0, T::Plain::ZERO);
        for k in 0..solid.hull.len() {
            size = size.max(dot(&solid.hull.get(k), &solid.hull.get(k)));
            if height(k) < height(lowest) {
                lowest = k;
            }
        }
        if solid.hull.is_empty() || height(lowest) >= self.margin.plain() {
            return manifold;
        }
        let band = self.margin.plain().max(T::Plain::ZERO) + size.sqrt() * T::Plain::from_f64(BAND);
        let limit = self.margin.plain().min(height(lowest) + band);
        let (x, y) = tangents(&up);
        // Off the axes, along which shapes like to have their edges.
        let (cos, sin) = (T::Plain::from_f64(0.866), T::Plain::from_f64(0.5));
        let (first, second) = (x * cos + y * sin, y * cos - x * sin);
        let mut chosen = [first, second, -first, -second].map(|direction| {
            let along = |k: usize| dot(&direction, &solid.hull.get(k));
            let near = (0..solid.hull.len()).filter(|&k| height(k) < limit);
            near.fold(lowest, |best, k| if along(k) > along(best) { k } else { best })
        });
        if !chosen.contains(&lowest) {
            let away = |k: usize| {
                let offset = solid.hull.get(chosen[k]) - solid.hull.get(lowest);
                dot(&offset, &offset)
            };
            let nearest = (1..chosen.len()).fold(0, |best, k| if away(k) < away(best) { k } else { best });
            chosen[nearest] = lowest;
        }
        for (k, &corner) in chosen.iter().enumerate() {
            if !chosen[..k].contains(&corner) {
                let position = solid.placement.act_point(&constant(&solid.hull.get(corner)));
                manifold.meet(self.ball(corner as u16, position, T::ZERO), self.margin);
            }
        }
        manifold
    }
}
