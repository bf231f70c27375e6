//! Any two convex solids: search on plain values, then points from the features that the search ended with.

use nalgebra::Vector3;

use super::core_shape::Core;
use super::epa;
use super::feature::{Feature, Side, constant, tangents, unit};
use super::gjk::{self, Distance};
use super::parallel;
use super::patch::{NEARLY_FLAT, Patch, patch};
use super::simplex::Vertex;
use super::witness::witness;
use super::{Manifold, ManifoldPoint, Solid};
use crate::memory::run;
use crate::scalar::Real;
use crate::spatial::vector::{column, dot};

/// Number of the point that the nearest features give, beside those of a patch.
const NEAREST: u16 = u16::MAX;
/// How far, over the size of the solids, two ways to the same distance may differ, in roundings.
const ROUNDINGS: f64 = 512.0;

/// Steps uphill from where a bounded search ended, and the first of them, rad.
const CLIMB_STEPS: usize = 64;
const FIRST_STRIDE: f64 = 0.1;
/// How far off the normal the corners of the nearest features are looked for, rad, when the search has not found them.
const STRIDES: [f64; 4] = [1e-9, 1e-6, 1e-4, 1e-2];

/// Points where two convex solids are closer than `margin`.
pub(super) fn collide<T: Real>(a: &Solid<'_, T>, b: &Solid<'_, T>, margin: T) -> Manifold<T> {
    let origin = a.placement.translation.map(T::plain);
    let pair = Pair { a: Core::new(a, &origin), b: Core::new(b, &origin) };
    match pair.search(margin.plain()) {
        Some(found) => pair.points(&found, margin),
        None => Manifold::new(),
    }
}

/// Where the search ended: the normal from a to b, and the corners of each that span the nearest features.
struct Found<P> {
    normal: Vector3<P>,
    a: CornerSet,
    b: CornerSet,
    /// False if the search ended at its bound.
    converged: bool,
}

struct Pair<'s, 'm, T: Real> {
    a: Core<'s, 'm, T>,
    b: Core<'s, 'm, T>,
}

impl<T: Real> Pair<'_, '_, T> {
    /// `None` if the solids are farther apart than `margin`.
    fn search(&self, margin: T::Plain) -> Option<Found<T::Plain>> {
        let rounds = self.a.solid.round() + self.b.solid.round();
        let simplex = match gjk::distance(&self.a, &self.b, margin + rounds) {
            Distance::Beyond => return None,
            Distance::Apart { simplex, gap } => {
                if let Some(normal) = unit(&gap) {
                    let corners = |side: usize| simplex.vertices().iter().map(move |vertex| vertex.corners[side]);
                    return Some(Found { normal, a: corners(0).collect(), b: corners(1).collect(), converged: true });
                }
                simplex
            }
            Distance::Overlap { simplex } => simplex,
        };
        let Some(depth) = epa::depth(&self.a, &self.b, &simplex) else { return Some(self.coarse()) };
        let corners = |side: usize| depth.corners.iter().map(move |corner| corner[side]);
        let found = Found { normal: depth.normal, a: corners(0).collect(), b: corners(1).collect(), converged: true };
        Some(if depth.converged { found } else { self.climbed(found.normal) })
    }

    /// The best of a few directions, for solids so flat that their difference has no inside.
    fn coarse(&self) -> Found<T::Plain> {
        let between = self.b.placement.translation - self.a.placement.translation;
        let across = column(&self.a.placement.rotation, 2);
        let mut best = (across, self.separation(&across));
        let axes = [&self.a, &self.b].map(|core| [0, 1, 2].map(|k| column(&core.placement.rotation, k)));
        for axis in axes.iter().flatten().copied().chain(unit(&between)) {
            for normal in [axis, -axis] {
                let separation = self.separation(&normal);
                if separation > best.1 {
                    best = (normal, separation);
                }
            }
        }
        Found { normal: best.0, a: CornerSet::default(), b: CornerSet::default(), converged: false }
    }

