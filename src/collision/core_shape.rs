//! Convex cores: what remains of a solid when its round is taken off, known by the farthest point along a direction.

use nalgebra::Vector3;

use super::Solid;
use super::feature::{Feature, Side, constant, plain_placement, unit, unit_across};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::{column, dot, multiply_transposed};

/// Number of a farthest point that is no corner: on something curved.
pub(super) const NO_CORNER: u16 = u16::MAX;

/// A solid without its round, in plain numbers, about a common origin.
pub(super) struct Core<'s, 'm, T: Real> {
    pub solid: &'s Solid<'m, T>,
    pub placement: Placement<T::Plain>,
}

impl<'s, 'm, T: Real> Core<'s, 'm, T> {
    /// About `origin`, which keeps digits when both solids are far from the frame's.
    #[inline(always)]
    pub fn new(solid: &'s Solid<'m, T>, origin: &Vector3<T::Plain>) -> Self {
        let mut placement = plain_placement(&solid.placement);
        placement.translation -= origin;
        Self { solid, placement }
    }

    /// The farthest point along `direction` and the number of the corner it is.
    #[inline(always)]
    pub fn support(&self, direction: &Vector3<T::Plain>) -> (Vector3<T::Plain>, u16) {
        let local = multiply_transposed(&self.placement.rotation, direction);
        let (point, corner) = self.solid.local_support(&local);
        (self.placement.act_point(&point), corner)
    }
}

