//! Everything that a peer's figures are stored for, computed by saltus under the same names.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use saltus::dynamics::{self, Dynamics, DynamicsError, PARAMETERS};
use saltus::input::InputError;
use saltus::kinematics::{self, Reference, Target};
use saltus::linalg::{MatMut, MatRef};
use saltus::memory::{Arena, Block};
use saltus::model::configuration::{self, Argument};
use saltus::model::{BodyId, FrameId, Model};
use saltus::scalar::Real;
use saltus::spatial::{Force, Placement};

use crate::State;

/// Named results, row by row.
pub type Results = BTreeMap<&'static str, Vec<f64>>;

/// The point, in the last body's frame, whose velocity the figures are about.
const POINT: [f64; 3] = [0.1, -0.2, 0.3];
/// The share of v by which the figures move q.
const STEP: f64 = 0.3;

/// Computes every stored field at a stored state, in scalar type `T`.
pub fn evaluate<T: Real>(model: Model<'_, T>, state: &State) -> Result<Results, DynamicsError> {
    let input = Input::<T>::new(state);
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).expect("the arena was sized for it");
    dynamics::update(model, &input.q, &input.v, &mut work)?;
    let mut results = Results::new();
    evaluate_kinematics(model, &work, &mut results)?;
    evaluate_inverse(model, &input, &mut work, &mut results)?;
    evaluate_forward(model, &input, &mut work, &mut results)?;
    evaluate_momentum(model, &work, &input, &mut results)?;
    evaluate_configuration(model, &input, &mut results)?;
    Ok(results)
}

struct Input<T> {
    q: Vec<T>,
    q2: Vec<T>,
    v: Vec<T>,
    a: Vec<T>,
    tau: Vec<T>,
    wrench: Vec<Force<T>>,
    regressor: Vec<f64>,
}

impl<T: Real> Input<T> {
    fn new(state: &State) -> Self {
        let get = |name| state.get(name).iter().map(|&x| T::from_f64(x)).collect::<Vec<_>>();
        Self {
            q: get("q"),
            q2: get("q2"),
            v: get("v"),
            a: get("a"),
            tau: get("tau"),
            wrench: get("wrench").as_chunks::<6>().0.iter().map(|&six| Force::from_array(six)).collect(),
            regressor: state.get("regressor_vector").to_vec(),
        }
    }
}

fn evaluate_kinematics<T: Real>(
    model: Model<'_, T>,
    work: &Dynamics<'_, T>,
    results: &mut Results,
) -> Result<(), InputError> {
    let (kin, nv) = (&work.kinematics, model.nv());
    let last = model.body_ids().last().unwrap_or(BodyId::WORLD);
    let body = Target::Body(last);
    let frame = FrameId::new(0);
    results.insert("body_placement", placement_numbers(&kin.body_placement_world(last)?));
    results.insert("frame_placement", placement_numbers(&kin.frame_placement_world(model, frame)?));
    for (name, target, reference) in [
        ("body_jacobian_local", body, Reference::Local),
        ("body_jacobian_world", body, Reference::World),
        ("body_jacobian_aligned", body, Reference::Aligned),
        ("frame_jacobian_aligned", Target::Frame(frame), Reference::Aligned),
    ] {
        results.insert(name, filled(6, nv, |out| kinematics::jacobian(model, kin, target, reference, out))?);
    }
    for (name, reference) in [
        ("body_jacobian_rate_local", Reference::Local),
        ("body_jacobian_rate_world", Reference::World),
        ("body_jacobian_rate_aligned", Reference::Aligned),
    ] {
        results.insert(name, filled(6, nv, |out| kinematics::jacobian_rate(model, kin, body, reference, out))?);
    }
    let point = Vector3::from(POINT).map(T::from_f64);
    results.insert("point_velocity", numbers(kinematics::point_velocity(kin, last, &point)?.as_slice()));
    let dq = |out: MatMut<'_, T>| kinematics::point_velocity_derivatives(model, kin, last, &point, out);
    results.insert("point_velocity_dq", filled(3, nv, dq)?);
    let dv = |out: MatMut<'_, T>| kinematics::point_jacobian(model, kin, last, &point, out);
    results.insert("point_velocity_dv", filled(3, nv, dv)?);
    Ok(())
}

fn evaluate_inverse<T: Real>(
    model: Model<'_, T>,
    input: &Input<T>,
    work: &mut Dynamics<'_, T>,
    results: &mut Results,
) -> Result<(), InputError> {
    let nv = model.nv();
    let mut torque = vec![T::ZERO; nv];
    dynamics::inverse(model, &input.a, &[], &mut torque, work)?;
    results.insert("inverse_dynamics", numbers(&torque));
    dynamics::inverse(model, &input.a, &input.wrench, &mut torque, work)?;
    results.insert("inverse_dynamics_wrench", numbers(&torque));
    dynamics::bias(model, &[], &mut torque, work)?;
    results.insert("bias", numbers(&torque));
    dynamics::gravity_force(model, &mut torque, work)?;
    results.insert("gravity_torque", numbers(&torque));
    let mut derivatives = vec![T::ZERO; nv * 2 * nv];
    let out = MatMut::new(&mut derivatives, nv, 2 * nv);
    dynamics::inverse_derivatives(model, &input.a, &input.wrench, out, work)?;
    let derivatives = MatRef::new(&derivatives, nv, 2 * nv);
    results.insert("id_dq", matrix_numbers(derivatives.columns(0, nv)));
    results.insert("id_dv", matrix_numbers(derivatives.columns(nv, nv)));
    Ok(())
}

