//! Derivatives of the step of robots that stand, in f64 and f32: the whole Jacobian, and products with it.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use saltus::derivatives::{Cotangent, Derivatives, differentiate, pull_back, push_forward};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, OwnedModel};
use saltus::scalar::Real;
use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};
use saltus_cli::hold::holding_motors;
use saltus_loaders::{LoadOptions, load};

const ROBOTS: [&str; 6] = ["go1", "h1", "humanoid", "ur5", "half_cheetah", "atlas"];
const CONTACTS: usize = 32;
/// Until they stand still.
const SETTLE_STEPS: usize = 1000;

fn derivatives(c: &mut Criterion) {
    for robot in ROBOTS {
        let loaded = load(robot, &LoadOptions::default()).expect("a built-in robot").model;
        bench_robot::<f64>(c, &format!("{robot}/f64"), &loaded, &loaded);
        bench_robot::<f32>(c, &format!("{robot}/f32"), &loaded.cast(), &loaded);
    }
}

fn bench_robot<T: Real<Plain = T>>(c: &mut Criterion, name: &str, robot: &OwnedModel<T>, double: &OwnedModel<f64>) {
    let rest = double.model().find_keyframe("rest").expect("every built-in robot has one");
    let motors: Vec<_> = holding_motors(double.model(), rest.q).iter().map(|motor| motor.cast()).collect();
    let model = Model { actuators: &motors, ..robot.model() };
    let rest = model.find_keyframe("rest").expect("it has one");
    let (dims, settings) = (StepDims::of(model, CONTACTS), StepSettings::default());
    let mut memory = vec![Block::EMPTY; Step::<T>::blocks(dims) + Derivatives::<T>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let mut work = Step::carve(&mut arena, dims).expect("sized for it");
    let mut out = Derivatives::carve(&mut arena, dims).expect("sized for it");
    let (mut q, mut v) = (rest.q.to_vec(), rest.v.to_vec());
    let (mut next_q, mut next_v) = (q.clone(), v.clone());
    for _ in 0..=SETTLE_STEPS {
        q.copy_from_slice(&next_q);
        v.copy_from_slice(&next_v);
        let next = NextState { q: &mut next_q, v: &mut next_v };
        step(model, &StepInput::new(&q, &v, rest.u), &settings, next, &mut work).expect("it stands");
    }
    let input = StepInput::new(&q, &v, rest.u);
    let mut group = c.benchmark_group(name);
    group.bench_function("differentiate", |b| {
        b.iter(|| differentiate(model, black_box(&input), &settings, &mut work, &mut out).expect("it stands"))
    });
    let along = vec![T::ONE; 2 * model.nv() + model.nu()];
    let mut change = vec![T::ZERO; model.nv()];
    group.bench_function("push_forward", |b| {
        b.iter(|| {
            let memory = (&mut work, &mut out);
            push_forward(model, (&input, &settings), black_box(&along), &mut change, memory).expect("it stands")
        })
    });
    let (loss, mut gradient) = (vec![T::ONE; model.nv()], along.clone());
    group.bench_function("pull_back", |b| {
        b.iter(|| {
            let (memory, cotangent) = ((&mut work, &mut out), Cotangent { q: &loss, v: &loss });
            pull_back(model, (&input, &settings), black_box(cotangent), &mut gradient, memory).expect("it stands")
        })
    });
}

criterion_group!(benches, derivatives);
criterion_main!(benches);
