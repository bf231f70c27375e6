//! Points of every pair of shapes: certified by supporting planes, against parry3d, and by symmetry.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector as ParryVector};
use parry3d_f64::query;
use parry3d_f64::shape::{Ball, ConvexPolyhedron, Cuboid, Cylinder, Segment, Shape as ParryShape};
use saltus::collision::{ManifoldPoint, Solid, collide};
use saltus::model::Shape;
use saltus::scalar::Real;
use saltus::spatial::Placement;
use saltus_testkit::{Random, SampleShape};

/// The search ends at rounding, and Newton's method polishes what is curved.
const TOLERANCE: f64 = 1e-8;
/// What parry's own search leaves open.
const PARRY_TOLERANCE: f64 = 1e-6;
/// The same where it goes around a cylinder.
const PARRY_CURVED_TOLERANCE: f64 = 1e-5;
/// Far enough that every sampled pose has a point.
const FAR: f64 = 10.0;
/// Overlapping solids within 20 mrad of a face contact are taken as one: so much of their size.
const FLAT_SLACK: f64 = 0.02 * 0.5;
const POSES: usize = 300;

fn pairs(mut check: impl FnMut(&SampleShape, &SampleShape)) {
    let shapes = SampleShape::all();
    for a in &shapes {
        for b in &shapes {
            check(a, b);
        }
    }
}

/// The point that is nearest, or deepest.
fn nearest(a: &Solid<'_, f64>, b: &Solid<'_, f64>, margin: f64) -> Option<ManifoldPoint<f64>> {
    collide(a, b, margin).points().iter().copied().min_by(|p, q| p.distance.total_cmp(&q.distance))
}

/// How far apart two shapes are along a unit vector from a to b.
fn separation(a: (&SampleShape, &Placement<f64>), b: (&SampleShape, &Placement<f64>), n: &Vector3<f64>) -> f64 {
    let far = |(shape, placement): (&SampleShape, &Placement<f64>), direction: Vector3<f64>| {
        placement.act_point(&shape.support(&(placement.rotation.transpose() * direction)))
    };
    n.dot(&(far(b, -n) - far(a, *n)))
}

#[test]
fn the_nearest_point_is_certified_by_a_supporting_plane() {
    let mut bounded = 0;
    pairs(|a, b| {
        let mut random = Random::new(11);
        for k in 0..POSES {
            let (at_a, at_b) = (random.placement(0.5), random.placement(0.9));
            let what = format!("{} and {}, pose {k}", a.name, b.name);
            let manifold = collide(&a.solid(&at_a), &b.solid(&at_b), FAR);
            let point = nearest(&a.solid(&at_a), &b.solid(&at_b), FAR).unwrap_or_else(|| panic!("{what}: no point"));
            bounded += usize::from(!manifold.converged());
            assert!((point.normal.norm() - 1.0).abs() < TOLERANCE, "{what}");
            // Along the normal the shapes are as far apart as the point says…
            let along = separation((a, &at_a), (b, &at_b), &point.normal);
            let slack = if point.distance < 0.0 && manifold.points().len() > 1 { FLAT_SLACK } else { TOLERANCE };
            assert!((along - point.distance).abs() < slack, "{what}: {along} along the normal, {point:?}");
            // …and no other direction separates them more.
            for _ in 0..20 {
                let wobble = [1.0, 0.1, 1e-3][k % 3];
                let n = (point.normal + random.direction() * wobble).normalize();
                let other = separation((a, &at_a), (b, &at_b), &n);
                assert!(other <= point.distance + slack, "{what}: {} but {other} along {n}", point.distance);
            }
        }
    });
    // Deep inside one another, where all ways out are nearly as long; the answer is right all the same, as seen above.
    assert!(bounded < POSES / 20, "{bounded} searches ended at their bound");
}

