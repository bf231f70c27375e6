//! Ground of triangles on the host: meshes and height fields, with parry3d's tree of boxes as broad phase.
//!
//! A [`Terrain`] is fixed to the world and stands beside the model. Its contacts follow those of the model's pairs in the
//! same [`Collision`]; [`Contact::bodies`](super::Contact::bodies) and [`Contact::material`](super::Contact::material)
//! know them, so whoever solves contacts need not care.

use std::collections::HashMap;
use std::vec::Vec;

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector as ParryVector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

use super::face::Face;
use super::patch::stand;
use super::polygon::Polygon;
use super::{Collision, Contact, Detected, Manifold, ManifoldPoint, Solid, collide};
use crate::input::{InputError, check_length};
use crate::kinematics::Kinematics;
use crate::model::{BodyId, Model, Shape};
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::{dot, scale_add};

/// Triangles that one geometry is tried against; more count as one bounded search.
const MAX_TRIANGLES: usize = 256;
/// Points that one geometry keeps on the terrain.
const MAX_POINTS: usize = 8;
/// Points nearer to each other, over the reach of the geometry, are one.
const SAME: f64 = 1e-3;

/// What is wrong with the triangles of a terrain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerrainError {
    /// There is no triangle.
    Empty,
    /// A coordinate is infinite or not a number.
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// A triangle names a vertex that is not there.
    UnknownVertex {
        /// Which triangle.
        triangle: usize,
    },
    /// The heights do not fill the grid, or it has less than two rows or columns.
    Grid,
}

impl core::fmt::Display for TerrainError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Empty => write!(f, "the terrain has no triangle with an area"),
            Self::NotFinite { vertex } => write!(f, "vertex {vertex} of the terrain is not finite"),
            Self::UnknownVertex { triangle } => write!(f, "triangle {triangle} of the terrain has an unknown vertex"),
            Self::Grid => write!(f, "a height field needs rows × columns heights, two of each at least"),
        }
    }
}

impl core::error::Error for TerrainError {}

/// Triangles fixed to the world, solid below: counter-clockwise seen from above, or from outside.
///
/// ```
/// use saltus::collision::parry::Terrain;
///
/// let step = Terrain::height_field(&[0.0, 0.0, 0.1, 0.1], 2, [1.0, 1.0])?;
/// assert_eq!(step.triangles(), 2);
/// # Ok::<(), saltus::collision::parry::TerrainError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Terrain {
    triangles: Vec<Triangle>,
    tree: Bvh,
}

#[derive(Clone, Debug)]
struct Triangle {
    corners: [Vector3<f64>; 3],
    normal: Vector3<f64>,
    /// The normal of the neighbour across the edge that leaves each corner.
    neighbours: [Option<Vector3<f64>>; 3],
}

