//! Spatial algebra against 6×6 matrices, and exponentials, logarithms and their Jacobians against two oracles each.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use saltus::scalar::{Dual, Real};
use saltus::spatial::lie::{self, BlockTriangular, Quaternion};
use saltus::spatial::vector::skew;
use saltus::spatial::{ArticulatedInertia, CompositeInertia, Coriolis, Force, Inertia, Motion, Placement, Symmetric3};
use saltus_testkit::Random;

/// Two orders of a few dozen roundings of numbers of size one.
const TOLERANCE: f64 = 1e-13;
/// The same in f32.
const TOLERANCE_F32: f64 = 1e-5;
/// A dual number differentiates the same formula, so it agrees to rounding, which 1/θ⁵ raises just above θ = 1.
const DUAL_TOLERANCE: f64 = 1e-12;
/// Central differences with [`STEP`]: error h² of the third derivative, and ε / h of rounding.
const DIFFERENCE_TOLERANCE: f64 = 1e-8;
const STEP: f64 = 1e-5;
const SAMPLES: usize = 100;

/// Angles at zero, about the switch of the series (θ = 1, θ/2 = 1, tan²(θ/2) = 1e-3), and towards π.
const ANGLES: [f64; 19] = [
    0.0,
    1e-160,
    1e-12,
    1e-8,
    1e-5,
    1e-3,
    0.0632,
    0.06321,
    0.06327,
    0.1,
    0.5,
    0.999_999,
    1.0,
    1.000_001,
    1.999_999,
    2.000_001,
    3.0,
    PI - 1e-5,
    PI - 1e-12,
];

fn vector(random: &mut Random) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.signed())
}

fn motion(random: &mut Random) -> Motion<f64> {
    Motion::new(vector(random), vector(random))
}

fn force(random: &mut Random) -> Force<f64> {
    Force::new(vector(random), vector(random))
}

fn placement(random: &mut Random) -> Placement<f64> {
    let rotation = lie::quaternion_to_matrix(&lie::exp_quaternion(&(vector(random) * 3.0)));
    Placement::new(rotation, vector(random))
}

/// A body whose rotational inertia is that of a cloud of points.
fn inertia(random: &mut Random) -> Inertia<f64> {
    let cloud = (0..5).fold(Symmetric3::ZERO, |sum, _| sum + Symmetric3::point_mass(0.2, &vector(random)));
    Inertia::new(0.5 + random.uniform(), vector(random), cloud)
}

fn rotation_vector(random: &mut Random, angle: f64) -> Vector3<f64> {
    vector(random).normalize() * angle
}

fn six(values: [f64; 6]) -> Vector6<f64> {
    Vector6::from_column_slice(&values)
}

fn blocks(a: Matrix3<f64>, b: Matrix3<f64>, c: Matrix3<f64>, d: Matrix3<f64>) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| match (i < 3, j < 3) {
        (true, true) => a[(i, j)],
        (true, false) => b[(i, j - 3)],
        (false, true) => c[(i - 3, j)],
        (false, false) => d[(i - 3, j - 3)],
    })
}

/// v ×, on motions.
fn cross_matrix(v: &Motion<f64>) -> Matrix6<f64> {
    blocks(skew(&v.angular), skew(&v.linear), Matrix3::zeros(), skew(&v.angular))
}

/// v ×* = −(v ×)ᵀ, on forces.
fn cross_force_matrix(v: &Motion<f64>) -> Matrix6<f64> {
    -cross_matrix(v).transpose()
}

/// f ×̄*, with v ×* f = (f ×̄*) v.
fn swapped_cross_matrix(f: &Force<f64>) -> Matrix6<f64> {
    blocks(Matrix3::zeros(), -skew(&f.linear), -skew(&f.linear), -skew(&f.angular))
}

fn inertia_matrix(i: &CompositeInertia<f64>) -> Matrix6<f64> {
    let c = skew(&i.first_moment);
    blocks(Matrix3::identity() * i.mass, -c, c, i.second_moment.to_matrix())
}

/// The action on motions.
fn action_matrix(p: &Placement<f64>) -> Matrix6<f64> {
    blocks(p.rotation, skew(&p.translation) * p.rotation, Matrix3::zeros(), p.rotation)
}