#[test]
fn distances_agree_with_parry() {
    pairs(|a, b| {
        let (Some((parry_a, round_a, turn_a)), Some((parry_b, round_b, turn_b))) = (parry_core(a), parry_core(b))
        else {
            return;
        };
        let mut random = Random::new(12);
        for k in 0..POSES {
            let (at_a, at_b) = (random.placement(0.3), random.placement(1.2));
            let Ok(theirs) = query::distance(&pose(&(at_a * turn_a)), &*parry_a, &pose(&(at_b * turn_b)), &*parry_b)
            else {
                continue;
            };
            if theirs.distance == 0.0 {
                continue;
            }
            let theirs = theirs.distance - round_a - round_b;
            let ours = nearest(&a.solid(&at_a), &b.solid(&at_b), FAR).unwrap().distance;
            let curved = [a, b].iter().any(|shape| matches!(shape.shape, Shape::Cylinder { .. }));
            let tolerance = if curved { PARRY_CURVED_TOLERANCE } else { PARRY_TOLERANCE };
            let error = (ours - theirs).abs();
            assert!(error < tolerance, "{} and {}, pose {k}: {ours} is not {theirs}", a.name, b.name);
        }
    });
}

#[test]
fn depths_are_no_worse_than_parrys() {
    pairs(|a, b| {
        let (Some((parry_a, round_a, turn_a)), Some((parry_b, round_b, turn_b))) = (parry_core(a), parry_core(b))
        else {
            return;
        };
        let mut random = Random::new(13);
        for k in 0..POSES {
            let (at_a, at_b) = (random.placement(0.1), random.placement(0.2));
            let Ok(Some(theirs)) =
                query::contact(&pose(&(at_a * turn_a)), &*parry_a, &pose(&(at_b * turn_b)), &*parry_b, 0.0)
            else {
                continue;
            };
            let (a_solid, b_solid) = (a.solid(&at_a), b.solid(&at_b));
            let ours = nearest(&a_solid, &b_solid, FAR).unwrap();
            let slack = if collide(&a_solid, &b_solid, FAR).points().len() > 1 { FLAT_SLACK } else { PARRY_TOLERANCE };
            let theirs = theirs.dist - round_a - round_b;
            let what = format!("{} and {}, pose {k}: {} and {theirs}", a.name, b.name, ours.distance);
            assert!(ours.distance < 0.0, "{what}");
            assert!(ours.distance >= theirs - slack, "{what}");
        }
    });
}

#[test]
fn the_order_of_a_pair_turns_the_normal_only() {
    pairs(|a, b| {
        let mut random = Random::new(14);
        for _ in 0..POSES {
            let (at_a, at_b) = (random.placement(0.3), random.placement(0.6));
            let (a_solid, b_solid) = (a.solid(&at_a), b.solid(&at_b));
            let (one, other) = (nearest(&a_solid, &b_solid, FAR).unwrap(), nearest(&b_solid, &a_solid, FAR).unwrap());
            assert!((one.distance - other.distance).abs() < TOLERANCE, "{} and {}", a.name, b.name);
            assert!((one.normal + other.normal).norm() < 1e-5, "{} and {}: {one:?} {other:?}", a.name, b.name);
        }
    });
}

#[test]
fn a_common_motion_moves_the_points_along() {
    pairs(|a, b| {
        let mut random = Random::new(15);
        for _ in 0..POSES {
            let (at_a, at_b, motion) = (random.placement(0.3), random.placement(0.6), random.placement(3.0));
            let here = nearest(&a.solid(&at_a), &b.solid(&at_b), FAR).unwrap();
            let there = nearest(&a.solid(&(motion * at_a)), &b.solid(&(motion * at_b)), FAR).unwrap();
            assert!((here.distance - there.distance).abs() < TOLERANCE, "{} and {}", a.name, b.name);
            // Deep inside, two ways out may tie: then the other one is as good.
            let back = motion.rotation.transpose() * there.normal;
            let along = separation((a, &at_a), (b, &at_b), &back);
            assert!((along - here.distance).abs() < FLAT_SLACK, "{} and {}: {here:?} {back}", a.name, b.name);
        }
    });
}

