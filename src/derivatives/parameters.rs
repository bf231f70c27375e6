//! Derivatives of the step with respect to what the robot and the ground are made of.

use nalgebra::Vector3;

use super::jacobian::Part;
use super::{Derivatives, Quality, accelerate, flight_terms, kinds, parameter_terms, products, response, system};
use crate::dynamics;
use crate::input::check_length;
use crate::linalg::{MatMut, partial_dot, tree};
use crate::model::{BodyId, Model};
use crate::scalar::Real;
use crate::spatial::vector::{cross, multiply_transposed};
use crate::step::flight::Flyer;
use crate::step::{Step, StepError, StepInput, StepSettings, flight};

/// A number that the step depends on beside its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Of a body, kg; its centre of mass and its rotational inertia about it stay.
    Mass {
        /// Of the model.
        body: BodyId,
    },
    /// A coordinate of a body's centre of mass in its frame, m; the rotational inertia about it stays.
    CenterOfMass {
        /// Of the model.
        body: BodyId,
        /// x, y or z: 0 to 2.
        axis: u8,
    },
    /// A number of a body's rotational inertia about its centre of mass, kg·m².
    Inertia {
        /// Of the model.
        body: BodyId,
        /// xx, xy, yy, xz, yz or zz: 0 to 5.
        entry: u8,
    },
    /// Coulomb's coefficient of a pair.
    Friction {
        /// Index in [`Model::pairs`].
        pair: u16,
    },
    /// Restitution of a pair.
    Restitution {
        /// Index in [`Model::pairs`].
        pair: u16,
    },
    /// Δt, s.
    TimeStep,
    /// Motor force per control.
    MotorGain {
        /// Index in [`Model::actuators`].
        motor: u16,
    },
    /// A number of a motor's bias: constant, per position or per velocity.
    MotorBias {
        /// Index in [`Model::actuators`].
        motor: u16,
        /// 0 to 2.
        term: u8,
    },
}

/// ∂v⁺/∂ each of `parameters`, into the columns of `slopes` (nv × parameters); `work`, `input` and `settings` must be those
/// of the step just taken.
///
/// q⁺ follows v⁺ by [`advance_jacobian`](crate::step::advance_jacobian); by Δt it goes on by v⁺ besides.
/// O(unknowns³ + unknowns² · nv + parameters · nv · unknowns).
///
/// ```
/// # use saltus::model::{BodyId, BodySpec, GeometrySpec, JointSpec, ModelBuilder, Shape};
/// # use saltus::spatial::Inertia;
/// use saltus::derivatives::{Derivatives, Parameter, differentiate_parameters};
/// use saltus::linalg::MatMut;
/// use saltus::memory::{Arena, Block};
/// use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};
/// # let ball = BodySpec::new("ball", JointSpec::free_flyer())
/// #     .inertia(Inertia::solid_sphere(1.0, 0.1))
/// #     .geometry(GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 }).friction(0.1));
/// # let floor = GeometrySpec::new("floor", Shape::HalfSpace).friction(0.1);
/// # let scene = ModelBuilder::new().body(ball).geometry("world", floor).build::<f64>()?;
/// let (model, settings) = (scene.model(), StepSettings::default()); // a ball that slides over a floor
/// let dims = StepDims::of(model, 4);
/// let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
/// let mut arena = Arena::new(&mut memory);
/// let (mut work, mut scratch) = (Step::carve(&mut arena, dims)?, Derivatives::carve(&mut arena, dims)?);
///
/// let (q, v) = ([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// let (mut q_next, mut v_next) = (q, v);
/// let input = StepInput::new(&q, &v, &[]);
/// step(model, &input, &settings, NextState { q: &mut q_next, v: &mut v_next }, &mut work)?;
///
/// let parameters = [Parameter::Friction { pair: 0 }, Parameter::Mass { body: BodyId::new(1) }];
/// let mut slopes = [0.0; 12];
/// let out = MatMut::new(&mut slopes, 6, 2);
/// differentiate_parameters(model, (&input, &settings), &parameters, out, (&mut work, &mut scratch))?;
/// assert!((slopes[0] + 9.81 * settings.dt_s).abs() < 1e-6); // friction brakes it by μ g Δt
/// assert!(slopes[1].abs() < 1e-6); // whatever its mass
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn differentiate_parameters<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    parameters: &[Parameter],
    mut slopes: MatMut<'_, T>,
    (work, out): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
) -> Result<Quality<T>, StepError> {
    products::check(model, input, settings, work, out)?;
    check_length("slopes' rows", model.nv(), slopes.rows())?;
    check_length("slopes' columns", parameters.len(), slopes.cols())?;
    parameters.iter().try_for_each(|parameter| parameter_terms::check(model, *parameter))?;
    kinds::choose(&settings.gradient, work, out);
    out.fit(model);
    let mut quality = system::factorize(model, (settings, Part::All), work, out);
    quality.gap_margin = work.assembly.gap_margin();
    response::write_sides(settings.dt_s, work, out);
    prepare(model, input, settings.dt_s, work)?;
    let (change, multiplier) = (core::mem::take(&mut out.along), core::mem::take(&mut out.multiplier));
    for (column, parameter) in parameters.iter().enumerate() {
        parameter_terms::write(model, (input, settings), *parameter, work, out);
        push(model, settings.dt_s, *parameter, (change, multiplier), work, out);
        for (dof, x) in change.iter().enumerate() {
            slopes[(dof, column)] = *x;
        }
    }
    (out.along, out.multiplier) = (change, multiplier);
    Ok(quality)
}