fn evaluate_forward<T: Real>(
    model: Model<'_, T>,
    input: &Input<T>,
    work: &mut Dynamics<'_, T>,
    results: &mut Results,
) -> Result<(), DynamicsError> {
    let nv = model.nv();
    let mut acceleration = vec![T::ZERO; nv];
    dynamics::forward(model, &input.tau, &input.wrench, &mut acceleration, work)?;
    results.insert("forward_dynamics", numbers(&acceleration));
    let mut derivatives = vec![T::ZERO; nv * 3 * nv];
    let out = MatMut::new(&mut derivatives, nv, 3 * nv);
    dynamics::forward_derivatives(model, &input.tau, &input.wrench, out, work)?;
    results.insert("forward_dynamics_factored", numbers(work.joint_acceleration));
    let derivatives = MatRef::new(&derivatives, nv, 3 * nv);
    results.insert("fd_dq", matrix_numbers(derivatives.columns(0, nv)));
    results.insert("fd_dv", matrix_numbers(derivatives.columns(nv, nv)));
    results.insert("inverse_mass_matrix", matrix_numbers(derivatives.columns(2 * nv, nv)));
    let m = work.mass_matrix_view(model.dims());
    let full = (0..nv * nv).map(|k| m[((k / nv).max(k % nv), (k / nv).min(k % nv))].to_f64());
    results.insert("mass_matrix", full.collect());
    Ok(())
}

fn evaluate_momentum<T: Real>(
    model: Model<'_, T>,
    work: &Dynamics<'_, T>,
    input: &Input<T>,
    results: &mut Results,
) -> Result<(), DynamicsError> {
    let nv = model.nv();
    let center = dynamics::center_of_mass(work);
    results.insert("com", numbers(center.position_world.as_slice()));
    results.insert("com_velocity", numbers(center.velocity_world.as_slice()));
    results.insert("com_jacobian", filled(3, nv, |out| dynamics::center_of_mass_jacobian(work, out))?);
    results.insert("centroidal_momentum", numbers(&dynamics::centroidal_momentum(work).to_array()));
    results.insert("centroidal_map", filled(6, nv, |out| dynamics::centroidal_map(work, out))?);
    // The stored kinetic energy has the rotors in it.
    let rotors: f64 = model.dofs.iter().zip(&input.v).map(|(dof, v)| 0.5 * (dof.armature * *v * *v).to_f64()).sum();
    results.insert("kinetic_energy", vec![dynamics::kinetic_energy(work).to_f64() + rotors]);
    results.insert("potential_energy", vec![dynamics::potential_energy(model, work).to_f64()]);
    Ok(())
}

fn evaluate_configuration<T: Real>(
    model: Model<'_, T>,
    input: &Input<T>,
    results: &mut Results,
) -> Result<(), DynamicsError> {
    let nv = model.nv();
    let step: Vec<T> = input.v.iter().map(|&v| v * T::from_f64(STEP)).collect();
    let mut next = vec![T::ZERO; model.nq()];
    configuration::integrate(model, &input.q, &step, &mut next)?;
    results.insert("integrate", numbers(&next));
    let mut difference = vec![T::ZERO; nv];
    configuration::difference(model, &input.q, &input.q2, &mut difference)?;
    results.insert("difference", numbers(&difference));
    for (name, argument) in [("integrate_dq", Argument::From), ("integrate_dv", Argument::To)] {
        results.insert(name, filled(nv, nv, |out| configuration::integrate_jacobian(model, &step, argument, out))?);
    }
    for (name, argument) in [("difference_dq0", Argument::From), ("difference_dq1", Argument::To)] {
        let write = |out: MatMut<'_, T>| configuration::difference_jacobian(model, &input.q, &input.q2, argument, out);
        results.insert(name, filled(nv, nv, write)?);
    }
    Ok(())
}

/// Regressor times the stored vector; needs a workspace of its own because it overwrites the accelerations.
pub fn evaluate_regressor<T: Real>(model: Model<'_, T>, state: &State) -> Result<Vec<f64>, InputError> {
    let input = Input::<T>::new(state);
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).expect("the arena was sized for it");
    dynamics::update(model, &input.q, &input.v, &mut work)?;
    let (nv, cols) = (model.nv(), PARAMETERS * model.bodies.len());
    let regressor = filled(nv, cols, |out| dynamics::regressor(model, &input.a, out, &mut work))?;
    let row = |r: usize| regressor[r * cols..][..cols].iter().zip(&input.regressor).map(|(y, p)| y * p).sum();
    Ok((0..nv).map(row).collect())
}

/// A matrix filled by `write`, row by row.
fn filled<T: Real, E>(
    rows: usize,
    cols: usize,
    write: impl FnOnce(MatMut<'_, T>) -> Result<(), E>,
) -> Result<Vec<f64>, E> {
    let mut data = vec![T::ZERO; rows * cols];
    write(MatMut::new(&mut data, rows, cols))?;
    Ok(numbers(&data))
}

fn numbers<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.to_f64()).collect()
}

fn matrix_numbers<T: Real>(matrix: MatRef<'_, T>) -> Vec<f64> {
    (0..matrix.rows()).flat_map(|i| numbers(matrix.row(i))).collect()
}

fn placement_numbers<T: Real>(placement: &Placement<T>) -> Vec<f64> {
    let mut result = numbers(placement.rotation.transpose().as_slice());
    result.extend(numbers(placement.translation.as_slice()));
    result
}