fn articulated_matrix(i: &ArticulatedInertia<f64>) -> Matrix6<f64> {
    blocks(i.linear.to_matrix(), i.coupling, i.coupling.transpose(), i.angular.to_matrix())
}

fn assert_close<'a>(
    what: &str,
    ours: impl IntoIterator<Item = &'a f64>,
    theirs: impl IntoIterator<Item = &'a f64>,
    tolerance: f64,
) {
    for (a, b) in ours.into_iter().zip(theirs) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}: {a} is not {b}");
    }
}

fn samples(mut check: impl FnMut(&mut Random)) {
    let mut random = Random::new(51);
    (0..SAMPLES).for_each(|_| check(&mut random));
}

fn assert_same_placement(what: &str, a: &Placement<f64>, b: &Placement<f64>) {
    assert_close(what, &a.rotation, &b.rotation, TOLERANCE);
    assert_close(what, &a.translation, &b.translation, TOLERANCE);
}

#[test]
fn placements_form_a_group() {
    samples(|random| {
        let (a, b, c) = (placement(random), placement(random), placement(random));
        assert_same_placement("associative", &((a * b) * c), &(a * (b * c)));
        assert_same_placement("neutral", &(a * Placement::IDENTITY), &a);
        assert_same_placement("neutral", &(Placement::IDENTITY * a), &a);
        assert_same_placement("inverse", &(a * a.inverse()), &Placement::IDENTITY);
        assert_same_placement("inverse", &(a.inverse() * a), &Placement::IDENTITY);
        let p = vector(random);
        assert_close("acts", &(a * b).act_point(&p), &a.act_point(&b.act_point(&p)), TOLERANCE);
        assert_close("acts back", &a.act_inverse_point(&a.act_point(&p)), &p, TOLERANCE);
    });
}

#[test]
fn placements_act_on_motions_and_forces_as_their_matrices() {
    samples(|random| {
        let (p, m, f) = (placement(random), motion(random), force(random));
        let x = action_matrix(&p);
        let dual = x.try_inverse().unwrap().transpose();
        let (v, w) = (six(m.to_array()), six(f.to_array()));
        assert_close("motion", &p.act_motion(&m).to_array(), &(x * v), TOLERANCE);
        assert_close("force", &p.act_force(&f).to_array(), &(dual * w), TOLERANCE);
        assert_close("back", &p.act_inverse_motion(&p.act_motion(&m)).to_array(), &v, TOLERANCE);
        assert_close("back", &p.act_inverse_force(&p.act_force(&f)).to_array(), &w, TOLERANCE);
        let action = lie::inverse_action(&p);
        assert_close("inverse action", &entries(&action), &x.try_inverse().unwrap(), TOLERANCE);
    });
}

#[test]
fn power_does_not_depend_on_the_frame() {
    samples(|random| {
        let (p, m, f) = (placement(random), motion(random), force(random));
        let power = m.dot(&f);
        assert_close("moved", &[p.act_motion(&m).dot(&p.act_force(&f))], &[power], TOLERANCE);
        let origin = vector(random);
        assert_close("shifted", &[m.shifted_to(&origin).dot(&f.shifted_to(&origin))], &[power], TOLERANCE);
        let at = Force::at_point(f.linear, &origin);
        assert_close("at a point", &[m.dot(&at)], &[m.velocity_at(&origin).dot(&f.linear)], TOLERANCE);
    });
}

#[test]
fn cross_products_equal_their_matrices_and_preserve_power() {
    samples(|random| {
        let (v, m, f) = (motion(random), motion(random), force(random));
        assert_close("v × m", &v.cross(&m).to_array(), &(cross_matrix(&v) * six(m.to_array())), TOLERANCE);
        let expected = cross_force_matrix(&v) * six(f.to_array());
        assert_close("v ×* f", &v.cross_force(&f).to_array(), &expected, TOLERANCE);
        let swapped = swapped_cross_matrix(&f) * six(v.to_array());
        assert_close("(f ×̄*) v", &swapped, &expected, TOLERANCE);
        assert_close("duality", &[v.cross(&m).dot(&f)], &[-m.dot(&v.cross_force(&f))], TOLERANCE);
    });
}

