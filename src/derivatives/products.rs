//! Products with the Jacobian of the step, without forming it: along a direction, and back from a loss.

use super::jacobian::Part;
use super::{Derivatives, Quality, flight_terms, kinds, response, system, write_terms};
use crate::input::check_length;
use crate::linalg::{MatMut, partial_dot, tree};
use crate::model::Model;
use crate::model::configuration::Argument;
use crate::scalar::Real;
use crate::step::{Gradient, Step, StepError, StepInput, StepSettings, flight};

/// ∂ℓ/∂(q⁺, v⁺): how a loss depends on the state after the step, by tangent vectors. Each part may be empty: zero.
#[derive(Clone, Copy, Debug)]
pub struct Cotangent<'s, T> {
    /// ∂ℓ/∂q⁺, nv numbers.
    pub q: &'s [T],
    /// ∂ℓ/∂v⁺.
    pub v: &'s [T],
}

/// ∂v⁺ along `direction` = (dq, dv, du), into `change`; `work`, `input` and `settings` must be those of the step just
/// taken.
pub fn push_forward<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    direction: &[T],
    change: &mut [T],
    (work, out): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
) -> Result<Quality<T>, StepError> {
    let nv = model.nv();
    check_length("direction", 2 * nv + model.nu(), direction.len())?;
    check_length("change", nv, change.len())?;
    check(model, input, settings, work, out)?;
    kinds::choose(&settings.gradient, work, out);
    let quality = write_terms(model, (input, settings), Part::All, work, out)?;
    response::write_sides(settings.dt_s, work, out);
    let [z, rows] = out.terms();
    for (dof, change) in change.iter_mut().enumerate() {
        *change = partial_dot(z.row(dof), direction);
    }
    let multiplier = &mut work.scratch.step[..rows.rows()];
    for (k, r) in multiplier.iter_mut().enumerate() {
        *r = partial_dot(rows.row(k), direction);
    }
    tree::half_solve_transposed_vector(model.tree, work.dynamics.factor_view(model.dims()), change);
    let multiplier = core::mem::take(&mut work.scratch.step);
    system::resolve_vector(work, out, multiplier, change);
    work.scratch.step = multiplier;
    finish(model, settings.dt_s, work, change);
    for (x, dv) in change.iter_mut().zip(&direction[nv..]) {
        *x += *dv;
    }
    flight_terms::turn_change(model, settings.dt_s, work, change);
    Ok(quality)
}

/// ∂ℓ/∂(q, v, u) from ∂ℓ/∂(q⁺, v⁺), by one transposed solve, into `gradient` (2nv + nu numbers).
///
/// `work`, `input` and `settings` must be those of the step just taken.
pub fn pull_back<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    cotangent: Cotangent<'_, T>,
    gradient: &mut [T],
    (work, out): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
) -> Result<Quality<T>, StepError> {
    let nv = model.nv();
    check_length("gradient", 2 * nv + model.nu(), gradient.len())?;
    for part in [cotangent.q, cotangent.v].into_iter().filter(|part| !part.is_empty()) {
        check_length("cotangent", nv, part.len())?;
    }
    check(model, input, settings, work, out)?;
    kinds::choose(&settings.gradient, work, out);
    let quality = pull_back_once(model, (input, settings), &cotangent, gradient, (work, out))?;
    if settings.gradient == Gradient::ComplementarityAware {
        return explore(model, (input, settings), &cotangent, gradient, (work, out), quality);
    }
    Ok(quality)
}

/// The gradient with contacts as the loss would have them, if it is the larger one (Nimble 2021, Sec. IV-D).
fn explore<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    step: (&StepInput<'_, T>, &StepSettings<T, S>),
    cotangent: &Cotangent<'_, T>,
    gradient: &mut [T],
    (work, out): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
    exact: Quality<T>,
) -> Result<Quality<T>, StepError> {
    let size = |gradient: &[T]| {
        let (v, u) = gradient[model.nv()..].split_at(model.nv());
        partial_dot(v, v) + partial_dot(u, u) / step.1.dt_s
    };
    let plain = size(gradient);
    seed(model, step.1.dt_s, cotangent, gradient, work, out)?;
    out.along.copy_from_slice(&gradient[model.nv()..2 * model.nv()]);
    half_solve_along(model, work, out.along);
    let count = work.constraints().len();
    kinds::choose_by_loss(work, out.along, &mut out.linear[..count]);
    let relabelled = out.linear[..count].iter().zip(work.modes()).any(|(linear, mode)| linear.mode != *mode);
    let other = pull_back_once(model, step, cotangent, gradient, (work, out))?;
    if relabelled && size(gradient) > plain && !other.singular {
        return Ok(other);
    }
    kinds::choose(&Gradient::Exact, work, out);
    pull_back_once(model, step, cotangent, gradient, (work, out))?;
    Ok(exact)
}