impl Terrain {
    /// From vertices in the world (metres) and triangles that share them. Triangles without area are left out.
    pub fn mesh(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<Self, TerrainError> {
        if let Some(vertex) = vertices.iter().position(|v| !v.iter().all(|x| x.is_finite())) {
            return Err(TerrainError::NotFinite { vertex });
        }
        let mut kept = Vec::new();
        for (triangle, indices) in triangles.iter().enumerate() {
            let corner = |k: usize| vertices.get(indices[k] as usize).copied();
            let (Some(p), Some(q), Some(r)) = (corner(0), corner(1), corner(2)) else {
                return Err(TerrainError::UnknownVertex { triangle });
            };
            if let Some(normal) = (q - p).cross(&(r - p)).try_normalize(1e-30) {
                kept.push((*indices, Triangle { corners: [p, q, r], normal, neighbours: [None; 3] }));
            }
        }
        let edge = |indices: &[u32; 3], k: usize| (indices[k], indices[(k + 1) % 3]);
        let sides: HashMap<(u32, u32), Vector3<f64>> = kept
            .iter()
            .flat_map(|(indices, triangle)| [0, 1, 2].map(|k| (edge(indices, k), triangle.normal)))
            .collect();
        for (indices, triangle) in &mut kept {
            triangle.neighbours = [0, 1, 2].map(|k| {
                let (from, to) = edge(indices, k);
                sides.get(&(to, from)).copied()
            });
        }
        Self::new(kept.into_iter().map(|(_, triangle)| triangle).collect())
    }

    /// From heights over a grid centred on the world's origin, row by row along y, with `columns` along x; `size_m` is
    /// the length of the whole along x and y.
    pub fn height_field(heights_m: &[f64], columns: usize, size_m: [f64; 2]) -> Result<Self, TerrainError> {
        let rows = heights_m.len().checked_div(columns).ok_or(TerrainError::Grid)?;
        let index = |row: usize, column: usize| u32::try_from(row * columns + column).map_err(|_| TerrainError::Grid);
        if rows < 2 || columns < 2 || rows * columns != heights_m.len() {
            return Err(TerrainError::Grid);
        }
        let along = |k: usize, count: usize, size: f64| (k as f64 / (count - 1) as f64 - 0.5) * size;
        let vertices: Vec<_> = heights_m
            .iter()
            .enumerate()
            .map(|(k, &z)| Vector3::new(along(k % columns, columns, size_m[0]), along(k / columns, rows, size_m[1]), z))
            .collect();
        let mut triangles = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let (a, b) = (index(row, column)?, index(row, column + 1)?);
                let (c, d) = (index(row + 1, column)?, index(row + 1, column + 1)?);
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        Self::mesh(&vertices, &triangles)
    }

    fn new(triangles: Vec<Triangle>) -> Result<Self, TerrainError> {
        if triangles.is_empty() {
            return Err(TerrainError::Empty);
        }
        let boxes: Vec<Aabb> = triangles
            .iter()
            .map(|triangle| {
                let [p, q, r] = triangle.corners;
                Aabb::new(vector(&p.inf(&q).inf(&r)), vector(&p.sup(&q).sup(&r)))
            })
            .collect();
        Ok(Self { triangles, tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) })
    }

    /// How many triangles there are.
    pub fn triangles(&self) -> usize {
        self.triangles.len()
    }

    /// Appends the contacts of the model's geometries with the terrain to those that [`detect`](super::detect) found,
    /// which must have been called for the same placements. Up to eight points for each geometry that is not fixed to
    /// the world and meets anything at all; the deepest are kept when the room ends.
    pub fn detect<T: Real>(
        &self,
        model: Model<'_, T>,
        kinematics: &Kinematics<'_, T>,
        margin_m: T,
        out: &mut Collision<'_, T>,
    ) -> Result<Detected, InputError> {
        check_length("workspace geometries", model.geometries.len(), out.placement.len())?;
        for (index, geometry) in model.geometries.iter().enumerate().take(usize::from(Contact::<T>::TERRAIN)) {
            let filtered = geometry.filter.category | geometry.filter.mask == 0;
            if geometry.body == BodyId::WORLD || geometry.shape == Shape::HalfSpace || filtered {
                continue;
            }
            let solid = Solid::of(model, geometry, &out.placement[index]);
            let query = Query { solid, origin: kinematics.origin, reach: geometry.reach.to_f64(), margin: margin_m };
            let found = self.points_near(&query);
            out.keep_points(Contact::<T>::TERRAIN + index as u16, &found.points, found.bounded);
        }
        Ok(out.detected())
    }

    /// The points of one geometry, thinned out, in the order of their numbers.
    fn points_near<T: Real>(&self, query: &Query<'_, T>) -> Found<T> {
        let center = (query.solid.placement.translation + query.origin).map(|x| x.to_f64());
        let around = Vector3::repeat(query.reach + query.margin.to_f64().max(0.0));
        let aabb = Aabb::new(vector(&(center - around)), vector(&(center + around)));
        let mut found = Found { points: Vec::new(), bounded: false };
        for (count, index) in self.tree.intersect_aabb(&aabb).enumerate() {
            if count == MAX_TRIANGLES {
                found.bounded = true;
                break;
            }
            let Some(triangle) = self.triangles.get(index as usize) else { continue };
            let manifold = triangle.meet(query);
            found.bounded |= !manifold.converged();
            for point in manifold.points() {
                // Four bits for the points of a triangle, the rest for the triangle.
                let feature = (index as u16) << 4 | (point.feature & 0xf);
                found.points.push(ManifoldPoint { feature, ..*point });
            }
        }
        found.points = spread(&found.points, SAME * query.reach);
        found
    }
}

