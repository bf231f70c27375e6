//! Straight flight: the origin of a free body goes straight on while the body turns.
//!
//! The velocity of a free body is along its own axes, which turn. The step knows it along the axes at its start,
//! u = v + Δt (a + ω × v): the origin goes by Δt R u, and v⁺ is the same velocity along the axes at the end. Momentum is
//! kept so. The screw of a constant v would gain (ω Δt)²/2 of it in every step, and lift rolling bodies off the ground.

use nalgebra::{Matrix3, Vector3};

use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::memory::{Values, copy, first, rest, run, run_mut, within_mut};
use crate::model::configuration::{self, Argument};
use crate::model::{Body, Joint, Model};
use crate::scalar::Real;
use crate::spatial::Motion;
use crate::spatial::lie::{exp_quaternion, quaternion_to_matrix, right_jacobian_rotation};
use crate::spatial::vector::{compose, cross, multiply, multiply_transposed, skew};

/// A joint whose axes turn while its origin moves.
#[derive(Clone, Copy)]
pub(crate) struct Flyer {
    /// Where its degrees of freedom start in v.
    pub first_v: usize,
    first_q: usize,
    /// Directions in which the origin moves: 3, or 2 in a plane.
    pub linear: usize,
}

impl Flyer {
    /// The free and planar joints of a model.
    pub fn all<T: Real>(model: Model<'_, T>) -> impl Iterator<Item = Self> {
        model.bodies.iter().filter_map(Self::of)
    }

    fn of<T: Real>(body: &Body<T>) -> Option<Self> {
        let linear = match body.joint {
            Joint::FreeFlyer => 3,
            Joint::Planar => 2,
            _ => return None,
        };
        Some(Self { first_v: usize::from(body.first_v), first_q: usize::from(body.first_q), linear })
    }

    /// Degrees of freedom.
    pub fn dofs(&self) -> usize {
        3 * (self.linear - 1)
    }

    /// Where degree of freedom `k` stands among those of a free body.
    pub fn spatial(&self, k: usize) -> usize {
        if self.linear == 2 && k == 2 { 5 } else { k }
    }

    /// Its velocity as that of a free body.
    pub fn motion<T: Real>(&self, v: &[T]) -> Motion<T> {
        let mut six = [T::ZERO; 6];
        for k in 0..self.dofs() {
            six.set(self.spatial(k), v.at(self.first_v + k));
        }
        Motion::from_array(six)
    }

    /// Its axes.
    fn rotation<T: Real>(&self, q: &[T]) -> Matrix3<T> {
        let (o, turn) = (T::ZERO, rest(q, self.first_q + self.linear));
        if self.linear == 3 {
            quaternion_to_matrix(&first(turn))
        } else {
            let [cos, sin] = first(turn);
            Matrix3::new(cos, -sin, o, sin, cos, o, o, o, T::ONE)
        }
    }

    fn set_linear<T: Real>(&self, first: usize, linear: &Vector3<T>, out: &mut [T]) {
        copy(within_mut(out, first..first + self.linear), run(linear.as_slice(), 0, self.linear));
    }
}

/// The rotation by which a body turns in a step.
pub(crate) fn turn<T: Real>(angular: &Vector3<T>, dt_s: T) -> Matrix3<T> {
    quaternion_to_matrix(&exp_quaternion(&(angular * dt_s)))
}

/// v ← v + Δt ω × v₀: with the acceleration along turning axes, the velocity along those at the start.
pub(super) fn keep_axes<T: Real>(model: Model<'_, T>, dt_s: T, before: &[T], v: &mut [T]) {
    for flyer in Flyer::all(model) {
        let motion = flyer.motion(before);
        let linear = flyer.motion(v).linear + cross(&motion.angular, &motion.linear) * dt_s;
        flyer.set_linear(flyer.first_v, &linear, v);
    }
}

/// q⁺ = q ⊕ Δt v, where free bodies go straight; `change` is memory of nv numbers.
pub(super) fn advance<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    (q, v): (&[T], &[T]),
    q_next: &mut [T],
    change: &mut [T],
) -> Result<(), InputError> {
    for (change, v) in change.iter_mut().zip(v) {
        *change = dt_s * *v;
    }
    for flyer in Flyer::all(model) {
        run_mut(change, flyer.first_v, flyer.linear).fill(T::ZERO);
    }
    configuration::integrate(model, q, change, q_next)?;
    for flyer in Flyer::all(model) {
        let moved = multiply(&flyer.rotation(q), &(flyer.motion(v).linear * dt_s));
        for (k, moved) in moved.iter().enumerate().take(flyer.linear) {
            q_next.change(flyer.first_q + k, |x| *x += *moved);
        }
    }
    Ok(())
}

