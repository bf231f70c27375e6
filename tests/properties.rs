//! Laws that hold for every robot, over random trees with joints of all types.

use proptest::prelude::*;
use saltus::dynamics::{self, Dynamics};
use saltus::kinematics::{self, Kinematics, Reference, Target};
use saltus::linalg::{MatMut, MatRef, cholesky};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, OwnedModel, configuration};
use saltus::scalar::{Dual, Real};
use saltus::spatial::{Force, Placement};
use saltus_testkit::{Random, random_tree};

/// Relative rounding of a dozen bodies in a row, with forces of up to some hundred newtons that cancel.
const ROUNDING: f64 = 1e-9;
/// Central differences with a step of 1e-6: truncation 1e-12, rounding 1e-16 / 1e-6.
const DIFFERENCES: f64 = 1e-8;
/// Energy that may be lost in a hundred steps of a fourth-order method at 1e-4 s, relative to what is moved.
const INTEGRATION: f64 = 1e-7;

/// A random robot in a random state, forces on every joint and body included.
#[derive(Debug)]
struct Robot {
    owned: OwnedModel<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    wrench: Vec<Force<f64>>,
}

impl Robot {
    fn new(seed: u64, bodies: usize) -> Self {
        let owned = random_tree(seed, bodies);
        let model = owned.model();
        let mut random = Random::new(!seed);
        let q = random.configuration(model);
        let (v, tau) = (random.vector(model.nv()), random.vector(model.nv()));
        let wrench = (0..bodies).map(|_| Force::from_array(core::array::from_fn(|_| random.signed()))).collect();
        Self { q, v, tau, wrench, owned }
    }

    fn with_dynamics<R>(&self, run: impl FnOnce(Model<'_, f64>, &mut Dynamics<'_, f64>) -> R) -> R {
        let model = self.owned.model();
        let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
        dynamics::update(model, &self.q, &self.v, &mut work).unwrap();
        run(model, &mut work)
    }
}

