//! One iteration of the optimizer on robots that stand or hang still, stage by stage, and the policy that it leaves.
//!
//! Backward pass and cost are what the optimizer's own clock says of them, per node.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use saltus::memory::{Arena, Block};
use saltus::model::{Keyframe, OwnedModel};
use saltus::mpc::{
    Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, PolicyScratch, Report, Residual, Spacing, Start, Task,
    Term,
};
use saltus::scalar::Real;
use saltus::step::StepDims;
use saltus_loaders::{LoadOptions, load};

const ROBOTS: [&str; 4] = ["go1", "h1", "ur5", "cartpole"];
const HORIZON: usize = 20;
const CONTACTS: usize = 8;
const DT_S: f64 = 0.02;
/// Until the plan has come to rest.
const SETTLE_SOLVES: usize = 20;

fn mpc(c: &mut Criterion) {
    for robot in ROBOTS {
        let loaded = load(robot, &LoadOptions::default()).expect("a built-in robot").model;
        bench_robot::<f64>(c, &format!("{robot}/f64"), &loaded);
        bench_robot::<f32>(c, &format!("{robot}/f32"), &loaded.cast());
    }
}

fn bench_robot<T: Real<Plain = T>>(c: &mut Criterion, name: &str, robot: &OwnedModel<T>) {
    let model = robot.model();
    let rest = model.find_keyframe("rest").expect("every built-in robot has one");
    let dims = MpcDims::new(StepDims::of(model, CONTACTS), HORIZON, 3);
    let mut memory = vec![Block::EMPTY; Mpc::<T>::blocks(dims)];
    let mut mpc = Mpc::new(model, settings(), dims, &mut Arena::new(&mut memory)).expect("sized for it");
    let terms = stay(&rest);
    let task = Task::new(&terms);
    mpc.reset(rest.u).expect("fits");
    let began = Instant::now();
    let clock = || Nanos(began.elapsed().as_nanos() as u64);
    let mut solve = || -> Report<T> {
        let measured = Measured { time: Nanos(0), q: rest.q, v: rest.v };
        mpc.solve(black_box(&task), measured, Budget { clock: &clock, deadline: Nanos::NEVER }).expect("fits")
    };
    for _ in 0..SETTLE_SOLVES {
        solve();
    }
    let mut group = c.benchmark_group(name);
    group.bench_function("iteration", |b| b.iter(&mut solve));
    let mut stage = |name, nanoseconds: fn(&Report<T>) -> u64| {
        group.bench_function(name, |b| {
            b.iter_custom(|times| {
                let sum: u64 = (0..times).map(|_| nanoseconds(&solve())).sum();
                Duration::from_nanos(sum) / HORIZON as u32
            });
        });
    };
    stage("backward/node", |report| report.times.backward);
    stage("cost/node", |report| report.times.cost);
    stage("derivatives/node", |report| report.times.derivatives);
    stage("step/node", |report| report.times.step);

    let plan = mpc.plan();
    let mut memory = vec![Block::EMPTY; PolicyScratch::<T>::blocks(model.dims())];
    let mut scratch = PolicyScratch::carve(&mut Arena::new(&mut memory), model.dims()).expect("sized for it");
    let mut u = vec![T::ZERO; model.nu()];
    // In the middle of the plan, between two nodes.
    let now = Nanos((0.5 * DT_S * (HORIZON + 1) as f64 * 1e9) as u64);
    group.bench_function("policy", |b| {
        b.iter(|| plan.control(model, black_box(now), (rest.q, rest.v), &mut u, &mut scratch).expect("fits"))
    });
}

/// One iteration with one trial, however little there is to gain.
fn settings<T: Real>() -> MpcSettings<T> {
    MpcSettings {
        spacing: Spacing::even(T::from_f64(DT_S)),
        start: Start::Gaps,
        max_iterations: 1,
        trials: 1,
        tolerance: T::ZERO,
        ..MpcSettings::default()
    }
}

/// Stay as you are, with little effort.
fn stay<'t, T: Real>(rest: &Keyframe<'t, T>) -> [Term<'t, T>; 3] {
    let real = T::from_f64;
    [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: rest.q }, real(50.0)).at_end(real(1.0)),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, real(50.0)).at_end(real(1.0)),
        Term::new(Residual::Control { reference: rest.u }, real(0.05)),
    ]
}

criterion_group!(benches, mpc);
criterion_main!(benches);
