//! A thrown cube: which velocity brings it there?

use nalgebra::{DMatrix, DVector};
use saltus::derivatives::{Derivatives, differentiate};
use saltus::linalg::MatMut;
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::model::configuration::{self, Argument};
use saltus::step::{NextState, Step, StepDims, StepError, StepInput, advance_jacobian, step};

use super::{CONTACTS, Gradient, Search, differences, gauss_newton, settings};

/// Steps of the flight: it falls, hits the floor with a corner, and slides.
pub const STEPS: usize = 60;
/// Velocity to be found, linear and angular in the cube's frame, and where the search starts.
pub const THROWN: [f64; 6] = [0.8, -0.5, -1.2, 0.5, 1.0, -0.5];
pub const GUESS: [f64; 6] = [0.75, -0.48, -1.15, 0.45, 0.95, -0.48];

/// Largest difference between what was thrown and what was found: some of it is lost in the impact, which does not bounce.
pub fn velocity_error(search: &Search) -> f64 {
    search.found.iter().zip(THROWN).fold(0.0, |largest, (found, thrown)| (found - thrown).abs().max(largest))
}

/// A flight that ends on the floor.
pub struct Throw<'m> {
    pub model: Model<'m, f64>,
    /// Where it starts.
    pub q: Vec<f64>,
    pub steps: usize,
}

impl Throw<'_> {
    /// Where the cube comes to from a first velocity, and how that changes with the velocity: the Jacobians of all steps,
    /// multiplied.
    pub fn fly(&self, v: &[f64], with_slope: bool) -> Result<(Vec<f64>, DMatrix<f64>), StepError> {
        let (model, settings, dims) = (self.model, settings(), StepDims::of(self.model, CONTACTS));
        let nv = model.nv();
        let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
        let mut arena = Arena::new(&mut memory);
        let (mut work, mut jacobian) = (
            Step::carve(&mut arena, dims).expect("the arena has room"),
            Derivatives::carve(&mut arena, dims).expect("the arena has room"),
        );
        let (mut q, mut v) = (self.q.clone(), v.to_vec());
        let (mut q_slope, mut v_slope) = (DMatrix::zeros(nv, nv), DMatrix::identity(nv, nv));
        for _ in 0..self.steps {
            let (mut q_next, mut v_next) = (q.clone(), v.clone());
            let input = StepInput::new(&q, &v, &[]);
            step(model, &input, &settings, NextState { q: &mut q_next, v: &mut v_next }, &mut work)?;
            if with_slope {
                differentiate(model, &input, &settings, &mut work, &mut jacobian)?;
                v_slope = jacobian.by_configuration().to_nalgebra() * &q_slope
                    + jacobian.by_velocity().to_nalgebra() * &v_slope;
                let motion = |argument: Argument| motion_jacobian(model, settings.dt_s, &v_next, argument);
                q_slope = motion(Argument::From)? * q_slope + motion(Argument::To)? * &v_slope;
            }
            (q, v) = (q_next, v_next);
        }
        Ok((q, q_slope))
    }

    /// The velocity that leads to `target`, from a first guess.
    pub fn aim(&self, target: &[f64], guess: &[f64], gradient: Gradient) -> Result<Search, StepError> {
        const TOLERANCE: f64 = 1e-6;
        const ITERATIONS: usize = 40;
        let nv = self.model.nv();
        let residual = |v: &DVector<f64>| {
            let mut miss = vec![0.0; nv];
            configuration::difference(self.model, target, &self.fly(v.as_slice(), false)?.0, &mut miss)?;
            Ok(DVector::from_vec(miss))
        };
        let start = DVector::from_column_slice(guess);
        match gradient {
            Gradient::Exact => gauss_newton(start, (TOLERANCE, ITERATIONS), residual, |v, _| {
                let (q, slope) = self.fly(v.as_slice(), true)?;
                let mut by_end = vec![0.0; nv * nv];
                let out = MatMut::new(&mut by_end, nv, nv);
                configuration::difference_jacobian(self.model, target, &q, Argument::To, out)?;
                Ok(DMatrix::from_row_slice(nv, nv, &by_end) * slope)
            }),
            Gradient::Differences => {
                gauss_newton(start, (TOLERANCE, ITERATIONS), residual, |v, r| differences(v, r, residual))
            }
        }
    }
}

fn motion_jacobian(
    model: Model<'_, f64>,
    dt_s: f64,
    v_next: &[f64],
    argument: Argument,
) -> Result<DMatrix<f64>, StepError> {
    let nv = model.nv();
    let mut jacobian = vec![0.0; nv * nv];
    advance_jacobian(model, dt_s, v_next, argument, MatMut::new(&mut jacobian, nv, nv))?;
    Ok(DMatrix::from_row_slice(nv, nv, &jacobian))
}
