//! One step of time with rigid frictional contact: (q, v, u) → (q⁺, v⁺).
//!
//! Semi-implicit Euler on the configuration manifold, with the impulses of contacts, limits, dry friction and loops as
//! unknowns (Simple 2025, Eq. 3–6). Damping, springs and servo gains of the joints act at the end of the step, so stiff
//! ones do not shake. The same input gives the same bits.

mod dims;
mod error;
pub(crate) mod flight;
mod input;
mod motors;
mod report;
mod settings;
mod simulator;
mod warm;
mod watch;
mod workspace;

use crate::collision;
use crate::contact::{self, Situation, Solution, Solver, Stop};
use crate::dynamics;
use crate::linalg::tree;
use crate::memory::{copy, run, run_mut, within};
use crate::model::{Joint, Model};
use crate::scalar::Real;

pub use dims::StepDims;
pub(crate) use dims::row_stride;
pub use error::StepError;
pub use flight::advance_jacobian;
pub use input::{NextState, StepInput};
pub use report::{ContactReport, StepReport};
pub use settings::{Gradient, StepSettings};
pub use simulator::Simulator;
pub(crate) use warm::{WarmDims, WarmStore};
pub use watch::{Part, Watch};
pub use workspace::Step;

/// Takes one step of `settings.dt_s`, in `settings.substeps` parts, or more where something turns fast
/// (`settings.max_turn_rad`).
///
/// Bad input, and a state that leaves the range of numbers, give an error and leave `next` as it was. O(nv · depth² +
/// pairs + rows³), bounded by the settings of the solver.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::memory::{Arena, Block};
/// use saltus::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, Shape};
/// use saltus::spatial::Inertia;
/// use saltus::step::{self, NextState, Step, StepDims, StepInput, StepSettings};
///
/// let ball = BodySpec::new("ball", JointSpec::free_flyer())
///     .inertia(Inertia::solid_sphere(1.0, 0.1))
///     .geometry(GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 }));
/// let scene = ModelBuilder::new().body(ball).geometry("world", GeometrySpec::new("floor", Shape::HalfSpace));
/// let scene = scene.build::<f64>()?;
///
/// let dims = StepDims::of(scene.model(), 4); // room for four contacts
/// let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims)];
/// let mut work = Step::carve(&mut Arena::new(&mut memory), dims)?;
///
/// let (mut q, mut v) = ([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0; 6]);
/// for _ in 0..100 {
///     let (q0, v0) = (q, v);
///     let input = StepInput::new(&q0, &v0, &[]);
///     step::step(scene.model(), &input, &StepSettings::default(), NextState { q: &mut q, v: &mut v }, &mut work)?;
/// }
/// assert!((q[2] - 0.1).abs() < 1e-9); // it rests on the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn step<T: Real, S: Solver<T>>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    settings: &StepSettings<T, S>,
    next: NextState<'_, T>,
    work: &mut Step<'_, T>,
) -> Result<StepReport<T>, StepError> {
    step_watched(model, (input, settings), next, work, &mut ())
}

/// The same, and `watch` is told which part of it has passed, and asked whether the solver may go on.
pub fn step_watched<T: Real, S: Solver<T>>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    next: NextState<'_, T>,
    work: &mut Step<'_, T>,
    watch: &mut impl Watch,
) -> Result<StepReport<T>, StepError> {
    input.check(model, settings, &next, work)?;
    copy(work.q, input.q);
    copy(work.v, input.v);
    let parts = settings.substeps.max(1).saturating_mul(turning_parts(model, settings, work.v));
    let dt_s = settings.dt_s / T::from_f64(f64::from(parts));
    let mut report = StepReport::default();
    for _ in 0..parts {
        dynamics::update(model, work.q, work.v, &mut work.dynamics)?;
        watch.passed(Part::Dynamics);
        report.detected =
            collision::detect(model, &work.dynamics.kinematics, settings.contact_margin_m, &mut work.collision)?;
        watch.passed(Part::Collision);
        motors::apply(model, input, dt_s, work);
        predict_free_velocity(model, dt_s, work)?;
        watch.passed(Part::Dynamics);
        hold_constraints(model, dt_s, settings, &mut report, work, &mut || watch.time_is_up());
        watch.passed(Part::Contact);
        advance(model, dt_s, work)?;
    }
    if !work.q.iter().chain(&*work.v).all(|x| x.is_finite()) {
        work.warm.clear();
        return Err(StepError::Diverged);
    }
    copy(next.q, work.q);
    copy(next.v, work.v);
    Ok(report)
}

