//! How long a robot takes from file to model.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use saltus_loaders::mesh::Hull;
use saltus_testkit::Random;

fn hulls(c: &mut Criterion) {
    let mut random = Random::new(7);
    let points: Vec<Vector3<f64>> = (0..3000).map(|_| Vector3::from_fn(|_, _| random.signed())).collect();
    c.bench_function("hull of 3000 points", |b| b.iter(|| Hull::of(black_box(&points), 64)));
}

criterion_group!(benches, hulls);
criterion_main!(benches);
