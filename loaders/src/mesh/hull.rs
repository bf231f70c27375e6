//! Convex hulls with a bound on their vertices. parry3d finds the hull; what goes in is bounded, what comes out checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use nalgebra::Vector3;
use parry3d_f64::math::Vector as ParryVector;
use parry3d_f64::transformation::try_convex_hull;

/// A convex polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Corners.
    pub vertices: Vec<Vector3<f64>>,
    /// Three indices of vertices each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Corners of the hull before some were left out.
    pub full_vertices: usize,
    /// How far the farthest corner that was left out stands outside, metres.
    pub deviation_m: f64,
}

/// Points that have no hull.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HullError {
    /// All in one plane, on one line or in one point.
    Flat {
        /// Their extent in the direction in which they extend least, metres.
        thickness: f64,
    },
    /// A coordinate is infinite or NaN.
    NotFinite,
    /// The library gave no closed polyhedron around the points.
    NotFound,
    /// A polyhedron has four corners or more.
    LimitTooLow {
        /// Most vertices allowed.
        limit: usize,
    },
}

impl fmt::Display for HullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat { thickness } => write!(f, "the mesh is flat ({thickness:.1e} m thick) and encloses no volume"),
            Self::NotFinite => write!(f, "a vertex is not finite"),
            Self::NotFound => write!(f, "no convex hull was found"),
            Self::LimitTooLow { limit } => write!(f, "a hull needs a limit of 4 vertices or more, not {limit}"),
        }
    }
}

impl std::error::Error for HullError {}

/// Thinner than this fraction of its length, a mesh counts as flat: f32 coordinates carry no more.
const FLAT: f64 = 1e-6;
/// Most points that are handed to the library, whose time grows with points × corners and whose stack with corners.
const MAX_CANDIDATES: usize = 1500;
/// Directions whose farthest points make the coarse hull.
const COARSE: usize = 100;
/// Corners that are added to a reduced hull before it is made anew.
const BATCH: usize = 6;
/// Corners added together lie this many times farther apart than they stand out.
const APART: f64 = 8.0;
/// Directions whose farthest points are tried where all points are too crowded.
const THINNER: [usize; 3] = [400, 100, 30];
/// How far a point may lie outside the hull that was found, relative to the hull's length.
const OUTSIDE: f64 = 1e-6;

impl Hull {
    /// Hull of points, with at most `max_vertices` corners: those that stand out most, so that the hull shrinks by
    /// [`deviation_m`](Self::deviation_m) at most. The same points give the same hull.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use saltus_loaders::mesh::Hull;
    ///
    /// let corners: Vec<_> = (0..8).map(|k| Vector3::new(k & 1, k >> 1 & 1, k >> 2).cast::<f64>()).collect();
    /// let hull = Hull::of(&corners, 64)?;
    /// assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
    /// # Ok::<(), saltus_loaders::mesh::HullError>(())
    /// ```
    pub fn of(points: &[Vector3<f64>], max_vertices: usize) -> Result<Self, HullError> {
        if max_vertices < 4 {
            return Err(HullError::LimitTooLow { limit: max_vertices });
        }
        if !points.iter().all(|point| point.iter().all(|x| x.is_finite())) {
            return Err(HullError::NotFinite);
        }
        let points = distinct(points);
        let spread = Spread::of(&points)?;
        let full = enclose_or_thin(&candidates(points, &spread), &spread)?;
        if full.vertices.len() <= max_vertices {
            return Ok(full);
        }
        reduce(full, max_vertices, &spread)
    }

