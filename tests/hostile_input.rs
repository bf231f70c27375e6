//! Wrong input gets a typed error that says what to do, and nothing panics.

mod hostile_optimizer;

use saltus::dynamics::{self, Dynamics, DynamicsError};
use saltus::input::InputError;
use saltus::kinematics::{self, Reference, Target};
use saltus::linalg::MatMut;
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, BodySpec, FrameId, JointSpec, ModelBuilder, OwnedModel};
use saltus::scalar::Real;
use saltus::spatial::{Force, Inertia};
use saltus::step::{NextState, Step, StepDims, StepError, StepInput, StepSettings, step};
use saltus_testkit::{Oracle, builtin_robot, random_tree};

#[test]
fn a_slice_of_the_wrong_length_is_named() {
    let robot = random_tree(1, 3);
    let model = robot.model();
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    let (q, v) = (vec![0.0; model.nq()], vec![0.0; model.nv()]);
    let error = dynamics::update(model, &q[1..], &v, &mut work).unwrap_err();
    assert_eq!(error, InputError::Length { what: "q", expected: q.len(), got: q.len() - 1 });
    assert_eq!(error.to_string(), format!("q: the model needs {} numbers, got {}", q.len(), q.len() - 1));
    let mut acceleration = v.clone();
    let forces = [Force::ZERO; 2];
    let error = dynamics::forward(model, &v, &forces, &mut acceleration, &mut work).unwrap_err();
    let expected = InputError::Length { what: "external forces", expected: 3, got: 2 };
    assert_eq!(error, DynamicsError::Input(expected));
    let mut jacobian = vec![0.0; 5 * model.nv()];
    let out = MatMut::new(&mut jacobian, 5, model.nv());
    let body = Target::Body(BodyId::new(1));
    let error = kinematics::jacobian(model, &work.kinematics, body, Reference::World, out).unwrap_err();
    assert_eq!(error, InputError::Length { what: "jacobian rows", expected: 6, got: 5 });
}

#[test]
fn a_workspace_of_another_robot_is_refused() {
    let (small, large) = (random_tree(1, 2), random_tree(2, 8));
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(small.model().dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), small.model().dims()).unwrap();
    let model = large.model();
    let (q, v) = (vec![0.0; model.nq()], vec![0.0; model.nv()]);
    assert!(matches!(dynamics::update(model, &q, &v, &mut work), Err(InputError::Length { .. })));
    assert!(matches!(dynamics::mass_matrix(model, &mut work), Err(InputError::Length { .. })));
    let mut out = v.clone();
    assert!(dynamics::inverse(model, &v, &[], &mut out, &mut work).is_err());
    assert!(dynamics::forward_factored(model, &v, &[], &mut out, &mut work).is_err());
}

#[test]
fn an_unknown_body_or_frame_is_named() {
    let robot = random_tree(3, 3);
    let model = robot.model();
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let work = Dynamics::<f64>::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    let error = work.kinematics.body_placement_world(BodyId::new(9)).unwrap_err();
    assert_eq!(error, InputError::UnknownIndex { what: "body", index: 9 });
    let error = work.kinematics.frame_placement_world(model, FrameId::new(7)).unwrap_err();
    assert_eq!(error, InputError::UnknownIndex { what: "frame", index: 7 });
}

#[test]
fn a_joint_that_moves_no_inertia_is_named() {
    // A point mass on the axis that it turns about.
    let mass = Inertia::solid_sphere(1.0, 0.0);
    let robot = ModelBuilder::new()
        .body(BodySpec::new("slide", JointSpec::prismatic(nalgebra::Vector3::x())).inertia(mass))
        .body(BodySpec::new("spin", JointSpec::revolute(nalgebra::Vector3::z())).parent("slide").inertia(mass))
        .build::<f64>()
        .unwrap();
    let model = robot.model();
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    dynamics::update(model, &[0.0, 0.0], &[0.0, 0.0], &mut work).unwrap();
    let singular = DynamicsError::SingularMassMatrix { dof: 1 };
    let mut a = [0.0; 2];
    assert_eq!(dynamics::forward(model, &[0.0; 2], &[], &mut a, &mut work), Err(singular));
    assert_eq!(dynamics::forward_factored(model, &[0.0; 2], &[], &mut a, &mut work), Err(singular));
    let mut jacobian = [0.0; 12];
    let out = MatMut::new(&mut jacobian, 2, 6);
    assert_eq!(dynamics::forward_derivatives(model, &[0.0; 2], &[], out, &mut work), Err(singular));
}

