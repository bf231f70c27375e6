//! Depth of two overlapping cores: the point on the boundary of their difference nearest to the origin, by growing a
//! polytope inside it (van den Bergen).

use nalgebra::Vector3;

use super::core_shape::{Core, NO_CORNER};
use super::feature::{tangents, unit, unit_across};
use super::simplex::{Simplex, Vertex};
use crate::memory::{Values, put, run, run_mut};
use crate::scalar::Real;
use crate::spatial::vector::{cross, dot};

/// Vertices of the polytope.
const MAX_VERTICES: usize = 64;
/// Faces of a closed polytope of triangles with so many vertices.
const MAX_FACES: usize = 2 * MAX_VERTICES - 4;
/// Edges around what a vertex sees.
const MAX_HORIZON: usize = MAX_VERTICES;

/// What the last vertex may still gain over its size, in roundings.
const ROUNDINGS: f64 = 64.0;
/// The same on curved surfaces: Newton's method does the rest, and ever smaller faces would lose their normals.
const CURVED_GAIN: f64 = 1e-6;

/// Where the overlap is least.
pub(super) struct Depth<P> {
    /// Unit vector from a to b: the way out for b.
    pub normal: Vector3<P>,
    /// The vertices of the boundary face, as corners of both cores.
    pub corners: [[u16; 2]; 3],
    /// False if a bound ended the growth, or rounding did.
    pub converged: bool,
}

#[derive(Clone, Copy)]
struct Face<P> {
    vertices: [u8; 3],
    normal: Vector3<P>,
    distance: P,
}

impl<P: Real> Default for Face<P> {
    fn default() -> Self {
        Self { vertices: [0; 3], normal: Vector3::repeat(P::ZERO), distance: P::ZERO }
    }
}

struct Polytope<P> {
    vertices: [Vertex<P>; MAX_VERTICES],
    vertex_count: usize,
    faces: [Face<P>; MAX_FACES],
    face_count: usize,
}

/// Edges that bound what a new vertex sees.
struct Horizon {
    edges: [[u8; 2]; MAX_HORIZON],
    len: usize,
}

/// Grows the polytope from the simplex that the distance search ended with. At most [`MAX_VERTICES`] supports.
pub(super) fn depth<T: Real>(
    a: &Core<'_, '_, T>,
    b: &Core<'_, '_, T>,
    simplex: &Simplex<T::Plain>,
) -> Option<Depth<T::Plain>> {
    let mut polytope = Polytope::around(a, b, simplex)?;
    let mut converged = false;
    let mut at = polytope.nearest_face()?;
    let mut nearest = polytope.faces.at(at);
    while polytope.vertex_count < MAX_VERTICES {
        let vertex = Vertex::farthest(a, b, &nearest.normal);
        let gain = dot(&nearest.normal, &vertex.w) - nearest.distance;
        let curved = vertex.corners.contains(&NO_CORNER);
        let open = T::Plain::EPSILON * T::Plain::from_f64(ROUNDINGS);
        let open = if curved { open.max(T::Plain::from_f64(CURVED_GAIN)) } else { open };
        if gain <= open * dot(&vertex.w, &vertex.w).sqrt() {
            converged = true;
            break;
        }
        if polytope.grow(vertex, at).is_none() {
            break;
        }
        at = polytope.nearest_face()?;
        nearest = polytope.faces.at(at);
    }
    let corners = nearest.vertices.map(|k| polytope.vertices.at(usize::from(k)).corners);
    Some(Depth { normal: -nearest.normal, corners, converged })
}

impl<P: Real> Polytope<P> {
    /// A tetrahedron of the difference that holds the simplex; `None` if the difference is flat.
    fn around<T: Real<Plain = P>>(a: &Core<'_, '_, T>, b: &Core<'_, '_, T>, simplex: &Simplex<P>) -> Option<Self> {
        let mut simplex = *simplex;
        let size = |v: &Vector3<P>| dot(v, v);
        if simplex.vertices().len() == 1 {
            let from = simplex.vertices().at(0).w;
            let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
            let far = [x, -x, y, -y, z, -z].map(|direction: Vector3<P>| Vertex::farthest(a, b, &direction));
            let best =
                far.iter().fold(far[0], |best, v| if size(&(v.w - from)) > size(&(best.w - from)) { *v } else { best });
            simplex.push(best);
        }
        if simplex.vertices().len() == 2 {
            let (from, to) = (simplex.vertices().at(0).w, simplex.vertices().at(1).w);
            let along = unit(&(to - from))?;
            let (t, s) = tangents(&along);
            let off = |v: &Vertex<P>| size(&cross(&along, &(v.w - from)));
            let far = [t, -t, s, -s].map(|direction| Vertex::farthest(a, b, &direction));
            simplex.push(far.iter().fold(far[0], |best, v| if off(v) > off(&best) { *v } else { best }));
        }
        if simplex.vertices().len() == 3 {
            let [p, q, r] = [0, 1, 2].map(|k: usize| simplex.vertices().at(k).w);
            let normal = unit_across(&(q - p), &(r - p))?;
            let (over, under) = (Vertex::farthest(a, b, &normal), Vertex::farthest(a, b, &-normal));
            let height = |v: &Vertex<P>| dot(&normal, &(v.w - p)).abs();
            simplex.push(if height(&over) >= height(&under) { over } else { under });
        }
        Self::tetrahedron(&simplex)
    }