fn robots() -> impl Strategy<Value = Robot> {
    (any::<u64>(), 1_usize..=12).prop_map(|(seed, bodies)| Robot::new(seed, bodies))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inverse_dynamics_inverts_forward_dynamics(robot in robots()) {
        robot.with_dynamics(|model, work| {
            let mut acceleration = vec![0.0; model.nv()];
            let mut torque = vec![0.0; model.nv()];
            for forward in [dynamics::forward, dynamics::forward_factored] {
                forward(model, &robot.tau, &robot.wrench, &mut acceleration, work).unwrap();
                dynamics::inverse(model, &acceleration, &robot.wrench, &mut torque, work).unwrap();
                let scale = 1.0 + largest(&acceleration);
                prop_assert!(distance(&torque, &robot.tau) <= ROUNDING * scale, "{torque:?} is not {:?}", robot.tau);
            }
            Ok(())
        })?;
    }

    #[test]
    fn mass_matrix_is_symmetric_positive_definite_and_what_inverse_dynamics_feels(robot in robots()) {
        robot.with_dynamics(|model, work| {
            let nv = model.nv();
            let mut felt = vec![0.0; nv * nv];
            let (mut unit, mut column, mut bias) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
            dynamics::bias(model, &[], &mut bias, work).unwrap();
            for j in 0..nv {
                unit.fill(0.0);
                unit[j] = 1.0;
                dynamics::inverse(model, &unit, &[], &mut column, work).unwrap();
                for i in 0..nv {
                    felt[i * nv + j] = column[i] - bias[i];
                }
            }
            dynamics::mass_matrix(model, work).unwrap();
            let m = work.mass_matrix_view(model.dims());
            let scale = 1.0 + largest(&felt) + largest(&bias);
            for i in 0..nv {
                for j in 0..=i {
                    prop_assert!((felt[i * nv + j] - felt[j * nv + i]).abs() <= ROUNDING * scale);
                    prop_assert!((felt[i * nv + j] - m[(i, j)]).abs() <= ROUNDING * scale);
                }
            }
            prop_assert!(cholesky(MatMut::new(&mut felt, nv, nv)).is_ok());
            Ok(())
        })?;
    }

    #[test]
    fn power_of_the_joints_is_the_rate_of_the_energy(robot in robots()) {
        let acceleration = robot.with_dynamics(|model, work| {
            let mut acceleration = vec![0.0; model.nv()];
            dynamics::forward(model, &robot.tau, &[], &mut acceleration, work).map(|()| acceleration)
        }).unwrap();
        let dual = robot.owned.cast::<Dual<f64>>();
        let model = dual.model();
        let constant = |x: &f64| Dual::constant(*x);
        let q: Vec<_> = robot.q.iter().map(constant).collect();
        let step: Vec<_> = robot.v.iter().map(|&v| Dual::new(0.0, v)).collect();
        let v: Vec<_> = robot.v.iter().zip(&acceleration).map(|(&v, &a)| Dual::new(v, a)).collect();
        let mut moved = q.clone();
        configuration::integrate(model, &q, &step, &mut moved).unwrap();
        let energy = total_energy(model, &moved, &v);
        let power: f64 = robot.tau.iter().zip(&robot.v).map(|(tau, v)| tau * v).sum();
        prop_assert!((energy.tangent[0] - power).abs() <= ROUNDING * (1.0 + largest(&acceleration)), "{energy} and {power}");
    }

    #[test]
    fn energy_is_conserved_by_a_small_step_integration(robot in robots()) {
        let model = robot.owned.model();
        let (mut q, mut v) = (robot.q.clone(), robot.v.clone());
        let before = total_energy(model, &q, &v);
        for _ in 0..100 {
            runge_kutta_step(model, &mut q, &mut v, 1e-4);
        }
        let after = total_energy(model, &q, &v);
        prop_assert!((after - before).abs() <= INTEGRATION * (1.0 + before.abs()), "{before} J became {after} J");
    }

    #[test]
    fn jacobians_agree_with_differences_of_kinematics(robot in robots()) {
        let model = robot.owned.model();
        let nv = model.nv();
        let tip = model.find_frame("tip").unwrap();
        let mut memory = vec![Block::EMPTY; Kinematics::<f64>::blocks(model.dims())];
        let mut kin = Kinematics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
        kinematics::forward(model, &robot.q, &robot.v, &mut kin).unwrap();
        let (mut j, mut rate) = (vec![0.0; 6 * nv], vec![0.0; 6 * nv]);
        let target = Target::Frame(tip);
        kinematics::jacobian(model, &kin, target, Reference::Aligned, MatMut::new(&mut j, 6, nv)).unwrap();
        kinematics::jacobian_rate(model, &kin, target, Reference::Aligned, MatMut::new(&mut rate, 6, nv)).unwrap();
        let jacobian = MatRef::new(&j, 6, nv);

        const STEP: f64 = 1e-6;
        let mut at = |step: &[f64]| {
            let mut q = robot.q.clone();
            configuration::integrate(model, &robot.q, step, &mut q).unwrap();
            kinematics::forward(model, &q, &robot.v, &mut kin).unwrap();
            let mut j = vec![0.0; 6 * nv];
            kinematics::jacobian(model, &kin, target, Reference::Aligned, MatMut::new(&mut j, 6, nv)).unwrap();
            (kin.frame_placement_world(model, tip).unwrap(), j)
        };
        for k in 0..nv {
            let mut step = vec![0.0; nv];
            step[k] = STEP;
            let (ahead, _) = at(&step);
            step[k] = -STEP;
            let (behind, _) = at(&step);
            let numeric = aligned_difference(&behind, &ahead).map(|x| x / (2.0 * STEP));
            for i in 0..6 {
                prop_assert!((jacobian[(i, k)] - numeric[i]).abs() <= DIFFERENCES * (1.0 + largest(&j)));
            }
        }
        let ahead = at(&robot.v.iter().map(|v| v * STEP).collect::<Vec<_>>()).1;
        let behind = at(&robot.v.iter().map(|v| -v * STEP).collect::<Vec<_>>()).1;
        let numeric: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * STEP)).collect();
        prop_assert!(distance(&rate, &numeric) <= DIFFERENCES * (1.0 + largest(&rate)));
    }

    #[test]
    fn difference_undoes_integrate(robot in robots()) {
        let model = robot.owned.model();
        let mut q = robot.q.clone();
        configuration::integrate(model, &robot.q, &robot.v, &mut q).unwrap();
        let mut v = vec![0.0; model.nv()];
        configuration::difference(model, &robot.q, &q, &mut v).unwrap();
        prop_assert!(distance(&v, &robot.v) <= ROUNDING);
    }
}

