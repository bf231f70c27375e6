//! Collision of each kind of pair, near and far, and of whole robots.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use saltus::collision::{Collision, CollisionDims, Solid, collide, detect};
use saltus::kinematics::{self, Kinematics};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, Shape};
use saltus::scalar::{Dual, Real};
use saltus::spatial::Placement;
use saltus_testkit::{Random, SampleShape};

const MARGIN: f64 = 0.01;

/// Two solids that overlap by a few millimetres; `b` is moved so that only its support along z matters.
fn touching(a: &SampleShape, b: &SampleShape, seed: u64) -> (Placement<f64>, Placement<f64>) {
    let mut random = Random::new(seed);
    let (at_a, mut at_b) = (random.placement(0.0), random.placement(0.0));
    let top = at_a.act_point(&a.support(&(at_a.rotation.transpose() * Vector3::z())));
    let bottom = at_b.act_point(&b.support(&(at_b.rotation.transpose() * -Vector3::z())));
    at_b.translation = top - bottom - Vector3::z() * 0.003;
    (at_a, at_b)
}

fn pairs(c: &mut Criterion) {
    let shapes = SampleShape::all();
    let mut group = c.benchmark_group("collide");
    for (k, a) in shapes.iter().enumerate() {
        for b in &shapes[k..] {
            let (at_a, at_b) = touching(a, b, 3);
            let (solid_a, solid_b) = (a.solid(&at_a), b.solid(&at_b));
            group.bench_function(format!("{}/{}", a.name, b.name), |bench| {
                bench.iter(|| collide(black_box(&solid_a), black_box(&solid_b), MARGIN));
            });
        }
    }
    let ground = Solid::primitive(Shape::HalfSpace, Placement::IDENTITY);
    for shape in &shapes {
        let at = Placement::translation(0.0, 0.0, 0.15);
        group.bench_function(format!("half-space/{}", shape.name), |bench| {
            bench.iter(|| collide(black_box(&ground), black_box(&shape.solid(&at)), MARGIN));
        });
    }
    let table = SampleShape { shape: Shape::Box { half_extents: Vector3::new(1.0, 1.0, 0.1) }, ..shapes[2].clone() };
    for (name, height) in [("box", 0.25), ("cylinder", 0.2), ("wedge", 0.1)] {
        let shape = shapes.iter().find(|shape| shape.name == name).expect("a sample");
        for (gap, label) in [(-1e-3, "overlapping"), (1e-3, "apart")] {
            let at = Placement::from_rpy(1e-3, 0.0, 0.3, Vector3::new(0.1, 0.0, 0.1 + height + gap));
            group.bench_function(format!("{name} on a table/{label}"), |bench| {
                bench.iter(|| {
                    collide(black_box(&table.solid(&Placement::IDENTITY)), black_box(&shape.solid(&at)), MARGIN)
                });
            });
        }
    }
    type D = Dual<f64, 6>;
    let lifted = |at: &Placement<f64>| Placement::new(at.rotation.map(D::constant), at.translation.map(D::constant));
    for (a, b) in [(&shapes[0], &shapes[1]), (&shapes[2], &shapes[2]), (&shapes[2], &shapes[5])] {
        let (at_a, at_b) = touching(a, b, 3);
        group.bench_function(format!("six derivatives/{}/{}", a.name, b.name), |bench| {
            bench.iter(|| {
                collide(black_box(&a.at(lifted(&at_a))), black_box(&b.at(lifted(&at_b))), D::constant(MARGIN))
            });
        });
    }
    group.finish();
}

fn robots(c: &mut Criterion) {
    for name in ["go1", "h1", "humanoid"] {
        let text = saltus_loaders::builtin(name).expect("built in").text;
        let loaded =
            saltus_loaders::load_text(Path::new(&format!("{name}.xml")), text, &Default::default()).expect("loads");
        robot(c, &format!("{name}/f64"), loaded.model.model());
        robot(c, &format!("{name}/f32"), loaded.model.cast::<f32>().model());
    }
}

/// At the first keyframe, or the neutral configuration, and lifted off the ground so that all pairs are far.
fn robot<T: Real>(c: &mut Criterion, name: &str, model: Model<'_, T>) {
    let mut q = vec![T::ZERO; model.nq()];
    saltus::model::configuration::neutral(model, &mut q).expect("fits");
    if let Some(keyframe) = model.keyframe(0) {
        q.copy_from_slice(keyframe.q);
    }
    let v = vec![T::ZERO; model.nv()];
    let dims = CollisionDims { geometries: model.geometries.len(), contacts: 64 };
    let blocks = Kinematics::<T>::blocks(model.dims()) + Collision::<T>::blocks(dims);
    let mut memory = vec![Block::EMPTY; blocks];
    let mut arena = Arena::new(&mut memory);
    let mut kin = Kinematics::carve(&mut arena, model.dims()).expect("sized for it");
    let mut out = Collision::carve(&mut arena, dims).expect("sized for it");
    kinematics::forward(model, &q, &v, &mut kin).expect("lengths fit");
    let found = detect(model, &kin, T::from_f64(MARGIN), &mut out).expect("fits");
    let pairs = model.pairs.len();
    let mut group = c.benchmark_group(format!("detect/{name}, {pairs} pairs"));
    group.bench_function(format!("{} contacts", found.kept), |b| {
        b.iter(|| detect(model, black_box(&kin), T::from_f64(MARGIN), &mut out).expect("fits"));
    });
    // A negative margin larger than any geometry rejects every pair in the first test.
    group.bench_function("every pair rejected", |b| {
        b.iter(|| detect(model, black_box(&kin), T::from_f64(-10.0), &mut out).expect("fits"));
    });
    group.finish();
}

criterion_group!(benches, pairs, robots);
criterion_main!(benches);
