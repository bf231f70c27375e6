//! The system of the active modes: three unknowns per sticking contact, two per sliding one (Simple 2025, Eq. 11, 26).
//!
//! A sliding impulse stays on the cone: λ = λ_N (μ d, 1) + y (p, 0), with d the direction of friction and p across it.
//! Its two equations are σ_N = 0 and (1 − κ) y + κ ρ p·σ_T = 0, with κ = μ z_N / ‖z_T‖ of z = λ − ρ σ: one Newton step
//! of Alart and Curnier's function. At a solution (1 − κ) / (κ ρ) = ‖σ_T‖ / (μ λ_N), the paper's α. Every equation is
//! multiplied by ρ, so that all entries are near one (Alart 1991).

use super::problem::triple;
use super::{Constraint, Law, Mode, Problem};
use crate::linalg::{MatMut, padded, partial_dot};
use crate::memory::{Values, copy, first, rest, rest_mut, run, run_mut, within};
use crate::scalar::Real;

/// A law, linearized: what its unknowns and equations are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Linear<T> {
    pub mode: Mode,
    /// Where its unknowns start in the reduced system.
    pub first: u16,
    /// ρ.
    pub stiffness: T,
    /// d, of a sliding contact; λ = d₀ · bound for dry friction on its bound.
    pub direction: [T; 2],
    /// κ of a sliding contact, in (0, 1).
    pub kappa: T,
    /// How far λ − ρ σ is from another mode.
    pub margin: T,
}

impl<T: Real> Default for Linear<T> {
    fn default() -> Self {
        Self {
            mode: Mode::Break,
            first: 0,
            stiffness: T::ONE,
            direction: [T::ONE, T::ZERO],
            kappa: T::ONE,
            margin: T::ZERO,
        }
    }
}

impl<T: Real> Linear<T> {
    /// The mode that λ and σ point to.
    pub fn identify(constraint: &Constraint<T>, stiffness: T, impulses: &[T], velocity: &[T]) -> Self {
        let plain = Self { stiffness, ..Self::default() };
        let row = usize::from(constraint.first_row);
        match constraint.law {
            Law::Contact { friction } => {
                let (lambda, sigma) = (triple(impulses, constraint), triple(velocity, constraint));
                plain.identify_contact(core::array::from_fn(|k| lambda[k] - stiffness * sigma[k]), friction)
            }
            Law::Unilateral => {
                let z = impulses.at(row) - stiffness * velocity.at(row);
                Self { mode: if z > T::ZERO { Mode::Stick } else { Mode::Break }, margin: z.abs(), ..plain }
            }
            Law::DryFriction { bound } => {
                let z = impulses.at(row) - stiffness * velocity.at(row);
                let sign = if z > T::ZERO { T::ONE } else { -T::ONE };
                let mode = if z.abs() < bound { Mode::Stick } else { Mode::Slide };
                Self { mode, direction: [sign, T::ZERO], margin: (z.abs() - bound).abs(), ..plain }
            }
            Law::Bilateral => Self { mode: Mode::Stick, margin: T::from_f64(f64::INFINITY), ..plain },
        }
    }

    /// From z = λ − ρ σ.
    fn identify_contact(self, z: [T; 3], friction: T) -> Self {
        if z[2] <= T::ZERO {
            return Self { mode: Mode::Break, margin: -z[2], ..self };
        }
        let tangent = super::problem::tangential_norm(&z);
        if tangent <= friction * z[2] {
            return Self { mode: Mode::Stick, margin: (friction * z[2] - tangent).min(z[2]), ..self };
        }
        let direction = [z[0] / tangent, z[1] / tangent];
        let margin = (tangent - friction * z[2]).min(z[2]);
        Self { mode: Mode::Slide, direction, kappa: friction * z[2] / tangent, margin, ..self }
    }

    /// Unknowns in the reduced system.
    #[inline(always)]
    pub fn unknowns(&self, law: &Law<T>) -> usize {
        match (law, self.mode) {
            (_, Mode::Break) | (Law::DryFriction { .. }, Mode::Slide) => 0,
            (Law::Contact { .. }, Mode::Stick) => 3,
            (Law::Contact { .. }, Mode::Slide) => 2,
            _ => 1,
        }
    }

    /// p, across the direction of friction.
    #[inline(always)]
    fn across(&self) -> [T; 2] {
        [-self.direction[1], self.direction[0]]
    }

