//! Derivatives of distance, position and normal that dual numbers carry through the collision of every pair equal
//! central differences along all six motions of the second solid.

use nalgebra::{Matrix3, Vector3};
use saltus::collision::{ManifoldPoint, Solid, collide};
use saltus::model::Shape;
use saltus::scalar::Dual;
use saltus::spatial::Placement;
use saltus::spatial::vector::skew;
use saltus_testkit::{Random, SampleShape};

type D = Dual<f64, 6>;

const STEP: f64 = 1e-5;
/// Central differences of a function whose third derivative is some 1 / (0.1 m)³, and the rounding of a search.
const TOLERANCE: f64 = 2e-5;
/// Where the curvature is a centimetre's, the differences themselves are that rough; no more than so many poses.
const ROUGH_SHARE: f64 = 0.02;
const FAR: f64 = 10.0;
const POSES: usize = 60;

/// The placement moved by a small motion (linear, angular) in the fixed frame, to second order.
fn moved(at: &Placement<f64>, motion: &[f64; 6]) -> Placement<f64> {
    let [x, y, z, rx, ry, rz] = *motion;
    let turn = nalgebra::Rotation3::new(Vector3::new(rx, ry, rz)).into_inner();
    Placement::new(turn * at.rotation, at.translation + Vector3::new(x, y, z))
}

/// The placement with one tangent direction for each motion.
fn seeded(at: &Placement<f64>) -> Placement<D> {
    let axes: [Vector3<f64>; 3] = [Vector3::x(), Vector3::y(), Vector3::z()];
    let turns = axes.map(|axis| skew(&axis) * at.rotation);
    let rotation = Matrix3::from_fn(|i, j| {
        let [a, b, c] = [0, 1, 2].map(|k: usize| turns[k][(i, j)]);
        D::seeded(at.rotation[(i, j)], [0.0, 0.0, 0.0, a, b, c])
    });
    let translation =
        Vector3::from_fn(|i, _| D::seeded(at.translation[i], core::array::from_fn(|k| if k == i { 1.0 } else { 0.0 })));
    Placement::new(rotation, translation)
}

fn numbers(point: &ManifoldPoint<f64>) -> [f64; 7] {
    let (p, n) = (point.position, point.normal);
    [point.distance, p.x, p.y, p.z, n.x, n.y, n.z]
}

fn dual_numbers(point: &ManifoldPoint<D>) -> [D; 7] {
    let (p, n) = (point.position, point.normal);
    [point.distance, p.x, p.y, p.z, n.x, n.y, n.z]
}

/// The points along a motion, if they are of the same features as `here`; those at a change of features have none.
fn points_along(
    a: &Solid<'_, f64>,
    b: (&SampleShape, &Placement<f64>),
    motion: &[f64; 6],
    here: &[ManifoldPoint<f64>],
    margin: f64,
) -> Option<Vec<[f64; 7]>> {
    let manifold = collide(a, &b.0.solid(&moved(b.1, motion)), margin);
    let same = manifold.converged()
        && manifold.points().len() == here.len()
        && manifold.points().iter().zip(here).all(|(p, q)| p.feature == q.feature);
    same.then(|| manifold.points().iter().map(numbers).collect())
}

/// How many of the points differ from their differences, and how many there were.
fn compare(
    a: (&Solid<'_, f64>, &Solid<'_, D>),
    b: (&SampleShape, &Placement<f64>),
    margin: f64,
    what: &str,
) -> [usize; 2] {
    let here = collide(a.0, &b.0.solid(b.1), margin);
    let dual = collide(a.1, &b.0.at(seeded(b.1)), D::constant(margin));
    assert_eq!(here.points().len(), dual.points().len(), "{what}");
    let mut counts = [0, 0];
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for direction in 0..6 {
        for (side, step) in [(&mut ahead, STEP), (&mut behind, -STEP)] {
            let motion = core::array::from_fn(|k| if k == direction { step } else { 0.0 });
            let Some(points) = points_along(a.0, b, &motion, here.points(), margin) else { return counts };
            side.push(points);
        }
    }
    for (k, point) in dual.points().iter().enumerate() {
        let mut worst = 0.0_f64;
        for (row, number) in dual_numbers(point).iter().enumerate() {
            assert!((number.value - numbers(&here.points()[k])[row]).abs() < 1e-9, "{what}: the values differ");
            for direction in 0..6 {
                let slope = (ahead[direction][k][row] - behind[direction][k][row]) / (2.0 * STEP);
                let scale = 1.0 + slope.abs();
                worst = worst.max((number.tangent[direction] - slope).abs() / scale);
                let first_order = row == 0 && worst > 1e-3;
                assert!(!first_order, "{what}: the distance's slope is {} not {slope}", number.tangent[direction]);
            }
        }
        counts[0] += usize::from(worst > TOLERANCE);
        counts[1] += 1;
    }
    counts
}