/// One transposed solve with the laws that `out` holds.
fn pull_back_once<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    cotangent: &Cotangent<'_, T>,
    gradient: &mut [T],
    (work, out): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
) -> Result<Quality<T>, StepError> {
    let nv = model.nv();
    let quality = write_terms(model, (input, settings), Part::All, work, out)?;
    response::write_sides(settings.dt_s, work, out);
    // ∂ℓ/∂q through q⁺ directly, and all of ∂ℓ/∂v⁺: also that of the velocity itself.
    seed(model, settings.dt_s, cotangent, gradient, work, out)?;
    let along = core::mem::take(&mut out.along);
    let multiplier = core::mem::take(&mut out.multiplier);
    along.copy_from_slice(&gradient[nv..2 * nv]);
    let factor = work.dynamics.factor_view(model.dims());
    tree::half_solve_transposed_vector(model.tree, factor, along);
    for (x, inverse) in along.iter_mut().zip(&*work.dynamics.inverse_pivots) {
        *x *= -(settings.dt_s * *inverse);
    }
    system::resolve_transposed(work, out, multiplier, along);
    for ((half, x), root) in out.half_along.iter_mut().zip(&*along).zip(work.assembly.root_pivots()) {
        *half = -*x / (settings.dt_s * *root);
    }
    tree::half_solve_vector(model.tree, factor, along);
    let [z, rows] = out.terms();
    for (dof, along) in along.iter().enumerate() {
        add_scaled(gradient, *along, z.row(dof));
    }
    for (k, r) in multiplier[..rows.rows()].iter().enumerate() {
        add_scaled(gradient, -*r, rows.row(k));
    }
    system::divide_rows_transposed(work, out, &mut multiplier[..out.rank]);
    (out.along, out.multiplier) = (along, multiplier);
    Ok(quality)
}

/// x ← −Δt L⁻¹ D⁻¹ x.
pub(super) fn finish<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, x: &mut [T]) {
    for (x, inverse) in x.iter_mut().zip(&*work.dynamics.inverse_pivots) {
        *x *= -(dt_s * *inverse);
    }
    tree::half_solve_vector(model.tree, work.dynamics.factor_view(model.dims()), x);
}

/// (∂ℓ/∂q through q⁺ with v⁺ held, ∂ℓ/∂ the velocity before its axes turn, 0).
fn seed<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    cotangent: &Cotangent<'_, T>,
    gradient: &mut [T],
    work: &mut Step<'_, T>,
    out: &mut Derivatives<'_, T>,
) -> Result<(), StepError> {
    let (nv, stride) = (model.nv(), model.dims().stride());
    gradient.fill(T::ZERO);
    if !cotangent.v.is_empty() {
        gradient[nv..2 * nv].copy_from_slice(cotangent.v);
    }
    if cotangent.q.is_empty() {
        flight_terms::turn_back(model, dt_s, work, &mut gradient[nv..2 * nv]);
        return Ok(());
    }
    work.change.copy_from_slice(work.next_v);
    flight::turn_axes(model, dt_s, work.change);
    for (argument, first) in [(Argument::From, 0), (Argument::To, nv)] {
        let mut matrix = MatMut::with_stride(out.integration, nv, nv, stride);
        flight::advance_jacobian(model, dt_s, work.change, argument, matrix.reborrow())?;
        for (row, w) in cotangent.q.iter().enumerate() {
            add_scaled(&mut gradient[first..first + nv], *w, matrix.as_ref().row(row));
        }
    }
    flight_terms::turn_back(model, dt_s, work, &mut gradient[nv..2 * nv]);
    Ok(())
}

/// x ← D^(−½) L^(−ᵀ) x.
fn half_solve_along<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, x: &mut [T]) {
    tree::half_solve_transposed_vector(model.tree, work.dynamics.factor_view(model.dims()), x);
    for (x, root) in x.iter_mut().zip(work.assembly.root_pivots()) {
        *x *= *root;
    }
}

fn add_scaled<T: Real>(sum: &mut [T], scale: T, row: &[T]) {
    for (sum, x) in sum.iter_mut().zip(row) {
        *sum = scale.mul_add(*x, *sum);
    }
}

pub(super) fn check<T: Real, S>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    settings: &StepSettings<T, S>,
    work: &Step<'_, T>,
    out: &Derivatives<'_, T>,
) -> Result<(), StepError> {
    input.check_lengths(model, work)?;
    out.check(model, work)?;
    if settings.substeps > 1 { Err(StepError::Substeps) } else { Ok(()) }
}
