//! A robot that is stepped again and again.

use super::{NextState, Step, StepDims, StepError, StepInput, StepReport, StepSettings, step};
use crate::contact::{Newton, Solver};
use crate::input::{InputError, check_length};
use crate::memory::{Arena, ArenaTooSmall, carved};
use crate::model::{Keyframe, Model, configuration};
use crate::scalar::Real;
use crate::spatial::Force;

carved! {
    struct Memory<'a, T>(d: StepDims) {
        work: { Step },
        q: [T; d.robot.nq],
        v: [T; d.robot.nv],
        next_q: [T; d.robot.nq],
        next_v: [T; d.robot.nv],
    }
}

/// A model, its state and the memory to step it in.
///
/// ```
/// # use nalgebra::Vector3;
/// # use saltus::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, Shape};
/// # use saltus::spatial::Inertia;
/// use saltus::memory::{Arena, Block};
/// use saltus::step::{Simulator, StepDims, StepSettings};
/// # let ball = BodySpec::new("ball", JointSpec::free_flyer())
/// #     .inertia(Inertia::solid_sphere(1.0, 0.1))
/// #     .geometry(GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 }));
/// # let scene = ModelBuilder::new().body(ball).geometry("world", GeometrySpec::new("floor", Shape::HalfSpace));
/// # let scene = scene.build::<f64>()?;
///
/// let dims = StepDims::of(scene.model(), 4); // a ball over a floor, with room for four contacts
/// let mut memory = vec![Block::EMPTY; Simulator::<f64>::blocks(dims)];
/// let settings = StepSettings::with_dt(0.001);
/// let mut simulator = Simulator::new(scene.model(), settings, dims, &mut Arena::new(&mut memory))?;
/// simulator.set_state(&[0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0], &[0.0; 6])?;
/// for _ in 0..1000 {
///     simulator.step(&[])?;
/// }
/// assert!((simulator.q()[2] - 0.1).abs() < 1e-6); // it fell and came to rest
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Simulator<'m, 'a, T, S = Newton<T>> {
    model: Model<'m, T>,
    /// How steps are taken; may be changed between them.
    pub settings: StepSettings<T, S>,
    memory: Memory<'a, T>,
    time_s: T,
}

impl<T: Real> Simulator<'_, '_, T> {
    /// Arena blocks that a simulator of these dimensions takes.
    pub const fn blocks(dims: StepDims) -> usize {
        Memory::<T>::blocks(dims)
    }
}

impl<'m, 'a, T: Real, S: Solver<T>> Simulator<'m, 'a, T, S> {
    /// A robot at its neutral configuration, at rest.
    pub fn new(
        model: Model<'m, T>,
        settings: StepSettings<T, S>,
        dims: StepDims,
        arena: &mut Arena<'a>,
    ) -> Result<Self, ArenaTooSmall> {
        let memory = Memory::carve(arena, dims)?;
        let simulator = Self { model, settings, memory, time_s: T::ZERO };
        // Dimensions of another model are found out by the first step.
        let _ = configuration::neutral(model, simulator.memory.q);
        Ok(simulator)
    }

    /// Puts the robot into a state, at time zero, with no memory of earlier steps.
    pub fn set_state(&mut self, q: &[T], v: &[T]) -> Result<(), InputError> {
        check_length("q", self.memory.q.len(), q.len())?;
        check_length("v", self.memory.v.len(), v.len())?;
        self.memory.q.copy_from_slice(q);
        self.memory.v.copy_from_slice(v);
        self.memory.work.forget();
        self.time_s = T::ZERO;
        Ok(())
    }

    /// Puts the robot into the state of a keyframe.
    pub fn set_keyframe(&mut self, keyframe: &Keyframe<'_, T>) -> Result<(), InputError> {
        self.set_state(keyframe.q, keyframe.v)
    }

    /// One step with the given controls, or none; after an error the state is as it was.
    pub fn step(&mut self, control: &[T]) -> Result<StepReport<T>, StepError> {
        self.step_with(control, &[], &[])
    }

    /// One step with controls, forces on the degrees of freedom, and wrenches on the bodies; each may be empty.
    pub fn step_with(&mut self, control: &[T], force: &[T], external: &[Force<T>]) -> Result<StepReport<T>, StepError> {
        let Memory { work, q, v, next_q, next_v, .. } = &mut self.memory;
        let input = StepInput { q, v, control, force, external };
        let report = step(self.model, &input, &self.settings, NextState { q: next_q, v: next_v }, work)?;
        q.copy_from_slice(next_q);
        v.copy_from_slice(next_v);
        self.time_s += self.settings.dt_s;
        Ok(report)
    }

    /// The robot.
    pub fn model(&self) -> Model<'m, T> {
        self.model
    }

    /// Configuration.
    pub fn q(&self) -> &[T] {
        self.memory.q
    }

    /// Velocity.
    pub fn v(&self) -> &[T] {
        self.memory.v
    }

    /// Seconds since the state was set.
    pub fn time_s(&self) -> T {
        self.time_s
    }

    /// What the last step computed: contacts, impulses, kinematics before it.
    pub fn work(&self) -> &Step<'a, T> {
        &self.memory.work
    }

    /// The same, to be used for other computations between steps.
    pub fn work_mut(&mut self) -> &mut Step<'a, T> {
        &mut self.memory.work
    }
}
