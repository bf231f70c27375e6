//! A thrown cube: with which velocity was it thrown?
//!
//! It is seen a few times, in the air and on the floor. Its last pose alone would not tell: an impact that does not bounce
//! takes the velocity across the floor with it.

use nalgebra::{DMatrix, DVector};
use saltus::derivatives::{Derivatives, differentiate};
use saltus::linalg::MatMut;
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::model::configuration::{self, Argument};
use saltus::step::{NextState, Step, StepDims, StepError, StepInput, advance_jacobian, step};

use super::{CONTACTS, Gradient, Search, differences, gauss_newton, settings};

/// Steps after which the cube is seen: it falls, hits the floor with a corner, and slides.
pub const SEEN: [usize; 4] = [15, 30, 45, 60];
/// Velocity to be found, linear and angular in the cube's frame, and where the search starts.
pub const THROWN: [f64; 6] = [0.8, -0.5, -1.2, 0.5, 1.0, -0.5];
pub const GUESS: [f64; 6] = [0.75, -0.48, -1.15, 0.45, 0.95, -0.48];

/// Largest difference between what was thrown and what was found.
pub fn velocity_error(search: &Search) -> f64 {
    search.found.iter().zip(THROWN).fold(0.0, |largest, (found, thrown)| (found - thrown).abs().max(largest))
}

/// A flight that ends on the floor.
pub struct Throw<'m> {
    pub model: Model<'m, f64>,
    /// Where it starts.
    pub q: Vec<f64>,
}

/// A pose in which the cube is seen, and how it changes with the velocity of the throw.
pub struct Sight {
    pub q: Vec<f64>,
    pub slope: DMatrix<f64>,
}

impl Throw<'_> {
    /// Where the cube is seen when it is thrown with a velocity, and how that changes with the velocity: the Jacobians of
    /// all steps, multiplied.
    pub fn fly(&self, v: &[f64], with_slope: bool) -> Result<Vec<Sight>, StepError> {
        let (model, settings, dims) = (self.model, settings(), StepDims::of(self.model, CONTACTS));
        let nv = model.nv();
        let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
        let mut arena = Arena::new(&mut memory);
        let (mut work, mut jacobian) = (
            Step::carve(&mut arena, dims).expect("the arena has room"),
            Derivatives::carve(&mut arena, dims).expect("the arena has room"),
        );
        let (mut q, mut v, mut seen) = (self.q.clone(), v.to_vec(), Vec::new());
        let (mut q_slope, mut v_slope) = (DMatrix::zeros(nv, nv), DMatrix::identity(nv, nv));
        for k in 1..=SEEN[SEEN.len() - 1] {
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
            if SEEN.contains(&k) {
                seen.push(Sight { q: q.clone(), slope: q_slope.clone() });
            }
        }
        Ok(seen)
    }

    /// The velocity with which the cube is seen where it was in `target`, from a first guess.
    pub fn aim(&self, target: &[Sight], guess: &[f64], gradient: Gradient) -> Result<Search, StepError> {
        const TOLERANCE: f64 = 1e-10;
        const ITERATIONS: usize = 40;
        let nv = self.model.nv();
        let residual = |v: &DVector<f64>| {
            let mut misses = Vec::new();
            for (target, seen) in target.iter().zip(self.fly(v.as_slice(), false)?) {
                let mut miss = vec![0.0; nv];
                configuration::difference(self.model, &target.q, &seen.q, &mut miss)?;
                misses.extend(miss);
            }
            Ok(DVector::from_vec(misses))
        };
        let start = DVector::from_column_slice(guess);
        match gradient {
            Gradient::Exact => gauss_newton(start, (TOLERANCE, ITERATIONS), residual, |v, _| {
                let mut slopes = DMatrix::zeros(nv * target.len(), nv);
                for (k, (target, seen)) in target.iter().zip(self.fly(v.as_slice(), true)?).enumerate() {
                    let mut by_end = vec![0.0; nv * nv];
                    let out = MatMut::new(&mut by_end, nv, nv);
                    configuration::difference_jacobian(self.model, &target.q, &seen.q, Argument::To, out)?;
                    slopes.rows_mut(k * nv, nv).copy_from(&(DMatrix::from_row_slice(nv, nv, &by_end) * seen.slope));
                }
                Ok(slopes)
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