    /// The impulses of a constraint, moved to where its mode allows them.
    #[inline(always)]
    pub fn confined(&self, constraint: &Constraint<T>, impulses: &[T]) -> [T; 3] {
        let (o, lambda) = (T::ZERO, within(impulses, constraint.rows()));
        match (&constraint.law, self.mode, lambda) {
            (_, Mode::Break, _) => [o; 3],
            (Law::DryFriction { bound }, Mode::Slide, _) => [self.direction[0] * *bound, o, o],
            (&Law::Contact { friction }, Mode::Slide, &[x, y, normal]) => {
                let p = self.across();
                let across = p[0].mul_add(x, p[1] * y);
                let along = friction * normal;
                let tangent = |k: usize| self.direction[k].mul_add(along, p[k] * across);
                [tangent(0), tangent(1), normal]
            }
            (_, _, &[x, y, normal]) => [x, y, normal],
            _ => [lambda.first().copied().unwrap_or(o), o, o],
        }
    }

    /// B x: the equations' share of three velocities (or one) `x`, into `out`.
    #[inline(always)]
    pub fn equations(&self, law: &Law<T>, x: &[T], out: &mut [T]) {
        let rho = self.stiffness;
        match (law, self.mode) {
            (Law::Contact { .. }, Mode::Slide) => {
                let p = self.across();
                out.set(0, rho * x.at(2));
                out.set(1, self.kappa * rho * p[0].mul_add(x.at(0), p[1] * x.at(1)));
            }
            _ => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = rho * *x;
                }
            }
        }
    }

    /// x C: three (or one) entries of a row `x`, by the unknowns, into `out`.
    #[inline(always)]
    pub fn gather(&self, law: &Law<T>, x: &[T], out: &mut [T]) {
        match (law, self.mode) {
            (&Law::Contact { friction }, Mode::Slide) => {
                let (d, p) = (self.direction, self.across());
                out.set(0, friction.mul_add(d[0].mul_add(x.at(0), d[1] * x.at(1)), x.at(2)));
                out.set(1, p[0].mul_add(x.at(0), p[1] * x.at(1)));
            }
            _ => copy(out, x),
        }
    }

    /// λ += C x: the unknowns `x` as impulses.
    #[inline(always)]
    pub fn scatter_add(&self, law: &Law<T>, x: &[T], lambda: &mut [T]) {
        match (law, self.mode) {
            (&Law::Contact { friction }, Mode::Slide) => {
                let (d, p) = (self.direction, self.across());
                let [normal, across] = first(x);
                let along = friction * normal;
                for k in 0..2 {
                    lambda.change(k, |lambda| *lambda += d[k].mul_add(along, p[k] * across));
                }
                lambda.change(2, |lambda| *lambda += normal);
            }
            _ => {
                for (lambda, x) in lambda.iter_mut().zip(x) {
                    *lambda += *x;
                }
            }
        }
    }
}

/// Numbers the unknowns of all constraints; their count.
pub(crate) fn number_unknowns<T: Real>(constraints: &[Constraint<T>], linear: &mut [Linear<T>]) -> usize {
    let mut count = 0;
    for (linear, constraint) in linear.iter_mut().zip(constraints) {
        linear.first = count as u16;
        count += linear.unknowns(&constraint.law);
    }
    count
}

/// A = B G C + Q (Simple 2025, Eq. 26), `unknowns` × `unknowns`, rows of `padded(unknowns)`. O(rows · unknowns).
pub(crate) fn write_system<T: Real>(
    problem: &Problem<'_, T>,
    linear: &[Linear<T>],
    unknowns: usize,
    matrix: &mut [T],
    row: &mut [T],
) {
    let stride = padded(unknowns);
    let rows = problem.rows();
    for (l, constraint) in linear.iter().zip(problem.constraints) {
        let (first, law) = (usize::from(l.first), &constraint.law);
        for k in 0..l.unknowns(law) {
            combine_rows(problem, l, constraint, k, run_mut(row, 0, rows));
            let out = run_mut(matrix, (first + k) * stride, stride);
            for (m, column) in linear.iter().zip(problem.constraints) {
                let n = m.unknowns(&column.law);
                if n > 0 {
                    m.gather(&column.law, within(row, column.rows()), run_mut(out, usize::from(m.first), n));
                }
            }
            if k == 1 && l.mode == Mode::Slide {
                out.change(first + 1, |x| *x += T::ONE - l.kappa);
            }
        }
    }
}