    /// Turns a normal that the search left open to where it separates the cores most, and finds the corners there.
    fn climbed(&self, from: Vector3<T::Plain>) -> Found<T::Plain> {
        let (mut normal, mut best) = (from, self.separation(&from));
        for core in [&self.a, &self.b] {
            for k in 0..3 {
                let axis = column(&core.placement.rotation, k);
                let axis = if dot(&axis, &normal) < T::Plain::ZERO { -axis } else { axis };
                let separation = self.separation(&axis);
                if separation > best {
                    (normal, best) = (axis, separation);
                }
            }
        }
        let mut stride = T::Plain::from_f64(FIRST_STRIDE);
        for _ in 0..CLIMB_STEPS {
            let (t, s) = tangents(&normal);
            let mut trials = [t, -t, s, -s].into_iter().filter_map(|turn| unit(&(normal + turn * stride)));
            let better = trials.find_map(|trial| {
                let separation = self.separation(&trial);
                (separation > best).then_some((trial, separation))
            });
            match better {
                Some(better) => (normal, best) = better,
                None => stride *= T::Plain::from_f64(0.5),
            }
        }
        self.around(normal, stride)
    }

    /// The corners that lie farthest along directions `stride` off a normal.
    fn around(&self, normal: Vector3<T::Plain>, stride: T::Plain) -> Found<T::Plain> {
        let (t, s) = tangents(&normal);
        let around = [t, -t, s, -s].map(|turn| Vertex::farthest(&self.a, &self.b, &-(normal + turn * stride)).corners);
        let corners = |side: usize| around.iter().map(move |corners| corners[side]);
        Found { normal, a: corners(0).collect(), b: corners(1).collect(), converged: false }
    }

    /// How far apart the cores are along a unit vector from a to b.
    fn separation(&self, normal: &Vector3<T::Plain>) -> T::Plain {
        dot(normal, &Vertex::farthest(&self.a, &self.b, &-normal).w)
    }

    /// The points of the features; those of a face contact if the normal is across a face.
    fn points(&self, found: &Found<T::Plain>, margin: T) -> Manifold<T> {
        let (a, b) = (self.a.solid, self.b.solid);
        let rounds = a.round() + b.round();
        let vertex = Vertex::farthest(&self.a, &self.b, &-found.normal);
        let separation = dot(&found.normal, &vertex.w);
        let size = (dot(&vertex.a, &vertex.a) + dot(&vertex.b, &vertex.b)).sqrt();
        let rounding = T::Plain::from_f64(ROUNDINGS) * T::Plain::EPSILON * size;
        if let Some(manifold) = parallel::collide(a, b, &found.normal, margin) {
            return manifold;
        }
        let mut manifold = Manifold::new();
        if let Some(patch) = patch(a, b, &found.normal, margin).or_else(|| self.nearly_flat(&found.normal, margin)) {
            let along = self.separation(&patch.normal);
            let nearest = (patch.least + rounds - along).abs() <= rounding && along >= separation - rounding;
            if nearest || (patch.flat && separation < T::Plain::ZERO) {
                return patch.manifold;
            }
            manifold = patch.manifold;
        }
        let exact = |point: &ManifoldPoint<T>| {
            let along = self.separation(&point.normal.map(T::plain));
            let distance = point.distance.plain() + rounds;
            (along - distance).abs() <= rounding && along >= separation - rounding
        };
        // Where the search ended at its bound, a look around finds the features; they are checked as any others.
        let looks = if found.converged { &[] } else { &STRIDES[..] };
        let nearest = self.nearest_features(found, exact).or_else(|| {
            looks.iter().find_map(|stride| {
                self.nearest_features(&self.around(found.normal, T::Plain::from_f64(*stride)), exact)
            })
        });
        let converged = nearest.is_some();
        manifold.meet(nearest.unwrap_or_else(|| self.held(&found.normal, &vertex)), margin);
        manifold.with_convergence(converged)
    }

