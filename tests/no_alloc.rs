//! After construction nothing allocates: counted on every call, in debug and in release builds alike.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use nalgebra::Vector3;
use saltus::collision::{self, Collision, CollisionDims};
use saltus::contact::{Admm, GaussSeidel, Newton, Solver};
use saltus::derivatives::{
    Cotangent, Derivatives, Gradients, Parameter, Tape, TapeDims, differentiate, differentiate_parameters, pull_back,
    push_forward, roll_out, sweep_back,
};
use saltus::dynamics::{self, Dynamics, PARAMETERS};
use saltus::kinematics::{self, Kinematics, Reference, Target};
use saltus::linalg::{self, MatMut, MatRef};
use saltus::memory::{Arena, Block};
use saltus::model::configuration::{self, Argument};
use saltus::model::{BodyId, FrameId, Model, OwnedModel};
use saltus::mpc::{
    Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, PolicyScratch, Residual, Start, Stopped, Task, Team, Term,
};
use saltus::scalar::{Dual, Real};
use saltus::spatial::Force;
use saltus::step::{Simulator, StepDims, StepInput, StepSettings};
use saltus_testkit::{Oracle, Random, State, builtin_robot, builtin_robots};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system allocator, counting what each thread asks for.
struct Counting;

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; the pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_sees_an_allocation() {
    assert_eq!(allocations_of(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn no_algorithm_allocates_in_f64() {
    for robot in Oracle::ROBOTS {
        let oracle = Oracle::load(robot).unwrap();
        check_all(robot, oracle.model.model(), &oracle.states[0]);
    }
}

#[test]
fn no_algorithm_allocates_in_f32() {
    for robot in Oracle::ROBOTS {
        let oracle = Oracle::load(robot).unwrap();
        check_all(robot, oracle.model.cast::<f32>().model(), &oracle.states[0]);
    }
}

#[test]
fn detection_does_not_allocate() {
    for robot in saltus_loaders::BUILTIN {
        let path = format!("{}.xml", robot.name);
        let loaded = saltus_loaders::load_text(std::path::Path::new(&path), robot.text, &Default::default()).unwrap();
        check_detection(robot.name, loaded.model.model());
        check_detection(robot.name, loaded.model.cast::<f32>().model());
        // Of a whole model in dual numbers too, down to its hulls.
        check_detection(robot.name, loaded.model.cast::<Dual<f64, 6>>().model());
    }
}

/// Bodies thrown together so that many pairs touch, with room for too few contacts.
fn check_detection<T: Real>(robot: &str, model: Model<'_, T>) {
    let mut random = Random::new(31);
    let mut q = vec![T::ZERO; model.nq()];
    let v = vec![T::ZERO; model.nv()];
    let dims = CollisionDims { geometries: model.geometries.len(), contacts: 6 };
    let mut memory = vec![Block::EMPTY; Kinematics::<T>::blocks(model.dims()) + Collision::<T>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let mut work = Kinematics::carve(&mut arena, model.dims()).unwrap();
    let mut out = Collision::carve(&mut arena, dims).unwrap();
    for _ in 0..10 {
        configuration::random(model, || T::from_f64(random.uniform()), &mut q).unwrap();
        kinematics::forward(model, &q, &v, &mut work).unwrap();
        let count = allocations_of(|| {
            let found = collision::detect(model, &work, T::from_f64(0.05), &mut out).unwrap();
            assert_eq!(found.kept, out.contacts().len());
        });
        assert_eq!(count, 0, "{robot} allocated");
        assert!(out.contacts().is_sorted_by_key(|contact| contact.key()), "{robot}: the order of contacts");
    }
}

fn check_all<T: Real>(robot: &str, model: Model<'_, T>, state: &State) {
    let get = |name| state.get(name).iter().map(|&x| T::from_f64(x)).collect::<Vec<_>>();
    let (q, q2, v, a, tau) = (get("q"), get("q2"), get("v"), get("a"), get("tau"));
    let wrench: Vec<_> = get("wrench").as_chunks::<6>().0.iter().map(|&six| Force::from_array(six)).collect();
    let (nv, columns) = (model.nv(), PARAMETERS * model.bodies.len());
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())];
    let mut matrix = vec![T::ZERO; nv * columns.max(3 * nv)];
    let (mut vector, mut moved) = (vec![T::ZERO; nv], q.clone());

    let count = allocations_of(|| {
        let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
        let work = &mut work;
        dynamics::update(model, &q, &v, work).unwrap();
        kinematic_algorithms(model, work, &mut matrix);
        dynamics::inverse(model, &a, &wrench, &mut vector, work).unwrap();
        dynamics::bias(model, &wrench, &mut vector, work).unwrap();
        dynamics::gravity_force(model, &mut vector, work).unwrap();
        dynamics::forward(model, &tau, &wrench, &mut vector, work).unwrap();
        dynamics::forward_factored(model, &tau, &wrench, &mut vector, work).unwrap();
        dynamics::inverse_derivatives(model, &a, &wrench, MatMut::new(&mut matrix, nv, 2 * nv), work).unwrap();
        dynamics::forward_derivatives(model, &tau, &wrench, MatMut::new(&mut matrix, nv, 3 * nv), work).unwrap();
        dynamics::regressor(model, &a, MatMut::new(&mut matrix, nv, columns), work).unwrap();
        dynamics::center_of_mass_jacobian(work, MatMut::new(&mut matrix, 3, nv)).unwrap();
        dynamics::centroidal_map(work, MatMut::new(&mut matrix, 6, nv)).unwrap();
        std::hint::black_box(dynamics::centroidal_momentum(work));
        std::hint::black_box(dynamics::center_of_mass(work));
        std::hint::black_box(dynamics::kinetic_energy(work) + dynamics::potential_energy(model, work));
        configuration::integrate(model, &q, &v, &mut moved).unwrap();
        configuration::difference(model, &q, &q2, &mut vector).unwrap();
        configuration::normalize(model, &mut moved).unwrap();
        configuration::neutral(model, &mut moved).unwrap();
        configuration::random(model, || T::from_f64(0.3), &mut moved).unwrap();
        for argument in [Argument::From, Argument::To] {
            let out = MatMut::new(&mut matrix, nv, nv);
            configuration::integrate_jacobian(model, &v, argument, out).unwrap();
            let out = MatMut::new(&mut matrix, nv, nv);
            configuration::difference_jacobian(model, &q, &q2, argument, out).unwrap();
        }
        dense_kernels(&mut matrix);
        assert!(dynamics::update(model, &q[1..], &v, work).is_err());
    });
    assert_eq!(count, 0, "{robot} allocated");
}

#[test]
fn no_step_allocates_in_f64() {
    builtin_robots().for_each(|(name, robot)| check_steps::<f64>(name, &robot));
}

#[test]
fn no_step_allocates_in_f32() {
    builtin_robots().for_each(|(name, robot)| check_steps::<f32>(name, &robot));
}

/// Steps with all three solvers, their derivatives, and an error.
fn check_steps<T: Real<Plain = T>>(name: &str, robot: &OwnedModel<f64>) {
    check_steps_with::<T, _>(name, robot, Newton::default());
    check_steps_with::<T, _>(name, robot, Admm { max_iterations: 50, ..Admm::default() });
    check_steps_with::<T, _>(name, robot, GaussSeidel { max_sweeps: 50, ..GaussSeidel::default() });
}

fn check_steps_with<T: Real<Plain = T>, S: Solver<T>>(name: &str, robot: &OwnedModel<f64>, solver: S) {
    let robot = robot.cast::<T>();
    let model = robot.model();
    let dims = StepDims::of(model, 32);
    let tape_dims = TapeDims { step: dims, steps: 3 };
    let blocks = Simulator::<T>::blocks(dims) + Derivatives::<T>::blocks(dims) + Tape::<T>::blocks(tape_dims);
    let mut memory = vec![Block::EMPTY; blocks];
    let settings = StepSettings::default().with_solver(solver);
    let columns = 2 * model.nv() + model.nu();
    let (mut change, mut gradient, along) = (vec![T::ZERO; model.nv()], vec![T::ZERO; columns], vec![T::ONE; columns]);
    let controls = vec![T::from_f64(0.1); 3 * model.nu()];
    let control = vec![T::from_f64(0.1); model.nu()];
    let (mut q, mut v) = (vec![T::ZERO; model.nq()], vec![T::ZERO; model.nv()]);
    let count = allocations_of(|| {
        let mut arena = Arena::new(&mut memory);
        let mut derivatives = Derivatives::carve(&mut arena, dims).unwrap();
        let mut simulator = Simulator::new(model, settings, dims, &mut arena).unwrap();
        simulator.set_keyframe(&model.find_keyframe("rest").unwrap()).unwrap();
        for _ in 0..50 {
            q.copy_from_slice(simulator.q());
            v.copy_from_slice(simulator.v());
            std::hint::black_box(simulator.step(&control).unwrap());
            std::hint::black_box(simulator.work().contacts().count());
        }
        let settings = StepSettings::default();
        let input = StepInput::new(&q, &v, &control);
        std::hint::black_box(differentiate(model, &input, &settings, simulator.work_mut(), &mut derivatives).unwrap());
        let (work, scratch) = (simulator.work_mut(), &mut derivatives);
        let step = (&input, &settings);
        push_forward(model, step, &along, &mut change, (work, scratch)).unwrap();
        let cotangent = Cotangent { q: &along[..model.nv()], v: &along[..model.nv()] };
        pull_back(model, step, cotangent, &mut gradient, (work, scratch)).unwrap();
        let parameters = [Parameter::TimeStep];
        let slopes = MatMut::new(&mut change, model.nv(), 1);
        differentiate_parameters(model, step, &parameters, slopes, (work, scratch)).unwrap();
        let mut tape = Tape::carve(&mut arena, tape_dims).unwrap();
        roll_out(model, &settings, (&q, &v), &controls, &mut tape, work).unwrap();
        let mut loss = |_: usize, _: (&[T], &[T]), _: &mut [T], by_v: &mut [T]| by_v.fill(T::ONE);
        let wanted =
            Gradients { controls: &mut [], q: &mut [], v: &mut change, parameters: (&parameters, &mut [T::ZERO]) };
        let controls = &controls[..tape.steps() * model.nu()];
        sweep_back(model, &settings, controls, &mut loss, wanted, &mut tape, (work, scratch)).unwrap();
        assert!(simulator.step(&control[..0]).is_ok() && simulator.step_with(&[], &v[..0], &[]).is_ok());
        assert!(simulator.set_state(&q[1..], &v).is_err());
    });
    assert_eq!(count, 0, "{name} allocated");
}

#[test]
fn no_solve_allocates_in_f64() {
    ["cartpole", "ur5", "go1"].iter().for_each(|name| check_solves::<f64>(name, &builtin_robot(name)));
}

#[test]
fn no_solve_allocates_in_f32() {
    ["cartpole", "ur5", "go1"].iter().for_each(|name| check_solves::<f32>(name, &builtin_robot(name)));
}

/// Everything that one of the pool's threads asks for counts, and the first solves warm its queues up.
#[test]
fn no_solve_of_a_team_allocates_inside_its_pool() {
    let robot = builtin_robot("go1");
    let model = robot.model();
    let rest = model.find_keyframe("rest").unwrap();
    let terms = [Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, 1.0).at_end(1.0)];
    let dims = MpcDims::new(StepDims::of(model, 8), 10, 1);
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims) + Team::<f64>::blocks(dims, 2)];
    let mut arena = Arena::new(&mut memory);
    let mut mpc = Mpc::new(model, MpcSettings::default(), dims, &mut arena).unwrap();
    let mut team = Team::carve(&mut arena, dims, 2).unwrap();
    mpc.reset(rest.u).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let asked = || pool.broadcast(|_| ALLOCATIONS.get());
    let mut solve = |times: u64| {
        pool.install(|| {
            let before = ALLOCATIONS.get();
            for tick in 0..times {
                let measured = Measured { time: Nanos(tick * 20_000_000), q: rest.q, v: rest.v };
                let budget = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };
                mpc.solve_with(&Task::new(&terms), measured, budget, (&mut team, &pool)).unwrap();
            }
            ALLOCATIONS.get() - before
        })
    };
    solve(10);
    let before = asked();
    assert_eq!(solve(200), 0);
    // Asking is itself a piece of work for each thread: what that takes does not grow with the solves.
    let (after, later) = (asked(), asked());
    let more = |old: &[usize], new: &[usize]| new.iter().sum::<usize>() - old.iter().sum::<usize>();
    let (grown, idle) = (more(&before, &after), more(&after, &later));
    assert!(grown <= idle + 1, "{grown} allocations in 200 solves, {idle} when idle");
}

