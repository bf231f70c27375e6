//! What became of the meshes of real robots: how far a reduced hull shrinks, and how long a hull takes, against the ways
//! that were not taken.
//!
//! `cargo bench -p saltus-loaders --bench hulls -- [FOLDER]` goes through the URDF files under FOLDER, by default those
//! of example-robot-data, which `cargo xtask peers --env-only` installs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nalgebra::Vector3;
use parry3d_f64::math::Vector as ParryVector;
use parry3d_f64::transformation::try_convex_hull;
use saltus_loaders::mesh::{self, Hull};
use saltus_loaders::xml::XmlFile;
use saltus_loaders::{Limits, LoadOptions, load};

type Points = Vec<Vector3<f64>>;

/// Corners that a reduced hull may keep, which is what [`LoadOptions`] has.
const LIMIT: usize = 64;
/// How far a point may lie outside its hull, relative to the hull's length.
const OUTSIDE: f64 = 1e-6;
/// The robots whose hulls are timed.
const TIMED: [&str; 2] = ["g1_description", "so_arm_description"];

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let measuring = arguments.iter().any(|argument| argument == "--bench");
    arguments.retain(|argument| !argument.starts_with('-'));
    let folder = arguments.first().map(PathBuf::from).or_else(installed);
    let Some(folder) = folder.filter(|_| measuring) else {
        println!("no robots to measure: name a folder, or run `cargo xtask peers --env-only`");
        return;
    };
    compare_time(&folder);
    compare_reduction(&folder);
    let robots = urdf_files(&folder);
    let collada = robots.iter().filter(|robot| collides_in_collada(robot)).count();
    println!("\n{collada} of {} robots have collision meshes in COLLADA", robots.len());
}

/// Where the peers' environment keeps example-robot-data.
fn installed() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let mut versions = std::fs::read_dir(target.join("peers/venv/lib")).ok()?.flatten();
    let folder = |python: &Path| python.join("site-packages/cmeel.prefix/share/example-robot-data/robots");
    versions.find_map(|version| Some(folder(&version.path())).filter(|folder| folder.is_dir()))
}

/// The hulls of all meshes of a robot, and what they would take without a coarse hull before them.
fn compare_time(folder: &Path) {
    println!("{:<22} {:>6} {:>12} {:>16} {:>16}", "hulls of", "meshes", "as they are", "of all points", "unchecked");
    for robot in TIMED {
        let meshes: Vec<Points> = meshes(&folder.join(robot), 0).iter().map(|file| points(file)).collect();
        let (_, ours) = timed(|| meshes.iter().filter_map(|points| Hull::of(points, usize::MAX).ok()).count());
        let (sound, checked) = timed(|| {
            meshes.iter().filter(|points| hull_of_all(points).is_some_and(|hull| holds(&hull, points))).count()
        });
        let (found, bare) = timed(|| meshes.iter().filter_map(hull_of_all).count());
        let count = meshes.len();
        println!("{robot:<22} {count:>6} {ours:>10.3} s {checked:>8.3} s ({sound:>3}) {bare:>8.3} s ({found:>3})");
    }
}

/// What the library makes of all points.
fn hull_of_all(points: &Points) -> Option<Hull> {
    let points: Vec<ParryVector> = points.iter().map(|point| ParryVector::from_array((*point).into())).collect();
    let (vertices, triangles) = std::panic::catch_unwind(|| try_convex_hull(&points).ok()).ok()??;
    let vertices: Points = vertices.iter().map(|vertex| Vector3::from(vertex.to_array())).collect();
    Some(Hull { full_vertices: vertices.len(), vertices, triangles, deviation_m: 0.0 })
}

/// Closed, and around all points.
fn holds(hull: &Hull, points: &Points) -> bool {
    hull.triangles.len() + 4 == 2 * hull.vertices.len() && farthest_outside(points, hull).0 <= OUTSIDE * length(points)
}

/// Which corners to keep, where there are too many.
fn compare_reduction(folder: &Path) {
    let files = meshes(folder, LIMIT);
    let corners: Vec<Points> =
        files.iter().filter_map(|file| Hull::of(&points(file), usize::MAX).ok()).map(|hull| hull.vertices).collect();
    println!("\n{} meshes with more than {LIMIT} corners, of which {LIMIT} are kept", corners.len());
    println!("{:<24} {:>10} {:>10} {:>10}", "left out, of its length", "mean", "worst", "time");
    let (_, enclosing) = timed(|| corners.iter().filter(|all| Hull::of(all, usize::MAX).is_ok()).count());
    report("six corners a round", &corners, enclosing, |all| Hull::of(all, LIMIT).ok());
    report("one corner a round", &corners, 0.0, one_a_round);
    report("farthest-point sampling", &corners, 0.0, |all| Hull::of(&farthest_points(all), LIMIT).ok());
}

