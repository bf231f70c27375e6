//! The point of a small simplex nearest to the origin.

use nalgebra::Vector3;

use super::core_shape::Core;
use crate::memory::{Values, run};
use crate::scalar::Real;
use crate::spatial::vector::{cross, dot};

/// A point b − a of the difference of two cores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex<P> {
    /// b − a.
    pub w: Vector3<P>,
    pub a: Vector3<P>,
    pub b: Vector3<P>,
    /// Numbers of the corners that a and b are.
    pub corners: [u16; 2],
}

impl<P: Real> Vertex<P> {
    /// The farthest along `direction`.
    #[inline(always)]
    pub fn farthest<T: Real<Plain = P>>(a: &Core<'_, '_, T>, b: &Core<'_, '_, T>, direction: &Vector3<P>) -> Self {
        let (from, corner_a) = a.support(&-direction);
        let (to, corner_b) = b.support(direction);
        Self { w: to - from, a: from, b: to, corners: [corner_a, corner_b] }
    }
}

impl<P: Real> Default for Vertex<P> {
    fn default() -> Self {
        let zero = Vector3::repeat(P::ZERO);
        Self { w: zero, a: zero, b: zero, corners: [0; 2] }
    }
}

/// Up to four vertices, each with its share in the nearest point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simplex<P> {
    vertices: [Vertex<P>; 4],
    weights: [P; 4],
    len: usize,
}

impl<P: Real> Simplex<P> {
    pub fn new(first: Vertex<P>) -> Self {
        let none = Vertex::default();
        Self { vertices: [first, none, none, none], weights: [P::ONE; 4], len: 1 }
    }

    pub fn vertices(&self) -> &[Vertex<P>] {
        run(&self.vertices, 0, self.len)
    }

    /// Adds a vertex; a simplex of four has no place for it.
    pub fn push(&mut self, vertex: Vertex<P>) {
        if let Some(place) = self.vertices.get_mut(self.len) {
            *place = vertex;
            self.len += 1;
        }
    }

    /// Whether these very corners are in it already.
    pub fn contains(&self, vertex: &Vertex<P>) -> bool {
        self.vertices().iter().any(|other| other.w == vertex.w)
    }

    /// The weighted sum of what `of` picks of each vertex.
    pub fn blend(&self, of: impl Fn(&Vertex<P>) -> Vector3<P>) -> Vector3<P> {
        let parts = self.vertices().iter().zip(&self.weights);
        parts.fold(Vector3::repeat(P::ZERO), |sum, (vertex, weight)| sum + of(vertex) * *weight)
    }

    /// Keeps the vertices that span the nearest point and returns it; `None` when the origin is inside.
    pub fn reduce(&mut self) -> Option<Vector3<P>> {
        let all = [0, 1, 2, 3];
        match self.len {
            1 => self.keep(&[(0, P::ONE)]),
            2 => self.on_segment([0, 1]),
            3 => self.on_triangle([0, 1, 2]),
            _ => return self.in_tetrahedron(all),
        }
        Some(self.blend(|vertex| vertex.w))
    }

    fn keep(&mut self, chosen: &[(usize, P)]) {
        let old = self.vertices;
        for (k, &(index, weight)) in chosen.iter().enumerate() {
            self.vertices.set(k, old.at(index));
            self.weights.set(k, weight);
        }
        self.len = chosen.len();
    }

    fn on_segment(&mut self, [i, j]: [usize; 2]) {
        let (p, q) = (self.vertices.at(i).w, self.vertices.at(j).w);
        let along = q - p;
        let (part, whole) = (-dot(&p, &along), dot(&along, &along));
        if part <= P::ZERO || whole <= P::ZERO {
            self.keep(&[(i, P::ONE)]);
        } else if part >= whole {
            self.keep(&[(j, P::ONE)]);
        } else {
            let t = part / whole;
            self.keep(&[(i, P::ONE - t), (j, t)]);
        }
    }

    /// Inside the triangle if all shares are positive, else on the nearest of its sides.
    fn on_triangle(&mut self, [i, j, k]: [usize; 3]) {
        let (p, q, r) = (self.vertices.at(i).w, self.vertices.at(j).w, self.vertices.at(k).w);
        let (pq, pr) = (q - p, r - p);
        let normal = cross(&pq, &pr);
        let share_r = dot(&cross(&pq, &-p), &normal);
        let share_q = dot(&cross(&-p, &pr), &normal);
        let whole = dot(&normal, &normal);
        let share_p = whole - share_q - share_r;
        if share_p > P::ZERO && share_q > P::ZERO && share_r > P::ZERO {
            self.keep(&[(i, share_p / whole), (j, share_q / whole), (k, share_r / whole)]);
            return;
        }
        let sides = [[i, j], [i, k], [j, k]].map(|side| {
            let mut candidate = *self;
            candidate.on_segment(side);
            let nearest = candidate.blend(|vertex| vertex.w);
            (candidate, dot(&nearest, &nearest))
        });
        let [first, second, third] = sides;
        let best = if second.1 < first.1 { second } else { first };
        *self = if third.1 < best.1 { third.0 } else { best.0 };
    }

    /// The nearest of the faces that the origin is outside of.
    fn in_tetrahedron(&mut self, [i, j, k, l]: [usize; 4]) -> Option<Vector3<P>> {
        let mut best: Option<(Self, Vector3<P>, P)> = None;
        for [p, q, r, inner] in [[i, j, k, l], [i, k, l, j], [i, l, j, k], [j, l, k, i]] {
            if !self.is_outside([p, q, r], inner) {
                continue;
            }
            let mut candidate = *self;
            candidate.on_triangle([p, q, r]);
            let nearest = candidate.blend(|vertex| vertex.w);
            let square = dot(&nearest, &nearest);
            if best.as_ref().is_none_or(|(.., least)| square < *least) {
                best = Some((candidate, nearest, square));
            }
        }
        let (simplex, nearest, _) = best?;
        *self = simplex;
        Some(nearest)
    }

    /// Whether the origin is not on the side of a face where the fourth vertex is; a flat tetrahedron has no inside.
    fn is_outside(&self, [p, q, r]: [usize; 3], inner: usize) -> bool {
        let point = |k: usize| self.vertices.at(k).w;
        let normal = cross(&(point(q) - point(p)), &(point(r) - point(p)));
        let (origin, fourth) = (-dot(&normal, &point(p)), dot(&normal, &(point(inner) - point(p))));
        let reach = point(inner) - point(p);
        let flat = P::EPSILON * P::from_f64(16.0);
        let volume = fourth * fourth <= flat * flat * dot(&normal, &normal) * dot(&reach, &reach);
        volume || origin * fourth < P::ZERO
    }
}