#[test]
fn nan_and_infinite_states_give_errors_or_nan_but_no_panic() {
    for robot in Oracle::ROBOTS {
        let oracle = Oracle::load(robot).unwrap();
        let model = oracle.model.model();
        let nv = model.nv();
        let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
        let mut jacobian = vec![0.0; nv * 3 * nv];
        for hostile in [f64::NAN, f64::INFINITY, f64::MAX, 1e200] {
            let (q, v) = (vec![hostile; model.nq()], vec![hostile; nv]);
            dynamics::update(model, &q, &v, &mut work).unwrap();
            let out = MatMut::new(&mut jacobian, nv, 3 * nv);
            let result = dynamics::forward_derivatives(model, &v, &[], out, &mut work);
            assert!(result.is_err() || jacobian.iter().any(|x| !x.is_finite()), "{robot} made sense of {hostile}");
        }
    }
}

#[test]
fn a_robot_far_from_the_origin_keeps_its_digits_in_f32() {
    let oracle = Oracle::load("go1").unwrap();
    let single = oracle.model.cast::<f32>();
    let model = single.model();
    let state = &oracle.states[0];
    let get = |name| state.get(name).iter().map(|&x| x as f32).collect::<Vec<_>>();
    let (mut q, v, tau) = (get("q"), get("v"), get("tau"));
    let mut memory = vec![Block::EMPTY; Dynamics::<f32>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    let mut accelerations = [vec![0.0; model.nv()], vec![0.0; model.nv()]];
    for (acceleration, away) in accelerations.iter_mut().zip([0.0, 1000.0]) {
        q[..3].fill(away);
        dynamics::update(model, &q, &v, &mut work).unwrap();
        dynamics::forward(model, &tau, &[], acceleration, &mut work).unwrap();
    }
    assert_eq!(accelerations[0], accelerations[1]);
}

/// A robot, a state of it, and the memory of its steps.
struct Stage<T: Real> {
    robot: OwnedModel<T>,
    q: Vec<T>,
    v: Vec<T>,
    control: Vec<T>,
    force: Vec<T>,
    external: Vec<Force<T>>,
    settings: StepSettings<T>,
}

/// What the memory of the next state holds before a step.
const UNTOUCHED: f64 = 42.5;

impl<T: Real> Stage<T> {
    fn new(name: &str) -> Self {
        let robot = builtin_robot(name).cast::<T>();
        let model = robot.model();
        let rest = model.find_keyframe("rest").unwrap();
        let (q, v, control) = (rest.q.to_vec(), rest.v.to_vec(), rest.u.to_vec());
        let (force, external) = (vec![T::ZERO; model.nv()], vec![Force::ZERO; model.bodies.len()]);
        Self { robot, q, v, control, force, external, settings: StepSettings::default() }
    }

    /// Takes a step in the memory of `memory_of`: an error that left the next state alone, or a finite next state.
    fn step_in(&self, memory_of: &Self) -> Result<(), StepError> {
        let model = self.robot.model();
        let dims = StepDims::of(memory_of.robot.model(), 32);
        let mut memory = vec![Block::EMPTY; Step::<T>::blocks(dims)];
        let mut work = Step::carve(&mut Arena::new(&mut memory), dims).unwrap();
        let (mut q, mut v) = (vec![T::from_f64(UNTOUCHED); model.nq()], vec![T::from_f64(UNTOUCHED); model.nv()]);
        let input =
            StepInput { q: &self.q, v: &self.v, control: &self.control, force: &self.force, external: &self.external };
        let result = step(model, &input, &self.settings, NextState { q: &mut q, v: &mut v }, &mut work);
        let mut numbers = q.iter().chain(&v);
        match result {
            Ok(_) => assert!(numbers.all(|x| x.is_finite()), "a state that is not finite passed as one"),
            Err(error) => {
                assert!(numbers.all(|x| x.to_f64().to_bits() == UNTOUCHED.to_bits()), "{error}, but next was written");
                assert!(!error.to_string().is_empty());
            }
        }
        result.map(|_| ())
    }

    fn step(&self) -> Result<(), StepError> {
        self.step_in(self)
    }

    /// The numbers of an argument by its name.
    fn argument(&mut self, what: &str) -> &mut Vec<T> {
        match what {
            "q" => &mut self.q,
            "v" => &mut self.v,
            "control" => &mut self.control,
            _ => &mut self.force,
        }
    }
}

const ARGUMENTS: [&str; 4] = ["q", "v", "control", "force"];
/// A dog with everything, a free box, a chain, a gripper around a plate.
const STAGES: [&str; 4] = ["go1", "cube", "double_cartpole", "gripper"];

fn check_numbers_that_are_not<T: Real>() {
    for name in STAGES {
        for what in ARGUMENTS {
            let len = Stage::<T>::new(name).argument(what).len();
            for index in (0..len).step_by(3) {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut stage = Stage::<T>::new(name);
                    stage.argument(what)[index] = T::from_f64(bad);
                    assert_eq!(stage.step(), Err(StepError::NotFinite { what, index }), "{name}");
                }
            }
        }
        let mut stage = Stage::<T>::new(name);
        stage.external[0].angular.y = T::from_f64(f64::NAN);
        assert_eq!(stage.step(), Err(StepError::NotFinite { what: "external", index: 4 }));
    }
}

