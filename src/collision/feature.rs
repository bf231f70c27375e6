//! The parts of a surface that decide a contact: corners, edges, faces, rims.
//!
//! The search for a contact runs on plain values and ends with one feature of each solid. Distance, position and normal
//! then follow from the two features alone, in whatever numbers the placements have: that is what makes them exact and
//! differentiable.

use nalgebra::Vector3;

use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::{cross, dot, multiply, multiply_transposed, scale_add};

/// Part of the surface of a convex core, in the working frame; edges and faces go on without end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Feature<T> {
    /// A corner, or the centre of a ball.
    Point(Vector3<T>),
    /// An edge, or the axis of something round.
    Line { point: Vector3<T>, direction: Vector3<T> },
    /// A face with its outward normal.
    Plane { point: Vector3<T>, normal: Vector3<T> },
    /// The edge of a cylinder's end.
    Rim { center: Vector3<T>, axis: Vector3<T>, radius: T },
    /// All of an ellipsoid.
    Ellipsoid { placement: Placement<T>, radii: Vector3<T> },
}

/// Everything within `radius` of a feature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<T> {
    pub feature: Feature<T>,
    pub radius: T,
}

impl<T: Real> Side<T> {
    /// A feature without a round.
    pub fn sharp(feature: Feature<T>) -> Self {
        Self { feature, radius: T::ZERO }
    }

    /// Without derivatives.
    pub fn plain(&self) -> Side<T::Plain> {
        Side { feature: self.feature.plain(), radius: self.radius.plain() }
    }
}

impl<T: Real> Feature<T> {
    /// The line through two points, from the first on; the first point if they coincide.
    pub fn line(from: Vector3<T>, to: Vector3<T>) -> Self {
        match unit(&(to - from)) {
            Some(direction) => Self::Line { point: from, direction },
            None => Self::Point(from),
        }
    }

    fn plain(&self) -> Feature<T::Plain> {
        let plain = |v: &Vector3<T>| v.map(T::plain);
        match self {
            Self::Point(point) => Feature::Point(plain(point)),
            Self::Line { point, direction } => Feature::Line { point: plain(point), direction: plain(direction) },
            Self::Plane { point, normal } => Feature::Plane { point: plain(point), normal: plain(normal) },
            Self::Rim { center, axis, radius } => {
                Feature::Rim { center: plain(center), axis: plain(axis), radius: radius.plain() }
            }
            Self::Ellipsoid { placement, radii } => {
                Feature::Ellipsoid { placement: plain_placement(placement), radii: plain(radii) }
            }
        }
    }

    /// Whether its farthest point turns with the direction.
    pub fn is_curved(&self) -> bool {
        matches!(self, Self::Rim { .. } | Self::Ellipsoid { .. })
    }

    /// Its farthest point along `direction`; some point of it where that does not depend on the direction.
    pub fn support(&self, direction: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Point(point) | Self::Line { point, .. } | Self::Plane { point, .. } => *point,
            Self::Rim { center, axis, radius } => match unit(&across(axis, direction)) {
                Some(outward) => scale_add(&outward, *radius, center),
                None => *center,
            },
            Self::Ellipsoid { placement, radii } => {
                let scaled = multiply_transposed(&placement.rotation, direction).component_mul(radii);
                match unit(&scaled) {
                    Some(outward) => placement.act_point(&outward.component_mul(radii)),
                    None => placement.translation,
                }
            }
        }
    }

    /// How its farthest point along the unit vector `direction` moves when that turns by `turn`.
    pub fn support_rate(&self, direction: &Vector3<T>, turn: &Vector3<T>) -> Vector3<T> {
        let zero = Vector3::repeat(T::ZERO);
        match self {
            Self::Point(_) | Self::Line { .. } | Self::Plane { .. } => zero,
            Self::Rim { axis, radius, .. } => {
                let outward = across(axis, direction);
                let square = dot(&outward, &outward);
                if square <= T::EPSILON * T::EPSILON {
                    return zero;
                }
                let along = cross(axis, &outward);
                along * (dot(&along, turn) * *radius / (square * square.sqrt()))
            }
            Self::Ellipsoid { placement, radii } => {
                let scaled = multiply_transposed(&placement.rotation, direction).component_mul(radii);
                let Some(outward) = unit(&scaled) else { return zero };
                let turned = multiply_transposed(&placement.rotation, turn).component_mul(radii);
                let rate = (turned - outward * dot(&outward, &turned)) / dot(&outward, &scaled);
                multiply(&placement.rotation, &rate.component_mul(radii))
            }
        }
    }
}

/// The part of `v` across the unit vector `axis`.
pub(super) fn across<T: Real>(axis: &Vector3<T>, v: &Vector3<T>) -> Vector3<T> {
    scale_add(axis, -dot(axis, v), v)
}

/// v / |v|; `None` where rounding leaves no direction.
#[inline(always)]
pub(super) fn unit<T: Real>(v: &Vector3<T>) -> Option<Vector3<T>> {
    let square = dot(v, v);
    (square > T::EPSILON * T::EPSILON).then(|| v * (T::ONE / square.sqrt()))
}

/// The unit vector across two edges; `None` where they are parallel within rounding.
pub(super) fn unit_across<T: Real>(u: &Vector3<T>, v: &Vector3<T>) -> Option<Vector3<T>> {
    let normal = cross(u, v);
    let (square, whole) = (dot(&normal, &normal), dot(u, u) * dot(v, v));
    let flat = T::EPSILON * T::from_f64(8.0);
    (square > flat * flat * whole).then(|| normal * (T::ONE / square.sqrt()))
}

/// Two unit vectors that make a right-handed frame with the unit vector `n`.
pub(super) fn tangents<T: Real>(n: &Vector3<T>) -> (Vector3<T>, Vector3<T>) {
    let (o, one) = (T::ZERO, T::ONE);
    let least = if n.x.abs() <= n.y.abs() && n.x.abs() <= n.z.abs() {
        Vector3::new(one, o, o)
    } else if n.y.abs() <= n.z.abs() {
        Vector3::new(o, one, o)
    } else {
        Vector3::new(o, o, one)
    };
    let first = unit(&across(n, &least)).unwrap_or(Vector3::new(one, o, o));
    (first, cross(n, &first))
}

/// A placement without its derivatives.
#[inline(always)]
pub(super) fn plain_placement<T: Real>(placement: &Placement<T>) -> Placement<T::Plain> {
    Placement::new(placement.rotation.map(T::plain), placement.translation.map(T::plain))
}

/// A plain vector as one that does not vary.
#[inline(always)]
pub(super) fn constant<T: Real>(v: &Vector3<T::Plain>) -> Vector3<T> {
    v.map(T::constant)
}
