//! Flat faces that a contact normal is across, and what a solid sets down on such a face.

use nalgebra::Vector3;

use super::Solid;
use super::feature::{across, tangents, unit, unit_across};
use super::polygon::{MAX_CORNERS, Polygon};
use crate::model::Shape;
use crate::scalar::Real;
use crate::spatial::vector::{column, cross, dot, multiply_transposed, scale_add};

/// 1 − cos of the angle within which a contact normal is that of a face (1.4 mrad).
const ALIGNED: f64 = 1e-6;
/// Height, over the size of a hull, of corners that belong to the face below them.
const FACE_BAND: f64 = 1e-4;
/// Height, over the size of a hull, of corners that it is about to set down.
const FOOT_BAND: f64 = 1e-2;
/// Sine of the tilt below which the end of a cylinder is flat on a face, and its points stay put.
pub(super) const FLAT: f64 = 1e-3;
/// cos and sin of multiples of 45°.
const OCTAGON: [(f64, f64); MAX_CORNERS] = {
    const H: f64 = core::f64::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (H, H), (0.0, 1.0), (-H, H), (-1.0, 0.0), (-H, -H), (0.0, -1.0), (H, -H)]
};

/// A flat face with its outward normal.
pub(super) struct Face<T> {
    pub normal: Vector3<T>,
    pub corners: Polygon<T>,
}

