//! The step of robots that stand, in f64 and f32, as a whole and stage by stage.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use saltus::collision;
use saltus::contact::{self, Mode, ProblemDims, Scratch, Situation, Solution, Solver};
use saltus::dynamics;
use saltus::memory::{Arena, Block};
use saltus::model::{Model, OwnedModel};
use saltus::scalar::Real;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_cli::hold::holding_motors;
use saltus_loaders::{LoadOptions, load};

const ROBOTS: [&str; 4] = ["go1", "h1", "humanoid", "ur5"];
const CONTACTS: usize = 32;
/// Until they stand still.
const SETTLE_STEPS: usize = 1000;

fn step(c: &mut Criterion) {
    for robot in ROBOTS {
        let loaded = load(robot, &LoadOptions::default()).expect("a built-in robot").model;
        bench_robot::<f64>(c, &format!("{robot}/f64"), &loaded, &loaded);
        bench_robot::<f32>(c, &format!("{robot}/f32"), &loaded.cast(), &loaded);
    }
}

fn bench_robot<T: Real>(c: &mut Criterion, name: &str, robot: &OwnedModel<T>, double: &OwnedModel<f64>) {
    let rest = double.model().find_keyframe("rest").expect("every built-in robot has one");
    let motors: Vec<_> = holding_motors(double.model(), rest.q).iter().map(|motor| motor.cast()).collect();
    let model = Model { actuators: &motors, ..robot.model() };
    let rest = model.find_keyframe("rest").expect("it has one");
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Simulator::<T>::blocks(dims)];
    let settings = StepSettings::default();
    let mut simulator = Simulator::new(model, settings, dims, &mut Arena::new(&mut memory)).expect("sized for it");
    simulator.set_keyframe(&rest).expect("fits");
    for _ in 0..SETTLE_STEPS {
        simulator.step(rest.u).expect("it stands");
    }
    let mut group = c.benchmark_group(name);
    group.bench_function("step", |b| b.iter(|| simulator.step(black_box(rest.u)).expect("it stands")));
    let (q, v) = (simulator.q().to_vec(), simulator.v().to_vec());
    group.bench_function("step/cold", |b| {
        b.iter(|| {
            simulator.set_state(black_box(&q), &v).expect("fits");
            simulator.step(rest.u).expect("it stands")
        })
    });

    // One more step leaves its problem behind; what follows repeats its stages, the solve from the impulses before it.
    let warm = simulator.work().impulses().to_vec();
    simulator.step(rest.u).expect("it stands");
    let work = simulator.work_mut();
    group.bench_function("solve", |b| {
        let problem = work.assembly.problem();
        let (rows, constraints) = (problem.rows(), problem.constraints.len());
        let sizes = ProblemDims { constraints, rows };
        let mut memory = vec![Block::EMPTY; Scratch::<T>::blocks(sizes)];
        let mut scratch = Scratch::carve(&mut Arena::new(&mut memory), sizes).expect("sized for it");
        let (mut impulses, mut velocity) = (vec![T::ZERO; rows], vec![T::ZERO; rows]);
        let mut modes = vec![Mode::default(); constraints];
        b.iter(|| {
            impulses.copy_from_slice(&warm);
            let solution = Solution { impulses: &mut impulses, velocity: &mut velocity, modes: &mut modes };
            settings.solver.solve(black_box(&problem), solution, &mut scratch)
        })
    });
    group.bench_function("update", |b| {
        b.iter(|| dynamics::update(model, black_box(&q), &v, &mut work.dynamics).expect("fits"))
    });
    group.bench_function("detect", |b| {
        let margin = settings.contact_margin_m;
        b.iter(|| collision::detect(model, black_box(&work.dynamics.kinematics), margin, &mut work.collision))
    });
    group.bench_function("factorize", |b| {
        b.iter(|| {
            dynamics::mass_matrix(model, &mut work.dynamics).expect("fits");
            dynamics::factorize(model, &mut work.dynamics).expect("regular")
        })
    });
    group.bench_function("assemble", |b| {
        let contacts = work.collision.contacts();
        let situation = Situation { q: &q, v: &v, free: &v, contacts, dt_s: settings.dt_s };
        let (dynamics, assembly) = (&work.dynamics, &mut work.assembly);
        b.iter(|| contact::assemble(model, black_box(&situation), &settings.stabilization, dynamics, assembly))
    });
}

criterion_group!(benches, step);
criterion_main!(benches);