#[test]
fn inertia_of_welded_bodies_is_their_sum_about_the_origin() {
    samples(|random| {
        let (a, b) = (inertia(random), inertia(random));
        let mut sum = a.about_origin();
        sum += b.about_origin();
        let welded = (a + b).about_origin();
        assert_close("welded", &inertia_matrix(&welded), &inertia_matrix(&sum), TOLERANCE);
        let nothing = Inertia::<f64>::ZERO + Inertia::ZERO;
        assert_eq!(nothing, Inertia::ZERO);
    });
}

#[test]
fn inertia_moves_with_its_placement_and_gives_the_momentum_of_its_matrix() {
    samples(|random| {
        let (i, p, m) = (inertia(random), placement(random), motion(random));
        let seen = i.seen_from(&p);
        let back = action_matrix(&p).try_inverse().unwrap();
        let expected = back.transpose() * inertia_matrix(&i.about_origin()) * back;
        assert_close("seen from", &inertia_matrix(&seen), &expected, TOLERANCE);
        assert_close("moved by", &inertia_matrix(&i.moved_by(&p).about_origin()), &expected, TOLERANCE);
        assert_close("momentum", &(seen * m).to_array(), &(expected * six(m.to_array())), TOLERANCE);
    });
}

#[test]
fn solid_bodies_have_textbook_inertias() {
    let ball = Inertia::solid_sphere(2.0_f64, 0.5).rotational;
    assert_close("ball", &[ball.xx, ball.yy, ball.zz], &[0.2, 0.2, 0.2], TOLERANCE);
    let brick = Inertia::solid_box(12.0_f64, &Vector3::new(1.0, 2.0, 3.0)).rotational;
    assert_close("box", &[brick.xx, brick.yy, brick.zz], &[13.0, 10.0, 5.0], TOLERANCE);
}

#[test]
fn coriolis_equals_its_definition_and_adds_up_over_bodies() {
    samples(|random| {
        let mut sum = Coriolis::default();
        let mut expected = Matrix6::zeros();
        for _ in 0..2 {
            let (i, v) = (inertia(random).seen_from(&placement(random)), motion(random));
            let (momentum, matrix) = (i * v, inertia_matrix(&i));
            sum += Coriolis::new(&i, &v, &momentum);
            expected += cross_force_matrix(&v) * matrix - matrix * cross_matrix(&v) + swapped_cross_matrix(&momentum);
        }
        let (m, f) = (motion(random), force(random));
        let product = expected * six(m.to_array()) + six(f.to_array());
        assert_close("2B m + f", &sum.multiply_add(&m, &f).to_array(), &product, TOLERANCE);
        let transposed = expected.transpose() * six(m.to_array());
        let angular = sum.transposed_angular(&m);
        assert_close("(2B)ᵀ m", &[0.0, 0.0, 0.0, angular.x, angular.y, angular.z], &transposed, TOLERANCE);
    });
}

#[test]
fn articulated_inertia_equals_its_matrix() {
    samples(|random| {
        let body = inertia(random).seen_from(&placement(random));
        let mut ours = ArticulatedInertia::from(body);
        let mut matrix = inertia_matrix(&body);
        assert_close("from a body", &articulated_matrix(&ours), &matrix, TOLERANCE);
        let axis = motion(random);
        let u = ours.multiply(&axis);
        let column = six(u.to_array());
        assert_close("product", &column, &(matrix * six(axis.to_array())), TOLERANCE);
        let d = axis.dot(&u);
        ours.eliminate(&u, 1.0 / d);
        matrix -= column * column.transpose() / d;
        assert_close("eliminate", &articulated_matrix(&ours), &matrix, TOLERANCE);
        assert_close("moves freely", &ours.multiply(&axis).to_array(), &[0.0; 6], TOLERANCE);
        let other = inertia(random).about_origin();
        ours.add(&other.into());
        matrix += inertia_matrix(&other);
        assert_close("sum", &articulated_matrix(&ours), &matrix, TOLERANCE);
    });
}

#[test]
fn symmetric_matrices_rotate_as_full_ones() {
    samples(|random| {
        let (s, r) = (inertia(random).rotational, placement(random).rotation);
        let expected = r * s.to_matrix() * r.transpose();
        assert_close("R S Rᵀ", &s.rotated(&r).to_matrix(), &expected, TOLERANCE);
        assert_eq!(Symmetric3::from_matrix(&s.to_matrix()), s);
    });
}