/// ∂q⁺ of a step that ends with velocity `v_next`, nv × nv, by tangent vectors: with respect to q at that velocity
/// (`From`), or with respect to the velocity, Δt included (`To`). Block diagonal, one block per joint.
///
/// With F = ∂v⁺/∂(q, v, u) from [`differentiate`](crate::derivatives::differentiate), the whole derivative of q⁺ is
/// [`From`, 0, 0] + `To` F.
pub fn advance_jacobian<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    v_next: &[T],
    argument: Argument,
    mut jacobian: MatMut<'_, T>,
) -> Result<(), InputError> {
    check_length("v", model.nv(), v_next.len())?;
    check_length("the Jacobian's rows", model.nv(), jacobian.rows())?;
    check_length("the Jacobian's columns", model.nv(), jacobian.cols())?;
    jacobian.fill(T::ZERO);
    let one_axis = if argument == Argument::To { dt_s } else { T::ONE };
    for body in model.bodies {
        let (first, n) = (usize::from(body.first_v), body.joint.nv());
        if n == 1 {
            jacobian[(first, first)] = one_axis;
            continue;
        }
        let advance = JointAdvance::new(body, dt_s, v_next);
        let block = if argument == Argument::To { advance.by_v } else { advance.by_q };
        for (i, row) in block.iter().take(n).enumerate() {
            copy(run_mut(jacobian.row_mut(first + i), first, n), run(row, 0, n));
        }
    }
    Ok(())
}

/// Axes of a free joint, the most that a joint has.
pub(crate) const MOST_AXES: usize = 6;

/// ∂q⁺ of one joint of several axes; zero beyond its axes.
pub(crate) struct JointAdvance<T> {
    /// By q, at the velocity after the step.
    pub by_q: [[T; MOST_AXES]; MOST_AXES],
    /// By that velocity, Δt included.
    pub by_v: [[T; MOST_AXES]; MOST_AXES],
}

impl<T: Real> JointAdvance<T> {
    /// Of a joint in a step that ends with velocity `v_next`.
    pub fn new(body: &Body<T>, dt_s: T, v_next: &[T]) -> Self {
        let Some(flyer) = Flyer::of(body) else { return Self::ball(body, dt_s, v_next) };
        let motion = flyer.motion(v_next);
        let (phi, back) = (motion.angular * dt_s, turn(&motion.angular, dt_s).transpose());
        let (right, swing) = (right_jacobian_rotation(&phi) * dt_s, skew(&motion.linear));
        let block = |linear: &Matrix3<T>, angular: &Matrix3<T>| {
            let coupling = compose(&swing, angular) * -dt_s;
            let entry = |row: usize, column: usize| {
                let block = match (row < 3, column < 3) {
                    (true, true) => linear,
                    (true, false) => &coupling,
                    (false, true) => return T::ZERO,
                    (false, false) => angular,
                };
                block.get((row % 3, column % 3)).copied().unwrap_or(T::ZERO)
            };
            let mut block = [[T::ZERO; MOST_AXES]; MOST_AXES];
            for (i, row) in block.iter_mut().take(flyer.dofs()).enumerate() {
                for (j, x) in row.iter_mut().take(flyer.dofs()).enumerate() {
                    *x = entry(flyer.spatial(i), flyer.spatial(j));
                }
            }
            block
        };
        Self { by_q: block(&back, &back), by_v: block(&(Matrix3::identity() * dt_s), &right) }
    }

    /// A joint that only turns.
    fn ball(body: &Body<T>, dt_s: T, v_next: &[T]) -> Self {
        let [x, y, z] = first(run(v_next, usize::from(body.first_v), 3));
        let angular = Vector3::new(x, y, z);
        let block = |turn: &Matrix3<T>| {
            let mut block = [[T::ZERO; MOST_AXES]; MOST_AXES];
            for (row, from) in block.iter_mut().zip(turn.row_iter()) {
                row.iter_mut().zip(&from).for_each(|(x, from)| *x = *from);
            }
            block
        };
        let right = right_jacobian_rotation(&(angular * dt_s)) * dt_s;
        Self { by_q: block(&turn(&angular, dt_s).transpose()), by_v: block(&right) }
    }
}

/// The same velocities along the axes that the bodies have turned to.
pub(crate) fn turn_axes<T: Real>(model: Model<'_, T>, dt_s: T, v: &mut [T]) {
    for flyer in Flyer::all(model) {
        let motion = flyer.motion(v);
        let linear = multiply_transposed(&turn(&motion.angular, dt_s), &motion.linear);
        flyer.set_linear(flyer.first_v, &linear, v);
    }
}
