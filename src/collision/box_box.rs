//! Two boxes: separating axes, then a face contact or two crossing edges.

use nalgebra::Vector3;

use super::feature::{Feature, Side, plain_placement};
use super::patch::{NEARLY_FLAT, patch};
use super::witness::witness;
use super::{Manifold, Solid, general};
use crate::scalar::Real;
use crate::spatial::vector::{column, compose_transposed, cross, dot, multiply_transposed};

/// By how much, over the size of the boxes, crossing edges must beat the faces.
const EDGE_HANDICAP: f64 = 1e-6;
/// Edges whose directions differ by less (sine) give no axis of their own.
const PARALLEL: f64 = 1e-4;

/// The axis along which two boxes are farthest apart.
struct Axis<P> {
    /// From a to b.
    normal: Vector3<P>,
    separation: P,
    /// The crossing edges, if it is not across a face.
    edges: Option<(usize, usize)>,
}

/// Points where two boxes are closer than `margin`.
pub(super) fn collide<T: Real>(
    (a, half_a): (&Solid<'_, T>, &Vector3<T::Plain>),
    (b, half_b): (&Solid<'_, T>, &Vector3<T::Plain>),
    margin: T,
) -> Manifold<T> {
    let Some(axis) = widest_axis((a, half_a), (b, half_b), margin.plain()) else { return Manifold::new() };
    match axis.edges {
        Some(edges) if axis.separation <= T::Plain::ZERO => crossing_edges(a, b, &axis.normal, edges, margin),
        Some(_) => general::collide(a, b, margin),
        None => match patch(a, b, &axis.normal, margin) {
            // The axis gives the distance only if the lowest corner is above or below the face, not beside it.
            Some(patch) if patch.flat && axis.separation <= T::Plain::ZERO => patch.manifold,
            Some(patch) if patch.least - axis.separation <= rounding(half_a, half_b) => patch.manifold,
            _ => general::collide(a, b, margin),
        },
    }
}

/// What rounding leaves of lengths like these.
fn rounding<P: Real>(half_a: &Vector3<P>, half_b: &Vector3<P>) -> P {
    (half_a.sum() + half_b.sum()) * P::EPSILON * P::from_f64(64.0)
}

/// The axis of the largest separation; `None` if that is beyond `margin`.
fn widest_axis<T: Real>(
    (a, half_a): (&Solid<'_, T>, &Vector3<T::Plain>),
    (b, half_b): (&Solid<'_, T>, &Vector3<T::Plain>),
    margin: T::Plain,
) -> Option<Axis<T::Plain>> {
    let (place_a, place_b) = (plain_placement(&a.placement), plain_placement(&b.placement));
    let between = place_b.translation - place_a.translation;
    let turn = compose_transposed(&place_a.rotation, &place_b.rotation);
    let size = turn.map(|x| x.abs());
    let (in_a, in_b) =
        (multiply_transposed(&place_a.rotation, &between), multiply_transposed(&place_b.rotation, &between));
    let oriented = |axis: Vector3<T::Plain>| if dot(&axis, &between) < T::Plain::ZERO { -axis } else { axis };
    let lowest = -T::Plain::ONE / T::Plain::EPSILON;
    let (mut best_a, mut best_b) = ((lowest, 0), (lowest, 0));
    for k in 0..3 {
        let reach_a = half_a[k] + size.m(k, 0) * half_b.x + size.m(k, 1) * half_b.y + size.m(k, 2) * half_b.z;
        let reach_b = half_b[k] + size.m(0, k) * half_a.x + size.m(1, k) * half_a.y + size.m(2, k) * half_a.z;
        for (separation, best) in [(in_a[k].abs() - reach_a, &mut best_a), (in_b[k].abs() - reach_b, &mut best_b)] {
            if separation >= margin {
                return None;
            }
            if separation > best.0 {
                *best = (separation, k);
            }
        }
    }
    let (face_a, face_b) =
        (oriented(column(&place_a.rotation, best_a.1)), oriented(column(&place_b.rotation, best_b.1)));
    let overlap = best_a.0.max(best_b.0) <= T::Plain::ZERO;
    let nearly = T::Plain::from_f64(1.0 - 0.5 * NEARLY_FLAT * NEARLY_FLAT);
    // Of two faces that lie flat on each other the first one stays the one that counts.
    let second = best_b.0 > best_a.0 && !(overlap && dot(&face_a, &face_b) > nearly);
    let (face, separation) = if second { (face_b, best_b.0) } else { (face_a, best_a.0) };
    let mut widest = Axis { normal: face, separation, edges: None };
    let least = |half: &Vector3<T::Plain>| half.x.min(half.y).min(half.z);
    let handicap = (least(half_a) + least(half_b)) * T::Plain::from_f64(EDGE_HANDICAP);
    for i in 0..3 {
        for j in 0..3 {
            let sine_square = T::Plain::ONE - size.m(i, j) * size.m(i, j);
            if sine_square <= T::Plain::from_f64(PARALLEL * PARALLEL) {
                continue;
            }
            let (i1, i2, j1, j2) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            let along = in_a[i2] * turn.m(i1, j) - in_a[i1] * turn.m(i2, j);
            let reach_a = half_a[i1] * size.m(i2, j) + half_a[i2] * size.m(i1, j);
            let reach_b = half_b[j1] * size.m(i, j2) + half_b[j2] * size.m(i, j1);
            let separation = (along.abs() - reach_a - reach_b) / sine_square.sqrt();
            if separation >= margin {
                return None;
            }
            if separation > widest.separation + handicap {
                let axis = cross(&column(&place_a.rotation, i), &column(&place_b.rotation, j));
                let normal = oriented(axis * (T::Plain::ONE / sine_square.sqrt()));
                if overlap && dot(&normal, &face) > nearly {
                    continue;
                }
                widest = Axis { normal, separation, edges: Some((i, j)) };
            }
        }
    }
    Some(widest)
}

/// Entries of a 3×3 matrix by row and column, for indices below three.
trait Entry<P> {
    fn m(&self, row: usize, column: usize) -> P;
}

impl<P: Real> Entry<P> for nalgebra::Matrix3<P> {
    #[inline(always)]
    fn m(&self, row: usize, column: usize) -> P {
        self.data.0[column][row]
    }
}

/// The one point of two edges.
fn crossing_edges<T: Real>(
    a: &Solid<'_, T>,
    b: &Solid<'_, T>,
    normal: &Vector3<T::Plain>,
    (i, j): (usize, usize),
    margin: T,
) -> Manifold<T> {
    let edge = |solid: &Solid<'_, T>, outward: &Vector3<T::Plain>, axis: usize| {
        let local = multiply_transposed(&solid.placement.rotation.map(T::plain), outward);
        let bit = |k: usize| u16::from(local[k] >= T::Plain::ZERO) << k;
        let corner = (bit(0) | bit(1) | bit(2)) & !(1 << axis);
        let direction = column(&solid.placement.rotation, axis);
        (Side::sharp(Feature::Line { point: solid.placed_corner(corner), direction }), corner)
    };
    let ((side_a, corner_a), (side_b, corner_b)) = (edge(a, normal, i), edge(b, &-normal, j));
    let number = |axis: usize, corner: u16| (axis as u16) << 3 | corner;
    let feature = 1 << 13 | number(i, corner_a) << 6 | number(j, corner_b);
    let mut manifold = Manifold::new();
    manifold.meet(witness(&side_a, &side_b, normal, feature), margin);
    manifold
}
