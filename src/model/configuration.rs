//! The configuration manifold: how q moves along a velocity, and how far two configurations are apart.
//!
//! Angles of revolute joints add up; quaternions and (cos, sin) pairs live on their circles and spheres, so a
//! configuration q and a velocity v meet only through [`integrate`] (q ⊕ v) and [`difference`] (q₁ ⊖ q₀). Jacobians
//! are with respect to tangent vectors in the body frame. Nothing here normalizes on its own: that is [`normalize`].

use nalgebra::Vector3;

use super::{Joint, Model, Range};
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::memory::{Values, copy, first, put, rest_mut, run, run_mut};
use crate::scalar::Real;
use crate::spatial::lie::{
    self, BlockTriangular, Quaternion, conjugate, exp_quaternion, exp_translation, log_placement, log_quaternion,
    multiply_quaternions, quaternion_to_matrix,
};
use crate::spatial::vector::{multiply, multiply_transposed};
use crate::spatial::{Motion, Placement};

/// Which argument of [`integrate`] or [`difference`] a Jacobian is taken with respect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The configuration that one starts from.
    From,
    /// The velocity, or the configuration that one goes to.
    To,
}

/// Coordinates of the planar motion (x, y, θ) among those of a spatial one.
const PLANAR: [usize; 3] = [0, 1, 5];

/// The configuration in which every joint is at its zero.
pub fn neutral<T: Real>(model: Model<'_, T>, q: &mut [T]) -> Result<(), InputError> {
    check_length("q", model.nq(), q.len())?;
    q.fill(T::ZERO);
    for body in model.bodies {
        let one = match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } => continue,
            Joint::Continuous { .. } => 0,
            Joint::Spherical => 3,
            Joint::Planar => 2,
            Joint::FreeFlyer => 6,
        };
        q.set(usize::from(body.first_q) + one, T::ONE);
    }
    Ok(())
}

/// Scales quaternions and (cos, sin) pairs back to unit length; one that is zero or not finite becomes neutral.
pub fn normalize<T: Real>(model: Model<'_, T>, q: &mut [T]) -> Result<(), InputError> {
    check_length("q", model.nq(), q.len())?;
    for body in model.bodies {
        let q = run_mut(q, usize::from(body.first_q), body.joint.nq());
        let (unit, neutral) = match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } => continue,
            Joint::Continuous { .. } => (q, 0),
            Joint::Spherical => (q, 3),
            Joint::Planar => (rest_mut(q, 2), 0),
            Joint::FreeFlyer => (rest_mut(q, 3), 3),
        };
        let norm = unit.iter().fold(T::ZERO, |sum, &x| x.mul_add(x, sum)).sqrt();
        if norm > T::ZERO && norm.is_finite() {
            unit.iter_mut().for_each(|x| *x /= norm);
        } else {
            unit.fill(T::ZERO);
            unit.set(neutral, T::ONE);
        }
    }
    Ok(())
}

/// A configuration drawn evenly: positions within their limits (or ±1 where there is none), orientations over all.
///
/// `uniform` gives numbers in [0, 1).
pub fn random<T: Real>(model: Model<'_, T>, mut uniform: impl FnMut() -> T, q: &mut [T]) -> Result<(), InputError> {
    check_length("q", model.nq(), q.len())?;
    let turn = T::from_f64(core::f64::consts::TAU);
    for body in model.bodies {
        let (first_q, nq) = (usize::from(body.first_q), body.joint.nq());
        let (limits, q) = (run(model.position_limits, first_q, nq), run_mut(q, first_q, nq));
        let mut position = |k: usize| {
            let limit = limits.get(k).copied().unwrap_or(Range::none());
            let lower = if limit.lower.is_finite() { limit.lower } else { -T::ONE };
            let upper = if limit.upper.is_finite() { limit.upper } else { T::ONE.max(lower + T::ONE) };
            lower.min(upper) + (upper - lower.min(upper)) * uniform()
        };
        match body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } => put(q, [position(0)]),
            Joint::Continuous { .. } => {
                let (sin, cos) = (turn * uniform()).sin_cos();
                put(q, [cos, sin]);
            }
            Joint::Spherical => put(q, random_quaternion(&mut uniform)),
            Joint::Planar => {
                let (x, y) = (position(0), position(1));
                let (sin, cos) = (turn * uniform()).sin_cos();
                put(q, [x, y, cos, sin]);
            }
            Joint::FreeFlyer => {
                let [x, y, z] = [position(0), position(1), position(2)];
                let [a, b, c, d] = random_quaternion(&mut uniform);
                put(q, [x, y, z, a, b, c, d]);
            }
        }
    }
    Ok(())
}

