//! What a step costs against the number of contacts and of bodies, and an iteration of the optimizer against its horizon
//! and the degrees of freedom. `--svg DIR` draws it, too: `cargo xtask plots`.

mod mpc;
mod plot;

use std::path::PathBuf;
use std::time::Instant;

use nalgebra::Vector3;
use plot::{Plot, Series};
use saltus::memory::{Arena, Block};
use saltus::model::{BodySpec, CollisionFilter, GeometrySpec, JointSpec, ModelBuilder, OwnedModel, Shape};
use saltus::scalar::Real;
use saltus::spatial::{Inertia, Placement};
use saltus::step::{Simulator, StepDims, StepSettings};

const CONTACTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const BODIES: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// Until a scene is at rest.
const SETTLE_STEPS: usize = 500;
/// Over everything, some seconds each; the fastest window of all counts: what disturbs only slows down.
const PASSES: usize = 8;
const WINDOWS: usize = 10;
const WINDOW_S: f64 = 0.005;

const FOOT: f64 = 0.02;

fn main() {
    let mut plots = measure_all();
    for _ in 1..PASSES {
        for (plot, again) in plots.iter_mut().zip(measure_all()) {
            plot.keep_fastest(again);
        }
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != "--svg").skip(1);
    let folder = arguments.next().map(PathBuf::from);
    for plot in plots {
        plot.print();
        if let Some(folder) = &folder {
            plot.write(folder).expect("the folder can be written to");
        }
    }
}

fn measure_all() -> [Plot; 4] {
    let contacts = Plot {
        file: "step-contacts.svg",
        title: "one step against the number of contacts",
        x: "contacts",
        series: vec![
            measure::<f64>("one body on k feet, f64", &CONTACTS, table, |k| k),
            measure::<f32>("one body on k feet, f32", &CONTACTS, table, |k| k),
            measure::<f64>("k balls on the floor, f64", &CONTACTS, balls, |k| k),
        ],
    };
    let bodies = Plot {
        file: "step-bodies.svg",
        title: "one step against the number of bodies, one contact",
        x: "bodies",
        series: vec![
            measure::<f64>("chain, f64", &BODIES, chain, |_| 1),
            measure::<f32>("chain, f32", &BODIES, chain, |_| 1),
        ],
    };
    let [horizon, freedoms] = mpc::measure();
    [contacts, bodies, horizon, freedoms]
}

/// Microseconds per step of a scene for each of its sizes; it must have as many contacts as `contacts` says.
fn measure<T: Real>(
    name: &'static str,
    sizes: &[usize],
    scene: fn(usize) -> ModelBuilder,
    contacts: fn(usize) -> usize,
) -> Series {
    let point = |&size: &usize| {
        let model = scene(size).build::<T>().expect("the scene is valid");
        (size, step_us(&model, contacts(size)))
    };
    Series { name, points: sizes.iter().map(point).collect() }
}

fn step_us<T: Real>(scene: &OwnedModel<T>, contacts: usize) -> f64 {
    let dims = StepDims::of(scene.model(), contacts);
    let mut memory = vec![Block::EMPTY; Simulator::<T>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let mut simulator = Simulator::new(scene.model(), StepSettings::default(), dims, &mut arena).expect("sized for it");
    let mut step = || simulator.step(&[]).expect("the scene is at rest");
    for _ in 0..SETTLE_STEPS {
        step();
    }
    let report = step();
    assert_eq!((report.detected.kept, report.detected.dropped), (contacts, 0), "the scene has other contacts");
    fastest_us(step)
}

/// Microseconds of a call in the fastest of some windows.
fn fastest_us<R>(mut run: impl FnMut() -> R) -> f64 {
    let begin = Instant::now();
    std::hint::black_box(run());
    let calls = (WINDOW_S / begin.elapsed().as_secs_f64()).clamp(5.0, 1000.0) as u32;
    let mut window = || {
        let begin = Instant::now();
        for _ in 0..calls {
            std::hint::black_box(run());
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
    };
    (0..WINDOWS).map(|_| window()).fold(f64::INFINITY, f64::min)
}

fn floor() -> GeometrySpec {
    GeometrySpec::new("floor", Shape::HalfSpace).filter(CollisionFilter { category: 1, mask: 2 })
}

fn ball(name: String, radius: f64, at: [f64; 3]) -> GeometrySpec {
    GeometrySpec::new(name, Shape::Sphere { radius })
        .placement(Placement::translation(at[0], at[1], at[2]))
        .filter(CollisionFilter { category: 2, mask: 1 })
}

/// One body on a ring of feet, more than it needs; a single foot is a ball.
fn table(feet: usize) -> ModelBuilder {
    let ring = if feet == 1 { 0.0 } else { 0.5 };
    let mut body = BodySpec::new("table", JointSpec::free_flyer())
        .placement(Placement::translation(0.0, 0.0, FOOT))
        .inertia(Inertia::solid_box(5.0, &Vector3::new(1.0, 1.0, 0.01)));
    for k in 0..feet {
        let angle = std::f64::consts::TAU * k as f64 / feet as f64;
        body = body.geometry(ball(format!("foot{k}"), FOOT, [ring * angle.cos(), ring * angle.sin(), 0.0]));
    }
    ModelBuilder::new().geometry("world", floor()).body(body)
}

/// Balls that do not meet: six degrees of freedom for each contact.
fn balls(count: usize) -> ModelBuilder {
    let mut builder = ModelBuilder::new().geometry("world", floor());
    for k in 0..count {
        let body = BodySpec::new(format!("ball{k}"), JointSpec::free_flyer())
            .placement(Placement::translation(0.3 * k as f64, 0.0, 0.1))
            .inertia(Inertia::solid_sphere(1.0, 0.1))
            .geometry(ball(format!("skin{k}"), 0.1, [0.0; 3]));
        builder = builder.body(body);
    }
    builder
}

/// A slider that bears down on a sprung column of hinges, one metre long, with a foot at its end.
fn chain(bodies: usize) -> ModelBuilder {
    let length = 1.0 / bodies as f64;
    let link = |k: usize| {
        let joint = match k {
            0 => JointSpec::prismatic(Vector3::z()),
            _ if k % 2 == 1 => JointSpec::revolute(Vector3::y()),
            _ => JointSpec::revolute(Vector3::x()),
        };
        let height = if k == 0 { 1.0 + FOOT } else { -length };
        let parent = if k == 0 { "world".to_string() } else { format!("link{}", k - 1) };
        let inertia = Inertia::solid_box(2.0 * length, &Vector3::new(0.05, 0.05, length));
        let spec = BodySpec::new(format!("link{k}"), joint)
            .parent(parent)
            .placement(Placement::translation(0.0, 0.0, height))
            .inertia(inertia.moved_by(&Placement::translation(0.0, 0.0, -0.5 * length)));
        if k == 0 { spec } else { spec.spring(1e4, 0.0).damping(10.0) }
    };
    let mut builder = ModelBuilder::new().geometry("world", floor());
    for k in 0..bodies {
        let foot = ball("foot".to_string(), FOOT, [0.0, 0.0, -length]);
        builder = builder.body(if k + 1 == bodies { link(k).geometry(foot) } else { link(k) });
    }
    builder
}
