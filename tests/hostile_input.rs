//! Wrong input gets a typed error that says what to do, and nothing panics.

use saltus::dynamics::{self, Dynamics, DynamicsError};
use saltus::input::InputError;
use saltus::kinematics::{self, Reference, Target};
use saltus::linalg::MatMut;
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, BodySpec, FrameId, JointSpec, ModelBuilder};
use saltus::spatial::{Force, Inertia};
use saltus_testkit::{Oracle, random_tree};

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
