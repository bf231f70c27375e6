//! The contact solvers, by name.

use clap::ValueEnum;
use saltus::contact::{Admm, GaussSeidel, Newton, Outcome, Problem, Scratch, Solution, Solver, Stop};
use serde::Serialize;

/// What finds the contact impulses.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Semismooth Newton on the active modes: exact, the default.
    Newton,
    /// Projected Gauss–Seidel: slow in the end.
    GaussSeidel,
    /// Alternating directions of multipliers.
    Admm,
}

impl Method {
    /// With default settings.
    pub fn build(self) -> AnySolver {
        match self {
            Self::Newton => AnySolver::Newton(Newton::default()),
            Self::GaussSeidel => AnySolver::GaussSeidel(GaussSeidel::default()),
            Self::Admm => AnySolver::Admm(Admm::default()),
        }
    }
}

/// A solver that is chosen when the program runs.
#[derive(Clone, Copy, Debug)]
pub enum AnySolver {
    Newton(Newton<f64>),
    GaussSeidel(GaussSeidel<f64>),
    Admm(Admm<f64>),
}

impl Solver<f64> for AnySolver {
    fn solve_until(
        &self,
        problem: &Problem<'_, f64>,
        solution: Solution<'_, f64>,
        scratch: &mut Scratch<'_, f64>,
        stop: Stop<'_>,
    ) -> Outcome<f64> {
        match self {
            Self::Newton(solver) => solver.solve_until(problem, solution, scratch, stop),
            Self::GaussSeidel(solver) => solver.solve_until(problem, solution, scratch, stop),
            Self::Admm(solver) => solver.solve_until(problem, solution, scratch, stop),
        }
    }
}