/// An optimizer from nothing, solves from both starts, the policy between them, a budget that ends and errors.
fn check_solves<T: Real<Plain = T>>(name: &str, robot: &OwnedModel<f64>) {
    let robot = robot.cast::<T>();
    let model = robot.model();
    let rest = model.find_keyframe("rest").unwrap();
    let dims = MpcDims::new(StepDims::of(model, 8), 10, 3);
    let mut memory = vec![Block::EMPTY; Mpc::<T>::blocks(dims) + PolicyScratch::<T>::blocks(model.dims())];
    let mut u = vec![T::ZERO; model.nu()];
    let count = allocations_of(|| {
        let mut arena = Arena::new(&mut memory);
        let mut scratch = PolicyScratch::carve(&mut arena, model.dims()).unwrap();
        let settings = MpcSettings { max_iterations: 3, ..MpcSettings::default() };
        let mut mpc = Mpc::new(model, settings, dims, &mut arena).unwrap();
        mpc.reset(rest.u).unwrap();
        let terms = [
            Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, T::ONE).at_end(T::ONE),
            Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, T::ONE),
            Term::new(Residual::Control { reference: &[] }, T::from_f64(1e-3)),
        ];
        let task = Task::new(&terms);
        for tick in 0..4 {
            mpc.settings.start = if tick % 2 == 0 { Start::Rollout } else { Start::Gaps };
            let now = Nanos(tick * 20_000_000);
            let measured = Measured { time: now, q: rest.q, v: rest.v };
            let clock = Stopped(now);
            mpc.solve(&task, measured, Budget { clock: &clock, deadline: Nanos::NEVER }).unwrap();
            mpc.plan().control(model, now + 5_000_000, (rest.q, rest.v), &mut u, &mut scratch).unwrap();
            mpc.solve(&task, measured, Budget { clock: &clock, deadline: now }).unwrap();
            let nowhere = Measured { time: now, q: &[], v: rest.v };
            assert!(mpc.solve(&task, nowhere, Budget { clock: &clock, deadline: now }).is_err());
        }
    });
    assert_eq!(count, 0, "{name} allocated");
}