fn placed(x: f64, y: f64, z: f64) -> Placement<f64> {
    Placement::translation(x, y, z)
}

fn shape(name: &str) -> SampleShape {
    SampleShape::all().into_iter().find(|shape| shape.name == name).unwrap()
}

/// Heights of the tops and bottoms of the sample shapes, upright.
fn half_height(name: &str) -> f64 {
    match name {
        "sphere" | "cylinder" => 0.2,
        "capsule" => 0.35,
        "box" => 0.25,
        "ellipsoid" => 0.3,
        _ => unreachable!("no height known"),
    }
}

#[test]
fn upright_solids_touch_where_one_stands_on_the_other() {
    let names = ["sphere", "capsule", "box", "cylinder", "ellipsoid"];
    let flat = ["box", "cylinder"];
    for below in names {
        for above in names {
            for gap in [-0.01, -1e-7, 0.0, 1e-7, 0.01] {
                let height = half_height(below) + half_height(above) + gap;
                let (a, b) = (shape(below), shape(above));
                let manifold =
                    collide(&a.solid(&placed(1.0, 2.0, 3.0)), &b.solid(&placed(1.0, 2.0, 3.0 + height)), 0.02);
                let expected = if flat.contains(&below) && flat.contains(&above) { 4 } else { 1 };
                let what = format!("{above} on {below} at {gap}");
                assert_eq!(manifold.points().len(), expected, "{what}");
                for point in manifold.points() {
                    assert!((point.distance - gap).abs() < TOLERANCE, "{what}: {point:?}");
                    assert!((point.normal - Vector3::z()).norm() < TOLERANCE, "{what}: {point:?}");
                    // Midway, or on the flat surface where there is one.
                    let (lower, upper) = (3.0 + half_height(below), 3.0 + half_height(below) + gap);
                    let flat_a = flat.contains(&below).then_some(lower);
                    let flat_b = flat.contains(&above).then_some(upper);
                    let middle = (manifold.points().len() == 1).then_some((lower + upper) / 2.0);
                    let places = [flat_a, flat_b, middle];
                    let at = |place: f64| (point.position.z - place).abs() < TOLERANCE;
                    assert!(places.into_iter().flatten().any(at), "{what}: {point:?}");
                }
            }
        }
    }
}

#[test]
fn everything_has_its_points_on_the_ground() {
    let ground = Solid::primitive(Shape::HalfSpace, placed(0.0, 0.0, 1.0));
    for (name, points) in [("sphere", 1), ("capsule", 1), ("box", 4), ("cylinder", 4), ("ellipsoid", 1)] {
        let shape = shape(name);
        let solid = shape.solid(&placed(0.3, 0.1, 1.0 + half_height(name) - 0.01));
        let manifold = collide(&ground, &solid, 0.005);
        assert_eq!(manifold.points().len(), points, "{name}");
        for point in manifold.points() {
            assert!((point.distance + 0.01).abs() < TOLERANCE, "{name}: {point:?}");
            assert!((point.position.z - 1.0).abs() < TOLERANCE, "{name}: {point:?}");
            assert_eq!(point.normal, Vector3::z());
        }
        let flipped = collide(&solid, &ground, 0.005);
        assert_eq!(flipped.points().iter().map(|p| -p.normal).collect::<Vec<_>>(), vec![Vector3::z(); points]);
        assert!(collide(&ground, &shape.solid(&placed(0.0, 0.0, 2.0)), 0.1).points().is_empty(), "{name}");
    }
    let lying = Placement::from_rpy(core::f64::consts::FRAC_PI_2, 0.0, 0.0, Vector3::new(0.0, 0.0, 1.1));
    for (name, distance) in [("capsule", 0.0), ("cylinder", -0.05)] {
        let shape = shape(name);
        let manifold = collide(&ground, &shape.solid(&lying), 0.005);
        assert_eq!(manifold.points().len(), 2, "{name}");
        assert!(manifold.points().iter().all(|point| (point.distance - distance).abs() < TOLERANCE), "{name}");
    }
    let wedge = shape("wedge");
    let manifold = collide(&ground, &wedge.solid(&placed(0.0, 0.0, 1.1)), 0.005);
    assert_eq!(manifold.points().len(), 4);
    assert!(manifold.points().iter().all(|point| point.distance.abs() < TOLERANCE));
}

