//! Distance of two convex cores: the point of their difference nearest to the origin (Gilbert, Johnson and Keerthi).

use nalgebra::Vector3;

use super::core_shape::{Core, NO_CORNER};
use super::simplex::{Simplex, Vertex};
use crate::scalar::Real;
use crate::spatial::vector::dot;

/// Support points that a search may ask for.
const MAX_ITERATIONS: usize = 64;
/// What the last support point may still gain, in roundings.
const ROUNDINGS: f64 = 4.0;

/// The same over the squared distance, on curved surfaces: Newton's method does the rest.
const CURVED_GAIN: f64 = 1e-6;

/// What the search found.
pub(super) enum Distance<P> {
    /// Farther apart than asked for.
    Beyond,
    /// The nearest points, in the simplex, and the vector from a to b between them.
    Apart { simplex: Simplex<P>, gap: Vector3<P> },
    /// They overlap, or touch within rounding; the simplex is around the origin or has it on its boundary.
    Overlap { simplex: Simplex<P> },
}

/// The nearest points of two cores unless they are farther apart than `limit`. At most [`MAX_ITERATIONS`] supports.
pub(super) fn distance<T: Real>(a: &Core<'_, '_, T>, b: &Core<'_, '_, T>, limit: T::Plain) -> Distance<T::Plain> {
    let zero = T::Plain::ZERO;
    let mut gap = b.placement.translation - a.placement.translation;
    if dot(&gap, &gap) <= T::Plain::EPSILON {
        gap = Vector3::new(T::Plain::ONE, zero, zero);
    }
    let mut scale = dot(&gap, &gap);
    let first = Vertex::farthest(a, b, &-gap);
    let is_beyond =
        |ahead: T::Plain, square: T::Plain| ahead > zero && limit >= zero && ahead * ahead > limit * limit * square;
    if is_beyond(dot(&gap, &first.w), scale) {
        return Distance::Beyond;
    }
    let mut simplex = Simplex::new(first);
    gap = simplex.blend(|vertex| vertex.w);
    scale = scale.max(dot(&gap, &gap));
    for _ in 0..MAX_ITERATIONS {
        let square = dot(&gap, &gap);
        // So close, the direction between the nearest points would be rounding; faces still have a normal.
        if square <= T::Plain::EPSILON * scale {
            return Distance::Overlap { simplex };
        }
        let vertex = Vertex::farthest(a, b, &-gap);
        let ahead = dot(&gap, &vertex.w);
        if is_beyond(ahead, square) {
            return Distance::Beyond;
        }
        let gain = square - ahead;
        let rounding = T::Plain::EPSILON * T::Plain::from_f64(ROUNDINGS);
        let curved = vertex.corners.contains(&NO_CORNER) && gain <= T::Plain::from_f64(CURVED_GAIN) * square;
        if curved || gain <= rounding * (square + (square * scale).sqrt()) || simplex.contains(&vertex) {
            return Distance::Apart { simplex, gap };
        }
        scale = scale.max(dot(&vertex.w, &vertex.w));
        let before = simplex;
        simplex.push(vertex);
        let Some(next) = simplex.reduce() else { return Distance::Overlap { simplex } };
        if dot(&next, &next) >= square {
            return Distance::Apart { simplex: before, gap };
        }
        gap = next;
    }
    Distance::Apart { simplex, gap }
}