    /// The hull with every coordinate scaled; a mirroring turns the triangles round.
    pub fn scaled(&self, scale: &Vector3<f64>) -> Self {
        let mut hull = self.clone();
        hull.vertices.iter_mut().for_each(|vertex| vertex.component_mul_assign(scale));
        hull.deviation_m *= scale.amax();
        if scale.product() < 0.0 {
            hull.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        hull
    }
}

/// In a fixed order, each once.
fn distinct(points: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let mut points = points.to_vec();
    let order = |a: &Vector3<f64>, b: &Vector3<f64>| {
        a.iter()
            .zip(b.iter())
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    points.sort_unstable_by(order);
    points.dedup();
    points
}

/// Where the points lie and how far they reach.
struct Spread {
    centre: Vector3<f64>,
    length: f64,
}

impl Spread {
    fn of(points: &[Vector3<f64>]) -> Result<Self, HullError> {
        let (low, high) = points.iter().fold((points[0], points[0]), |(low, high), p| (low.inf(p), high.sup(p)));
        let length = (high - low).norm();
        let thickness = thickness(points);
        let solid = length.is_finite() && thickness > FLAT * length;
        if !solid {
            return Err(HullError::Flat { thickness });
        }
        Ok(Self { centre: 0.5 * (low + high), length })
    }
}

/// Extent across the plane through three points far apart.
fn thickness(points: &[Vector3<f64>]) -> f64 {
    let farthest = |distance: &dyn Fn(&Vector3<f64>) -> f64| {
        let best = points.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)));
        best.copied().unwrap_or_default()
    };
    let a = points[0];
    let b = farthest(&|p| (p - a).norm());
    let along = (b - a).try_normalize(0.0).unwrap_or_default();
    let c = farthest(&|p| (p - a).cross(&along).norm());
    let normal = along.cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
    let (low, high) =
        points.iter().map(|p| normal.dot(&(p - a))).fold((0.0_f64, 0.0_f64), |(l, h), d| (l.min(d), h.max(d)));
    high - low
}

/// At most [`MAX_CANDIDATES`] points that include the corners of the hull, or the most prominent ones of them.
///
/// First drops what lies inside a coarse hull, which leaves few points of most meshes; O(points · [`COARSE`]).
fn candidates(points: Vec<Vector3<f64>>, spread: &Spread) -> Vec<Vector3<f64>> {
    if points.len() <= COARSE {
        return points;
    }
    let points = match enclose(&extreme_points(&points, COARSE, spread), spread) {
        Ok(coarse) => outside(points, &coarse),
        Err(_) => points,
    };
    if points.len() <= MAX_CANDIDATES { points } else { extreme_points(&points, MAX_CANDIDATES, spread) }
}

/// The points that are not strictly inside a hull: its corners stay.
fn outside(mut points: Vec<Vector3<f64>>, hull: &Hull) -> Vec<Vector3<f64>> {
    let planes = planes(hull);
    let corners: BTreeSet<[u64; 3]> = hull.vertices.iter().map(bits).collect();
    points.retain(|p| planes.iter().any(|(normal, offset)| normal.dot(p) > *offset) || corners.contains(&bits(p)));
    points
}

/// Outward normal and distance from the origin of each triangle.
fn planes(hull: &Hull) -> Vec<(Vector3<f64>, f64)> {
    let plane = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|k| hull.vertices[k as usize]);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
        Some((normal, normal.dot(&a)))
    };
    hull.triangles.iter().filter_map(plane).collect()
}

fn bits(point: &Vector3<f64>) -> [u64; 3] {
    [point.x, point.y, point.z].map(f64::to_bits)
}

/// The farthest points in `directions` evenly spread directions, each a corner of the hull.
fn extreme_points(points: &[Vector3<f64>], directions: usize, spread: &Spread) -> Vec<Vector3<f64>> {
    let farthest = |k: usize| {
        let direction = evenly_spread(k, directions);
        let mut best = (0, f64::NEG_INFINITY);
        for (index, point) in points.iter().enumerate() {
            let reach = direction.dot(&(point - spread.centre));
            if reach > best.1 {
                best = (index, reach);
            }
        }
        best.0
    };
    let chosen: BTreeSet<usize> = (0..directions).map(farthest).collect();
    chosen.into_iter().map(|index| points[index]).collect()
}

/// Direction `k` of `count` on a golden spiral.
fn evenly_spread(k: usize, count: usize) -> Vector3<f64> {
    let z = 1.0 - (2 * k + 1) as f64 / count as f64;
    let angle = k as f64 * std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let radius = (1.0 - z * z).sqrt();
    Vector3::new(radius * angle.cos(), radius * angle.sin(), z)
}