impl<T: Real> Solid<'_, T> {
    /// Radius of the round: of a sphere or a capsule.
    #[inline(always)]
    pub(super) fn round(&self) -> T::Plain {
        match self.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => radius,
            _ => T::Plain::ZERO,
        }
    }

    /// The farthest point of the core along a direction in its own frame, and the number of the corner it is.
    #[inline(always)]
    fn local_support(&self, direction: &Vector3<T::Plain>) -> (Vector3<T::Plain>, u16) {
        let zero = T::Plain::ZERO;
        let sign = |x: T::Plain, size: T::Plain| if x < zero { -size } else { size };
        match &self.shape {
            Shape::HalfSpace | Shape::Sphere { .. } => (Vector3::repeat(zero), 0),
            Shape::Capsule { .. } => {
                let corner = u16::from(direction.z >= zero);
                (self.corner(corner), corner)
            }
            Shape::Box { .. } => {
                let bit = |k: usize| u16::from(direction[k] >= zero) << k;
                let corner = bit(0) | bit(1) | bit(2);
                (self.corner(corner), corner)
            }
            Shape::Cylinder { radius, half_length } => {
                let end = sign(direction.z, *half_length);
                let outward = unit(&Vector3::new(direction.x, direction.y, zero)).unwrap_or(Vector3::repeat(zero));
                (Vector3::new(outward.x * *radius, outward.y * *radius, end), NO_CORNER)
            }
            Shape::Ellipsoid { radii } => match unit(&direction.component_mul(radii)) {
                Some(outward) => (outward.component_mul(radii), NO_CORNER),
                None => (Vector3::repeat(zero), NO_CORNER),
            },
            Shape::Convex { .. } => {
                let corners = self.hull.len().min(usize::from(NO_CORNER));
                let mut best = (0, dot(&self.hull.get(0), direction));
                for k in 1..corners {
                    let height = dot(&self.hull.get(k), direction);
                    if height > best.1 {
                        best = (k, height);
                    }
                }
                (self.hull.get(best.0), best.0 as u16)
            }
        }
    }

    /// A corner of the core, in the solid's frame. The bits of a box's corner say on which side of each axis it is.
    #[inline(always)]
    pub(super) fn corner(&self, corner: u16) -> Vector3<T::Plain> {
        let side = |bit: u16, size: T::Plain| if corner >> bit & 1 == 0 { -size } else { size };
        let zero = T::Plain::ZERO;
        match &self.shape {
            Shape::Capsule { half_length, .. } => Vector3::new(zero, zero, side(0, *half_length)),
            Shape::Box { half_extents } => {
                Vector3::new(side(0, half_extents.x), side(1, half_extents.y), side(2, half_extents.z))
            }
            Shape::Convex { .. } => self.hull.get(usize::from(corner)),
            _ => Vector3::repeat(zero),
        }
    }

    /// A corner of the core, in the working frame.
    pub(super) fn placed_corner(&self, corner: u16) -> Vector3<T> {
        self.placement.act_point(&constant(&self.corner(corner)))
    }

    /// The axis of a capsule or a cylinder.
    pub(super) fn axis(&self) -> Vector3<T> {
        column(&self.placement.rotation, 2)
    }

    /// The feature that holds the nearest point: the one that these corners span, or that a curved surface has where
    /// its outward normal is `outward`. A cylinder has a second `guess`, for a normal that is not quite known.
    pub(super) fn side(&self, corners: &[u16], outward: &Vector3<T::Plain>, guess: usize) -> Option<Side<T>> {
        let center = self.placement.translation;
        match &self.shape {
            Shape::Cylinder { radius, half_length } => {
                Some(self.cylinder_side((*radius, *half_length), outward, guess))
            }
            _ if guess > 0 => None,
            Shape::Ellipsoid { .. } => Some(Side::sharp(self.ellipsoid()?)),
            Shape::Sphere { radius } => Some(Side { feature: Feature::Point(center), radius: T::constant(*radius) }),
            _ => Some(Side { feature: self.corner_feature(corners, outward), radius: T::constant(self.round()) }),
        }
    }

    /// The whole surface of an ellipsoid.
    pub(super) fn ellipsoid(&self) -> Option<Feature<T>> {
        let Shape::Ellipsoid { radii } = &self.shape else { return None };
        Some(Feature::Ellipsoid { placement: self.placement, radii: constant(radii) })
    }

    /// A corner, an edge or a face.
    fn corner_feature(&self, corners: &[u16], outward: &Vector3<T::Plain>) -> Feature<T> {
        let Some((&first, rest)) = corners.split_first() else { return Feature::Point(self.placement.translation) };
        let p = self.placed_corner(first);
        match *rest {
            [second, third] => {
                let (q, r) = (self.placed_corner(second), self.placed_corner(third));
                match unit_across(&(q - p), &(r - p)) {
                    Some(normal) if dot(&normal, &constant(outward)) < T::ZERO => {
                        Feature::Plane { point: p, normal: -normal }
                    }
                    Some(normal) => Feature::Plane { point: p, normal },
                    None => Feature::line(p, if q == p { r } else { q }),
                }
            }
            [second] => Feature::line(p, self.placed_corner(second)),
            _ => Feature::Point(p),
        }
    }

    /// End, side or rim of a cylinder: first what the outward normal says, then what it nearly says.
    fn cylinder_side(
        &self,
        (radius, half_length): (T::Plain, T::Plain),
        outward: &Vector3<T::Plain>,
        guess: usize,
    ) -> Side<T> {
        let axis = self.axis();
        let lift = dot(&axis.map(T::plain), outward);
        let up = if lift < T::Plain::ZERO { -axis } else { axis };
        let center = self.placement.translation;
        let end = center + up * T::constant(half_length);
        // What the search leaves open in the normal.
        let blur = T::Plain::EPSILON.sqrt() * T::Plain::from_f64(8.0);
        let lean = (T::Plain::ONE - lift * lift).max(T::Plain::ZERO).sqrt();
        let on_rim = lean.min(lift.abs()) > blur;
        if on_rim == (guess == 0) {
            Side::sharp(Feature::Rim { center: end, axis: up, radius: T::constant(radius) })
        } else if lean < lift.abs() {
            Side::sharp(Feature::Plane { point: end, normal: up })
        } else {
            Side { feature: Feature::Line { point: center, direction: axis }, radius: T::constant(radius) }
        }
    }
}
