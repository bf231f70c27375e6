//! What the inverse problems share: Gauss–Newton through the step, and a plot of how it converges.

#![allow(dead_code, reason = "each user of this module takes its own part")]

pub mod plot;
pub mod poses;
pub mod throw;

use std::time::Instant;

use nalgebra::{DMatrix, DVector};
use saltus::contact::Newton;
use saltus::derivatives::{Derivatives, differentiate};
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::step::{NextState, Simulator, Step, StepDims, StepError, StepInput, StepSettings, step};

/// Contact points that fit.
const CONTACTS: usize = 48;
/// Residual of the contact solver: what is left of an inverse problem cannot be less.
const SOLVER_TOLERANCE: f64 = 1e-13;
/// To get there where friction is just at its bound: many iterations, and no more added to the diagonal than may remain.
const SOLVER_ITERATIONS: u16 = 200;
/// Added to the diagonal of JᵀJ, over its largest entry, at least: controls that do nothing stay as they are.
const LEAST_DAMPING: f64 = 1e-12;
/// A step that makes things worse is tried again with ten times the damping, at most so often.
const TRIES: usize = 14;

/// Where the slopes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// `differentiate`.
    Exact,
    /// Forward differences, one step of the simulation for each number.
    Differences,
}

/// How a search went.
#[derive(Clone, Debug)]
pub struct Search {
    /// What was found.
    pub found: DVector<f64>,
    /// Largest residual before each iteration, and after the last.
    pub residuals: Vec<f64>,
    /// Of all iterations.
    pub seconds: f64,
}

impl Search {
    /// Iterations that were taken.
    pub fn iterations(&self) -> usize {
        self.residuals.len() - 1
    }

    /// At the end.
    pub fn residual(&self) -> f64 {
        self.residuals[self.iterations()]
    }
}

/// Gauss–Newton, damped where it must be (Levenberg and Marquardt): `residual` at a point, and `slope` there, until within `tolerance`.
pub fn gauss_newton(
    start: DVector<f64>,
    (tolerance, iterations): (f64, usize),
    mut residual: impl FnMut(&DVector<f64>) -> Result<DVector<f64>, StepError>,
    mut slope: impl FnMut(&DVector<f64>, &DVector<f64>) -> Result<DMatrix<f64>, StepError>,
) -> Result<Search, StepError> {
    let begin = Instant::now();
    let (mut x, mut r) = (start.clone(), residual(&start)?);
    let (mut residuals, mut damping) = (vec![r.amax()], LEAST_DAMPING);
    while r.amax() > tolerance && residuals.len() <= iterations {
        let jacobian = slope(&x, &r)?;
        let (normal, descent) = (jacobian.transpose() * &jacobian, -(jacobian.transpose() * &r));
        let scale = normal.diagonal().amax().max(f64::MIN_POSITIVE);
        for _ in 0..TRIES {
            let mut damped = normal.clone();
            (0..damped.nrows()).for_each(|k| damped[(k, k)] += damping * scale);
            let Some(factor) = damped.cholesky() else { break };
            let there = &x + factor.solve(&descent);
            let next = residual(&there)?;
            if next.norm() < r.norm() {
                (x, r, damping) = (there, next, (0.01 * damping).max(LEAST_DAMPING));
                break;
            }
            damping *= 10.0;
        }
        residuals.push(r.amax());
    }
    Ok(Search { found: x, residuals, seconds: begin.elapsed().as_secs_f64() })
}

/// Forward differences of a residual.
pub fn differences(
    x: &DVector<f64>,
    here: &DVector<f64>,
    mut residual: impl FnMut(&DVector<f64>) -> Result<DVector<f64>, StepError>,
) -> Result<DMatrix<f64>, StepError> {
    const STEP: f64 = 1e-6;
    let mut jacobian = DMatrix::zeros(here.len(), x.len());
    for k in 0..x.len() {
        let mut moved = x.clone();
        moved[k] += STEP;
        jacobian.set_column(k, &((residual(&moved)? - here) / STEP));
    }
    Ok(jacobian)
}

/// Steps of the inverse problems: as by default, but to the last digit.
pub fn settings() -> StepSettings<f64> {
    let solver = Newton {
        tolerance: SOLVER_TOLERANCE,
        proximal: SOLVER_TOLERANCE,
        iterations: SOLVER_ITERATIONS,
        ..Newton::default()
    };
    StepSettings { solver, ..StepSettings::default() }
}

/// Controls that hold a robot still in a pose: v⁺(q, 0, u) = 0, from u = 0.
pub fn hold_still(model: Model<'_, f64>, q: &[f64], gradient: Gradient) -> Result<Search, Box<dyn std::error::Error>> {
    const TOLERANCE: f64 = 1e-10;
    const ITERATIONS: usize = 30;
    let (settings, dims) = (settings(), StepDims::of(model, CONTACTS));
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let work = std::cell::RefCell::new(Step::carve(&mut arena, dims)?);
    let mut jacobian = Derivatives::carve(&mut arena, dims)?;
    let at_rest = vec![0.0; model.nv()];
    let residual = |u: &DVector<f64>| {
        let (mut q_next, mut v_next) = (q.to_vec(), at_rest.clone());
        let (work, next) = (&mut *work.borrow_mut(), NextState { q: &mut q_next, v: &mut v_next });
        work.forget();
        step(model, &StepInput::new(q, &at_rest, u.as_slice()), &settings, next, work)?;
        Ok(DVector::from_vec(v_next))
    };
    let start = DVector::zeros(model.nu());
    Ok(match gradient {
        Gradient::Exact => gauss_newton(start, (TOLERANCE, ITERATIONS), residual, |u, _| {
            residual(u)?;
            let input = StepInput::new(q, &at_rest, u.as_slice());
            differentiate(model, &input, &settings, &mut work.borrow_mut(), &mut jacobian)?;
            Ok(jacobian.by_control().to_nalgebra().into_owned())
        })?,
        Gradient::Differences => {
            gauss_newton(start, (TOLERANCE, ITERATIONS), residual, |u, r| differences(u, r, residual))?
        }
    })
}

/// Where a robot comes to rest when stiff motors hold a pose: springs of `stiffness`, well damped, for `seconds`.
pub fn settle(
    model: Model<'_, f64>,
    pose: &[f64],
    stiffness: f64,
    seconds: f64,
) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let (settings, dims) = (settings(), StepDims::of(model, CONTACTS));
    let mut memory = vec![Block::EMPTY; Simulator::<f64>::blocks(dims)];
    let mut simulator = Simulator::new(model, settings, dims, &mut Arena::new(&mut memory))?;
    simulator.set_state(pose, &vec![0.0; model.nv()])?;
    let mut u = vec![0.0; model.nu()];
    for _ in 0..(seconds / settings.dt_s) as usize {
        for (u, actuator) in u.iter_mut().zip(model.actuators) {
            let saltus::model::Transmission::Joint { dof, .. } = actuator.transmission else { continue };
            let body = model.bodies.iter().find(|body| body.first_v == dof).ok_or("a motor without a joint")?;
            let q = usize::from(body.first_q);
            let pull = stiffness * (pose[q] - simulator.q()[q]) - 0.05 * stiffness * simulator.v()[usize::from(dof)];
            *u = actuator.control_range.clamp(pull);
        }
        simulator.step(&u)?;
    }
    Ok(simulator.q().to_vec())
}