    fn tetrahedron(simplex: &Simplex<P>) -> Option<Self> {
        let &[p, q, r, s] = simplex.vertices() else { return None };
        let mut polytope =
            Self { vertices: [p; MAX_VERTICES], vertex_count: 4, faces: [Face::default(); MAX_FACES], face_count: 0 };
        put(run_mut(&mut polytope.vertices, 1, 3), [q, r, s]);
        let turned = dot(&cross(&(q.w - p.w), &(r.w - p.w)), &(s.w - p.w)) > P::ZERO;
        for [i, j, k] in [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]] {
            polytope.add_face(if turned { [i, k, j] } else { [i, j, k] })?;
        }
        Some(polytope)
    }

    /// `None` without room or area.
    fn add_face(&mut self, vertices: [u8; 3]) -> Option<()> {
        let [p, q, r] = vertices.map(|k| self.vertices.at(usize::from(k)).w);
        let normal = unit_across(&(q - p), &(r - p))?;
        *self.faces.get_mut(self.face_count)? = Face { vertices, normal, distance: dot(&normal, &p) };
        self.face_count += 1;
        Some(())
    }

    fn nearest_face(&self) -> Option<usize> {
        let distance = |k: usize| self.faces.get(k).map_or(P::ZERO, |face| face.distance);
        let nearer = |best: usize, k: usize| if distance(k) < distance(best) { k } else { best };
        (0..self.face_count).reduce(nearer)
    }

    /// Replaces the faces that a new vertex sees, from `start` on, by faces to it. `None` when rounding leaves no closed
    /// polytope.
    ///
    /// Only what hangs together with `start` counts as seen: on a flat part rounding would show single faces elsewhere.
    fn grow(&mut self, vertex: Vertex<P>, start: usize) -> Option<()> {
        let index = self.vertex_count;
        *self.vertices.get_mut(index)? = vertex;
        let mut seen = [false; MAX_FACES];
        let mut horizon = Horizon { edges: [[0; 2]; MAX_HORIZON], len: 0 };
        *seen.get_mut(start)? = true;
        edges(self.faces.get(start)?).into_iter().try_for_each(|edge| horizon.toggle(edge))?;
        let mut grows = true;
        while grows {
            grows = false;
            for (face, seen) in run(&self.faces, 0, self.face_count).iter().zip(&mut seen) {
                let visible = !*seen && dot(&face.normal, &vertex.w) > face.distance;
                if visible && edges(face).iter().any(|edge| horizon.back_of(edge).is_some()) {
                    edges(face).into_iter().try_for_each(|edge| horizon.toggle(edge))?;
                    (*seen, grows) = (true, true);
                }
            }
        }
        let mut kept = 0;
        for (k, seen) in seen.iter().enumerate().take(self.face_count) {
            if !seen {
                let face = self.faces.at(k);
                self.faces.set(kept, face);
                kept += 1;
            }
        }
        self.face_count = kept;
        self.vertex_count += 1;
        run(&horizon.edges, 0, horizon.len).iter().try_for_each(|&[i, j]| self.add_face([i, j, index as u8]))
    }
}

fn edges<P>(&Face { vertices: [i, j, k], .. }: &Face<P>) -> [[u8; 2]; 3] {
    [[i, j], [j, k], [k, i]]
}

impl Horizon {
    /// Where the same edge is, as the neighbour has it.
    fn back_of(&self, &[i, j]: &[u8; 2]) -> Option<usize> {
        run(&self.edges, 0, self.len).iter().position(|&edge| edge == [j, i])
    }

    /// An edge that two seen faces share is not on the horizon.
    fn toggle(&mut self, edge: [u8; 2]) -> Option<()> {
        if let Some(k) = self.back_of(&edge) {
            self.len -= 1;
            let last = self.edges.at(self.len);
            self.edges.set(k, last);
        } else {
            *self.edges.get_mut(self.len)? = edge;
            self.len += 1;
        }
        Some(())
    }
}