/// Whether nothing slides along its cone: A is then ρ G, and symmetric but for ρ.
pub(super) fn is_symmetric<T: Real>(constraints: &[Constraint<T>], linear: &[Linear<T>]) -> bool {
    let slides = |(l, c): (&Linear<T>, &Constraint<T>)| l.mode == Mode::Slide && matches!(c.law, Law::Contact { .. });
    !linear.iter().zip(constraints).any(slides)
}

/// G + `proximal` / ρ and −σ by the unknowns, where nothing slides; the upper triangle. `rows[k]` gets the row of unknown
/// k. O(unknowns²).
pub(super) fn write_symmetric<T: Real>(
    problem: &Problem<'_, T>,
    linear: &[Linear<T>],
    (velocity, proximal): (&[T], T),
    rows: &mut [u16],
    matrix: &mut [T],
    right: &mut [T],
) {
    let stride = padded(rows.len());
    for (l, constraint) in linear.iter().zip(problem.constraints) {
        let at = usize::from(l.first);
        for (k, row) in (at..at + l.unknowns(&constraint.law)).zip(constraint.rows()) {
            rows.set(k, row as u16);
            right.set(k, -velocity.at(row));
            matrix.set(k * stride + k, proximal / l.stiffness);
        }
    }
    for (k, from) in rows.iter().enumerate() {
        let (source, out) = (problem.delassus.row(usize::from(*from)), run_mut(matrix, k * stride, rows.len()));
        out.change(k, |x| *x += source.at(usize::from(*from)));
        if rows.len() == problem.rows() {
            copy(rest_mut(out, k + 1), rest(source, k + 1));
        } else {
            for (out, column) in rest_mut(out, k + 1).iter_mut().zip(rest(rows, k + 1)) {
                *out = source.at(usize::from(*column));
            }
        }
    }
}

/// Equation k of a constraint as a combination of rows of G.
#[inline(always)]
fn combine_rows<T: Real>(problem: &Problem<'_, T>, l: &Linear<T>, constraint: &Constraint<T>, k: usize, row: &mut [T]) {
    let first = usize::from(constraint.first_row);
    let g = |k: usize| run(problem.delassus.row(first + k), 0, row.len());
    let rho = l.stiffness;
    match (&constraint.law, l.mode) {
        (Law::Contact { .. }, Mode::Slide) if k == 1 => {
            let p = l.across().map(|p| p * l.kappa * rho);
            let (a, b) = (g(0), g(1));
            for ((x, a), b) in row.iter_mut().zip(a).zip(b) {
                *x = p[0].mul_add(*a, p[1] * *b);
            }
        }
        (law, mode) => {
            let normal = matches!((law, mode), (Law::Contact { .. }, Mode::Slide));
            let source = g(if normal { 2 } else { k });
            for (out, g) in row.iter_mut().zip(source) {
                *out = rho * *g;
            }
        }
    }
}

/// −(B σ + Q x) at the impulses: what a step must cancel. O(rows).
pub(crate) fn write_defect<T: Real>(
    problem: &Problem<'_, T>,
    linear: &[Linear<T>],
    impulses: &[T],
    velocity: &[T],
    out: &mut [T],
) {
    for (l, constraint) in linear.iter().zip(problem.constraints) {
        let n = l.unknowns(&constraint.law);
        if n == 0 {
            continue;
        }
        let out = run_mut(out, usize::from(l.first), n);
        l.equations(&constraint.law, within(velocity, constraint.rows()), out);
        if l.mode == Mode::Slide {
            let lambda = triple(impulses, constraint);
            let y = partial_dot(&l.across(), &lambda[..2]);
            out.change(1, |out| *out += (T::ONE - l.kappa) * y);
        }
        for x in out {
            *x = -*x;
        }
    }
}

/// The reduced matrix in scratch memory.
pub(crate) fn system<T: Real>(memory: &mut [T], unknowns: usize) -> MatMut<'_, T> {
    MatMut::with_stride(memory, unknowns, unknowns, padded(unknowns))
}

/// The reduced matrix with `proximal` added to its diagonal.
pub(crate) fn regularize<T: Real>(mut matrix: MatMut<'_, T>, proximal: T) {
    for k in 0..matrix.rows() {
        matrix[(k, k)] += proximal;
    }
}
