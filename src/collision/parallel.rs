//! Two round bars side by side: a point at either end of where they overlap.

use nalgebra::Vector3;

use super::feature::{Feature, Side};
use super::witness::witness;
use super::{Manifold, Solid};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::vector::{column, cross, dot};

/// Sine of the angle below which two bars are side by side.
const SIDE_BY_SIDE: f64 = 1e-3;

/// The straight part of a capsule or a cylinder.
#[derive(Clone, Copy)]
struct Bar<P> {
    radius: P,
    half_length: P,
}

impl<P: Real> Bar<P> {
    fn of(shape: &Shape<P>) -> Option<Self> {
        match *shape {
            Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => {
                Some(Self { radius, half_length })
            }
            _ => None,
        }
    }
}

/// Two points if both solids have straight sides that are parallel, across `normal`, and beside each other.
pub(super) fn collide<T: Real>(
    a: &Solid<'_, T>,
    b: &Solid<'_, T>,
    normal: &Vector3<T::Plain>,
    margin: T,
) -> Option<Manifold<T>> {
    let (bar_a, bar_b) = (Bar::of(&a.shape)?, Bar::of(&b.shape)?);
    let axis = |solid: &Solid<'_, T>| column(&solid.placement.rotation, 2).map(T::plain);
    let (u, v) = (axis(a), axis(b));
    let sine = T::Plain::from_f64(SIDE_BY_SIDE);
    let turn = cross(&u, &v);
    if dot(&turn, &turn) > sine * sine || dot(&u, normal).abs() > sine || dot(&v, normal).abs() > sine {
        return None;
    }
    // Everything as positions along a's axis, from its middle.
    let offset = dot(&u, &(b.placement.translation - a.placement.translation).map(T::plain));
    let (low_b, high_b) = (offset - bar_b.half_length, offset + bar_b.half_length);
    let ends = [(-bar_a.half_length, low_b, T::Plain::ONE), (bar_a.half_length, high_b, -T::Plain::ONE)];
    let overlap = bar_a.half_length.min(high_b) - (-bar_a.half_length).max(low_b);
    if overlap <= sine * (bar_a.half_length + bar_b.half_length) {
        return None;
    }
    let line = |solid: &Solid<'_, T>| Feature::Line { point: solid.placement.translation, direction: solid.axis() };
    let end = |solid: &Solid<'_, T>, along: T::Plain| {
        Feature::Point(solid.placement.translation + solid.axis() * T::constant(along))
    };
    let same_way = if dot(&u, &v) < T::Plain::ZERO { -T::Plain::ONE } else { T::Plain::ONE };
    let mut manifold = Manifold::new();
    for (feature, (end_a, end_b, inward)) in ends.into_iter().enumerate() {
        let a_ends_first = (end_a - end_b) * inward >= T::Plain::ZERO;
        let (feature_a, feature_b) =
            if a_ends_first { (end(a, end_a), line(b)) } else { (line(a), end(b, (end_b - offset) * same_way)) };
        let side = |feature, bar: Bar<T::Plain>| Side { feature, radius: T::constant(bar.radius) };
        let point = witness(&side(feature_a, bar_a), &side(feature_b, bar_b), normal, feature as u16);
        manifold.meet(point, margin);
    }
    Some(manifold)
}