/// The hull of few points; where rounding defeats the library on crowded points, that of fewer, which lie farther apart.
fn enclose_or_thin(points: &[Vector3<f64>], spread: &Spread) -> Result<Hull, HullError> {
    enclose(points, spread).or_else(|error| {
        let thinner = THINNER.iter().find_map(|&count| enclose(&extreme_points(points, count, spread), spread).ok());
        thinner.ok_or(error)
    })
}

/// The hull of few points, checked.
fn enclose(points: &[Vector3<f64>], spread: &Spread) -> Result<Hull, HullError> {
    let scaled = |p: &Vector3<f64>| (p - spread.centre) / spread.length;
    let input: Vec<ParryVector> = points.iter().map(|p| scaled(p).into()).map(ParryVector::from_array).collect();
    // The library asserts on what rounding may break; its panic is our error.
    let found = std::panic::catch_unwind(|| try_convex_hull(&input));
    let Ok(Ok((vertices, triangles))) = found else { return Err(HullError::NotFound) };
    let vertices: Vec<Vector3<f64>> = vertices.iter().map(|v| Vector3::from(v.to_array())).collect();
    if !encloses(&vertices, &triangles, points.iter().map(scaled)) {
        return Err(HullError::NotFound);
    }
    // Corners are points as they were given, not as scaling back would round them.
    let given: BTreeMap<[u64; 3], &Vector3<f64>> = points.iter().map(|point| (bits(&scaled(point)), point)).collect();
    let corner = |vertex: &Vector3<f64>| given.get(&bits(vertex)).map(|&&point| point);
    let vertices: Vec<_> = vertices.iter().map(corner).collect::<Option<_>>().ok_or(HullError::NotFound)?;
    Ok(Hull { full_vertices: vertices.len(), vertices, triangles, deviation_m: 0.0 })
}

/// Whether the triangles close up, and no point lies outside.
fn encloses(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    points: impl Iterator<Item = Vector3<f64>> + Clone,
) -> bool {
    let closed = vertices.len() >= 4 && triangles.len() == 2 * vertices.len() - 4;
    closed
        && triangles.iter().all(|triangle| {
            let [a, b, c] = triangle.map(|k| vertices[k as usize]);
            // A sliver has no normal to speak of, and its neighbours speak for it.
            let Some(normal) = (b - a).cross(&(c - a)).try_normalize(OUTSIDE * OUTSIDE) else { return true };
            points.clone().all(|point| normal.dot(&(point - a)) <= OUTSIDE)
        })
}

/// The hull of at most `count` of a hull's corners. O(corners · count²).
fn reduce(full: Hull, count: usize, spread: &Spread) -> Result<Hull, HullError> {
    let evenly = || enclose(&extreme_points(&full.vertices, count, spread), spread);
    let hull = grow(&full.vertices, count, spread).or_else(|_| evenly())?;
    let deviation_m = distances(&full.vertices, &hull).iter().fold(0.0, |most: f64, (distance, _)| most.max(*distance));
    Ok(Hull { full_vertices: full.vertices.len(), deviation_m, ..hull })
}

/// From six extreme corners on, adds those that stand out most.
fn grow(corners: &[Vector3<f64>], count: usize, spread: &Spread) -> Result<Hull, HullError> {
    let mut kept = axis_extremes(corners, count);
    let mut hull = enclose(&kept, spread)?;
    while kept.len() < count {
        let mut standing_out = distances(corners, &hull);
        standing_out.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let next = most_prominent(&standing_out, BATCH.min(count - kept.len()));
        if next.is_empty() {
            break;
        }
        kept.extend(next);
        hull = enclose_or_thin(&kept, spread)?;
    }
    Ok(hull)
}

/// The farthest points along each axis, both ways, and enough others for a solid.
fn axis_extremes(points: &[Vector3<f64>], count: usize) -> Vec<Vector3<f64>> {
    let mut extremes: Vec<Vector3<f64>> = Vec::new();
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
        let reach = |point: &Vector3<f64>| sign * point[axis];
        let farthest = points.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)));
        extremes.extend(farthest.filter(|point| !extremes.contains(point)).copied().as_slice());
    }
    let middle = extremes.iter().sum::<Vector3<f64>>() / extremes.len().max(1) as f64;
    // Extremes of a diagonal rod are two points; what lies farthest from their middle and each other makes a solid.
    while extremes.len() < 4.max(count.min(6)) && extremes.len() < points.len() {
        let distance = |point: &Vector3<f64>| {
            extremes.iter().chain([&middle]).map(|e| (point - e).norm_squared()).fold(f64::INFINITY, f64::min)
        };
        let Some(farthest) = points.iter().max_by(|a, b| distance(a).total_cmp(&distance(b))) else { break };
        extremes.push(*farthest);
    }
    extremes.truncate(count);
    extremes
}