/// How many times the parts that the settings ask for are needed to keep turns within their limit.
fn turning_parts<T: Real, S>(model: Model<'_, T>, settings: &StepSettings<T, S>, v: &[T]) -> u16 {
    let most = StepSettings::<T, S>::MOST_PARTS;
    if !settings.max_turn_rad.is_finite() {
        return 1;
    }
    let fastest = model.bodies.iter().fold(T::ZERO, |fastest, body| {
        let turning = match body.joint {
            Joint::Prismatic { .. } => 1..1,
            Joint::FreeFlyer => 3..6,
            Joint::Planar => 2..3,
            Joint::Spherical => 0..3,
            Joint::Revolute { .. } | Joint::Continuous { .. } => 0..1,
        };
        within(within(v, body.v_range()), turning).iter().fold(fastest, |fastest, v| fastest.max(v.abs()))
    });
    let allowed = settings.max_turn_rad * T::from_f64(f64::from(settings.substeps.max(1)));
    let turn = fastest * settings.dt_s;
    (1..most).find(|parts| turn <= allowed * T::from_f64(f64::from(*parts))).unwrap_or(most)
}

/// v_f = v + Δt (M + Δt D + Δt² K)⁻¹ (τ − b): the velocity if nothing held.
fn predict_free_velocity<T: Real>(model: Model<'_, T>, dt_s: T, work: &mut Step<'_, T>) -> Result<(), StepError> {
    dynamics::mass_matrix(model, &mut work.dynamics)?;
    dynamics::factorize_with(model, work.implicit_inertia, &mut work.dynamics)?;
    let wrench = if work.pushed { &*work.wrench } else { &[] };
    dynamics::bias(model, wrench, work.free_velocity, &mut work.dynamics)?;
    for (x, force) in work.free_velocity.iter_mut().zip(&*work.force) {
        *x = *force - *x;
    }
    let factor = work.dynamics.factor_view(model.dims());
    tree::solve_vector(model.tree, factor, work.dynamics.inverse_pivots, work.free_velocity);
    for (x, v) in work.free_velocity.iter_mut().zip(&*work.v) {
        *x = dt_s.mul_add(*x, *v);
    }
    flight::keep_axes(model, dt_s, work.v, work.free_velocity);
    Ok(())
}

/// v⁺ = v_f + M⁻¹ Jᵀ λ, with λ from the solver.
fn hold_constraints<T: Real, S: Solver<T>>(
    model: Model<'_, T>,
    dt_s: T,
    settings: &StepSettings<T, S>,
    report: &mut StepReport<T>,
    work: &mut Step<'_, T>,
    stop: Stop<'_>,
) {
    let Step { dynamics, collision, assembly, scratch, warm, .. } = work;
    let contacts = collision.contacts();
    let situation = Situation { q: work.q, v: work.v, free: work.free_velocity, contacts, dt_s };
    contact::assemble(model, &situation, &settings.stabilization, dynamics, assembly);
    copy(work.next_v, work.free_velocity);
    report.note_problem(assembly, contacts);
    if assembly.is_empty() {
        warm.clear();
        return;
    }
    let problem = assembly.problem();
    let impulses = run_mut(work.impulses, 0, problem.rows());
    warm.recall(problem.constraints, impulses);
    let solution = Solution {
        impulses,
        velocity: run_mut(work.constraint_velocity, 0, problem.rows()),
        modes: run_mut(work.modes, 0, problem.constraints.len()),
    };
    let outcome = settings.solver.solve_until(&problem, solution, scratch, stop);
    report.note_outcome(&outcome);
    warm.remember(&problem, outcome.status, run(work.impulses, 0, problem.rows()));
    assembly.velocity_change(model, dynamics, run(work.impulses, 0, problem.rows()), work.change);
    for (v, change) in work.next_v.iter_mut().zip(&*work.change) {
        *v += *change;
    }
}

/// q⁺ = q ⊕ Δt v⁺; the next part of the step starts there.
fn advance<T: Real>(model: Model<'_, T>, dt_s: T, work: &mut Step<'_, T>) -> Result<(), StepError> {
    flight::advance(model, dt_s, (work.q, work.next_v), work.next_q, work.change)?;
    core::mem::swap(&mut work.q, &mut work.next_q);
    copy(work.v, work.next_v);
    flight::turn_axes(model, dt_s, work.v);
    Ok(())
}
