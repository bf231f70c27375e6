//! Exact derivatives of the step, through friction and collision.
//!
//! [`differentiate`] follows a [`step`](crate::step::step) and reuses what it left: kinematics, the factor of the mass
//! matrix, the half-solved Jacobian. With the impulses held, the step is forward dynamics; the impulses then follow from
//! the active modes by implicit differentiation (Simple 2025, Sec. III and App. A–D). The tensor dG/dq is never formed.
//! Derivatives with respect to q are along tangent vectors in the body frame.

mod chain_rows;
mod constraint_terms;
mod flight_terms;
mod following;
mod frame_motion;
mod ground_points;
mod ground_terms;
mod impulses;
mod jacobian;
mod kinds;
mod limb_factor;
mod limbs;
mod motor_terms;
mod parameter_terms;
mod parameters;
mod patch_rows;
mod products;
mod quality;
mod response;
mod system;
#[cfg(test)]
mod tests;
mod trajectory;
mod yielding;

use crate::dynamics;
use crate::linalg::{MatMut, tree};
use crate::memory::Values;
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{Step, StepError, StepInput, StepSettings};

pub use crate::step::Gradient;
pub use jacobian::Derivatives;
use jacobian::Part;
pub use parameters::{Parameter, differentiate_parameters, pull_back_parameters};
pub use products::{Cotangent, pull_back, push_forward};
pub use quality::Quality;
pub use trajectory::{Gradients, Loss, Tape, TapeDims, roll_out, sweep_back};

/// ∂v⁺/∂(q, v, u) of the step just taken, into `out`; `work`, `input` and `settings` must be those of that step.
///
/// A step of several parts has no single Jacobian here: it is an error. O(nv² · depth + unknowns³ + unknowns² · nv).
///
/// ```
/// # use saltus::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, Shape};
/// # use saltus::spatial::Inertia;
/// use saltus::derivatives::{Derivatives, differentiate};
/// use saltus::memory::{Arena, Block};
/// use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};
/// # let ball = BodySpec::new("ball", JointSpec::free_flyer())
/// #     .inertia(Inertia::solid_sphere(1.0, 0.1))
/// #     .geometry(GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 }));
/// # let scene = ModelBuilder::new().body(ball).geometry("world", GeometrySpec::new("floor", Shape::HalfSpace));
/// # let scene = scene.build::<f64>()?;
/// let (model, settings) = (scene.model(), StepSettings::default()); // a ball on a floor
/// let dims = StepDims::of(model, 4);
/// let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
/// let mut arena = Arena::new(&mut memory);
/// let (mut work, mut jacobian) = (Step::carve(&mut arena, dims)?, Derivatives::carve(&mut arena, dims)?);
///
/// let (q, v) = ([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0; 6]);
/// let (mut q_next, mut v_next) = (q, v);
/// let input = StepInput::new(&q, &v, &[]);
/// step(model, &input, &settings, NextState { q: &mut q_next, v: &mut v_next }, &mut work)?;
/// differentiate(model, &input, &settings, &mut work, &mut jacobian)?;
/// let by_velocity = jacobian.by_velocity();
/// assert!(by_velocity[(2, 2)].abs() < 1e-9); // the floor takes every vertical velocity
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn differentiate<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    settings: &StepSettings<T, S>,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Result<Quality<T>, StepError> {
    input.check_lengths(model, work)?;
    out.check(model, work)?;
    if settings.substeps > 1 {
        return Err(StepError::Substeps);
    }
    let dt_s = settings.dt_s;
    kinds::choose(&settings.gradient, work, out);
    let mut quality = write_terms(model, (input, settings), Part::State, work, out)?;
    quality.gap_margin = work.assembly.gap_margin();
    if out.held {
        system::follow_constraints(work, out);
        finish(model, work, out);
    } else if out.yields {
        yielding::write(model, dt_s, work, out);
    } else if out.limb_rows > 0 {
        following::write(model, dt_s, work, out);
    } else {
        response::write(model, dt_s, work, out);
    }
    flight_terms::turn_axes(model, dt_s, work, out);
    Ok(quality)
}

/// The factor of the reduced system, then Z and R: what changes with the impulses held.
fn write_terms<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    part: Part,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Result<Quality<T>, StepError> {
    out.fit(model);
    let quality = system::factorize(model, (settings, part), work, out);
    out.start(model, work, part);
    // Before Z, so that it is still in the cache when it is solved for.
    if part == Part::State && out.symmetric && !(out.held || out.yields || out.limb_rows > 0) {
        response::write_left(settings.dt_s, work, out);
    }
    if !out.held {
        differentiate_dynamics(model, input, settings.dt_s, work, out)?;
        motor_terms::subtract_controls(model, work, out);
    }
    constraint_terms::write(model, settings, work, out);
    if out.limb_rows > 0 {
        following::write_terms(model, out);
    }
    Ok(quality)
}

/// Z = ∂(M a + b − τ)/∂(q, v) at the acceleration of the step.
#[inline(never)] // Else all terms share the registers of one function.
fn differentiate_dynamics<T: Real<Plain = T>>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    dt_s: T,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Result<(), StepError> {
    accelerate(model, input, dt_s, work);
    let (nv, stride) = (model.nv(), out.stride());
    let Step { dynamics, change, wrench, pushed, assembly, collision, impulses, .. } = &mut *work;
    let (laws, contacts) = ((assembly.problem().constraints, &*out.linear), collision.contacts());
    dynamics::inverse_derivatives_prepared(
        model,
        change,
        (if *pushed { &**wrench } else { &[] }, |forces| {
            ground_terms::subtract_wrenches(model, dt_s, laws, (contacts, impulses), forces);
        }),
        MatMut::with_stride(out.velocity, nv, 2 * nv, stride),
        dynamics,
    )?;
    motor_terms::subtract(model, input, work, out);
    flight_terms::subtract(model, input.v, work, out);
    Ok(())
}

/// The acceleration of the step, along turning axes, in `work.change`.
fn accelerate<T: Real>(model: Model<'_, T>, input: &StepInput<'_, T>, dt_s: T, work: &mut Step<'_, T>) {
    let rate = T::ONE / dt_s;
    for ((a, next), v) in work.change.iter_mut().zip(&*work.next_v).zip(input.v) {
        *a = (*next - *v) * rate;
    }
    flight_terms::turn_acceleration(model, input.v, work.change);
}

/// ∂v⁺ = L⁻¹ D^(−½) Z, in the columns that the constraints alone determine.
fn finish<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let (nv, stride, roots) = (model.nv(), out.stride(), work.assembly.root_pivots());
    let mut z = MatMut::with_stride(out.velocity, nv, if out.bounces { 2 * nv } else { nv }, stride);
    tree::scale_rows(z.reborrow(), |dof| roots.at(dof));
    tree::half_solve(model.tree, work.dynamics.factor_view(model.dims()), z);
}
