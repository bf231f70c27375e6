//! Kinematics of the stored robots, in f64 and f32; Jacobians are of the last body.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use saltus::kinematics::{self, Kinematics, Reference, Target};
use saltus::linalg::{MatMut, padded};
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::scalar::Real;
use saltus_testkit::Oracle;

const ROBOTS: [&str; 2] = ["go1", "g1"];

fn kinematics(c: &mut Criterion) {
    for robot in ROBOTS {
        let oracle = Oracle::load(robot).expect("the figures are in tests/oracles");
        bench_robot::<f64>(c, &format!("{robot}/f64"), oracle.model.model(), &oracle);
        let single = oracle.model.cast::<f32>();
        bench_robot::<f32>(c, &format!("{robot}/f32"), single.model(), &oracle);
    }
}

fn bench_robot<T: Real>(c: &mut Criterion, name: &str, model: Model<'_, T>, oracle: &Oracle) {
    let (nv, stride) = (model.nv(), padded(model.nv()));
    let get = |field: &str| -> Vec<Vec<T>> {
        oracle.states.iter().map(|s| s.get(field).iter().map(|&x| T::from_f64(x)).collect()).collect()
    };
    let (q, v) = (get("q"), get("v"));
    let mut memory = vec![Block::EMPTY; Kinematics::<T>::blocks(model.dims())];
    let mut work = Kinematics::carve(&mut Arena::new(&mut memory), model.dims()).expect("sized for it");
    let mut matrix = vec![T::ZERO; 6 * stride];
    let last = model.body_ids().last().expect("a robot has bodies");
    let (target, point) = (Target::Body(last), Vector3::new(0.1, -0.2, 0.3).map(T::from_f64));
    let mut group = c.benchmark_group(name);

    let mut k = 0;
    group.bench_function("forward", |b| {
        b.iter(|| {
            k = (k + 1) % q.len();
            kinematics::forward(model, black_box(&q[k]), &v[k], &mut work).expect("lengths fit");
        })
    });
    let mut bench = |algorithm: &str, run: &mut dyn FnMut(&Kinematics<'_, T>)| {
        group.bench_function(algorithm, |b| b.iter(|| run(black_box(&work))));
    };
    for (frame, reference) in [("local", Reference::Local), ("aligned", Reference::Aligned)] {
        bench(&format!("jacobian/{frame}"), &mut |work| {
            let out = MatMut::with_stride(&mut matrix, 6, nv, stride);
            kinematics::jacobian(model, work, target, reference, out).expect("fits");
        });
        bench(&format!("jacobian_rate/{frame}"), &mut |work| {
            let out = MatMut::with_stride(&mut matrix, 6, nv, stride);
            kinematics::jacobian_rate(model, work, target, reference, out).expect("fits");
        });
    }
    bench("point_jacobian", &mut |work| {
        let out = MatMut::with_stride(&mut matrix, 3, nv, stride);
        kinematics::point_jacobian(model, work, last, &point, out).expect("fits");
    });
    bench("point_velocity_derivatives", &mut |work| {
        let out = MatMut::with_stride(&mut matrix, 3, nv, stride);
        kinematics::point_velocity_derivatives(model, work, last, &point, out).expect("fits");
    });
}

criterion_group!(benches, kinematics);
criterion_main!(benches);
