//! Small convex polygons: cut by the sides of a face, and thinned out to four corners.

use nalgebra::Vector3;

use crate::memory::{Values, run};
use crate::scalar::Real;
use crate::spatial::vector::{cross, dot};

/// Corners of a face; a face with more is thinned out to as many.
pub(super) const MAX_CORNERS: usize = 8;
/// Corners of what is left of a face after cutting: each side of another adds one at most.
const CAPACITY: usize = 2 * MAX_CORNERS;
/// Marks a corner that a cut has made.
const CUT: u16 = 1 << 14;

/// How much lower, over the size of the polygon, a corner must be to count as the lowest: less is a body that rocks.
const CLEARLY_LOWER: f64 = 1e-3;

/// A corner with its number, and the number of the edge that leaves it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner<T> {
    pub position: Vector3<T>,
    pub tag: u16,
    edge: u16,
}

impl<T: Real> Default for Corner<T> {
    fn default() -> Self {
        Self { position: Vector3::repeat(T::ZERO), tag: 0, edge: 0 }
    }
}

/// Corners counter-clockwise about the normal; two make a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon<T> {
    corners: [Corner<T>; CAPACITY],
    len: usize,
}

impl<T: Real> Polygon<T> {
    pub fn new() -> Self {
        Self { corners: [Corner::default(); CAPACITY], len: 0 }
    }

    pub fn corners(&self) -> &[Corner<T>] {
        run(&self.corners, 0, self.len)
    }

    /// Adds a corner with its number; one too many is left out.
    pub fn push(&mut self, position: Vector3<T>, tag: u16) {
        let edge = self.len as u16;
        self.add(Corner { position, tag: tag & (CUT - 1), edge });
    }

    fn add(&mut self, corner: Corner<T>) {
        if let Some(place) = self.corners.get_mut(self.len) {
            *place = corner;
            self.len += 1;
        }
    }

    /// What remains within the sides of `face`, looked at along `normal`.
    pub fn cut_by(&self, face: &Polygon<T>, normal: &Vector3<T>, slack: T::Plain) -> Self {
        let mut rest = *self;
        let sides = face.corners();
        for (k, (corner, next)) in sides.iter().zip(sides.iter().cycle().skip(1)).enumerate() {
            let edge = next.position - corner.position;
            let outward = cross(&edge, normal);
            let length = dot(&edge.map(T::plain), &edge.map(T::plain)).sqrt();
            rest = rest.cut(&corner.position, &outward, slack * length, k as u16);
        }
        rest
    }

    /// What lies on the inner side of a plane; `side` numbers it.
    fn cut(&self, point: &Vector3<T>, outward: &Vector3<T>, slack: T::Plain, side: u16) -> Self {
        let height = |corner: &Corner<T>| dot(outward, &(corner.position - point));
        if self.corners().iter().all(|corner| height(corner).plain() <= slack) {
            return *self;
        }
        let mut rest = Self::new();
        for (k, corner) in self.corners().iter().enumerate() {
            let here = height(corner);
            let inside = here.plain() <= slack;
            if inside {
                rest.add(*corner);
            }
            let closing = k + 1 == self.len;
            if closing && self.len < 3 {
                break;
            }
            let next = &self.corners.at(if closing { 0 } else { k + 1 });
            let there = height(next);
            if inside == (there.plain() <= slack) || here.plain() == there.plain() {
                continue;
            }
            let share = here / (here - there);
            // Within the slack, a corner inside may be beyond the plane: then the cut is at the corner itself.
            let share = share.max(T::ZERO).min(T::ONE);
            let tag = CUT | corner.edge << 4 | side;
            let edge = if inside { MAX_CORNERS as u16 + side } else { corner.edge };
            rest.add(Corner { position: corner.position + (next.position - corner.position) * share, tag, edge });
        }
        rest
    }

    /// At most four corners: those that stand out most along four directions in the plane of `normal`, and the lowest
    /// along it. The directions turn with `reference`, so the choice stays while the bodies do.
    pub fn thinned(&self, normal: &Vector3<T>, reference: &Vector3<T>) -> Self {
        const LIMIT: usize = 4;
        if self.len <= LIMIT {
            return *self;
        }
        let plain = |v: &Vector3<T>| v.map(T::plain);
        let (n, x) = (plain(normal), plain(reference));
        let y = cross(&n, &x);
        // 30° off the reference edge: neither along the sides nor along the diagonals of common shapes.
        let (cos, sin) = (T::Plain::from_f64(0.866), T::Plain::from_f64(0.5));
        let (first, second) = (x * cos + y * sin, y * cos - x * sin);
        let position = |k: usize| plain(&self.corners.at(k).position);
        let along = |k: usize, direction: &Vector3<T::Plain>| dot(direction, &position(k));
        let farthest = |direction: Vector3<T::Plain>| {
            (1..self.len).fold(0, |best, k| if along(k, &direction) > along(best, &direction) { k } else { best })
        };
        let mut chosen = [first, second, -first, -second].map(farthest);
        let spread = position(chosen[0]) - position(chosen[2]);
        let clearly = T::Plain::from_f64(CLEARLY_LOWER) * dot(&spread, &spread).sqrt();
        let (down, lowest) = (-n, farthest(-n));
        if chosen.iter().all(|&k| along(k, &down) + clearly < along(lowest, &down)) {
            let away = |k: usize| {
                let offset = position(chosen.at(k)) - position(lowest);
                dot(&offset, &offset)
            };
            // A tie must not be left to rounding.
            let clearly = T::Plain::from_f64(0.999);
            let nearest = (1..LIMIT).fold(0, |best, k| if away(k) < away(best) * clearly { k } else { best });
            chosen.set(nearest, lowest);
        }
        let mut thin = Self::new();
        for k in (0..self.len).filter(|k| chosen.contains(k)) {
            thin.add(self.corners.at(k));
        }
        thin
    }
}