/// Evenly over all orientations, from three even numbers (Shoemake 1992).
fn random_quaternion<T: Real>(uniform: &mut impl FnMut() -> T) -> Quaternion<T> {
    let turn = T::from_f64(core::f64::consts::TAU);
    let share = uniform();
    let (s1, c1) = (turn * uniform()).sin_cos();
    let (s2, c2) = (turn * uniform()).sin_cos();
    let (a, b) = ((T::ONE - share).sqrt(), share.sqrt());
    [a * s1, a * c1, b * s2, b * c2]
}

/// q⁺ = q ⊕ v: where the robot is after moving with the constant velocity `v` for one unit of time.
///
/// ```
/// # use nalgebra::Vector3;
/// # use saltus::model::{BodySpec, JointSpec, ModelBuilder, configuration};
/// # use saltus::spatial::Inertia;
/// # let wheel = BodySpec::new("wheel", JointSpec::continuous(Vector3::z())).inertia(Inertia::solid_sphere(1.0, 0.1));
/// # let robot = ModelBuilder::new().body(wheel).build::<f64>()?;
/// let mut q = [1.0, 0.0];
/// configuration::integrate(robot.model(), &[1.0, 0.0], &[core::f64::consts::FRAC_PI_2], &mut q)?;
/// assert!((q[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn integrate<T: Real>(model: Model<'_, T>, q: &[T], v: &[T], q_next: &mut [T]) -> Result<(), InputError> {
    check_length("q", model.nq(), q.len())?;
    check_length("v", model.nv(), v.len())?;
    check_length("q_next", model.nq(), q_next.len())?;
    for body in model.bodies {
        let (first_q, first_v) = (usize::from(body.first_q), usize::from(body.first_v));
        if let Joint::Revolute { .. } | Joint::Prismatic { .. } = body.joint {
            q_next.set(first_q, q.at(first_q) + v.at(first_v));
            continue;
        }
        let nq = body.joint.nq();
        let (q, v) = (run(q, first_q, nq), run(v, first_v, body.joint.nv()));
        integrate_joint(&body.joint, q, v, run_mut(q_next, first_q, nq));
    }
    Ok(())
}

fn integrate_joint<T: Real>(joint: &Joint<T>, q: &[T], v: &[T], next: &mut [T]) {
    match joint {
        Joint::Revolute { .. } | Joint::Prismatic { .. } => {
            let ([q], [v]) = (first(q), first(v));
            put(next, [q + v]);
        }
        Joint::Continuous { .. } => {
            let ([cos, sin], [v]) = (first(q), first(v));
            put(next, turned(cos, sin, v));
        }
        Joint::Spherical => {
            let step = exp_quaternion(&vector(v));
            put(next, renormalized(multiply_quaternions(&first(q), &step)));
        }
        Joint::Planar => {
            let ([x, y, cos, sin], [.., turn]) = (first(q), first::<T, 3>(v));
            let moved = exp_translation(&planar_motion(v));
            let [next_cos, next_sin] = turned(cos, sin, turn);
            let (x, y) = (x + (cos * moved.x - sin * moved.y), y + (sin * moved.x + cos * moved.y));
            put(next, [x, y, next_cos, next_sin]);
        }
        Joint::FreeFlyer => {
            let (xi, (start, turn)) = (motion(v), pose(q));
            let position = start + multiply(&quaternion_to_matrix(&turn), &exp_translation(&xi));
            let [a, b, c, d] = renormalized(multiply_quaternions(&turn, &exp_quaternion(&xi.angular)));
            put(next, [position.x, position.y, position.z, a, b, c, d]);
        }
    }
}