#[test]
fn random_poses_over_the_ground_are_as_high_as_their_supports() {
    for shape in SampleShape::all() {
        let mut random = Random::new(16);
        for _ in 0..POSES {
            let (at_ground, at) = (random.placement(0.5), random.placement(0.6));
            let ground = Solid::primitive(Shape::HalfSpace, at_ground);
            let up = at_ground.rotation.column(2).into_owned();
            let low = at.act_point(&shape.support(&(at.rotation.transpose() * -up)));
            let height = up.dot(&(low - at_ground.translation));
            let point = nearest(&ground, &shape.solid(&at), FAR).unwrap();
            assert!((point.distance - height).abs() < TOLERANCE, "{}: {} is not {height}", shape.name, point.distance);
        }
    }
}

#[test]
fn parallel_bars_touch_at_both_ends_of_where_they_are_side_by_side() {
    for (one, other, gap) in [("capsule", "capsule", 0.2), ("capsule", "cylinder", 0.25), ("cylinder", "cylinder", 0.3)]
    {
        let (a, b) = (shape(one), shape(other));
        let manifold = collide(&a.solid(&placed(0.0, 0.0, 0.0)), &b.solid(&placed(gap + 0.01, 0.0, 0.1)), 0.02);
        assert_eq!(manifold.points().len(), 2, "{one} and {other}");
        assert!(manifold.points().iter().all(|point| (point.distance - 0.01).abs() < TOLERANCE));
        let length = (manifold.points()[1].position - manifold.points()[0].position).norm();
        let overlap = if one == "cylinder" {
            0.3
        } else if other == "cylinder" {
            0.35
        } else {
            0.4
        };
        assert!((length - overlap).abs() < TOLERANCE, "{one} and {other}: {length}");
    }
}

#[test]
fn bars_and_hulls_lie_on_a_face_with_two_and_four_points() {
    let table =
        SampleShape { name: "table", shape: Shape::Box { half_extents: Vector3::new(1.0, 1.0, 0.1) }, corners: vec![] };
    let lying = |z: f64| Placement::from_rpy(core::f64::consts::FRAC_PI_2, 0.0, 0.3, Vector3::new(0.1, 0.2, z));
    for gap in [-0.003, 0.0, 0.003] {
        for (name, half, points) in [("capsule", 0.1, 2), ("cylinder", 0.15, 2)] {
            let manifold =
                collide(&table.solid(&placed(0.0, 0.0, 0.0)), &shape(name).solid(&lying(0.1 + half + gap)), 0.01);
            assert_eq!(manifold.points().len(), points, "{name} at {gap}");
            assert!(manifold.points().iter().all(|point| (point.distance - gap).abs() < TOLERANCE), "{name} at {gap}");
        }
        let wedge = shape("wedge");
        let upright = Placement::from_rpy(0.0, 0.0, 0.7, Vector3::new(0.1, 0.2, 0.2 + gap));
        let manifold = collide(&table.solid(&placed(0.0, 0.0, 0.0)), &wedge.solid(&upright), 0.01);
        assert_eq!(manifold.points().len(), 4, "wedge at {gap}: {manifold:?}");
        assert!(manifold.points().iter().all(|point| (point.distance - gap).abs() < TOLERANCE));
    }
}

