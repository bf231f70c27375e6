//! The same code on a microcontroller: the model is a `const` in flash, the memory a `static` whose size the compiler
//! computes; a robot that does not fit does not compile.
//!
//! `cargo run --release --example 02_static_memory`

use std::sync::Mutex;

use nalgebra::Vector3;
use saltus::dynamics::{self, Dynamics};
use saltus::linalg::tree::{Link, Tree};
use saltus::memory::{Arena, BLOCK_BYTES, Block};
use saltus::model::{Body, BodyId, Dims, DofParameters, Joint, Model, Names, Range};
use saltus::spatial::{Inertia, Placement, Symmetric3};

const BODIES: [Body<f32>; 1] = [Body {
    parent: BodyId::WORLD,
    joint: Joint::Revolute { axis: Vector3::new(0.0, 1.0, 0.0) },
    placement: Placement::IDENTITY,
    inertia: Inertia::new(1.0, Vector3::new(0.0, 0.0, -0.5), Symmetric3::diagonal(0.001, 0.001, 0.001)),
    first_q: 0,
    first_v: 0,
}];
const DOFS: [DofParameters<f32>; 1] = [DofParameters {
    armature: 0.01,
    damping: 0.0,
    stiffness: 0.0,
    spring_reference: 0.0,
    dry_friction: 0.0,
    velocity_limit: 10.0,
    effort_limit: 5.0,
}];
const PENDULUM: Model<'static, f32> = Model {
    bodies: &BODIES,
    dofs: &DOFS,
    position_limits: &[Range { lower: -3.0, upper: 3.0 }],
    frames: &[],
    tree: Tree(&[Link { parent: Link::ROOT, run_start: 0, subtree_end: 1 }]),
    geometries: &[],
    vertices: &[],
    pairs: &[],
    closures: &[],
    actuators: &[],
    keyframes: &[],
    gravity: Vector3::new(0.0, 0.0, -9.81),
    names: Names { text: "rodrod", ends: &[3, 6] },
};

const DIMS: Dims = Dims::new(1, 1, 1);
const BLOCKS: usize = Dynamics::<f32>::blocks(DIMS);
const _: () = assert!(BLOCKS * BLOCK_BYTES <= 2048, "the pendulum must fit in two kilobytes");
static MEMORY: Mutex<[Block; BLOCKS]> = Mutex::new([Block::EMPTY; BLOCKS]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut memory = MEMORY.lock().map_err(|_| "the memory is in use")?;
    let mut work = Dynamics::carve(&mut Arena::new(&mut *memory), DIMS)?;
    let mut acceleration = [0.0];
    dynamics::update(PENDULUM, &[1.0], &[0.0], &mut work)?;
    dynamics::forward(PENDULUM, &[0.0], &[], &mut acceleration, &mut work)?;
    println!(
        "{} falls with {:.4} rad/s², in {} bytes",
        PENDULUM.body_name(BodyId::new(1)),
        acceleration[0],
        BLOCKS * BLOCK_BYTES
    );
    Ok(())
}
