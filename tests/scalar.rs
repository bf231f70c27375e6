//! Dual numbers carry the derivatives that calculus gives; machine numbers give the same bits as libm.

use saltus::scalar::{Dual, Real};
use saltus_testkit::Random;

/// Both sides are a few roundings of the same expression.
const TOLERANCE_F64: f64 = 1e-14;
/// The same in f32.
const TOLERANCE_F32: f64 = 4e-6;
const SAMPLES: usize = 200;

fn assert_dual<T: Real>(what: &str, ours: Dual<T>, value: f64, tangent: f64, tolerance: f64) {
    for (ours, expected) in [(ours.value, value), (ours.tangent[0], tangent)] {
        let error = (ours.to_f64() - expected).abs();
        assert!(error <= tolerance * expected.abs().max(1.0), "{what}: {ours} is not {expected}");
    }
}

/// Every operation on x and y with tangents dx and dy; away from poles, where rounding would be amplified.
fn check_operations<T: Real>(tolerance: f64) {
    let mut random = Random::new(7);
    for _ in 0..SAMPLES {
        let mut draw = || {
            let sign = random.signed().signum();
            T::from_f64(sign * (0.5 + random.uniform())).to_f64()
        };
        let (x, y, z) = (draw(), draw(), draw());
        let (dx, dy, dz) = (draw(), draw(), draw());
        let dual = |value: f64, tangent: f64| Dual::new(T::from_f64(value), T::from_f64(tangent));
        let (a, b, c) = (dual(x, dx), dual(y, dy), dual(z, dz));
        let check = |what, ours, value, tangent| assert_dual::<T>(what, ours, value, tangent, tolerance);
        check("a + b", a + b, x + y, dx + dy);
        check("a − b", a - b, x - y, dx - dy);
        check("a b", a * b, x * y, dx * y + x * dy);
        check("a / b", a / b, x / y, (dx * y - x * dy) / (y * y));
        check("−a", -a, -x, -dx);
        check("a b + c", a.mul_add(b, c), x * y + z, dx * y + x * dy + dz);
        check("√a", a.abs().sqrt(), x.abs().sqrt(), dx * x.signum() / (2.0 * x.abs().sqrt()));
        check("sin a", a.sin_cos().0, x.sin(), dx * x.cos());
        check("cos a", a.sin_cos().1, x.cos(), -dx * x.sin());
        check("atan2(a, b)", a.atan2(b), x.atan2(y), (y * dx - x * dy) / (x * x + y * y));
        check("|a|", a.abs(), x.abs(), dx * x.signum());
        check("max(a, b)", a.max(b), x.max(y), if y > x { dy } else { dx });
        check("min(a, b)", a.min(b), x.min(y), if y < x { dy } else { dx });
        let mut assigned = a;
        assigned += b;
        assigned *= c;
        assigned -= a;
        assigned /= b;
        let plain = ((a + b) * c - a) / b;
        assert!(assigned.value == plain.value && assigned.tangent == plain.tangent);
    }
}

#[test]
fn dual_operations_have_the_derivatives_of_calculus() {
    check_operations::<f64>(TOLERANCE_F64);
    check_operations::<f32>(TOLERANCE_F32);
}

#[test]
fn duals_nest_to_second_derivatives() {
    let x = Dual::new(Dual::variable(3.0_f64), Dual::constant(1.0));
    let y = x * x * x;
    assert_eq!((y.value.value, y.value.tangent, y.tangent[0].tangent), (27.0, [27.0], [18.0]));
}

#[test]
fn duals_compare_by_value_and_are_finite_in_both_parts() {
    assert!(Dual::new(1.0, 5.0) == Dual::new(1.0, -5.0));
    assert!(Dual::new(1.0, 5.0) < Dual::new(2.0, -5.0));
    assert!(!Dual::new(1.0, f64::NAN).is_finite() && !Dual::new(f64::INFINITY, 0.0).is_finite());
}

/// (1 + ε)² = 1 + 2ε + ε²: what a product that is rounded first loses, as `mul_add` sees it.
fn lost_in_the_product<T: Real>() -> T {
    let x = T::ONE + T::EPSILON;
    x.mul_add(x, -(x * x))
}

#[test]
fn multiply_add_rounds_once_in_f64_where_the_hardware_does() {
    let fused = cfg!(any(target_feature = "fma", target_arch = "aarch64"));
    assert_eq!(lost_in_the_product::<f64>(), if fused { f64::EPSILON * f64::EPSILON } else { 0.0 });
}

#[test]
fn multiply_add_rounds_twice_in_f32_on_every_build() {
    assert_eq!(lost_in_the_product::<f32>(), 0.0);
}

#[test]
fn functions_have_the_bits_of_libm() {
    let mut random = Random::new(8);
    let special = [0.0, -0.0, 1.0, -1.0, 1e-40, 3.0e38, f64::INFINITY, f64::NAN, core::f64::consts::PI];
    let mut draw = |k: usize| special.get(k).copied().unwrap_or_else(|| random.signed() * 10f64.powi(k as i32 % 9 - 4));
    for k in 0..SAMPLES * 10 {
        let (x, y) = (draw(k), draw(k / 2));
        let (sin, cos) = Real::sin_cos(x);
        assert_eq!((sin.to_bits(), cos.to_bits()), (libm::sin(x).to_bits(), libm::cos(x).to_bits()), "at {x}");
        assert_eq!(Real::atan2(y, x).to_bits(), libm::atan2(y, x).to_bits(), "at {y}, {x}");
        assert_eq!(Real::sqrt(x.abs()).to_bits(), libm::sqrt(x.abs()).to_bits(), "at {x}");
        let (x, y) = (x as f32, y as f32);
        let (sin, cos) = Real::sin_cos(x);
        assert_eq!((sin.to_bits(), cos.to_bits()), (libm::sinf(x).to_bits(), libm::cosf(x).to_bits()), "at {x}");
        assert_eq!(Real::atan2(y, x).to_bits(), libm::atan2f(y, x).to_bits(), "at {y}, {x}");
        assert_eq!(Real::sqrt(x.abs()).to_bits(), libm::sqrtf(x.abs()).to_bits(), "at {x}");
    }
}

#[test]
fn larger_and_smaller_keep_the_first_when_they_do_not_compare() {
    assert_eq!(Real::max(1.0, f64::NAN), 1.0);
    assert_eq!(Real::min(1.0_f32, f32::NAN), 1.0);
}