    /// The points on a face that the solids touch by, but for a small angle.
    fn nearly_flat(&self, normal: &Vector3<T::Plain>, margin: T) -> Option<Patch<T>> {
        let nearly = T::Plain::from_f64(1.0 - 0.5 * NEARLY_FLAT * NEARLY_FLAT);
        for (core, outward) in [(&self.a, *normal), (&self.b, -normal)] {
            let Some(face) = core.solid.flat_normal(&outward).filter(|face| dot(face, &outward) > nearly) else {
                continue;
            };
            let face = if dot(&face, normal) < T::Plain::ZERO { -face } else { face };
            let Some(patch) = patch(self.a.solid, self.b.solid, &face, margin) else { continue };
            if patch.flat {
                return Some(patch);
            }
        }
        None
    }

    /// The point of the features that the search ended with; if these turn out not to be the nearest, of parts of them.
    fn nearest_features(
        &self,
        found: &Found<T::Plain>,
        exact: impl Fn(&ManifoldPoint<T>) -> bool,
    ) -> Option<ManifoldPoint<T>> {
        for set_a in found.a.parts() {
            for set_b in found.b.parts() {
                for [guess_a, guess_b] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
                    let side_a = self.a.solid.side(set_a.as_slice(), &found.normal, guess_a);
                    let side_b = self.b.solid.side(set_b.as_slice(), &-found.normal, guess_b);
                    let (Some(side_a), Some(side_b)) = (side_a, side_b) else { continue };
                    let point = witness(&side_a, &side_b, &found.normal, NEAREST);
                    if exact(&point) {
                        return Some(point);
                    }
                }
            }
        }
        None
    }

    /// The farthest points along the normal as if they were corners, and the normal as if it did not turn.
    fn held(&self, normal: &Vector3<T::Plain>, vertex: &Vertex<T::Plain>) -> ManifoldPoint<T> {
        let point = |core: &Core<'_, '_, T>, at: &Vector3<T::Plain>| {
            let local = core.placement.act_inverse_point(at);
            core.solid.placement.act_point(&constant(&local))
        };
        let (p, q) = (point(&self.a, &vertex.a), point(&self.b, &vertex.b));
        let plane = Feature::Plane { point: p, normal: constant(normal) };
        let (a, b) = (self.a.solid, self.b.solid);
        let sides = (
            Side { feature: plane, radius: T::constant(a.round()) },
            Side { feature: Feature::Point(q), radius: T::constant(b.round()) },
        );
        witness(&sides.0, &sides.1, normal, NEAREST)
    }
}

/// Up to three different corners.
#[derive(Clone, Copy, Debug, Default)]
struct CornerSet {
    corners: [u16; 3],
    len: usize,
}

impl CornerSet {
    fn as_slice(&self) -> &[u16] {
        run(&self.corners, 0, self.len)
    }
}

impl CornerSet {
    /// All of it first, then its smaller parts; itself if it is empty.
    fn parts(&self) -> impl Iterator<Item = Self> {
        const BY_SIZE: [u8; 7] = [0b111, 0b011, 0b101, 0b110, 0b001, 0b010, 0b100];
        let (set, all) = (*self, (1_u8 << self.len) - 1);
        let within = BY_SIZE.into_iter().filter(move |mask| mask & !all == 0);
        let empty = (self.len == 0).then_some(set);
        empty.into_iter().chain(within.map(move |mask| {
            set.as_slice().iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, &corner)| corner).collect()
        }))
    }
}

impl FromIterator<u16> for CornerSet {
    fn from_iter<I: IntoIterator<Item = u16>>(all: I) -> Self {
        let mut set = Self::default();
        for corner in all {
            let known = set.as_slice().contains(&corner);
            if let Some(place) = set.corners.get_mut(set.len).filter(|_| !known) {
                *place = corner;
                set.len += 1;
            }
        }
        set
    }
}