#[test]
fn features_stay_while_a_box_slides_and_rocks_on_another() {
    let (a, b) = (shape("box"), shape("box"));
    let mut last = None;
    for k in 0..50 {
        let t = f64::from(k) * 0.02;
        let at = Placement::from_rpy(
            0.001 * (t * 9.0).sin(),
            0.001 * (t * 7.0).cos(),
            0.2 + 0.005 * t,
            Vector3::new(0.005 * t, 0.0, 0.499),
        );
        let manifold = collide(&a.solid(&placed(0.0, 0.0, 0.0)), &b.solid(&at), 0.01);
        let features: Vec<u16> = manifold.points().iter().map(|point| point.feature).collect();
        assert_eq!(features.len(), 4);
        assert!(last.is_none_or(|last| last == features), "at {t}: {features:?}");
        last = Some(features);
    }
}

/// Poses and sizes that leave no normal, no volume or no point.
#[test]
fn degenerate_poses_are_finite() {
    let mut shapes = SampleShape::all();
    let primitive = |name, shape| SampleShape { name, shape, corners: vec![] };
    let hull = |name, corners: Vec<Vector3<f64>>| SampleShape {
        name,
        shape: Shape::Convex { first_vertex: 0, vertices: corners.len() as u32 },
        corners,
    };
    let (x, y) = (Vector3::x() * 0.2, Vector3::y() * 0.2);
    shapes.extend([
        primitive("half-space", Shape::HalfSpace),
        primitive("point", Shape::Sphere { radius: 0.0 }),
        primitive("short capsule", Shape::Capsule { radius: 0.1, half_length: 0.0 }),
        primitive("needle", Shape::Capsule { radius: 0.0, half_length: 0.1 }),
        primitive("plate", Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.0) }),
        primitive("nothing", Shape::Box { half_extents: Vector3::zeros() }),
        primitive("disc", Shape::Cylinder { radius: 0.1, half_length: 0.0 }),
        primitive("wire", Shape::Cylinder { radius: 0.0, half_length: 0.1 }),
        primitive("flat ellipsoid", Shape::Ellipsoid { radii: Vector3::new(0.1, 0.2, 0.0) }),
        hull("empty", vec![]),
        hull("one corner", vec![x]),
        hull("edge", vec![x, -x]),
        hull("triangle", vec![x, -x, y]),
        hull("square", vec![x, y, -x, -y]),
        hull("same corner", vec![x, x, x, x]),
    ]);
    let quarter = Placement::from_rpy(core::f64::consts::FRAC_PI_2, 0.0, 0.0, Vector3::zeros());
    let poses = [
        placed(0.0, 0.0, 0.0),
        placed(0.0, 0.0, 1e-18),
        placed(1e-9, 0.0, 0.0),
        placed(0.0, 0.0, 0.2),
        placed(0.2, 0.2, 0.0),
        placed(0.0, 0.0, 0.45),
        quarter,
        Placement::new(quarter.rotation, Vector3::new(0.1, 0.1, 0.1)),
    ];
    for a in &shapes {
        for b in &shapes {
            for at in &poses {
                check_finite(a, b, *at);
            }
        }
    }
}

fn check_finite(a: &SampleShape, b: &SampleShape, at: Placement<f64>) {
    use saltus::scalar::Dual;
    type D = Dual<f64, 3>;
    let manifold = collide(&a.solid(&Placement::IDENTITY), &b.solid(&at), 0.05);
    let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
    for point in manifold.points() {
        let what = format!("{} and {} at {}: {point:?}", a.name, b.name, at.translation);
        assert!(point.distance.is_finite() && finite(&point.position) && finite(&point.normal), "{what}");
        assert!((point.normal.norm() - 1.0).abs() < 1e-9, "{what}");
    }
    let seed = |k: usize| D::seeded(at.translation[k], core::array::from_fn(|j| if j == k { 1.0 } else { 0.0 }));
    let moved = Placement::new(at.rotation.map(D::constant), Vector3::new(seed(0), seed(1), seed(2)));
    for point in collide(&a.at(Placement::<D>::IDENTITY), &b.at(moved), D::constant(0.05)).points() {
        let numbers = point.position.iter().chain(point.normal.iter()).chain([&point.distance]);
        assert!(numbers.copied().all(D::is_finite), "{} and {} at {}: {point:?}", a.name, b.name, at.translation);
    }
}

