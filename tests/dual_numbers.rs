//! Every analytic derivative equals what dual numbers carry through the algorithm itself.

use saltus::dynamics::{self, Dynamics};
use saltus::kinematics;
use saltus::linalg::{MatMut, MatRef};
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, Model, configuration};
use saltus::scalar::Dual;
use saltus::spatial::Force;
use saltus_testkit::{Oracle, State};

type D = Dual<f64>;

/// Largest error over the largest entry: both sides are exact but for rounding.
const TOLERANCE: f64 = 1e-11;
/// Of the stored states; each takes 2 nv evaluations.
const STATES: usize = 5;

/// What is varied.
#[derive(Clone, Copy)]
enum Along {
    Configuration(usize),
    Velocity(usize),
}

#[test]
fn inverse_dynamics_derivatives_equal_dual_numbers() {
    for_each_state(|case| {
        let nv = case.model.nv();
        let mut analytic = vec![0.0; nv * 2 * nv];
        let out = MatMut::new(&mut analytic, nv, 2 * nv);
        let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(case.model.dims())];
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), case.model.dims()).unwrap();
        dynamics::update(case.model, &case.q, &case.v, &mut work).unwrap();
        dynamics::inverse_derivatives(case.model, &case.a, &case.wrench, out, &mut work).unwrap();
        let oracle = case.columns(nv, |model, work, tangent| {
            let (a, wrench) = (constants(&case.a), constant_forces(&case.wrench));
            dynamics::inverse(model, &a, &wrench, tangent, work).unwrap();
        });
        case.assert_equal("∂τ/∂(q, v)", MatRef::new(&analytic, nv, 2 * nv), &oracle);
    });
}

#[test]
fn forward_dynamics_derivatives_equal_dual_numbers() {
    for_each_state(|case| {
        let nv = case.model.nv();
        let mut analytic = vec![0.0; nv * 3 * nv];
        let out = MatMut::new(&mut analytic, nv, 3 * nv);
        let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(case.model.dims())];
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), case.model.dims()).unwrap();
        dynamics::update(case.model, &case.q, &case.v, &mut work).unwrap();
        dynamics::forward_derivatives(case.model, &case.tau, &case.wrench, out, &mut work).unwrap();
        let oracle = case.columns(nv, |model, work, tangent| {
            let (tau, wrench) = (constants(&case.tau), constant_forces(&case.wrench));
            dynamics::forward(model, &tau, &wrench, tangent, work).unwrap();
        });
        case.assert_equal("∂a/∂(q, v)", MatRef::new(&analytic, nv, 3 * nv).columns(0, 2 * nv), &oracle);
    });
}

#[test]
fn point_velocity_derivatives_equal_dual_numbers() {
    for_each_state(|case| {
        let nv = case.model.nv();
        let last = case.model.body_ids().last().unwrap_or(BodyId::WORLD);
        let point = nalgebra::Vector3::new(0.1, -0.2, 0.3);
        let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(case.model.dims())];
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), case.model.dims()).unwrap();
        dynamics::update(case.model, &case.q, &case.v, &mut work).unwrap();
        let (mut dq, mut dv) = (vec![0.0; 3 * nv], vec![0.0; 3 * nv]);
        let kin = &work.kinematics;
        kinematics::point_velocity_derivatives(case.model, kin, last, &point, MatMut::new(&mut dq, 3, nv)).unwrap();
        kinematics::point_jacobian(case.model, kin, last, &point, MatMut::new(&mut dv, 3, nv)).unwrap();
        let analytic: Vec<f64> = (0..3).flat_map(|i| [&dq[i * nv..][..nv], &dv[i * nv..][..nv]].concat()).collect();
        let oracle = case.columns(3, |_, work, tangent| {
            let velocity = kinematics::point_velocity(&work.kinematics, last, &point.map(D::constant)).unwrap();
            tangent.copy_from_slice(velocity.as_slice());
        });
        case.assert_equal("∂u/∂(q, v)", MatRef::new(&analytic, 3, 2 * nv), &oracle);
    });
}

struct Case<'m> {
    robot: &'m str,
    model: Model<'m, f64>,
    dual: Model<'m, D>,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    tau: Vec<f64>,
    wrench: Vec<Force<f64>>,
}

fn for_each_state(check: impl Fn(&Case<'_>)) {
    for robot in Oracle::ROBOTS {
        let oracle = Oracle::load(robot).unwrap();
        let dual = oracle.model.cast::<D>();
        for state in oracle.states.iter().take(STATES) {
            check(&Case::new(robot, oracle.model.model(), dual.model(), state));
        }
    }
}

impl<'m> Case<'m> {
    fn new(robot: &'m str, model: Model<'m, f64>, dual: Model<'m, D>, state: &State) -> Self {
        let get = |name| state.get(name).to_vec();
        let wrench = get("wrench").as_chunks::<6>().0.iter().map(|&six| Force::from_array(six)).collect();
        Self { robot, model, dual, q: get("q"), v: get("v"), a: get("a"), tau: get("tau"), wrench }
    }

    /// The rows × 2nv Jacobian of what `evaluate` writes, one dual evaluation per column.
    fn columns(&self, rows: usize, evaluate: impl Fn(Model<'_, D>, &mut Dynamics<'_, D>, &mut [D])) -> Vec<f64> {
        let nv = self.model.nv();
        let mut memory = vec![Block::EMPTY; Dynamics::<D>::blocks(self.dual.dims())];
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), self.dual.dims()).unwrap();
        let mut jacobian = vec![0.0; rows * 2 * nv];
        let mut result = vec![D::constant(0.0); rows];
        for column in 0..2 * nv {
            let along = if column < nv { Along::Configuration(column) } else { Along::Velocity(column - nv) };
            let (q, v) = self.varied(along);
            dynamics::update(self.dual, &q, &v, &mut work).unwrap();
            evaluate(self.dual, &mut work, &mut result);
            for row in 0..rows {
                jacobian[row * 2 * nv + column] = result[row].tangent[0];
            }
        }
        jacobian
    }

    /// The state with one tangent direction switched on; configurations move on their manifold.
    fn varied(&self, along: Along) -> (Vec<D>, Vec<D>) {
        let (q, mut v) = (constants(&self.q), constants(&self.v));
        let mut step = vec![D::constant(0.0); v.len()];
        match along {
            Along::Configuration(k) => step[k] = D::variable(0.0),
            Along::Velocity(k) => v[k] = D::variable(v[k].value),
        }
        let mut moved = q.clone();
        configuration::integrate(self.dual, &q, &step, &mut moved).unwrap();
        (moved, v)
    }

    fn assert_equal(&self, what: &str, ours: MatRef<'_, f64>, oracle: &[f64]) {
        let scale = oracle.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        for i in 0..ours.rows() {
            for j in 0..ours.cols() {
                let error = (ours[(i, j)] - oracle[i * ours.cols() + j]).abs() / scale;
                assert!(error <= TOLERANCE, "{}: {what} at ({i}, {j}) is off by {error:.1e}", self.robot);
            }
        }
    }
}

fn constants(values: &[f64]) -> Vec<D> {
    values.iter().map(|&x| D::constant(x)).collect()
}

fn constant_forces(forces: &[Force<f64>]) -> Vec<Force<D>> {
    forces.iter().map(|f| Force::from_array(f.to_array().map(D::constant))).collect()
}
