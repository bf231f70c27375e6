//! The laws, rounded: λ = Π(λ − ρ σ) with every kink of the projection Π drawn out over an impulse `width`.
//!
//! Max(z, 0) becomes (z + √(z² + 4w²)) / 2 (Chen, Harker, Kanzow and Smale), a clamp to ±b the difference of two of
//! those, and the disc of friction a clamp of the radius. A Newton step then feels the modes next to the present one
//! instead of cycling among them; as w → 0 it becomes the step of [`reduced`](super::reduced).

use super::{Constraint, Law, Problem};
use crate::linalg::padded;
use crate::memory::{Values, rest_mut, run_mut};
use crate::scalar::Real;

/// Below this share of an impulse's freedom its constraint counts as decided: the impulse is set, not solved for.
const DECIDED: f64 = 1e-6;
/// ρ of limits and dry friction over one over their entry of G, which forgets that feet on the ground stiffen the joints.
const JOINT_STIFFNESS: f64 = 3.0;

/// A law at a point: where Π puts the impulse, and how that moves with λ − ρ σ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded<T> {
    /// Π(λ − ρ σ).
    pub target: [T; 3],
    /// D = ∂Π.
    pub slope: [[T; 3]; 3],
    /// ρ.
    pub stiffness: T,
}

impl<T: Real> Rounded<T> {
    /// At an impulse and a velocity, of which `at` gives those of one row.
    #[inline(always)]
    pub fn new(problem: &Problem<'_, T>, constraint: &Constraint<T>, width: T, at: impl Fn(usize) -> (T, T)) -> Self {
        let o = T::ZERO;
        let mut rounded = Self { target: [o; 3], slope: [[o; 3]; 3], stiffness: problem.stiffness(constraint) };
        if !matches!(constraint.law, Law::Contact { .. } | Law::Bilateral) {
            rounded.stiffness *= T::from_f64(JOINT_STIFFNESS);
        }
        let first = usize::from(constraint.first_row);
        let z = |k: usize| {
            let (lambda, sigma) = at(first + k);
            lambda - rounded.stiffness * sigma
        };
        match constraint.law {
            Law::Contact { friction } => rounded.set_contact([z(0), z(1), z(2)], friction, width),
            Law::Unilateral => (rounded.target[0], rounded.slope[0][0]) = positive(z(0), width),
            Law::DryFriction { bound } => {
                let ([target, slope, _], side) = (clamped(z(0).abs(), bound, width.min(bound)), z(0) < o);
                rounded.target[0] = if side { -target } else { target };
                rounded.slope[0][0] = slope;
            }
            Law::Bilateral => (rounded.target[0], rounded.slope[0][0]) = (z(0), T::ONE),
        }
        rounded
    }

    #[inline(always)]
    fn set_contact(&mut self, z: [T; 3], friction: T, width: T) {
        let (normal, by_normal) = positive(z[2], width);
        let length = super::problem::tangential_norm(&z);
        let [along, by_length, by_radius] = clamped(length, friction * normal, width);
        // A point without length has no direction; the clamp is as steep every way there.
        let (d, across) = if length > T::ZERO {
            ([z[0] / length, z[1] / length], along / length)
        } else {
            ([T::ONE, T::ZERO], by_length)
        };
        let (p, coupling) = ([-d[1], d[0]], friction * by_radius * by_normal);
        for i in 0..2 {
            self.target[i] = along * d[i];
            for j in 0..2 {
                self.slope[i][j] = (by_length * d[i]).mul_add(d[j], across * p[i] * p[j]);
            }
            self.slope[i][2] = coupling * d[i];
        }
        (self.target[2], self.slope[2][2]) = (normal, by_normal);
    }

    /// Whether its impulse hardly depends on the velocity any more.
    #[inline(always)]
    pub fn is_decided(&self, law: &Law<T>) -> bool {
        let (slope, small) = (&self.slope, T::from_f64(DECIDED));
        match law {
            Law::Contact { .. } => slope[2][2] < small && slope[0][0] < small && slope[1][1] < small,
            _ => slope[0][0] < small,
        }
    }
}

/// Max(z, 0) and its slope.
#[inline(always)]
fn positive<T: Real>(z: T, width: T) -> (T, T) {
    let half = T::from_f64(0.5);
    let root = hypotenuse(z, width);
    if root > T::ZERO { (half * (z + root), half * (T::ONE + z / root)) } else { (T::ZERO, T::ZERO) }
}

/// Min(t, r) for t ≥ 0, its slope by t and its slope by r.
#[inline(always)]
fn clamped<T: Real>(t: T, r: T, width: T) -> [T; 3] {
    let half = T::from_f64(0.5);
    let (far, near) = (hypotenuse(t + r, width), hypotenuse(t - r, width));
    if !(r > T::ZERO && far > T::ZERO) {
        return [T::ZERO; 3];
    }
    let outer = (t + r) / far;
    let inner = if near > T::ZERO { (t - r) / near } else { T::ONE };
    [half * (far - near), half * (outer - inner), half * (outer + inner)]
}

