//! The gradient of a loss over a whole trajectory, by one sweep back through its steps.

use super::{Cotangent, Derivatives, Parameter, pull_back, pull_back_parameters};
use crate::contact::Solver;
use crate::input::check_length;
use crate::memory::carved;
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{NextState, Step, StepDims, StepError, StepInput, StepSettings, step};

/// What the memory of a trajectory is sized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapeDims {
    /// Of the robot and its step.
    pub step: StepDims,
    /// Of the trajectory.
    pub steps: usize,
}

impl TapeDims {
    const fn states(self) -> usize {
        self.steps + 1
    }

    const fn columns(self) -> usize {
        2 * self.step.robot.nv + self.step.controls
    }
}

carved! {
    /// The states of a trajectory. Written by [`roll_out`].
    pub struct Tape<'a, T>(d: TapeDims) {
        /// One configuration per state.
        q: [T; d.states() * d.step.robot.nq],
        /// One velocity per state.
        v: [T; d.states() * d.step.robot.nv],
        /// Where the step that is gone back through ends.
        next_q: [T; d.step.robot.nq],
        next_v: [T; d.step.robot.nv],
        /// ∂ℓ/∂q and ∂ℓ/∂v of the state that the sweep has come to.
        by_q: [T; d.step.robot.nv],
        by_v: [T; d.step.robot.nv],
        /// ∂ℓ/∂(q, v, u) of a step.
        gradient: [T; d.columns()],
        /// Steps that were taken.
        taken: (usize),
    }
}

impl<T: Real> Tape<'_, T> {
    /// Steps that were taken.
    pub fn steps(&self) -> usize {
        self.taken
    }

    /// Configuration and velocity before step `k`; after the last one for `k` = [`steps`](Self::steps). None beyond.
    pub fn state(&self, k: usize) -> Option<(&[T], &[T])> {
        let (nq, nv) = (self.next_q.len(), self.next_v.len());
        (k <= self.taken).then(|| (&self.q[k * nq..][..nq], &self.v[k * nv..][..nv]))
    }

    fn capacity(&self) -> usize {
        match self.next_q.len() {
            0 => 0,
            nq => (self.q.len() / nq).saturating_sub(1),
        }
    }

    fn check(&self, model: Model<'_, T>) -> Result<(), StepError> {
        check_length("tape's coordinates", model.nq(), self.next_q.len())?;
        check_length("tape's velocities", model.nv(), self.next_v.len())?;
        Ok(check_length("tape's gradient", 2 * model.nv() + model.nu(), self.gradient.len())?)
    }
}

/// Takes one step for each nu numbers of `controls` and keeps the states in `tape`; as many as fit, if it has fewer places.
///
/// Every step starts without the impulses of the one before, so that [`sweep_back`] meets the same ones again. After an
/// error the tape has the steps before it.
pub fn roll_out<T: Real, S: Solver<T>>(
    model: Model<'_, T>,
    settings: &StepSettings<T, S>,
    (q, v): (&[T], &[T]),
    controls: &[T],
    tape: &mut Tape<'_, T>,
    work: &mut Step<'_, T>,
) -> Result<(), StepError> {
    tape.check(model)?;
    check_length("q", model.nq(), q.len())?;
    check_length("v", model.nv(), v.len())?;
    let steps = steps_of(model, controls, tape)?;
    let (nq, nv, nu) = (model.nq(), model.nv(), model.nu());
    tape.taken = 0;
    tape.q[..nq].copy_from_slice(q);
    tape.v[..nv].copy_from_slice(v);
    for k in 0..steps {
        let (q, next_q) = tape.q[k * nq..].split_at_mut(nq);
        let (v, next_v) = tape.v[k * nv..].split_at_mut(nv);
        let input = StepInput::new(q, v, &controls[k * nu..][..nu]);
        work.forget();
        step(model, &input, settings, NextState { q: &mut next_q[..nq], v: &mut next_v[..nv] }, work)?;
        tape.taken = k + 1;
    }
    Ok(())
}

/// Whole rows of controls; without motors, as many steps as the tape has places for.
fn steps_of<T: Real>(model: Model<'_, T>, controls: &[T], tape: &Tape<'_, T>) -> Result<usize, StepError> {
    let steps = match model.nu() {
        0 => tape.capacity(),
        nu => controls.len() / nu,
    };
    check_length("controls", steps * model.nu(), controls.len())?;
    Ok(steps.min(tape.capacity()))
}

/// What a loss says about a state of the trajectory.
pub trait Loss<T> {
    /// Adds ∂ℓ/∂q and ∂ℓ/∂v at state `k` (after `k` steps), by tangent vectors.
    fn add_slopes(&mut self, k: usize, state: (&[T], &[T]), by_q: &mut [T], by_v: &mut [T]);
}

impl<T, F: FnMut(usize, (&[T], &[T]), &mut [T], &mut [T])> Loss<T> for F {
    fn add_slopes(&mut self, k: usize, state: (&[T], &[T]), by_q: &mut [T], by_v: &mut [T]) {
        self(k, state, by_q, by_v);
    }
}

/// Where a sweep writes: each part may be empty if it is not wanted.
#[derive(Debug)]
pub struct Gradients<'s, T> {
    /// ∂ℓ/∂ the controls, nu numbers per step.
    pub controls: &'s mut [T],
    /// ∂ℓ/∂q at the start, nv numbers.
    pub q: &'s mut [T],
    /// ∂ℓ/∂v at the start.
    pub v: &'s mut [T],
    /// ∂ℓ/∂ each of these.
    pub parameters: (&'s [Parameter], &'s mut [T]),
}