/// One row of the table; `except` is the part of the time that has nothing to do with the choice, seconds.
fn report(name: &str, corners: &[Points], except: f64, reduce: impl Fn(&Points) -> Option<Hull>) {
    let (hulls, seconds) = timed(|| corners.iter().map(&reduce).collect::<Vec<_>>());
    let pairs = corners.iter().zip(&hulls).filter_map(|(all, hull)| Some((all, hull.as_ref()?)));
    let shares: Vec<f64> = pairs.map(|(all, hull)| 100.0 * farthest_outside(all, hull).0 / length(all)).collect();
    let (mean, worst) =
        (shares.iter().sum::<f64>() / shares.len() as f64, shares.iter().fold(0.0, |a: f64, b| a.max(*b)));
    let milliseconds = 1e3 * (seconds - except) / corners.len() as f64;
    println!("{name:<24} {mean:>8.2} % {worst:>8.2} % {milliseconds:>7.1} ms");
}

/// Grows a hull from the corners farthest along each axis by the one that stands out most.
fn one_a_round(corners: &Points) -> Option<Hull> {
    let mut kept: Points = Vec::new();
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
        let reach = |point: &&Vector3<f64>| sign * point[axis];
        let farthest = corners.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)))?;
        if !kept.contains(farthest) {
            kept.push(*farthest);
        }
    }
    let mut hull = Hull::of(&kept, LIMIT).ok()?;
    while kept.len() < LIMIT {
        let (distance, corner) = farthest_outside(corners, &hull);
        if distance <= 0.0 {
            break;
        }
        kept.push(corner);
        hull = Hull::of(&kept, LIMIT).ok()?;
    }
    Some(hull)
}

/// Corners each of which is as far as can be from those before it.
fn farthest_points(corners: &Points) -> Points {
    let mut kept = vec![corners[0]];
    let mut nearest: Vec<f64> = corners.iter().map(|corner| (corner - kept[0]).norm()).collect();
    while kept.len() < LIMIT {
        let next = (0..corners.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])).unwrap_or(0);
        kept.push(corners[next]);
        corners.iter().zip(&mut nearest).for_each(|(corner, near)| *near = near.min((corner - corners[next]).norm()));
    }
    kept
}

/// The corner that stands farthest out of a hull, and how far, metres.
fn farthest_outside(corners: &Points, hull: &Hull) -> (f64, Vector3<f64>) {
    let planes: Vec<(Vector3<f64>, f64)> = hull
        .triangles
        .iter()
        .filter_map(|triangle| {
            let [a, b, c] = triangle.map(|k| hull.vertices[k as usize]);
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
            Some((normal, normal.dot(&a)))
        })
        .collect();
    let outside =
        |p: &Vector3<f64>| planes.iter().map(|(n, offset)| n.dot(p) - offset).fold(f64::NEG_INFINITY, f64::max);
    let all = corners.iter().map(|corner| (outside(corner), *corner));
    all.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap_or_default()
}

/// Diagonal of the box around the points, metres.
fn length(points: &Points) -> f64 {
    let (low, high) = points.iter().fold((points[0], points[0]), |(low, high), p| (low.inf(p), high.sup(p)));
    (high - low).norm()
}

/// The collision meshes of all URDF files in a folder whose hulls have more than `corners` corners, each once.
fn meshes(folder: &Path, corners: usize) -> BTreeSet<PathBuf> {
    let options = LoadOptions { balance_inertia: true, free_mimic: true, ..LoadOptions::default() };
    let robots = urdf_files(folder).into_iter().filter_map(|file| load(file, &options).ok());
    let hulls = robots.flat_map(|robot| robot.hulls).filter(|hull| hull.hull_vertices > corners);
    hulls.map(|hull| hull.file.canonicalize().unwrap_or(hull.file)).collect()
}

/// Whether a collision shape of a URDF file is a `.dae` mesh.
fn collides_in_collada(robot: &Path) -> bool {
    let text = std::fs::read_to_string(robot).unwrap_or_default();
    let Ok(file) = XmlFile::parse(robot, &text, &Limits::default()) else { return false };
    let links = file.root().children_named("link");
    let shapes =
        links.flat_map(|link| link.children_named("collision")).flat_map(|shape| shape.children_named("geometry"));
    let mut meshes =
        shapes.flat_map(|shape| shape.children_named("mesh")).filter_map(|mesh| mesh.attribute("filename"));
    meshes.any(|name| name.to_ascii_lowercase().ends_with(".dae"))
}

fn urdf_files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let paths = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let (inner, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
        folders.extend(inner);
        found.extend(files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "urdf")));
    }
    found.sort();
    found
}

/// The vertices of a mesh, each once.
fn points(file: &Path) -> Points {
    let mut points = mesh::read(file, &Limits::default()).map(|mesh| mesh.vertices).unwrap_or_default();
    points.sort_by(|a, b| a.as_slice().partial_cmp(b.as_slice()).unwrap_or(std::cmp::Ordering::Equal));
    points.dedup();
    points
}

/// What came out, and in how many seconds.
fn timed<V>(work: impl FnOnce() -> V) -> (V, f64) {
    let begin = Instant::now();
    let value = work();
    (value, begin.elapsed().as_secs_f64())
}
