//! A contact point, and the few points that one pair of geometries gives.

use nalgebra::Vector3;

use crate::memory::{Values, run, run_mut};
use crate::model::{BodyId, Geometry, Material, Model};
use crate::scalar::Real;

/// A point where two geometries of the model touch or nearly do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<T> {
    /// Index in [`Model::pairs`], or [`TERRAIN`](Self::TERRAIN) plus the index of a geometry.
    pub pair: u16,
    /// Where, and how far apart.
    pub at: ManifoldPoint<T>,
}

impl<T: Real> Contact<T> {
    /// From this number on, `pair` counts geometries of the model that touch a terrain outside of it. The terrain is
    /// fixed to the world and comes first, so normals go from it to the geometry.
    pub const TERRAIN: u16 = 1 << 15;

    /// The bodies that carry the two geometries, in the order of the pair; the world where the model has no such pair.
    pub fn bodies(&self, model: Model<'_, T>) -> (BodyId, BodyId) {
        let body = |geometry: Option<&Geometry<T>>| geometry.map_or(BodyId::WORLD, |geometry| geometry.body);
        match self.terrain_geometry() {
            Some(index) => (BodyId::WORLD, body(model.geometries.get(index))),
            None => model.pairs.get(usize::from(self.pair)).map_or((BodyId::WORLD, BodyId::WORLD), |pair| {
                (body(model.geometries.get(pair.a.index())), body(model.geometries.get(pair.b.index())))
            }),
        }
    }

    /// What the two surfaces make together; a terrain is as rough and as bouncy as what touches it.
    pub fn material(&self, model: Model<'_, T>) -> Material<T> {
        let material = match self.terrain_geometry() {
            Some(index) => model.geometries.get(index).map(|geometry| geometry.material),
            None => model.pairs.get(usize::from(self.pair)).map(|pair| pair.material),
        };
        material.unwrap_or_default()
    }

    /// Index of the geometry that touches a terrain; `None` for a pair of the model.
    pub fn terrain_geometry(&self) -> Option<usize> {
        self.pair.checked_sub(Self::TERRAIN).map(usize::from)
    }

    /// What stays the same while two bodies touch at the same place: the pair, and which of its points.
    pub fn key(&self) -> (u16, u16) {
        (self.pair, self.at.feature)
    }
}

impl<T: Real> Default for Contact<T> {
    fn default() -> Self {
        Self { pair: 0, at: ManifoldPoint::default() }
    }
}

/// One point of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldPoint<T> {
    /// Which point of the pair: the same number from step to step while the bodies touch at the same features.
    pub feature: u16,
    /// Between the surfaces along the normal, m; negative when they overlap.
    pub distance: T,
    /// On the flat surface if one of them is flat, else midway between the two.
    ///
    /// The points of a patch then lie in one plane exactly, so that a rigid body can rest on all of them: were they
    /// midway, the depths would tilt them, and no velocity would keep all of them from sliding.
    pub position: Vector3<T>,
    /// Unit vector from the first geometry to the second.
    pub normal: Vector3<T>,
}

impl<T: Real> Default for ManifoldPoint<T> {
    fn default() -> Self {
        Self { feature: 0, distance: T::ZERO, position: Vector3::repeat(T::ZERO), normal: Vector3::repeat(T::ZERO) }
    }
}

impl<T: Real> ManifoldPoint<T> {
    /// The same point with the two geometries in the other order.
    pub fn flipped(mut self) -> Self {
        self.normal = -self.normal;
        self
    }
}

/// Points that one pair can give.
const CAPACITY: usize = 4;

/// The points of one pair: none when it is farther apart than the margin, up to four when faces meet.
#[derive(Clone, Copy, Debug)]
pub struct Manifold<T> {
    points: [ManifoldPoint<T>; CAPACITY],
    len: usize,
    converged: bool,
}

impl<T: Real> Manifold<T> {
    /// No point yet.
    pub fn new() -> Self {
        Self { points: [ManifoldPoint::default(); CAPACITY], len: 0, converged: true }
    }

    /// The points, in ascending order of their features.
    pub fn points(&self) -> &[ManifoldPoint<T>] {
        run(&self.points, 0, self.len)
    }

    /// Whether the points are exact; false if the search for them ended at its bound, with the best answer it had.
    pub fn converged(&self) -> bool {
        self.converged
    }

    pub(super) fn with_convergence(mut self, converged: bool) -> Self {
        self.converged = converged;
        self
    }

    /// Adds a point if it is closer than `margin`.
    pub(super) fn meet(&mut self, point: ManifoldPoint<T>, margin: T) {
        if point.distance < margin {
            self.insert(point);
        }
    }

    /// Adds a point in the order of features. When all places are taken, the shallowest of the points gives way.
    pub fn insert(&mut self, point: ManifoldPoint<T>) {
        if self.len == CAPACITY {
            let shallowest = (1..self.len).fold(0, |least, k| {
                if self.points.at(k).distance > self.points.at(least).distance { k } else { least }
            });
            if point.distance >= self.points.at(shallowest).distance {
                return;
            }
            for k in shallowest + 1..self.len {
                let next = self.points.at(k);
                self.points.set(k - 1, next);
            }
            self.len -= 1;
        }
        let at = self.points().iter().position(|other| other.feature > point.feature).unwrap_or(self.len);
        for k in (at..self.len).rev() {
            let moved = self.points.at(k);
            self.points.set(k + 1, moved);
        }
        self.points.set(at, point);
        self.len += 1;
    }

    /// The same points with the two geometries in the other order.
    pub fn flipped(mut self) -> Self {
        for point in run_mut(&mut self.points, 0, self.len) {
            *point = point.flipped();
        }
        self
    }
}

impl<T: Real> Default for Manifold<T> {
    fn default() -> Self {
        Self::new()
    }
}