/// A geometry to try triangles against.
struct Query<'m, T: Real> {
    solid: Solid<'m, T>,
    /// Of the working frame, in the world.
    origin: Vector3<T>,
    reach: f64,
    margin: T,
}

struct Found<T> {
    points: Vec<ManifoldPoint<T>>,
    bounded: bool,
}

impl Triangle {
    /// Points on the face; if there is none, those on edges and corners that stand out.
    fn meet<T: Real>(&self, query: &Query<'_, T>) -> Manifold<T> {
        let placed = |corner: &Vector3<f64>| corner.map(T::from_f64) - query.origin;
        let mut corners = Polygon::new();
        self.corners.iter().enumerate().for_each(|(k, corner)| corners.push(placed(corner), k as u16));
        let face = Face { normal: self.normal.map(T::from_f64), corners };
        let depth = T::from_f64(-query.reach);
        if let Some(patch) = stand(&face, &query.solid, query.margin, 0) {
            let mut kept = Manifold::new();
            patch.manifold.points().iter().filter(|point| point.distance > depth).for_each(|point| kept.insert(*point));
            return kept;
        }
        let local = self.corners.map(|corner| (corner - self.corners[0]).map(T::Plain::from_f64));
        let at = Placement::new(Placement::IDENTITY.rotation, placed(&self.corners[0]));
        let manifold = collide(&Solid::convex(&local, at), &query.solid, query.margin);
        let mut kept = Manifold::new();
        for point in manifold.points().iter().filter(|point| self.owns(&point.normal.map(|x| x.to_f64()))) {
            kept.insert(*point);
        }
        let answered = kept.points().is_empty() || manifold.converged();
        kept.with_convergence(answered)
    }

    /// Whether a normal at the border of the triangle is between its own and that of the neighbour there. Elsewhere the
    /// neighbour has the better one: across an inner edge of a plane, nothing may catch.
    fn owns(&self, normal: &Vector3<f64>) -> bool {
        let lift = normal.dot(&self.normal);
        if lift <= 0.0 {
            return false;
        }
        let lean = |k: usize| {
            let edge = self.corners[(k + 1) % 3] - self.corners[k];
            let outward = edge.cross(&self.normal).normalize();
            (normal.dot(&outward), outward)
        };
        (0..3).all(|k| {
            let (along, outward) = lean(k);
            let slope = along / lift;
            let Some(neighbour) = self.neighbours[k] else { return true };
            // A neighbour that bends upward or stays level owns all normals that lean toward it.
            let bend = (neighbour.dot(&outward) / neighbour.dot(&self.normal).max(1e-6)).max(0.0);
            slope <= bend + 1e-6
        })
    }
}

/// The deepest point, then always the one farthest from those chosen, without doubles; in the order of their numbers.
fn spread<T: Real>(points: &[ManifoldPoint<T>], same: f64) -> Vec<ManifoldPoint<T>> {
    let apart = |p: &ManifoldPoint<T>, q: &ManifoldPoint<T>| {
        // Along the surface: the points of a face are on it, those of an edge are midway.
        let between = p.position - q.position;
        let offset = scale_add(&p.normal, -dot(&p.normal, &between), &between).map(|x| x.to_f64());
        let turned = 1.0 - dot(&p.normal, &q.normal).to_f64();
        offset.norm_squared() + turned
    };
    let deeper = |p: &&ManifoldPoint<T>, q: &&ManifoldPoint<T>| p.distance.to_f64().total_cmp(&q.distance.to_f64());
    let mut chosen: Vec<ManifoldPoint<T>> = points.iter().min_by(deeper).copied().into_iter().collect();
    while !chosen.is_empty() && chosen.len() < MAX_POINTS {
        let distance = |p: &ManifoldPoint<T>| chosen.iter().map(|q| apart(p, q)).fold(f64::INFINITY, f64::min);
        let farthest = points.iter().map(|p| (distance(p), p)).max_by(|p, q| p.0.total_cmp(&q.0));
        match farthest {
            Some((distance, point)) if distance > same * same => chosen.push(*point),
            _ => break,
        }
    }
    chosen.sort_by_key(|point| point.feature);
    chosen
}

fn vector(v: &Vector3<f64>) -> ParryVector {
    ParryVector::new(v.x, v.y, v.z)
}