/// Goes back through the trajectory on `tape`: ∂ℓ/∂ the controls, the state at the start and the parameters.
///
/// `settings` and `controls` must be those of [`roll_out`]. Each step is taken again and pulled back once; what the loss
/// says about the controls themselves is the caller's to add. Time grows with the steps, memory by a state per step.
///
/// ```
/// # use saltus::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, Shape};
/// # use saltus::spatial::Inertia;
/// use saltus::derivatives::{Derivatives, Gradients, Tape, TapeDims, roll_out, sweep_back};
/// use saltus::memory::{Arena, Block};
/// use saltus::step::{Step, StepDims, StepSettings};
/// # let ball = BodySpec::new("ball", JointSpec::free_flyer())
/// #     .inertia(Inertia::solid_sphere(1.0, 0.1))
/// #     .geometry(GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 }));
/// # let scene = ModelBuilder::new().body(ball).geometry("world", GeometrySpec::new("floor", Shape::HalfSpace));
/// # let scene = scene.build::<f64>()?;
/// let (model, settings) = (scene.model(), StepSettings::default()); // a ball thrown over a floor
/// let step = StepDims::of(model, 4);
/// let dims = TapeDims { step, steps: 100 };
/// let blocks = Step::<f64>::blocks(step) + Derivatives::<f64>::blocks(step) + Tape::<f64>::blocks(dims);
/// let mut memory = vec![Block::EMPTY; blocks];
/// let mut arena = Arena::new(&mut memory);
/// let mut work = Step::carve(&mut arena, step)?;
/// let (mut scratch, mut tape) = (Derivatives::carve(&mut arena, step)?, Tape::carve(&mut arena, dims)?);
///
/// let (q, v) = ([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// roll_out(model, &settings, (&q, &v), &[], &mut tape, &mut work)?;
///
/// // How far it flies in 0.2 s.
/// let mut distance = |k: usize, _: (&[f64], &[f64]), by_q: &mut [f64], _: &mut [f64]| {
///     if k == 100 {
///         by_q[0] += 1.0;
///     }
/// };
/// let mut by_velocity = [0.0; 6];
/// let wanted = Gradients { controls: &mut [], q: &mut [], v: &mut by_velocity, parameters: (&[], &mut []) };
/// sweep_back(model, &settings, &[], &mut distance, wanted, &mut tape, (&mut work, &mut scratch))?;
/// assert!((by_velocity[0] - 0.2).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sweep_back<T: Real<Plain = T>, S: Solver<T>>(
    model: Model<'_, T>,
    settings: &StepSettings<T, S>,
    controls: &[T],
    loss: &mut impl Loss<T>,
    mut wanted: Gradients<'_, T>,
    tape: &mut Tape<'_, T>,
    (work, scratch): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
) -> Result<(), StepError> {
    let (nq, nv, nu, steps) = (model.nq(), model.nv(), model.nu(), tape.taken);
    tape.check(model)?;
    check_length("controls", steps * nu, controls.len())?;
    wanted.check(steps * nu, nv)?;
    wanted.parameters.1.fill(T::ZERO);
    let Tape { q, v, next_q, next_v, by_q, by_v, gradient, .. } = tape;
    let state = |k: usize| (&q[k * nq..][..nq], &v[k * nv..][..nv]);
    by_q.fill(T::ZERO);
    by_v.fill(T::ZERO);
    loss.add_slopes(steps, state(steps), by_q, by_v);
    for k in (0..steps).rev() {
        let (q, v) = state(k);
        let input = StepInput::new(q, v, &controls[k * nu..][..nu]);
        work.forget();
        step(model, &input, settings, NextState { q: next_q, v: next_v }, work)?;
        let cotangent = Cotangent { q: by_q, v: by_v };
        pull_back(model, (&input, settings), cotangent, gradient, (work, scratch))?;
        let (parameters, sums) = &mut wanted.parameters;
        if !parameters.is_empty() {
            pull_back_parameters(model, (&input, settings), cotangent, (parameters, sums), (work, scratch))?;
        }
        if let Some(row) = wanted.controls.get_mut(k * nu..(k + 1) * nu) {
            row.copy_from_slice(&gradient[2 * nv..]);
        }
        by_q.copy_from_slice(&gradient[..nv]);
        by_v.copy_from_slice(&gradient[nv..2 * nv]);
        loss.add_slopes(k, (q, v), by_q, by_v);
    }
    for (wanted, found) in [(wanted.q, by_q), (wanted.v, by_v)] {
        wanted.iter_mut().zip(found.iter()).for_each(|(wanted, found)| *wanted = *found);
    }
    Ok(())
}

impl<T: Real> Gradients<'_, T> {
    fn check(&self, controls: usize, nv: usize) -> Result<(), StepError> {
        let lengths = [
            ("controls' gradient", controls, self.controls.len()),
            ("gradient by q", nv, self.q.len()),
            ("gradient by v", nv, self.v.len()),
        ];
        for (what, expected, got) in lengths.into_iter().filter(|(_, _, got)| *got > 0) {
            check_length(what, expected, got)?;
        }
        Ok(check_length("parameters' gradient", self.parameters.0.len(), self.parameters.1.len())?)
    }
}
