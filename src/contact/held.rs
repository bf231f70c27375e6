//! What sticks is eliminated; limits and dry friction are left, as a [`Program`](super::bounded::Program).

use super::bounded::{Bounded, Program};
use super::problem::project_to_law;
use super::reduced::{Linear, is_symmetric};
use super::{Mode, Problem, Scratch};
use crate::linalg::{MatMut, MatRef, eliminate_in_blocks, padded, partial_dot};
use crate::memory::{run, run_mut};
use crate::scalar::Real;

/// Moves `impulses` to where limits and dry friction obey their laws while contacts stick or break as they do now;
/// `velocity` is theirs, and no longer so afterwards. False where a contact slides, or nothing is bounded. O(rows³ / 6).
pub(super) fn solve<T: Real>(
    problem: &Problem<'_, T>,
    [tolerance, proximal]: [T; 2],
    (impulses, velocity): (&mut [T], &mut [T]),
    scratch: &mut Scratch<'_, T>,
) -> bool {
    let Scratch { linear, exchanges, matrix, step, program, .. } = scratch;
    let linear = run_mut(linear, 0, problem.constraints.len());
    for (linear, constraint) in linear.iter_mut().zip(problem.constraints) {
        *linear = Linear::identify(constraint, problem.stiffness(constraint), impulses, velocity);
    }
    if !is_symmetric(problem.constraints, linear) {
        return false;
    }
    let rows = run_mut(exchanges, 0, problem.rows());
    let [held, count] = list_rows(problem, linear, rows, (impulses, velocity));
    let (rows, step, stride) = (run(rows, 0, count), run_mut(step, 0, count), padded(count));
    if held == count {
        return false;
    }
    write_matrix(problem, rows, matrix);
    for (right, row) in step.iter_mut().zip(rows) {
        *right = velocity.get(usize::from(*row)).map_or(T::ZERO, |sigma| -*sigma);
    }
    for ((k, row), out) in rows.iter().enumerate().take(held).zip(matrix.chunks_mut(stride.max(1))) {
        if let Some(pivot) = out.get_mut(k) {
            *pivot += proximal * unit(problem, *row);
        }
    }
    if eliminate_in_blocks(MatMut::with_stride(matrix, count, count, stride), held).is_err() {
        return false;
    }
    let factor = MatRef::with_stride(matrix, held, count, stride);
    substitute_forward(factor, step);
    if !write_program(problem, (rows, held), (impulses, step), program) {
        return false;
    }
    let Some((_, memory)) = matrix.split_at_mut_checked(held * stride) else { return false };
    let schur = memory.get(held..).unwrap_or(&[]);
    program.set_matrix(MatRef::with_stride(schur, count - held, count - held, stride));
    program.solve(tolerance, proximal, memory);
    for ((step, row), impulse) in step.iter_mut().zip(rows).skip(held).zip(program.impulses()) {
        let Some(before) = impulses.get_mut(usize::from(*row)) else { continue };
        *step = *impulse - *before;
        *before = *impulse;
    }
    substitute_back(MatRef::with_stride(matrix, held, count, stride), step);
    for (step, row) in step.iter().zip(rows).take(held) {
        if let Some(impulse) = impulses.get_mut(usize::from(*row)) {
            *impulse += *step;
        }
    }
    true
}

/// Rows of what sticks, then those of bounded laws; how many of the former, and of both. Impulses are put where bounds
/// allow them; what breaks has none, and no row.
fn list_rows<T: Real>(
    problem: &Problem<'_, T>,
    linear: &[Linear<T>],
    rows: &mut [u16],
    (impulses, velocity): (&mut [T], &mut [T]),
) -> [usize; 2] {
    let mut counts = [0; 2];
    for bounded in [false, true] {
        for (constraint, linear) in problem.constraints.iter().zip(linear) {
            if bounded != constraint.law.bounds().is_some() {
                continue;
            }
            let breaks = !bounded && linear.mode == Mode::Break;
            for row in constraint.rows() {
                let now = impulses.get(row).copied().unwrap_or(T::ZERO);
                let impulse = if breaks { T::ZERO } else { project_to_law(now, &constraint.law) };
                problem.set_impulse(row, impulse, impulses, velocity);
                if let Some(place) = rows.get_mut(counts[1]).filter(|_| !breaks) {
                    *place = row as u16;
                    counts[1] += 1;
                }
            }
        }
        counts[0] = if bounded { counts[0] } else { counts[1] };
    }
    counts
}

/// The upper triangle of G by the rows.
fn write_matrix<T: Real>(problem: &Problem<'_, T>, rows: &[u16], matrix: &mut [T]) {
    for ((k, from), out) in rows.iter().enumerate().zip(matrix.chunks_mut(padded(rows.len()).max(1))) {
        let source = problem.delassus.row(usize::from(*from));
        for (out, column) in out.iter_mut().zip(rows).skip(k) {
            *out = source.get(usize::from(*column)).copied().unwrap_or(T::ZERO);
        }
    }
}

/// x ← U⁻ᵀ x for the rows of U, and what these leave of the rest of x.
fn substitute_forward<T: Real>(factor: MatRef<'_, T>, x: &mut [T]) {
    for i in 0..factor.rows() {
        let Some((first, later)) = x.get_mut(i..).and_then(|x| x.split_first_mut()) else { return };
        let Some((pivot, row)) = factor.row(i).get(i..).and_then(|row| row.split_first()) else { return };
        *first /= *pivot;
        let minus = -*first;
        for (x, u) in later.iter_mut().zip(row) {
            *x = minus.mul_add(*u, *x);
        }
    }
}

/// Solves U x = y for the first numbers, which are y; the others are known.
fn substitute_back<T: Real>(factor: MatRef<'_, T>, x: &mut [T]) {
    for i in (0..factor.rows()).rev() {
        let Some((first, later)) = x.get_mut(i..).and_then(|x| x.split_first_mut()) else { return };
        let Some((pivot, row)) = factor.row(i).get(i..).and_then(|row| row.split_first()) else { return };
        *first = (*first - partial_dot(row, later)) / *pivot;
    }
}

/// The rows of the program; false if it has no room for them.
fn write_program<T: Real>(
    problem: &Problem<'_, T>,
    (rows, held): (&[u16], usize),
    (impulses, right): (&[T], &[T]),
    program: &mut Program<'_, T>,
) -> bool {
    program.clear();
    let bounded = problem.constraints.iter().filter_map(|constraint| constraint.law.bounds());
    rows.iter().zip(right).skip(held).zip(bounded).all(|((row, right), range)| {
        let impulse = impulses.get(usize::from(*row)).copied().unwrap_or(T::ZERO);
        program.push(&Bounded { impulse, range, slope: -*right, unit: unit(problem, *row) })
    })
}

/// Velocity per impulse of a row alone.
fn unit<T: Real>(problem: &Problem<'_, T>, row: u16) -> T {
    let row = usize::from(row);
    problem.delassus.row(row).get(row).copied().unwrap_or(T::ONE)
}