#[test]
fn single_precision_agrees_with_double() {
    /// Some roundings of lengths around one metre; where curves meet, the search ends at their square root.
    const SINGLE_TOLERANCE: f64 = 1e-4;
    pairs(|a, b| {
        let mut random = Random::new(17);
        for k in 0..POSES {
            let (at_a, at_b) = (random.placement(0.3), random.placement(0.6));
            let double = nearest(&a.solid(&at_a), &b.solid(&at_b), FAR).unwrap();
            let corners = |shape: &SampleShape| shape.corners.iter().map(|c| c.cast::<f32>()).collect::<Vec<_>>();
            let (corners_a, corners_b) = (corners(a), corners(b));
            let solid = |shape: &SampleShape, corners, at: &Placement<f64>| -> Solid<'_, f32> {
                match shape.shape {
                    Shape::Convex { .. } => Solid::convex(corners, at.cast()),
                    shape => Solid::primitive(shape.cast(), at.cast()),
                }
            };
            let manifold = collide(&solid(a, &corners_a, &at_a), &solid(b, &corners_b, &at_b), FAR as f32);
            let least = manifold.points().iter().map(|p| f64::from(p.distance)).fold(f64::INFINITY, f64::min);
            let what = format!("{} and {}, pose {k}: {least} is not {}", a.name, b.name, double.distance);
            let flat = double.distance < 0.0 && manifold.points().len() > 1;
            let tolerance = if flat || !manifold.converged() { FLAT_SLACK } else { SINGLE_TOLERANCE };
            assert!((least - double.distance).abs() < tolerance, "{what}");
        }
    });
}

fn pose(placement: &Placement<f64>) -> Pose {
    let rotation = nalgebra::Rotation3::from_matrix_unchecked(placement.rotation);
    let q: Quaternion<f64> = *UnitQuaternion::from_rotation_matrix(&rotation).quaternion();
    let t = placement.translation;
    Pose::from_parts(ParryVector::new(t.x, t.y, t.z), Rotation::from_xyzw(q.i, q.j, q.k, q.w))
}

/// parry's shape without the round, which its own search would only come near to, and the round. parry has no ellipsoid,
/// and its cylinders are along y.
fn parry_core(sample: &SampleShape) -> Option<(Box<dyn ParryShape>, f64, Placement<f64>)> {
    let vector = |v: &Vector3<f64>| ParryVector::new(v.x, v.y, v.z);
    let upright = Placement::from_rpy(core::f64::consts::FRAC_PI_2, 0.0, 0.0, Vector3::zeros());
    let shape: Box<dyn ParryShape> = match sample.shape {
        Shape::Sphere { radius } => Box::new(Ball::new(radius)),
        Shape::Capsule { radius, half_length } => {
            let end = Vector3::z() * half_length;
            return Some((Box::new(Segment::new(vector(&-end), vector(&end))), radius, Placement::IDENTITY));
        }
        Shape::Box { half_extents } => Box::new(Cuboid::new(vector(&half_extents))),
        Shape::Cylinder { radius, half_length } => {
            return Some((Box::new(Cylinder::new(half_length, radius)), 0.0, upright));
        }
        Shape::Convex { .. } => {
            let corners: Vec<_> = sample.corners.iter().map(vector).collect();
            Box::new(ConvexPolyhedron::from_convex_hull(&corners)?)
        }
        _ => return None,
    };
    Some((shape, 0.0, Placement::IDENTITY))
}