fn kinematic_algorithms<T: Real>(model: Model<'_, T>, work: &Dynamics<'_, T>, matrix: &mut [T]) {
    let (kin, nv) = (&work.kinematics, model.nv());
    let point = Vector3::new(T::ONE, T::ZERO, T::ZERO);
    let last = BodyId::new(model.bodies.len() as u16);
    for target in [Target::Body(last), Target::Frame(FrameId::new(0))] {
        for reference in [Reference::Local, Reference::Aligned, Reference::World] {
            kinematics::jacobian(model, kin, target, reference, MatMut::new(matrix, 6, nv)).unwrap();
            kinematics::jacobian_rate(model, kin, target, reference, MatMut::new(matrix, 6, nv)).unwrap();
        }
    }
    kinematics::point_jacobian(model, kin, last, &point, MatMut::new(matrix, 3, nv)).unwrap();
    kinematics::point_velocity_derivatives(model, kin, last, &point, MatMut::new(matrix, 3, nv)).unwrap();
    std::hint::black_box(kinematics::point_velocity(kin, last, &point).unwrap());
    std::hint::black_box(kin.frame_placement_world(model, FrameId::new(0)).unwrap());
}

fn dense_kernels<T: Real>(scratch: &mut [T]) {
    const N: usize = 2;
    let a = [T::ONE, T::from_f64(0.5), T::from_f64(0.5), T::ONE];
    let (left, right) = (MatRef::new(&a, N, N), MatRef::new(&a, N, N));
    linalg::add_a_b(MatMut::new(scratch, N, N), left, right);
    linalg::add_at_b(MatMut::new(scratch, N, N), left, right);
    linalg::add_a_bt(MatMut::new(scratch, N, N), left, right);
    linalg::add_at_a_upper(MatMut::new(scratch, N, N), left);
    let mut factor = a;
    linalg::cholesky(MatMut::new(&mut factor, N, N)).unwrap();
    linalg::cholesky_solve(MatRef::new(&factor, N, N), MatMut::new(scratch, N, N));
    factor = a;
    linalg::ldlt(MatMut::new(&mut factor, N, N), T::ZERO).unwrap();
    linalg::ldlt_solve(MatRef::new(&factor, N, N), MatMut::new(scratch, N, N));
    factor = a;
    let mut exchanges = [0; N];
    linalg::lu(MatMut::new(&mut factor, N, N), &mut exchanges).unwrap();
    linalg::lu_solve(MatRef::new(&factor, N, N), &exchanges, &mut scratch[..N]);
}
