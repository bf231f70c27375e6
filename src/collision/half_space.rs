//! A half-space against everything else: the deepest points along its normal.

use nalgebra::Vector3;

use super::{Manifold, ManifoldPoint, Solid};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::{column, dot, scale_add};

/// Points of `solid` that are closer to the half-space below z = 0 of `ground` than `margin`.
pub(super) fn collide<T: Real>(ground: &Placement<T>, solid: &Solid<'_, T>, margin: T) -> Manifold<T> {
    let plane = Plane::new(ground, margin);
    let center = solid.placement.translation;
    match solid.shape {
        Shape::HalfSpace => Manifold::new(),
        Shape::Sphere { radius } => plane.meet(&[plane.ball(0, center, T::constant(radius))]),
        Shape::Capsule { radius, half_length } => {
            let (radius, half) = (T::constant(radius), column(&solid.placement.rotation, 2) * T::constant(half_length));
            plane.meet(&[plane.ball(0, center - half, radius), plane.ball(1, center + half, radius)])
        }
        Shape::Box { half_extents } => plane.meet_box(&solid.placement, &half_extents.map(T::constant)),
        _ => Manifold::new(),
    }
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
        let half = T::from_f64(0.5);
        let position = scale_add(&self.normal, -(radius + half * distance), &center);
        ManifoldPoint { feature, distance, position, normal: self.normal }
    }

    fn meet(&self, points: &[ManifoldPoint<T>]) -> Manifold<T> {
        let mut manifold = Manifold::new();
        for point in points {
            if point.distance < self.margin {
                manifold.insert(*point);
            }
        }
        manifold
    }

    /// The lowest four corners.
    fn meet_box(&self, placement: &Placement<T>, half_extents: &Vector3<T>) -> Manifold<T> {
        let mut manifold = Manifold::new();
        for feature in 0..8_u16 {
            let sign = |bit: u16| if feature >> bit & 1 == 0 { -T::ONE } else { T::ONE };
            let corner = Vector3::new(sign(0) * half_extents.x, sign(1) * half_extents.y, sign(2) * half_extents.z);
            let point = self.ball(feature, placement.act_point(&corner), T::ZERO);
            if point.distance < self.margin {
                manifold.insert(point);
            }
        }
        manifold
    }
}
