//! Exact derivatives of the step, through friction and collision.
//!
//! [`differentiate`] follows a [`step`](crate::step::step) and reuses what it left: kinematics, the factor of the mass
//! matrix, the half-solved Jacobian. With the impulses held, the step is forward dynamics; the impulses then follow from
//! the active modes by implicit differentiation (Simple 2025, Sec. III and App. A–D). The tensor dG/dq is never formed.
//! Derivatives with respect to q are along tangent vectors in the body frame.

mod constraint_terms;
mod flight_terms;
mod frame_motion;
mod impulses;
mod jacobian;
mod kinds;
mod motor_terms;
mod products;
mod quality;

use crate::contact::reduced;
use crate::dynamics;
use crate::linalg::{MatMut, MatRef, add_a_b, add_at_b, lu, lu_solve_matrix, padded, tree};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::{Step, StepError, StepInput, StepSettings};

pub use crate::step::Gradient;
pub use jacobian::Derivatives;
pub use products::{Cotangent, pull_back, push_forward};
pub use quality::Quality;

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
    write_terms(model, input, settings, work, out)?;
    half_solve(model, dt_s, work, out);
    let mut quality = resolve_impulses(work, out);
    quality.gap_margin = work.assembly.gap_margin();
    finish(model, work, out);
    flight_terms::turn_axes(model, dt_s, work, out);
    Ok(quality)
}

/// Z and the right-hand sides of the reduced system, with the impulses held.
fn write_terms<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    settings: &StepSettings<T, S>,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Result<(), StepError> {
    out.start(model, work);
    differentiate_dynamics(model, input, settings.dt_s, work, out)?;
    constraint_terms::write(model, settings, work, out);
    Ok(())
}

/// Z = ∂(M a + b − τ)/∂(q, v, u) at the acceleration of the step.
fn differentiate_dynamics<T: Real<Plain = T>>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    dt_s: T,
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Result<(), StepError> {
    for ((a, next), v) in work.change.iter_mut().zip(&*work.next_v).zip(input.v) {
        *a = (*next - *v) / dt_s;
    }
    flight_terms::turn_acceleration(model, input.v, work.change);
    let (nv, stride) = (model.nv(), out.stride());
    dynamics::inverse_derivatives_prepared(
        model,
        work.change,
        work.wrench,
        MatMut::with_stride(out.velocity, nv, 2 * nv, stride),
        &mut work.dynamics,
    )?;
    motor_terms::subtract(model, input, work, out);
    flight_terms::subtract(model, input.v, work, out);
    Ok(())
}

/// Z ← −Δt D^(−½) L^(−ᵀ) Z.
fn half_solve<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let roots = work.assembly.root_pivots();
    let mut z = out.matrix();
    tree::half_solve_transposed(model.tree, work.dynamics.factor_view(model.dims()), z.reborrow());
    tree::scale_rows(z, |dof| -(dt_s * roots[dof]));
}

/// A X = −B (dG λ + dg), and Z ← Z + W C X (Simple 2025, Eq. 11 and 27).
fn resolve_impulses<T: Real>(work: &mut Step<'_, T>, out: &mut Derivatives<'_, T>) -> Quality<T> {
    let quality = factorize(work, out);
    if out.unknowns == 0 || quality.singular {
        return quality;
    }
    let unknowns = out.unknowns;
    let (z, mut rows, [by_equation, by_unknown]) = out.parts();
    add_at_b(rows.reborrow(), by_equation, z.as_ref());
    tree::scale_rows(rows.reborrow(), |_| -T::ONE);
    let factor = MatRef::with_stride(work.scratch.matrix, unknowns, unknowns, padded(unknowns));
    lu_solve_matrix(factor, work.scratch.exchanges, rows.reborrow());
    add_a_b(z, by_unknown, rows.as_ref());
    quality
}

/// W by equations and unknowns, and the factor of A = B G C + Q in the solver's scratch memory.
fn factorize<T: Real>(work: &mut Step<'_, T>, out: &mut Derivatives<'_, T>) -> Quality<T> {
    let problem = work.assembly.problem();
    let count = problem.constraints.len();
    let mut quality = Quality::new(work.impulses(), &work.scratch.linear[..count], work.modes());
    let unknowns = out.unknowns;
    if unknowns == 0 {
        return quality;
    }
    out.gather_half_solved(&work.assembly);
    let mut matrix = reduced::system(work.scratch.matrix, unknowns);
    reduced::write_system(&problem, &out.linear[..count], unknowns, matrix.data_mut(), work.scratch.row);
    kinds::soften(&problem, out, matrix.reborrow());
    reduced::regularize(matrix.reborrow(), proximal());
    match lu(matrix, work.scratch.exchanges) {
        Ok(pivots) => quality.pivot_ratio = pivots,
        Err(_) => quality.singular = true,
    }
    quality
}

/// ∂v⁺ = L⁻¹ D^(−½) Z, plus the velocity itself.
fn finish<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let roots = work.assembly.root_pivots();
    let nv = model.nv();
    let mut z = out.matrix();
    tree::scale_rows(z.reborrow(), |dof| roots[dof]);
    tree::half_solve(model.tree, work.dynamics.factor_view(model.dims()), z.reborrow());
    for dof in 0..nv {
        z[(dof, nv + dof)] += T::ONE;
    }
}

/// What keeps the system of redundant contacts regular: far below what it is added to, far above round-off.
fn proximal<T: Real>() -> T {
    T::EPSILON * T::from_f64(1e4)
}