#[test]
fn a_step_names_the_number_that_is_none() {
    check_numbers_that_are_not::<f64>();
    check_numbers_that_are_not::<f32>();
}

fn check_huge_numbers<T: Real>(sizes: &[f64]) {
    for name in STAGES {
        for what in ARGUMENTS {
            let len = Stage::<T>::new(name).argument(what).len();
            for index in 0..len {
                for &size in sizes {
                    for sign in [1.0, -1.0] {
                        let mut stage = Stage::<T>::new(name);
                        stage.argument(what)[index] = T::from_f64(sign * size);
                        // Whatever it says, it left a finite state or none; a rotation of that length it refuses.
                        let _ = stage.step();
                    }
                }
            }
            for &size in sizes {
                let mut stage = Stage::<T>::new(name);
                stage.argument(what).fill(T::from_f64(size));
                let _ = stage.step();
            }
        }
    }
}

#[test]
fn huge_numbers_give_a_finite_state_or_an_error() {
    check_huge_numbers::<f64>(&[1e6, 1e15, 1e30, 1e150, 1e300, f64::MAX]);
    check_huge_numbers::<f32>(&[1e6, 1e15, 1e30, f64::from(f32::MAX)]);
}

#[test]
fn a_rotation_that_is_not_of_length_one_is_named() {
    for factor in [0.0, 0.9, 1.01, 1e200] {
        let mut stage = Stage::<f64>::new("go1");
        stage.q[3..7].iter_mut().for_each(|x| *x *= factor);
        assert_eq!(stage.step(), Err(StepError::NotNormalized { index: 3 }));
    }
    let mut stage = Stage::<f64>::new("go1");
    // What rounding to four digits leaves is no error.
    stage.q[3..7].iter_mut().for_each(|x| *x *= 1.0001);
    assert_eq!(stage.step(), Ok(()));
}

#[test]
fn a_time_step_that_is_none_is_refused() {
    for bad in [0.0, -0.0, -0.002, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut stage = Stage::<f64>::new("go1");
        stage.settings.dt_s = bad;
        assert_eq!(stage.step(), Err(StepError::TimeStep), "{bad}");
    }
    for odd in [f64::MIN_POSITIVE, 1e-300, 1e-12, 1.0, 1e10, 1e300] {
        for name in STAGES {
            let mut stage = Stage::<f64>::new(name);
            stage.settings.dt_s = odd;
            let _ = stage.step();
        }
    }
}

#[test]
fn a_step_names_the_argument_of_the_wrong_length() {
    for what in ARGUMENTS {
        for longer in [true, false] {
            let mut stage = Stage::<f64>::new("go1");
            let numbers = stage.argument(what);
            let expected = numbers.len();
            numbers.resize(if longer { expected + 1 } else { expected - 1 }, 0.0);
            let got = numbers.len();
            assert_eq!(stage.step(), Err(StepError::Input(InputError::Length { what, expected, got })));
        }
    }
    let mut stage = Stage::<f64>::new("go1");
    stage.external.pop();
    let error = InputError::Length { what: "external", expected: 13, got: 12 };
    assert_eq!(stage.step(), Err(StepError::Input(error)));
    let mut stage = Stage::<f64>::new("go1");
    (stage.control, stage.force, stage.external) = (Vec::new(), Vec::new(), Vec::new());
    assert_eq!(stage.step(), Ok(()));
}

#[test]
fn a_step_refuses_the_memory_of_another_robot() {
    for name in STAGES {
        for other in STAGES {
            let result = Stage::<f64>::new(name).step_in(&Stage::new(other));
            let refused = matches!(result, Err(StepError::Input(InputError::Length { .. })));
            assert!(
                if name == other { result.is_ok() } else { refused },
                "{name} in the memory of {other}: {result:?}"
            );
        }
    }
}

#[test]
fn settings_that_make_no_sense_give_a_finite_state_or_an_error() {
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
        let changes: [fn(&mut StepSettings<f64>, f64); 9] = [
            |s, x| s.contact_margin_m = x,
            |s, x| s.stabilization.recovery = x,
            |s, x| s.stabilization.rest_band = x,
            |s, x| s.stabilization.max_recovery_speed = x,
            |s, x| s.stabilization.bounce_threshold_m_s = x,
            |s, x| s.stabilization.limit_margin = x,
            |s, x| s.stabilization.compliance_m_n = x,
            |s, x| s.solver.tolerance = x,
            |s, x| s.solver.proximal = x,
        ];
        for change in changes {
            let mut stage = Stage::<f64>::new("cube");
            change(&mut stage.settings, bad);
            let _ = stage.step();
        }
    }
    let mut stage = Stage::<f64>::new("cube");
    (stage.settings.substeps, stage.settings.solver.iterations, stage.settings.solver.sweeps) = (0, 0, 0);
    assert_eq!(stage.step(), Ok(()));
}
