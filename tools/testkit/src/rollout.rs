//! Robots that are thrown about: simulators with memory of their own, and random controls.

use saltus::contact::{Outcome, Problem, Scratch, Solution, Solver, Stop};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, OwnedModel, Range, STANDARD_GRAVITY};
use saltus::scalar::Real;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_loaders::{BUILTIN, LoadOptions, load};

use crate::Random;

/// Contact points that fit: more than any built-in robot has on the ground and on itself.
const CONTACTS: usize = 96;

/// Steps for which random controls stay the same.
const HOLD: usize = 10;

/// Every built-in robot by name.
pub fn builtin_robots() -> impl Iterator<Item = (&'static str, OwnedModel<f64>)> {
    BUILTIN.iter().map(|robot| (robot.name, builtin_robot(robot.name)))
}

/// The built-in robot of that name; panics when there is none.
pub fn builtin_robot(name: &str) -> OwnedModel<f64> {
    load(name, &LoadOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}")).model
}

/// A simulator of a robot, at its keyframe `rest` if it has one. Its memory is never freed: it serves a whole test.
pub fn simulator<T: Real, S: Solver<T>>(
    robot: OwnedModel<T>,
    settings: StepSettings<T, S>,
) -> Simulator<'static, 'static, T, S> {
    let model = Box::leak(Box::new(robot)).model();
    let dims = StepDims::of(model, CONTACTS);
    let memory = Box::leak(vec![Block::EMPTY; Simulator::<T>::blocks(dims)].into_boxed_slice());
    let mut simulator =
        Simulator::new(model, settings, dims, &mut Arena::new(memory)).expect("the memory has the stated size");
    if let Some(rest) = model.find_keyframe("rest") {
        simulator.set_keyframe(&rest).expect("a keyframe fits its model");
    }
    simulator
}

/// Random controls around those of the keyframe `rest`, held for ten steps each. What has no motor is pushed instead.
pub struct RandomControls<T> {
    random: Random,
    center: Vec<T>,
    /// Half the width of each control range.
    reach: Vec<T>,
    control: Vec<T>,
    /// Of the free bodies, one per degree of freedom; empty when there are motors.
    push: Vec<T>,
    force: Vec<T>,
    amplitude: f64,
    steps: usize,
}

impl<T: Real> RandomControls<T> {
    /// Up to `amplitude` of the control range to either side; the same seed gives the same controls.
    pub fn new(model: Model<'_, T>, amplitude: f64, seed: u64) -> Self {
        /// Half the width of a control range that has no end.
        const UNBOUNDED: f64 = 1.0;
        /// Lever of the torques on a free body, m.
        const LEVER: f64 = 0.05;
        let rest = model.find_keyframe("rest");
        let center = rest.map_or_else(|| vec![T::ZERO; model.nu()], |rest| rest.u.to_vec());
        let half = |range: &Range<T>| 0.5 * (range.upper.to_f64() - range.lower.to_f64());
        let reach = model.actuators.iter().map(|motor| half(&motor.control_range));
        let reach = reach.map(|half| T::from_f64(if half.is_finite() { half } else { UNBOUNDED })).collect();
        let mut push = Vec::new();
        if model.nu() == 0 {
            for body in model.bodies {
                let twice_weight = 2.0 * body.inertia.mass.to_f64() * STANDARD_GRAVITY;
                push.extend((0..body.joint.nv()).map(|k| T::from_f64(twice_weight * if k < 3 { 1.0 } else { LEVER })));
            }
        }
        let (control, force) = (center.clone(), push.clone());
        Self { random: Random::new(seed), center, reach, control, push, force, amplitude, steps: 0 }
    }

    /// The controls of the next step, and the forces on the degrees of freedom.
    pub fn draw(&mut self) -> (&[T], &[T]) {
        if self.steps.is_multiple_of(HOLD) {
            let Self { random, amplitude, .. } = self;
            let mut scaled = |reach: T| reach * T::from_f64(*amplitude * random.signed());
            for ((control, center), reach) in self.control.iter_mut().zip(&self.center).zip(&self.reach) {
                *control = *center + scaled(*reach);
            }
            for (force, push) in self.force.iter_mut().zip(&self.push) {
                *force = scaled(*push);
            }
        }
        self.steps += 1;
        (&self.control, &self.force)
    }
}

/// A solver that shows every problem and its answer to `seen`: problem, warm start, impulses, outcome.
pub struct Watched<S, F> {
    /// Solves.
    pub solver: S,
    /// Looks on.
    pub seen: F,
}

impl<T: Real, S: Solver<T>, F: Fn(&Problem<'_, T>, &[T], &[T], &Outcome<T>)> Solver<T> for Watched<S, F> {
    fn solve_until(
        &self,
        problem: &Problem<'_, T>,
        solution: Solution<'_, T>,
        scratch: &mut Scratch<'_, T>,
        stop: Stop<'_>,
    ) -> Outcome<T> {
        let warm = solution.impulses.to_vec();
        let Solution { impulses, velocity, modes } = solution;
        let answer = Solution { impulses: &mut *impulses, velocity, modes };
        let outcome = self.solver.solve_until(problem, answer, scratch, stop);
        (self.seen)(problem, &warm, impulses, &outcome);
        outcome
    }
}