fn entries(m: &BlockTriangular<f64>) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| m.entry(i, j))
}

fn cast<U: Real>(v: &Vector3<f64>) -> Vector3<U> {
    v.map(U::from_f64)
}

#[test]
fn quaternions_turn_as_axis_and_angle_say() {
    let mut random = Random::new(61);
    for angle in ANGLES {
        let axis = vector(&mut random).normalize();
        let q = lie::exp_quaternion(&(axis * angle));
        let expected = lie::axis_rotation(&axis, angle.sin(), angle.cos());
        assert_close("matrix", &lie::quaternion_to_matrix(&q), &expected, TOLERANCE);
        let other = lie::exp_quaternion(&vector(&mut random));
        let product = lie::quaternion_to_matrix(&lie::multiply_quaternions(&q, &other));
        assert_close("product", &product, &(expected * lie::quaternion_to_matrix(&other)), TOLERANCE);
        let back = lie::quaternion_to_matrix(&lie::conjugate(&q));
        assert_close("conjugate", &back, &expected.transpose(), TOLERANCE);
    }
}

fn check_exp_log<T: Real>(tolerance: f64) {
    let mut random = Random::new(62);
    for angle in ANGLES {
        // Towards π the f32 angle may round past it, where the logarithm rightly takes the other way round.
        let angle = angle.min(PI * (1.0 - 4.0 * T::EPSILON.to_f64()));
        let phi = rotation_vector(&mut random, angle);
        let q = lie::exp_quaternion(&cast::<T>(&phi));
        for q in [q, q.map(|x| -x)] {
            let back = lie::log_quaternion(&q).map(|x| x.to_f64());
            assert!((back - phi).norm() <= tolerance * angle.max(1e-30), "{back} is not {phi}, at {angle}");
        }
        let xi = Motion::new(cast::<T>(&vector(&mut random)), cast::<T>(&phi));
        let back = lie::log_placement(&q, &lie::exp_translation(&xi));
        let error = (back.linear - xi.linear).map(|x| x.to_f64()).norm();
        assert!(error <= tolerance, "the translation is off by {error:e} at {angle}");
    }
}

#[test]
fn logarithm_inverts_exponential_from_zero_to_pi() {
    check_exp_log::<f64>(TOLERANCE);
    check_exp_log::<f32>(TOLERANCE_F32);
}

#[test]
fn half_a_turn_has_a_logarithm() {
    for q in [[1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.6, 0.8, -0.0]] {
        let phi = lie::log_quaternion::<f64>(&q);
        assert_close("half a turn", &[phi.norm()], &[PI], TOLERANCE);
        let back = lie::quaternion_to_matrix(&lie::exp_quaternion(&phi));
        assert_close("and back", &back, &lie::quaternion_to_matrix(&q), TOLERANCE);
    }
}

/// Placement of exp(ξ), as (quaternion, translation).
fn exp<T: Real>(xi: &Motion<T>) -> (Quaternion<T>, Vector3<T>) {
    (lie::exp_quaternion(&xi.angular), lie::exp_translation(xi))
}

/// log(exp(ξ)⁻¹ · x): the tangent at exp(ξ) that leads to x.
fn relative<T: Real>(xi: &Motion<T>, (q, p): (Quaternion<T>, Vector3<T>)) -> [T; 6] {
    let (q0, p0) = exp(xi);
    let back = lie::conjugate(&q0);
    let moved = lie::quaternion_to_matrix(&back) * (p - p0);
    lie::log_placement(&lie::multiply_quaternions(&back, &q), &moved).to_array()
}

/// Column k of the right Jacobian by a dual number: exp(ξ)⁻¹ exp(ξ + ε e_k).
fn dual_column(xi: &Motion<f64>, k: usize) -> [f64; 6] {
    let mut varied = xi.to_array().map(Dual::constant);
    let base = Motion::from_array(varied);
    varied[k] = Dual::variable(varied[k].value);
    relative(&base, exp(&Motion::from_array(varied))).map(|x| x.tangent[0])
}