/// Poses of a mode: apart, overlapping a little, overlapping much.
fn check_pairs(reach: f64, margin: f64) {
    for a in SampleShape::all() {
        for b in SampleShape::all() {
            let mut random = Random::new(21);
            let mut counts = [0, 0];
            for k in 0..POSES {
                let (at_a, at_b) = (random.placement(0.1), random.placement(reach));
                let what = format!("{} and {}, pose {k}", a.name, b.name);
                let solids = (
                    a.solid(&at_a),
                    a.at(Placement::new(at_a.rotation.map(D::constant), at_a.translation.map(D::constant))),
                );
                let [rough, all] = compare((&solids.0, &solids.1), (&b, &at_b), margin, &what);
                counts = [counts[0] + rough, counts[1] + all];
            }
            assert!(counts[1] > POSES / 4, "{} and {}: {counts:?} is too few", a.name, b.name);
            let share = counts[0] as f64 / counts[1] as f64;
            assert!(share <= ROUGH_SHARE, "{} and {}: {} of {} points differ", a.name, b.name, counts[0], counts[1]);
        }
    }
}

#[test]
fn derivatives_equal_central_differences_apart() {
    check_pairs(1.5, FAR);
}

#[test]
fn derivatives_equal_central_differences_overlapping() {
    check_pairs(0.3, FAR);
}

#[test]
fn derivatives_over_the_ground_equal_central_differences() {
    let mut random = Random::new(22);
    for shape in SampleShape::all() {
        for k in 0..POSES {
            let at_ground = random.placement(0.5);
            let lifted = Placement::new(at_ground.rotation.map(D::constant), at_ground.translation.map(D::constant));
            let ground = (Solid::primitive(Shape::HalfSpace, at_ground), Solid::primitive(Shape::HalfSpace, lifted));
            let at = random.placement(0.5);
            let [rough, _] = compare((&ground.0, &ground.1), (&shape, &at), FAR, &format!("{}, pose {k}", shape.name));
            assert_eq!(rough, 0, "{}, pose {k}", shape.name);
        }
    }
}

/// Flat on one another, where four points come from clipping: turned, tilted and shifted so that no two corners tie.
#[test]
fn derivatives_of_face_contacts_equal_central_differences() {
    let table =
        SampleShape { name: "table", shape: Shape::Box { half_extents: Vector3::new(0.3, 0.4, 0.1) }, corners: vec![] };
    for (name, height) in [("box", 0.25), ("cylinder", 0.2), ("wedge", 0.1)] {
        let shape = SampleShape::all().into_iter().find(|shape| shape.name == name).unwrap();
        for gap in [-2e-3, 2e-3] {
            for (roll, pitch, x) in [(4e-3, 2e-3, 0.05), (2e-3, -3e-3, 0.2)] {
                let at = Placement::from_rpy(roll, pitch, 0.3, Vector3::new(x, 0.1, 0.1 + height + gap));
                let below = (table.solid(&Placement::IDENTITY), table.at(Placement::<D>::IDENTITY));
                let what = format!("{name} at {gap}, {roll}");
                let [rough, all] = compare((&below.0, &below.1), (&shape, &at), 0.02, &what);
                assert!(rough == 0 && all >= 3, "{what}: {rough} of {all} differ");
            }
        }
    }
}