fn total_energy<T: Real>(model: Model<'_, T>, q: &[T], v: &[T]) -> T {
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    dynamics::update(model, q, v, &mut work).unwrap();
    let half = T::from_f64(0.5);
    let rotors = model.dofs.iter().zip(v).fold(T::ZERO, |sum, (dof, &v)| sum + half * dof.armature * v * v);
    dynamics::kinetic_energy(&work) + dynamics::potential_energy(model, &work) + rotors
}

/// One step of the classical fourth-order method; within a step, q is q₀ ⊕ x and ẋ = J⁻¹(x) v.
fn runge_kutta_step(model: Model<'_, f64>, q: &mut [f64], v: &mut [f64], dt: f64) {
    let nv = model.nv();
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    let mut slope = |x: &[f64], v: &[f64]| {
        let mut moved = q.to_vec();
        configuration::integrate(model, q, x, &mut moved).unwrap();
        dynamics::update(model, &moved, v, &mut work).unwrap();
        let mut acceleration = vec![0.0; nv];
        dynamics::forward(model, &vec![0.0; nv], &[], &mut acceleration, &mut work).unwrap();
        let mut jacobian = vec![0.0; nv * nv];
        let out = MatMut::new(&mut jacobian, nv, nv);
        configuration::integrate_jacobian(model, x, configuration::Argument::To, out).unwrap();
        let jacobian = nalgebra::DMatrix::from_row_slice(nv, nv, &jacobian);
        let rate = jacobian.lu().solve(&nalgebra::DVector::from_column_slice(v)).unwrap();
        (rate.as_slice().to_vec(), acceleration)
    };
    let along =
        |base: &[f64], slope: &[f64], h: f64| -> Vec<f64> { base.iter().zip(slope).map(|(b, s)| b + h * s).collect() };
    let zero = vec![0.0; nv];
    let (x1, a1) = slope(&zero, v);
    let (x2, a2) = slope(&along(&zero, &x1, dt / 2.0), &along(v, &a1, dt / 2.0));
    let (x3, a3) = slope(&along(&zero, &x2, dt / 2.0), &along(v, &a2, dt / 2.0));
    let (x4, a4) = slope(&along(&zero, &x3, dt), &along(v, &a3, dt));
    let mean = |k: usize, s: [&[f64]; 4]| (s[0][k] + 2.0 * s[1][k] + 2.0 * s[2][k] + s[3][k]) * dt / 6.0;
    let x: Vec<f64> = (0..nv).map(|k| mean(k, [&x1, &x2, &x3, &x4])).collect();
    let q0 = q.to_vec();
    configuration::integrate(model, &q0, &x, q).unwrap();
    for k in 0..nv {
        v[k] += mean(k, [&a1, &a2, &a3, &a4]);
    }
}

/// Motion from `a` to `b` in world axes: translation, and the rotation vector of R_b R_aᵀ to second order.
fn aligned_difference(a: &Placement<f64>, b: &Placement<f64>) -> [f64; 6] {
    let turn = b.rotation * a.rotation.transpose();
    let moved = b.translation - a.translation;
    let half = |x: f64, y: f64| (x - y) / 2.0;
    let (x, y, z) = (half(turn.m32, turn.m23), half(turn.m13, turn.m31), half(turn.m21, turn.m12));
    [moved.x, moved.y, moved.z, x, y, z]
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}