impl<T: Real> Solid<'_, T> {
    /// The face whose outward normal is `outward`, if there is one.
    pub(super) fn face(&self, outward: &Vector3<T::Plain>) -> Option<Face<T>> {
        let local = multiply_transposed(&self.placement.rotation.map(T::plain), outward);
        let aligned = |cosine: T::Plain| cosine >= T::Plain::from_f64(1.0 - ALIGNED);
        match &self.shape {
            Shape::Box { .. } => {
                let axis = largest(&local);
                aligned(local[axis].abs()).then(|| self.box_face(axis, local[axis] < T::Plain::ZERO))
            }
            Shape::Cylinder { radius, half_length } => aligned(local.z.abs()).then(|| {
                let normal = self.upward(&local);
                let x = column(&self.placement.rotation, 0);
                Face { normal, corners: self.end(&normal, &x, (*radius, *half_length)) }
            }),
            Shape::Convex { .. } => {
                let corners = self.hull_corners(&local, FACE_BAND);
                let points = corners.corners();
                let [i, j, k] = [0, points.len() / 3, points.len() * 2 / 3];
                let [p, q, r] = [points.get(i)?, points.get(j)?, points.get(k)?].map(|corner| corner.position);
                let normal = if points.len() < 3 { None } else { unit_across(&(q - p), &(r - p)) }?;
                let cosine = dot(&normal.map(T::plain), outward);
                aligned(cosine).then_some(Face { normal, corners })
            }
            _ => None,
        }
    }

    /// The normal of the face of a box, or of the end of a cylinder, that looks most along `outward`.
    pub(super) fn flat_normal(&self, outward: &Vector3<T::Plain>) -> Option<Vector3<T::Plain>> {
        let local = multiply_transposed(&self.placement.rotation.map(T::plain), outward);
        let axis = match &self.shape {
            Shape::Box { .. } => largest(&local),
            Shape::Cylinder { .. } => 2,
            _ => return None,
        };
        let normal = column(&self.placement.rotation, axis).map(T::plain);
        Some(if local[axis] < T::Plain::ZERO { -normal } else { normal })
    }

    /// What lies lowest along −`up`, as the points of a foot: a corner, an edge or a face, with the radius around them.
    pub(super) fn foot(&self, up: &Vector3<T>) -> (Polygon<T>, T) {
        let down = -up.map(T::plain);
        let local = multiply_transposed(&self.placement.rotation.map(T::plain), &down);
        let mut foot = Polygon::new();
        match &self.shape {
            Shape::HalfSpace => {}
            Shape::Sphere { .. } => foot.push(self.placement.translation, 0),
            Shape::Capsule { .. } => (0..2).for_each(|corner| foot.push(self.placed_corner(corner), corner)),
            Shape::Box { .. } => {
                let axis = largest(&local);
                foot = self.box_face(axis, local[axis] < T::Plain::ZERO).corners;
            }
            Shape::Cylinder { radius, half_length } => foot = self.cylinder_foot(up, (*radius, *half_length)),
            Shape::Ellipsoid { .. } => {
                self.ellipsoid().iter().for_each(|surface| foot.push(surface.support(&-up), 0));
            }
            Shape::Convex { .. } => foot = self.hull_corners(&local, FOOT_BAND),
        }
        (foot, T::constant(self.round()))
    }

    /// A face of a box, across `axis`.
    fn box_face(&self, axis: usize, negative: bool) -> Face<T> {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let base = u16::from(!negative) << axis;
        let mut turn = [base, base | 1 << u, base | 1 << u | 1 << v, base | 1 << v];
        if negative {
            turn.reverse();
        }
        let mut corners = Polygon::new();
        turn.iter().for_each(|&corner| corners.push(self.placed_corner(corner), corner));
        let normal = column(&self.placement.rotation, axis);
        Face { normal: if negative { -normal } else { normal }, corners }
    }

    /// The axis of a cylinder, on the side of a direction in its own frame.
    fn upward(&self, local: &Vector3<T::Plain>) -> Vector3<T> {
        if local.z < T::Plain::ZERO { -self.axis() } else { self.axis() }
    }

    /// Eight points of the rim around the end of a cylinder where its axis leads, the first of them toward `x`.
    fn end(&self, axis: &Vector3<T>, x: &Vector3<T>, (radius, half_length): (T::Plain, T::Plain)) -> Polygon<T> {
        let center = scale_add(axis, T::constant(half_length), &self.placement.translation);
        let y = cross(axis, x);
        let mut rim = Polygon::new();
        for (k, (cos, sin)) in OCTAGON.iter().enumerate() {
            let (cos, sin) =
                (T::constant(radius * T::Plain::from_f64(*cos)), T::constant(radius * T::Plain::from_f64(*sin)));
            rim.push(center + x * cos + y * sin, k as u16);
        }
        rim
    }

    /// The end of a standing cylinder, or the two ends of the lowest line of a lying one.
    pub(super) fn cylinder_foot(&self, up: &Vector3<T>, (radius, half_length): (T::Plain, T::Plain)) -> Polygon<T> {
        let axis = self.axis();
        let down = if dot(&axis, up).plain() > T::Plain::ZERO { -axis } else { axis };
        let lean = across(&down, &-up);
        let tilt = dot(&lean, &lean).plain();
        let flat = T::Plain::from_f64(FLAT);
        if tilt <= flat * flat {
            return self.end(&down, &column(&self.placement.rotation, 0), (radius, half_length));
        }
        let lowest = unit(&lean).unwrap_or(lean);
        if tilt < T::Plain::from_f64(0.5) {
            return self.end(&down, &lowest, (radius, half_length));
        }
        let (half, side) = (axis * T::constant(half_length), lowest * T::constant(radius));
        let mut line = Polygon::new();
        line.push(self.placement.translation - half + side, 0);
        line.push(self.placement.translation + half + side, 1);
        line
    }

    /// The corners of a hull within a band of the farthest one along `local`, as a convex polygon about it.
    fn hull_corners(&self, local: &Vector3<T::Plain>, band: f64) -> Polygon<T> {
        let (mut top, mut bottom) = (dot(&self.hull.get(0), local), dot(&self.hull.get(0), local));
        let mut size = T::Plain::ZERO;
        for k in 0..self.hull.len() {
            let corner = self.hull.get(k);
            let height = dot(&corner, local);
            (top, bottom) = (top.max(height), bottom.min(height));
            size = size.max(dot(&corner, &corner));
        }
        let floor = top - T::Plain::from_f64(band) * (top - bottom).max(size.sqrt());
        let (x, y) = tangents(local);
        let mut polygon = Polygon::new();
        let mut last = None;
        for (cos, sin) in OCTAGON {
            // An angle off the axes, along which shapes like to have their edges.
            let (cos, sin) = (cos * 0.995 - sin * 0.0998, sin * 0.995 + cos * 0.0998);
            let direction = x * T::Plain::from_f64(cos) + y * T::Plain::from_f64(sin);
            let mut best = None;
            for k in 0..self.hull.len() {
                let corner = self.hull.get(k);
                let along = dot(&corner, &direction);
                if dot(&corner, local) >= floor && best.is_none_or(|(_, most)| along > most) {
                    best = Some((k as u16, along));
                }
            }
            let corner = best.map(|(k, _)| k);
            let again = corner == last || polygon.corners().first().map(|first| first.tag) == corner;
            if let (Some(k), false) = (corner, again) {
                polygon.push(self.placed_corner(k), k);
            }
            last = corner;
        }
        polygon
    }
}

/// The axis along which `v` is longest.
fn largest<P: Real>(v: &Vector3<P>) -> usize {
    let v = v.map(P::abs);
    if v.x >= v.y && v.x >= v.z {
        0
    } else if v.y >= v.z {
        1
    } else {
        2
    }
}