/// v = q₁ ⊖ q₀: the constant velocity that leads from `q0` to `q1` in one unit of time, by the shorter way.
pub fn difference<T: Real>(model: Model<'_, T>, q0: &[T], q1: &[T], v: &mut [T]) -> Result<(), InputError> {
    check_length("q0", model.nq(), q0.len())?;
    check_length("q1", model.nq(), q1.len())?;
    check_length("v", model.nv(), v.len())?;
    for body in model.bodies {
        let (first_q, first_v) = (usize::from(body.first_q), usize::from(body.first_v));
        if let Joint::Revolute { .. } | Joint::Prismatic { .. } = body.joint {
            v.set(first_v, q1.at(first_q) - q0.at(first_q));
            continue;
        }
        let nq = body.joint.nq();
        let v = run_mut(v, first_v, body.joint.nv());
        difference_joint(&body.joint, run(q0, first_q, nq), run(q1, first_q, nq), v);
    }
    Ok(())
}

/// Displacement of a joint from its neutral position: what its spring feels.
pub(crate) fn displacement<T: Real>(joint: &Joint<T>, q: &[T], v: &mut [T]) {
    let (o, i) = (T::ZERO, T::ONE);
    match joint {
        Joint::Revolute { .. } | Joint::Prismatic { .. } => copy(v, q),
        Joint::Continuous { .. } => difference_joint(joint, &[i, o], q, v),
        Joint::Spherical => difference_joint(joint, &[o, o, o, i], q, v),
        Joint::Planar => difference_joint(joint, &[o, o, i, o], q, v),
        Joint::FreeFlyer => difference_joint(joint, &[o, o, o, o, o, o, i], q, v),
    }
}

/// ∂displacement/∂q of a joint with several degrees of freedom, by tangent vectors.
pub(crate) fn displacement_jacobian<T: Real>(joint: &Joint<T>, q: &[T]) -> [[T; 6]; 6] {
    let mut v = [T::ZERO; 6];
    displacement(joint, q, run_mut(&mut v, 0, joint.nv()));
    joint_difference_jacobian(joint, &v)
}

/// ∂(q₁ ⊖ q₀)/∂q₁ of a joint, from v = q₁ ⊖ q₀: the inverse right Jacobian there.
pub(crate) fn joint_difference_jacobian<T: Real>(joint: &Joint<T>, v: &[T]) -> [[T; 6]; 6] {
    let mut slope = [[T::ZERO; 6]; 6];
    match joint {
        Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Continuous { .. } => slope[0][0] = T::ONE,
        Joint::Spherical => {
            let block = lie::inverse_right_jacobian_rotation(&vector(v));
            (0..9).for_each(|k| slope[k / 3][k % 3] = block[(k / 3, k % 3)]);
        }
        Joint::Planar => {
            let block = lie::inverse_right_jacobian(&planar_motion(v));
            (0..9).for_each(|k| slope[k / 3][k % 3] = block.entry(PLANAR[k / 3], PLANAR[k % 3]));
        }
        Joint::FreeFlyer => {
            let block = lie::inverse_right_jacobian(&motion(v));
            (0..36).for_each(|k| slope[k / 6][k % 6] = block.entry(k / 6, k % 6));
        }
    }
    slope
}

/// v = q₁ ⊖ q₀ of a joint.
pub(crate) fn difference_joint<T: Real>(joint: &Joint<T>, q0: &[T], q1: &[T], v: &mut [T]) {
    match joint {
        Joint::Revolute { .. } | Joint::Prismatic { .. } => {
            let ([q0], [q1]) = (first(q0), first(q1));
            put(v, [q1 - q0]);
        }
        Joint::Continuous { .. } => put(v, [angle_between(first(q0), first(q1))]),
        Joint::Spherical => {
            let relative = multiply_quaternions(&conjugate(&first(q0)), &first(q1));
            put(v, log_quaternion(&relative).into());
        }
        Joint::Planar => {
            let [x, y, _, _, _, turn] = planar_difference(q0, q1).to_array();
            put(v, [x, y, turn]);
        }
        Joint::FreeFlyer => put(v, spatial_difference(q0, q1).to_array()),
    }
}

