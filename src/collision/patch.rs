//! Face contacts: up to four points where a solid stands on a face of another.

use nalgebra::Vector3;

use super::face::Face;
use super::{Manifold, ManifoldPoint, Solid};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::vector::{dot, scale_add};

/// Angle (rad) within which solids touch by a face rather than by the edges at its border: one point there would let a
/// standing body rock, and the depth differs by less than that angle times the size.
pub(super) const NEARLY_FLAT: f64 = 0.02;
/// Marks points on a face of the second solid.
const ON_SECOND: u16 = 1 << 15;
/// How far beyond the side of a face, over the size of that side, a point still is on it: in roundings.
const SLACK: f64 = 64.0;

/// The points of a face contact.
pub(super) struct Patch<T: Real> {
    pub manifold: Manifold<T>,
    /// From a to b.
    pub normal: Vector3<T::Plain>,
    /// The least distance among all points, kept or not.
    pub least: T::Plain,
    /// Whether what stands on the face is nearly parallel to it.
    pub flat: bool,
}

/// The points where one solid stands on a face of the other, if `normal` (from a to b) is across a face.
pub(super) fn patch<T: Real>(
    a: &Solid<'_, T>,
    b: &Solid<'_, T>,
    normal: &Vector3<T::Plain>,
    margin: T,
) -> Option<Patch<T>> {
    let (face_a, face_b) = (a.face(normal), b.face(&-normal));
    // The disc of a cylinder's end is only approximated by a polygon; the other face is exact.
    let second = match (&face_a, &face_b) {
        (Some(_), Some(_)) => matches!(a.shape, Shape::Cylinder { .. }) && !matches!(b.shape, Shape::Cylinder { .. }),
        (None, Some(_)) => true,
        _ => false,
    };
    if second { stand(&face_b?, a, margin, ON_SECOND).map(Patch::flipped) } else { stand(&face_a?, b, margin, 0) }
}

/// `solid` on `face`.
pub(super) fn stand<T: Real>(face: &Face<T>, solid: &Solid<'_, T>, margin: T, mark: u16) -> Option<Patch<T>> {
    let (foot, radius) = solid.foot(&face.normal);
    let slack = T::Plain::EPSILON * T::Plain::from_f64(SLACK);
    let [first, second, ..] = face.corners.corners() else { return None };
    let edge = second.position - first.position;
    let on_face = foot.cut_by(&face.corners, &face.normal, slack);
    let points = on_face.thinned(&face.normal, &edge);
    let height = |position: &Vector3<T>| dot(&face.normal, &(position - first.position)) - radius;
    let heights = || foot.corners().iter().map(|corner| height(&corner.position).plain());
    let spread = heights().reduce(T::Plain::max)? - heights().reduce(T::Plain::min)?;
    let length = foot.corners().last()?.position - foot.corners().first()?.position;
    let length = dot(&length, &length).plain().sqrt();
    let flat = points.corners().len() > 1 && spread <= length * T::Plain::from_f64(NEARLY_FLAT);
    let least = points.corners().iter().map(|corner| height(&corner.position).plain()).reduce(T::Plain::min)?;
    let mut manifold = Manifold::new();
    for corner in points.corners() {
        let distance = height(&corner.position);
        let position = scale_add(&face.normal, -(radius + distance), &corner.position);
        manifold.meet(ManifoldPoint { feature: corner.tag | mark, distance, position, normal: face.normal }, margin);
    }
    Some(Patch { manifold, normal: face.normal.map(T::plain), least, flat })
}

impl<T: Real> Patch<T> {
    fn flipped(self) -> Self {
        Self { manifold: self.manifold.flipped(), normal: -self.normal, ..self }
    }
}