/// How far each point stands out of a hull, negative inside.
fn distances(points: &[Vector3<f64>], hull: &Hull) -> Vec<(f64, Vector3<f64>)> {
    let planes = planes(hull);
    let reach = |p: &Vector3<f64>| planes.iter().map(|(n, offset)| n.dot(p) - offset).fold(f64::NEG_INFINITY, f64::max);
    points.iter().map(|point| (reach(point), *point)).collect()
}

/// Some of the points that stand out most, given in descending order, none so close to another that it would be inside
/// the hull with that one.
fn most_prominent(points: &[(f64, Vector3<f64>)], count: usize) -> Vec<Vector3<f64>> {
    let most = points.first().map_or(0.0, |(distance, _)| *distance);
    let mut chosen: Vec<Vector3<f64>> = Vec::new();
    for (distance, point) in points.iter().take_while(|(distance, _)| *distance > 0.0 && *distance >= 0.5 * most) {
        if chosen.len() < count && chosen.iter().all(|other| (other - point).norm() > APART * distance) {
            chosen.push(*point);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_testkit::Random;

    fn ball(count: usize, seed: u64) -> Vec<Vector3<f64>> {
        let mut random = Random::new(seed);
        let mut on_sphere = || loop {
            let p = Vector3::new(random.signed(), random.signed(), random.signed());
            if let Some(p) = p.try_normalize(0.1) {
                return p;
            }
        };
        (0..count).map(|_| on_sphere()).collect()
    }

    #[test]
    fn a_limit_keeps_that_many_corners() {
        let hull = Hull::of(&ball(1000, 1), 32).unwrap();
        assert_eq!((hull.vertices.len(), hull.full_vertices), (32, 1000));
        assert_eq!(hull.triangles.len(), 60);
        assert!(hull.deviation_m > 0.0 && hull.deviation_m < 0.2, "{}", hull.deviation_m);
    }

    #[test]
    fn a_rod_on_the_diagonal_can_be_reduced() {
        let along = Vector3::new(1.0, 1.0, 1.0);
        let points: Vec<_> =
            (0..2).flat_map(|end| ball(100, 4 + end).into_iter().map(move |p| 0.01 * p + end as f64 * along)).collect();
        for limit in [4, 5, 8, 20] {
            let hull = Hull::of(&points, limit).unwrap();
            assert!(hull.vertices.len() <= limit && hull.deviation_m < 0.03, "{limit}: {}", hull.deviation_m);
        }
    }

    #[test]
    fn many_points_are_thinned_before_the_hull() {
        let hull = Hull::of(&ball(20_000, 2), 5000).unwrap();
        assert!(hull.vertices.len() <= MAX_CANDIDATES && hull.vertices.len() > 1000, "{}", hull.vertices.len());
    }

    #[test]
    fn flat_meshes_are_refused() {
        let square: Vec<_> = (0..4).map(|k| Vector3::new((k & 1) as f64, (k >> 1) as f64, 0.5)).collect();
        assert_eq!(Hull::of(&square, 64), Err(HullError::Flat { thickness: 0.0 }));
        assert_eq!(Hull::of(&[Vector3::x()], 64), Err(HullError::Flat { thickness: 0.0 }));
    }

    #[test]
    fn a_mirrored_hull_keeps_its_triangles_facing_outward() {
        let hull = Hull::of(&ball(50, 3), 64).unwrap().scaled(&Vector3::new(-1.0, 2.0, 1.0));
        for triangle in &hull.triangles {
            let [a, b, c] = triangle.map(|k| hull.vertices[k as usize]);
            assert!((b - a).cross(&(c - a)).dot(&a) > 0.0);
        }
    }
}