/// ∂(q ⊕ v) with respect to q or v, nv × nv, both tangent. Block diagonal, one block per joint.
pub fn integrate_jacobian<T: Real>(
    model: Model<'_, T>,
    v: &[T],
    argument: Argument,
    mut jacobian: MatMut<'_, T>,
) -> Result<(), InputError> {
    check_length("v", model.nv(), v.len())?;
    check_square(&model, &jacobian)?;
    jacobian.fill(T::ZERO);
    for body in model.bodies {
        let v = run(v, usize::from(body.first_v), body.joint.nv());
        let mut block = Block { matrix: &mut jacobian, first: usize::from(body.first_v) };
        match (&body.joint, argument) {
            (Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Continuous { .. }, _) => block.set(0, 0, T::ONE),
            (Joint::Spherical, Argument::From) => {
                block.set_rotation(&quaternion_to_matrix(&exp_quaternion(&vector(v))).transpose());
            }
            (Joint::Spherical, Argument::To) => block.set_rotation(&lie::right_jacobian_rotation(&vector(v))),
            (Joint::Planar, Argument::From) => {
                block.set_planar(&lie::inverse_action(&exp_placement(&planar_motion(v))))
            }
            (Joint::Planar, Argument::To) => block.set_planar(&lie::right_jacobian(&planar_motion(v))),
            (Joint::FreeFlyer, Argument::From) => block.set_spatial(&lie::inverse_action(&exp_placement(&motion(v)))),
            (Joint::FreeFlyer, Argument::To) => block.set_spatial(&lie::right_jacobian(&motion(v))),
        }
    }
    Ok(())
}

/// ∂(q₁ ⊖ q₀) with respect to q₀ (`From`) or q₁ (`To`), nv × nv, both tangent. Block diagonal.
pub fn difference_jacobian<T: Real>(
    model: Model<'_, T>,
    q0: &[T],
    q1: &[T],
    argument: Argument,
    mut jacobian: MatMut<'_, T>,
) -> Result<(), InputError> {
    check_length("q0", model.nq(), q0.len())?;
    check_length("q1", model.nq(), q1.len())?;
    check_square(&model, &jacobian)?;
    jacobian.fill(T::ZERO);
    // ∂/∂q₀ is minus the inverse *left* Jacobian, which is the right one of the opposite vector.
    let sign = if argument == Argument::From { -T::ONE } else { T::ONE };
    for body in model.bodies {
        let (first_q, nq) = (usize::from(body.first_q), body.joint.nq());
        let (q0, q1) = (run(q0, first_q, nq), run(q1, first_q, nq));
        let mut block = Block { matrix: &mut jacobian, first: usize::from(body.first_v) };
        match &body.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Continuous { .. } => block.set(0, 0, sign),
            Joint::Spherical => {
                let relative = multiply_quaternions(&conjugate(&first(q0)), &first(q1));
                let phi = log_quaternion(&relative) * sign;
                block.set_rotation(&(lie::inverse_right_jacobian_rotation(&phi) * sign));
            }
            Joint::Planar => {
                let xi = planar_difference(q0, q1) * sign;
                block.set_planar(&(lie::inverse_right_jacobian(&xi) * sign));
            }
            Joint::FreeFlyer => {
                let xi = spatial_difference(q0, q1) * sign;
                block.set_spatial(&(lie::inverse_right_jacobian(&xi) * sign));
            }
        }
    }
    Ok(())
}

/// A joint's diagonal block of an nv × nv matrix.
struct Block<'b, 'a, T> {
    matrix: &'b mut MatMut<'a, T>,
    first: usize,
}

impl<T: Real> Block<'_, '_, T> {
    fn set(&mut self, i: usize, j: usize, value: T) {
        self.matrix[(self.first + i, self.first + j)] = value;
    }

