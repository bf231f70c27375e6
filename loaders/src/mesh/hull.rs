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
/// Directions whose farthest points are tried where all points are too crowded.
const THINNER: [usize; 3] = [400, 100, 30];
/// How far a point may lie outside the hull that was found, relative to the hull's length.
const OUTSIDE: f64 = 1e-6;

impl Hull {
    /// Hull of points, with at most `max_vertices` corners: those that lie farthest apart from each other, so the hull
    /// shrinks a little where many lie close together. The same points give the same hull.
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
        let full_vertices = full.vertices.len();
        if full_vertices <= max_vertices {
            return Ok(full);
        }
        let kept = farthest_apart(&full.vertices, max_vertices);
        Ok(Self { full_vertices, ..enclose_or_thin(&kept, &spread)? })
    }

    /// The hull with every coordinate scaled; a mirroring turns the triangles round.
    pub fn scaled(&self, scale: &Vector3<f64>) -> Self {
        let mut hull = self.clone();
        hull.vertices.iter_mut().for_each(|vertex| vertex.component_mul_assign(scale));
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
    let planes: Vec<(Vector3<f64>, f64)> = hull
        .triangles
        .iter()
        .filter_map(|triangle| {
            let [a, b, c] = triangle.map(|k| hull.vertices[k as usize]);
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
            Some((normal, normal.dot(&a)))
        })
        .collect();
    let corners: BTreeSet<[u64; 3]> = hull.vertices.iter().map(bits).collect();
    points.retain(|p| planes.iter().any(|(normal, offset)| normal.dot(p) > *offset) || corners.contains(&bits(p)));
    points
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
    Ok(Hull { full_vertices: vertices.len(), vertices, triangles })
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

/// A subset of `count` points: six extreme ones, then always the one farthest from those chosen. O(points · count).
fn farthest_apart(points: &[Vector3<f64>], count: usize) -> Vec<Vector3<f64>> {
    let mut distance = vec![f64::INFINITY; points.len()];
    let mut chosen = Vec::with_capacity(count);
    let choose = |index: usize, chosen: &mut Vec<usize>, distance: &mut [f64]| {
        if chosen.len() < count && !chosen.contains(&index) {
            chosen.push(index);
            for (d, point) in distance.iter_mut().zip(points) {
                *d = d.min((point - points[index]).norm_squared());
            }
        }
    };
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            let extreme =
                (0..points.len()).max_by(|&a, &b| (sign * points[a][axis]).total_cmp(&(sign * points[b][axis])));
            choose(extreme.unwrap_or(0), &mut chosen, &mut distance);
        }
    }
    while chosen.len() < count {
        let next = (0..points.len()).max_by(|&a, &b| distance[a].total_cmp(&distance[b])).unwrap_or(0);
        if distance[next] <= 0.0 {
            break;
        }
        choose(next, &mut chosen, &mut distance);
    }
    chosen.into_iter().map(|index| points[index]).collect()
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