/// Adds ∂ℓ/∂ each of `parameters` to `gradient`, for the loss whose [`pull_back`](super::pull_back) has just been computed
/// with the same step, memory and `cotangent`. O(parameters · nv · rows).
pub fn pull_back_parameters<T: Real<Plain = T>, S>(
    model: Model<'_, T>,
    (input, settings): (&StepInput<'_, T>, &StepSettings<T, S>),
    cotangent: super::Cotangent<'_, T>,
    (parameters, gradient): (&[Parameter], &mut [T]),
    (work, out): (&mut Step<'_, T>, &mut Derivatives<'_, T>),
) -> Result<(), StepError> {
    products::check(model, input, settings, work, out)?;
    check_length("parameters' gradient", parameters.len(), gradient.len())?;
    parameters.iter().try_for_each(|parameter| parameter_terms::check(model, *parameter))?;
    prepare(model, input, settings.dt_s, work)?;
    for (sum, parameter) in gradient.iter_mut().zip(parameters) {
        parameter_terms::write(model, (input, settings), *parameter, work, out);
        let half = work.assembly.half_solved();
        let impulse = &out.term_impulse[..half.cols()];
        *sum += partial_dot(out.term_force, out.along);
        for (dof, along) in out.half_along.iter().enumerate() {
            *sum += partial_dot(half.row(dof), impulse) * *along;
        }
        *sum -= partial_dot(&out.term_rows[..out.rank], &out.multiplier[..out.rank]);
        if *parameter == Parameter::TimeStep {
            *sum += by_time(model, settings.dt_s, &cotangent, work, out.term_scratch);
        }
    }
    Ok(())
}

/// Accelerations of the joints and the bodies.
fn prepare<T: Real>(
    model: Model<'_, T>,
    input: &StepInput<'_, T>,
    dt_s: T,
    work: &mut Step<'_, T>,
) -> Result<(), StepError> {
    accelerate(model, input, dt_s, work);
    Ok(dynamics::accelerate(model, work.change, &mut work.dynamics)?)
}

/// ∂v⁺ from the terms of a parameter, into `change`.
fn push<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    parameter: Parameter,
    (change, multiplier): (&mut [T], &mut [T]),
    work: &Step<'_, T>,
    out: &Derivatives<'_, T>,
) {
    let (factor, roots, half) =
        (work.dynamics.factor_view(model.dims()), work.assembly.root_pivots(), work.assembly.half_solved());
    change.copy_from_slice(out.term_force);
    multiplier[..out.rank].copy_from_slice(&out.term_rows[..out.rank]);
    tree::half_solve_transposed_vector(model.tree, factor, change);
    for (dof, (x, root)) in change.iter_mut().zip(roots).enumerate() {
        *x -= partial_dot(half.row(dof), &out.term_impulse[..half.cols()]) / (dt_s * *root);
    }
    system::divide_rows(work, out, &mut multiplier[..out.rank]);
    system::resolve_vector(work, out, multiplier, change);
    products::finish(model, dt_s, work, change);
    flight_terms::turn_change(model, dt_s, work, change);
    if parameter == Parameter::TimeStep {
        // The axes turn on: v⁺ = exp(Δt ω)ᵀ w.
        for flyer in Flyer::all(model) {
            let turning = turning(&flyer, dt_s, work.next_v);
            for k in 0..flyer.linear {
                change[flyer.first_v + k] += turning[k];
            }
        }
    }
}

/// ∂ℓ/∂Δt with w held: q⁺ goes on by v⁺, whose axes turn; `after` is memory of nv numbers.
fn by_time<T: Real>(
    model: Model<'_, T>,
    dt_s: T,
    cotangent: &super::Cotangent<'_, T>,
    work: &Step<'_, T>,
    after: &mut [T],
) -> T {
    let mut sum = T::ZERO;
    for flyer in Flyer::all(model) {
        let turning = turning(&flyer, dt_s, work.next_v);
        for (k, w) in cotangent.v.iter().skip(flyer.first_v).take(flyer.linear).enumerate() {
            sum += *w * turning[k];
        }
    }
    after.copy_from_slice(work.next_v);
    flight::turn_axes(model, dt_s, after);
    sum + partial_dot(cotangent.q, after)
}

/// ∂(exp(Δt ω)ᵀ w)/∂Δt = −ω × v⁺.
fn turning<T: Real>(flyer: &Flyer, dt_s: T, next_v: &[T]) -> Vector3<T> {
    let motion = flyer.motion(next_v);
    cross(&multiply_transposed(&flight::turn(&motion.angular, dt_s), &motion.linear), &motion.angular)
}