    fn set_rotation(&mut self, m: &nalgebra::Matrix3<T>) {
        for i in 0..3 {
            for j in 0..3 {
                self.set(i, j, m[(i, j)]);
            }
        }
    }

    fn set_planar(&mut self, m: &BlockTriangular<T>) {
        for (i, row) in PLANAR.into_iter().enumerate() {
            for (j, col) in PLANAR.into_iter().enumerate() {
                self.set(i, j, m.entry(row, col));
            }
        }
    }

    fn set_spatial(&mut self, m: &BlockTriangular<T>) {
        for i in 0..6 {
            for j in 0..6 {
                self.set(i, j, m.entry(i, j));
            }
        }
    }
}

fn check_square<T: Real>(model: &Model<'_, T>, jacobian: &MatMut<'_, T>) -> Result<(), InputError> {
    check_length("jacobian rows", model.nv(), jacobian.rows())?;
    check_length("jacobian columns", model.nv(), jacobian.cols())
}

fn vector<T: Real>(x: &[T]) -> Vector3<T> {
    Vector3::from(first::<T, 3>(x))
}

fn motion<T: Real>(v: &[T]) -> Motion<T> {
    let [a, b, c, d, e, f] = first(v);
    Motion::new(Vector3::new(a, b, c), Vector3::new(d, e, f))
}

fn planar_motion<T: Real>(v: &[T]) -> Motion<T> {
    let [x, y, turn] = first(v);
    Motion::new(Vector3::new(x, y, T::ZERO), Vector3::new(T::ZERO, T::ZERO, turn))
}

/// Position and orientation of a free body.
fn pose<T: Real>(q: &[T]) -> (Vector3<T>, Quaternion<T>) {
    let [x, y, z, a, b, c, d] = first(q);
    (Vector3::new(x, y, z), [a, b, c, d])
}

fn exp_placement<T: Real>(xi: &Motion<T>) -> Placement<T> {
    Placement::new(quaternion_to_matrix(&exp_quaternion(&xi.angular)), exp_translation(xi))
}

/// (cos, sin) turned by an angle, pulled back to unit length to first order so that rounding does not add up.
fn turned<T: Real>(cos: T, sin: T, angle: T) -> [T; 2] {
    let (s, c) = angle.sin_cos();
    let (cos, sin) = (cos * c - sin * s, sin * c + cos * s);
    let scale = T::from_f64(1.5) - T::from_f64(0.5) * (cos * cos + sin * sin);
    [cos * scale, sin * scale]
}

/// The product of unit quaternions, pulled back to unit length to first order so that rounding does not add up.
fn renormalized<T: Real>(q: Quaternion<T>) -> Quaternion<T> {
    let square = q.iter().fold(T::ZERO, |sum, &x| x.mul_add(x, sum));
    let scale = T::from_f64(1.5) - T::from_f64(0.5) * square;
    q.map(|x| x * scale)
}

fn angle_between<T: Real>([c0, s0]: [T; 2], [c1, s1]: [T; 2]) -> T {
    (c0 * s1 - s0 * c1).atan2(c0 * c1 + s0 * s1)
}

fn planar_difference<T: Real>(q0: &[T], q1: &[T]) -> Motion<T> {
    let ([x0, y0, cos0, sin0], [x1, y1, cos1, sin1]) = (first(q0), first(q1));
    let half = angle_between([cos0, sin0], [cos1, sin1]) * T::from_f64(0.5);
    let (sin, cos) = half.sin_cos();
    let (dx, dy) = (x1 - x0, y1 - y0);
    let local = Vector3::new(cos0 * dx + sin0 * dy, cos0 * dy - sin0 * dx, T::ZERO);
    log_placement(&[T::ZERO, T::ZERO, sin, cos], &local)
}

fn spatial_difference<T: Real>(q0: &[T], q1: &[T]) -> Motion<T> {
    let ((start, from), (end, to)) = (pose(q0), pose(q1));
    let relative = multiply_quaternions(&conjugate(&from), &to);
    log_placement(&relative, &multiply_transposed(&quaternion_to_matrix(&from), &(end - start)))
}