fn difference_column(xi: &Motion<f64>, k: usize) -> [f64; 6] {
    let at = |step: f64| {
        let mut varied = xi.to_array();
        varied[k] += step;
        relative(xi, exp(&Motion::from_array(varied)))
    };
    let (ahead, behind) = (at(STEP), at(-STEP));
    core::array::from_fn(|i| (ahead[i] - behind[i]) / (2.0 * STEP))
}

fn tangents(mut check: impl FnMut(&Motion<f64>)) {
    let mut random = Random::new(63);
    for angle in ANGLES {
        for _ in 0..5 {
            let angular = rotation_vector(&mut random, angle);
            check(&Motion::new(vector(&mut random) * 2.0, angular));
        }
    }
}

#[test]
fn right_jacobians_equal_dual_numbers_and_central_differences() {
    tangents(|xi| {
        let ours = entries(&lie::right_jacobian(xi));
        let by_dual = Matrix6::from_fn(|i, j| dual_column(xi, j)[i]);
        let by_difference = Matrix6::from_fn(|i, j| difference_column(xi, j)[i]);
        let at = format!("right Jacobian at {}", xi.angular.norm());
        assert_close(&at, &ours, &by_dual, DUAL_TOLERANCE);
        assert_close(&at, &ours, &by_difference, DIFFERENCE_TOLERANCE);
        let rotation = lie::right_jacobian_rotation(&xi.angular);
        assert_close(&at, &rotation, by_dual.fixed_view::<3, 3>(3, 3), DUAL_TOLERANCE);
    });
}

#[test]
fn inverse_right_jacobians_invert_right_jacobians() {
    tangents(|xi| {
        let at = format!("inverse at {}", xi.angular.norm());
        let product = entries(&lie::right_jacobian(xi)) * entries(&lie::inverse_right_jacobian(xi));
        assert_close(&at, &product, &Matrix6::identity(), DUAL_TOLERANCE);
        let (forth, back) =
            (lie::right_jacobian_rotation(&xi.angular), lie::inverse_right_jacobian_rotation(&xi.angular));
        assert_close(&at, &(forth * back), &Matrix3::identity(), DUAL_TOLERANCE);
    });
}

/// Column k of ∂ log(exp(ξ) exp(δ)) / ∂δ at zero, by a dual number.
fn dual_log_column(xi: &Motion<f64>, k: usize) -> [f64; 6] {
    let mut step = [Dual::constant(0.0); 6];
    step[k] = Dual::variable(0.0);
    let (q0, p0) = exp(&Motion::from_array(xi.to_array().map(Dual::constant)));
    let (q, p) = exp(&Motion::from_array(step));
    let moved = p0 + lie::quaternion_to_matrix(&q0) * p;
    lie::log_placement(&lie::multiply_quaternions(&q0, &q), &moved).to_array().map(|x| x.tangent[0])
}

#[test]
fn inverse_right_jacobians_are_the_derivatives_of_the_logarithm() {
    tangents(|xi| {
        let ours = entries(&lie::inverse_right_jacobian(xi));
        let by_dual = Matrix6::from_fn(|i, j| dual_log_column(xi, j)[i]);
        assert_close(&format!("log at {}", xi.angular.norm()), &ours, &by_dual, DUAL_TOLERANCE);
    });
}

#[test]
fn jacobians_in_f32_equal_those_in_f64() {
    tangents(|xi| {
        let single = Motion::<f32>::from_array(xi.to_array().map(|x| x as f32));
        let exact = Motion::<f64>::from_array(single.to_array().map(f64::from));
        for (ours, theirs) in [
            (lie::right_jacobian(&single), lie::right_jacobian(&exact)),
            (lie::inverse_right_jacobian(&single), lie::inverse_right_jacobian(&exact)),
        ] {
            let ours = Matrix6::from_fn(|i, j| f64::from(ours.entry(i, j)));
            assert_close(&format!("f32 at {}", xi.angular.norm()), &ours, &entries(&theirs), TOLERANCE_F32);
        }
    });
}

#[test]
fn jacobians_do_not_jump_where_the_series_ends() {
    let mut random = Random::new(64);
    let (axis, linear) = (vector(&mut random).normalize(), vector(&mut random));
    let at = |angle: f64| entries(&lie::right_jacobian(&Motion::new(linear, axis * angle)));
    assert_close("θ = 1", &at(1.0 - 1e-15), &at(1.0 + 1e-15), TOLERANCE);
}