/// √(x² + 4w²).
#[inline(always)]
fn hypotenuse<T: Real>(x: T, width: T) -> T {
    let twice = width + width;
    x.mul_add(x, twice * twice).sqrt()
}

/// ‖λ − Π(λ − ρ σ)‖ at λ + t Δλ, whose velocities are σ + t G Δλ. O(rows).
#[inline(never)]
pub(super) fn error<T: Real>(
    problem: &Problem<'_, T>,
    width: T,
    (impulses, velocity): (&[T], &[T]),
    (step, change): (&[T], &[T]),
    length: T,
) -> T {
    let mut sum = T::ZERO;
    let at =
        |row: usize| (length.mul_add(step.at(row), impulses.at(row)), length.mul_add(change.at(row), velocity.at(row)));
    for constraint in problem.constraints {
        let rounded = Rounded::new(problem, constraint, width, at);
        for (row, target) in constraint.rows().zip(rounded.target) {
            let error = at(row).0 - target;
            sum = error.mul_add(error, sum);
        }
    }
    sum.sqrt()
}

/// Sets the impulses of decided constraints, and the velocities with them; numbers the unknowns of the others. Their
/// count.
#[inline(never)]
pub(super) fn decide<T: Real>(
    problem: &Problem<'_, T>,
    width: T,
    impulses: &mut [T],
    velocity: &mut [T],
    mut number: impl FnMut(usize, Option<usize>),
) -> usize {
    let mut unknowns = 0;
    for (index, constraint) in problem.constraints.iter().enumerate() {
        let rounded = Rounded::new(problem, constraint, width, |row| (impulses.at(row), velocity.at(row)));
        if rounded.is_decided(&constraint.law) {
            for (row, target) in constraint.rows().zip(rounded.target) {
                problem.set_impulse(row, target, impulses, velocity);
            }
            number(index, None);
        } else {
            number(index, Some(unknowns));
            unknowns += constraint.law.rows();
        }
    }
    unknowns
}

/// I − D + ρ D G and −(λ − Π(λ − ρ σ)), by the unknowns that `first` numbers; `rows[k]` gets the row of unknown k.
/// Gives the size of the latter. O(rows · unknowns).
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn write_system<T: Real>(
    problem: &Problem<'_, T>,
    width: T,
    (impulses, velocity): (&[T], &[T]),
    first: impl Fn(usize) -> Option<usize>,
    rows: &mut [u16],
    matrix: &mut [T],
    right: &mut [T],
    row: &mut [T],
) -> T {
    let (unknowns, stride) = (rows.len(), padded(rows.len()));
    for (index, constraint) in problem.constraints.iter().enumerate() {
        let Some(at) = first(index) else { continue };
        for (unknown, row) in rest_mut(rows, at).iter_mut().zip(constraint.rows()) {
            *unknown = row as u16;
        }
    }
    let mut sum = T::ZERO;
    for (index, constraint) in problem.constraints.iter().enumerate() {
        let Some(at) = first(index) else { continue };
        let rounded = Rounded::new(problem, constraint, width, |row| (impulses.at(row), velocity.at(row)));
        let n = constraint.law.rows();
        for i in 0..n {
            let out = run_mut(matrix, (at + i) * stride, unknowns);
            let slope = &rounded.slope[i][..n];
            if unknowns == problem.rows() {
                combine_rows(problem, constraint, slope, rounded.stiffness, out);
            } else {
                combine_rows(problem, constraint, slope, rounded.stiffness, row);
                for (out, from) in out.iter_mut().zip(&*rows) {
                    *out = row.at(usize::from(*from));
                }
            }
            for j in 0..n {
                let identity = if i == j { T::ONE } else { T::ZERO };
                out.change(at + j, |x| *x += identity - rounded.slope[i][j]);
            }
            let open = rounded.target[i] - impulses.at(usize::from(constraint.first_row) + i);
            right.set(at + i, open);
            sum = open.mul_add(open, sum);
        }
    }
    sum.sqrt()
}

/// ρ Σ Dᵢⱼ Gⱼ.
#[inline(always)]
fn combine_rows<T: Real>(problem: &Problem<'_, T>, constraint: &Constraint<T>, slope: &[T], rho: T, row: &mut [T]) {
    let g = |k: usize| problem.delassus.row(usize::from(constraint.first_row) + k);
    if let &[a, b, c] = slope {
        let (a, b, c) = (rho * a, rho * b, rho * c);
        for (out, ((x, y), z)) in row.iter_mut().zip(g(0).iter().zip(g(1)).zip(g(2))) {
            *out = c.mul_add(*z, b.mul_add(*y, a * *x));
        }
    } else if let Some(&a) = slope.first() {
        let a = rho * a;
        for (out, x) in row.iter_mut().zip(g(0)) {
            *out = a * *x;
        }
    }
}
