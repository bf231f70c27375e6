//! A ball against everything whose nearest feature to a point is known in closed form.

use nalgebra::Vector3;

use super::feature::{Feature, Side, plain_placement, unit};
use super::witness::witness;
use super::{Manifold, Solid, general};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::vector::{column, multiply};

/// The point where a ball and a solid are closer than `margin`; the normal goes from the ball to the solid.
pub(super) fn collide<T: Real>(ball: &Solid<'_, T>, solid: &Solid<'_, T>, margin: T) -> Manifold<T> {
    let center = ball.placement.translation;
    let placement = plain_placement(&solid.placement);
    let point = placement.act_inverse_point(&center.map(T::plain));
    let (side, outward) = match &solid.shape {
        Shape::Sphere { radius } => (solid.ball(solid.placement.translation, *radius), point),
        Shape::Capsule { radius, half_length } => solid.nearest_on_capsule(*radius, *half_length, &point),
        Shape::Box { half_extents } => solid.nearest_on_box(half_extents, &point),
        Shape::Cylinder { radius, half_length } => solid.nearest_on_cylinder(*radius, *half_length, &point),
        _ => return general::collide(ball, solid, margin),
    };
    let x = Vector3::new(T::Plain::ONE, T::Plain::ZERO, T::Plain::ZERO);
    let hint = -multiply(&placement.rotation, &unit(&outward).unwrap_or(x));
    let mut manifold = Manifold::new();
    manifold.meet(witness(&ball.ball(center, ball.round()), &side, &hint, 0), margin);
    manifold
}

impl<T: Real> Solid<'_, T> {
    fn ball(&self, center: Vector3<T>, radius: T::Plain) -> Side<T> {
        Side { feature: Feature::Point(center), radius: T::constant(radius) }
    }

    /// The feature nearest to a point in its frame, and the way from it to the point.
    fn nearest_on_capsule(
        &self,
        radius: T::Plain,
        half_length: T::Plain,
        point: &Vector3<T::Plain>,
    ) -> (Side<T>, Vector3<T::Plain>) {
        let along = point.z.max(-half_length).min(half_length);
        let outward = Vector3::new(point.x, point.y, point.z - along);
        if along.abs() < half_length {
            let axis = Feature::Line { point: self.placement.translation, direction: self.axis() };
            return (Side { feature: axis, radius: T::constant(radius) }, outward);
        }
        (self.ball(self.placed_corner(u16::from(along > T::Plain::ZERO)), radius), outward)
    }

    /// The feature nearest to a point in its frame, and the way from it to the point.
    pub(super) fn nearest_on_box(
        &self,
        half_extents: &Vector3<T::Plain>,
        point: &Vector3<T::Plain>,
    ) -> (Side<T>, Vector3<T::Plain>) {
        let zero = T::Plain::ZERO;
        let beyond = point.map(T::Plain::abs) - half_extents;
        let bits = [0, 1, 2].map(|k: usize| u16::from(point[k] >= zero) << k);
        let corner = bits[0] | bits[1] | bits[2];
        let outside = [beyond.x > zero, beyond.y > zero, beyond.z > zero];
        let face = |axis: usize| {
            let normal = column(&self.placement.rotation, axis);
            let normal = if point[axis] < zero { -normal } else { normal };
            let mut outward = Vector3::repeat(zero);
            outward[axis] = if point[axis] < zero { -T::Plain::ONE } else { T::Plain::ONE };
            (Side::sharp(Feature::Plane { point: self.placed_corner(corner), normal }), outward)
        };
        let toward = |k: usize| match (outside[k], point[k] < zero) {
            (false, _) => zero,
            (true, true) => -beyond[k],
            (true, false) => beyond[k],
        };
        let way = Vector3::new(toward(0), toward(1), toward(2));
        let edge = |axis: usize| {
            let direction = column(&self.placement.rotation, axis);
            (Side::sharp(Feature::Line { point: self.placed_corner(corner), direction }), way)
        };
        match outside {
            [true, true, true] => (Side::sharp(Feature::Point(self.placed_corner(corner))), way),
            [false, true, true] => edge(0),
            [true, false, true] => edge(1),
            [true, true, false] => edge(2),
            [x, y, _] if x || y || outside[2] => face(if x {
                0
            } else if y {
                1
            } else {
                2
            }),
            _ if beyond.x >= beyond.y && beyond.x >= beyond.z => face(0),
            _ if beyond.y >= beyond.z => face(1),
            _ => face(2),
        }
    }

    /// The feature nearest to a point in its frame, and the way from it to the point.
    fn nearest_on_cylinder(
        &self,
        radius: T::Plain,
        half_length: T::Plain,
        point: &Vector3<T::Plain>,
    ) -> (Side<T>, Vector3<T::Plain>) {
        let zero = T::Plain::ZERO;
        let radial = Vector3::new(point.x, point.y, zero);
        let distance = (point.x * point.x + point.y * point.y).sqrt();
        let (beyond_side, beyond_end) = (distance - radius, point.z.abs() - half_length);
        let upward = if point.z < zero { -T::Plain::ONE } else { T::Plain::ONE };
        let axis = self.axis() * T::constant(upward);
        let end = self.placement.translation + axis * T::constant(half_length);
        if beyond_side > zero && beyond_end > zero {
            let rim = Feature::Rim { center: end, axis, radius: T::constant(radius) };
            let outward = radial * (beyond_side / distance) + Vector3::new(zero, zero, upward * beyond_end);
            (Side::sharp(rim), outward)
        } else if beyond_end > beyond_side {
            let up = Vector3::new(zero, zero, upward);
            (Side::sharp(Feature::Plane { point: end, normal: axis }), up)
        } else {
            let axis = Feature::Line { point: self.placement.translation, direction: self.axis() };
            (Side { feature: axis, radius: T::constant(radius) }, radial)
        }
    }
}
