//! The configuration manifold of the stored robots, in f64 and f32, and the time to build a model.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use saltus::linalg::{MatMut, padded};
use saltus::model::Model;
use saltus::model::configuration::{self, Argument};
use saltus::scalar::Real;
use saltus_testkit::{Oracle, RobotFile};

const ROBOTS: [&str; 2] = ["go1", "g1"];

fn model(c: &mut Criterion) {
    for robot in ROBOTS {
        let oracle = Oracle::load(robot).expect("the figures are in tests/oracles");
        bench_robot::<f64>(c, &format!("{robot}/f64"), oracle.model.model(), &oracle);
        let single = oracle.model.cast::<f32>();
        bench_robot::<f32>(c, &format!("{robot}/f32"), single.model(), &oracle);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/go1.json");
    let go1 = RobotFile::read(&path).expect("the robot is in tests/oracles");
    c.bench_function("build/go1", |b| b.iter(|| black_box(&go1).build().expect("the robot is valid")));
}

fn bench_robot<T: Real>(c: &mut Criterion, name: &str, model: Model<'_, T>, oracle: &Oracle) {
    let (nv, stride) = (model.nv(), padded(model.nv()));
    let get = |field: &str| -> Vec<Vec<T>> {
        oracle.states.iter().map(|s| s.get(field).iter().map(|&x| T::from_f64(x)).collect()).collect()
    };
    let (q, q2, v) = (get("q"), get("q2"), get("v"));
    let (mut next, mut step) = (vec![T::ZERO; model.nq()], vec![T::ZERO; nv]);
    let mut matrix = vec![T::ZERO; nv * stride];
    let mut group = c.benchmark_group(name);
    let mut k = 0;
    let mut bench = |algorithm: &str, run: &mut dyn FnMut(usize)| {
        group.bench_function(algorithm, |b| {
            b.iter(|| {
                k = (k + 1) % q.len();
                run(black_box(k));
            })
        });
    };
    bench("integrate", &mut |k| configuration::integrate(model, &q[k], &v[k], &mut next).expect("lengths fit"));
    bench("difference", &mut |k| configuration::difference(model, &q[k], &q2[k], &mut step).expect("lengths fit"));
    for (argument, wrt) in [(Argument::From, "from"), (Argument::To, "to")] {
        bench(&format!("integrate_jacobian/{wrt}"), &mut |k| {
            let out = MatMut::with_stride(&mut matrix, nv, nv, stride);
            configuration::integrate_jacobian(model, &v[k], argument, out).expect("fits");
        });
        bench(&format!("difference_jacobian/{wrt}"), &mut |k| {
            let out = MatMut::with_stride(&mut matrix, nv, nv, stride);
            configuration::difference_jacobian(model, &q[k], &q2[k], argument, out).expect("fits");
        });
    }
}

criterion_group!(benches, model);
criterion_main!(benches);
