//! How long a robot takes from text to model, and a mesh to its hull.

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use saltus_loaders::mesh::Hull;
use saltus_loaders::{LoadOptions, load, load_text};
use saltus_testkit::Random;

/// As many links, joints and shapes as the public Go1 file: a trunk, and four legs of three joints, each link with a
/// rotor and each leg with a foot welded on.
fn quadruped() -> String {
    const INERTIAL: &str = "<inertial><origin xyz='0.01 0 -0.02' rpy='0.1 0 0'/><mass value='0.5'/>
        <inertia ixx='0.005' ixy='0.0001' ixz='0' iyy='0.004' iyz='0' izz='0.003'/></inertial>";
    const SHAPES: &str = "<visual><geometry><mesh filename='thigh.dae'/></geometry></visual>
        <collision><origin rpy='0 1.57 0' xyz='0 0 -0.1'/><geometry><box size='0.2 0.02 0.03'/></geometry></collision>
        <collision><geometry><cylinder radius='0.02' length='0.03'/></geometry></collision>";
    let mut text = format!("<robot name='quadruped'><link name='trunk'>{INERTIAL}{SHAPES}</link>\n");
    let mut link = |name: &str, parent: &str, kind: &str| {
        let _ = write!(
            text,
            "<link name='{name}'>{INERTIAL}{SHAPES}</link>
             <joint name='{name}_joint' type='{kind}'><parent link='{parent}'/><child link='{name}'/>
             <origin xyz='0.18 0.04 0' rpy='0 0 0'/><axis xyz='0 1 0'/><dynamics damping='0.01' friction='0.2'/>
             <limit lower='-1' upper='2' effort='23' velocity='30'/></joint>
             <transmission name='{name}'><type>simple</type></transmission>\n"
        );
    };
    for leg in ["FL", "FR", "RL", "RR"] {
        let mut parent = "trunk".to_owned();
        for part in ["hip", "thigh", "calf"] {
            let name = format!("{leg}_{part}");
            link(&name, &parent, "revolute");
            link(&format!("{name}_rotor"), &parent, "fixed");
            parent = name;
        }
        link(&format!("{leg}_foot"), &parent, "fixed");
    }
    text + "</robot>"
}

fn robots(c: &mut Criterion) {
    let defaults = LoadOptions::default();
    for name in ["go1", "humanoid"] {
        c.bench_function(&format!("built-in {name}, MJCF"), |b| {
            b.iter(|| load(black_box(name), &defaults).expect("it is built in"))
        });
    }
    let text = quadruped();
    let options = LoadOptions { free_flyer: true, ..LoadOptions::default() };
    c.bench_function("quadruped of Go1's size, URDF", |b| {
        b.iter(|| load_text(Path::new("quadruped.urdf"), black_box(&text), &options).expect("the robot is sound"))
    });
}

fn hulls(c: &mut Criterion) {
    let mut random = Random::new(7);
    let points: Vec<Vector3<f64>> = (0..30_000).map(|_| Vector3::from_fn(|_, _| random.signed())).collect();
    c.bench_function("hull of 30000 points in a box", |b| b.iter(|| Hull::of(black_box(&points), 64)));
    let round: Vec<Vector3<f64>> = points.iter().filter_map(|p| p.try_normalize(0.1)).take(1000).collect();
    c.bench_function("hull of 1000 points on a sphere", |b| b.iter(|| Hull::of(black_box(&round), 64)));
}

criterion_group!(benches, robots, hulls);
criterion_main!(benches);
