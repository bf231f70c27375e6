//! Rigid-body algorithms on the stored robots, kinematics included, in f64 and f32.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use saltus::dynamics::{self, Dynamics, PARAMETERS};
use saltus::linalg::{MatMut, padded};
use saltus::memory::{Arena, Block, blocks_for};
use saltus::model::Model;
use saltus::scalar::Real;
use saltus_testkit::Oracle;

const ROBOTS: [&str; 4] = ["panda7", "go1", "g1", "talos"];

fn dynamics(c: &mut Criterion) {
    for robot in ROBOTS {
        let oracle = Oracle::load(robot).expect("the figures are in tests/oracles");
        bench_robot::<f64>(c, &format!("{robot}/f64"), oracle.model.model(), &oracle);
        let single = oracle.model.cast::<f32>();
        bench_robot::<f32>(c, &format!("{robot}/f32"), single.model(), &oracle);
    }
}

fn bench_robot<T: Real>(c: &mut Criterion, name: &str, model: Model<'_, T>, oracle: &Oracle) {
    let nv = model.nv();
    let get = |field: &str| -> Vec<Vec<T>> {
        oracle.states.iter().map(|s| s.get(field).iter().map(|&x| T::from_f64(x)).collect()).collect()
    };
    let (q, v, a, tau) = (get("q"), get("v"), get("a"), get("tau"));
    let outputs = blocks_for::<T>(nv) + blocks_for::<T>(nv * padded(3 * nv));
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims()) + outputs];
    let mut arena = Arena::new(&mut memory);
    let mut work = Dynamics::carve(&mut arena, model.dims()).expect("sized for it");
    let vector = arena.slice(nv).expect("sized for it");
    let matrix = arena.slice(nv * padded(3 * nv)).expect("sized for it");
    let mut regressor = vec![T::ZERO; nv * PARAMETERS * model.bodies.len()];
    let mut group = c.benchmark_group(name);
    let mut k = 0;
    let mut bench = |algorithm: &str, run: &mut dyn FnMut(usize, &mut Dynamics<'_, T>)| {
        group.bench_function(algorithm, |b| {
            b.iter(|| {
                k = (k + 1) % q.len();
                dynamics::update(model, black_box(&q[k]), &v[k], &mut work).expect("lengths fit");
                run(k, &mut work);
            })
        });
    };
    bench("update", &mut |_, _| {});
    bench("inverse", &mut |k, work| dynamics::inverse(model, &a[k], &[], vector, work).expect("fits"));
    bench("mass_matrix", &mut |_, work| dynamics::mass_matrix(model, work).expect("fits"));
    bench("factorize", &mut |_, work| {
        dynamics::mass_matrix(model, work).expect("fits");
        dynamics::factorize(model, work).expect("positive definite");
    });
    bench("forward", &mut |k, work| dynamics::forward(model, &tau[k], &[], vector, work).expect("fits"));
    bench("forward_factored", &mut |k, work| {
        dynamics::forward_factored(model, &tau[k], &[], vector, work).expect("fits");
    });
    bench("inverse_derivatives", &mut |k, work| {
        let out = MatMut::with_stride(matrix, nv, 2 * nv, padded(2 * nv));
        dynamics::inverse_derivatives(model, &a[k], &[], out, work).expect("fits");
    });
    bench("forward_derivatives", &mut |k, work| {
        let out = MatMut::with_stride(matrix, nv, 3 * nv, padded(3 * nv));
        dynamics::forward_derivatives(model, &tau[k], &[], out, work).expect("fits");
    });
    bench("regressor", &mut |k, work| {
        let out = MatMut::new(&mut regressor, nv, PARAMETERS * model.bodies.len());
        dynamics::regressor(model, &a[k], out, work).expect("fits");
    });
}

criterion_group!(benches, dynamics);
criterion_main!(benches);
