// Made from "four_bar.xml" by `saltus bake`; change that and bake again.
#[allow(unused_imports)]
use saltus::{
    linalg::tree::{Link, Tree},
    model::{
        Actuator, Body, BodyId, Closure, ClosureKind, CollisionFilter, Dims, DofParameters, Frame, FrameId, Geometry,
        GeometryId, GeometryPair, Joint, Material, Model, Names, Range, Shape, Transmission,
    },
    mpc::MpcDims,
    nalgebra::{Matrix3, Vector3},
    spatial::{Inertia, Placement, Symmetric3},
    step::StepDims,
};

/// Bodies, configuration coordinates and degrees of freedom.
pub const DIMS: Dims = Dims::new(4, 10, 9);
/// What the memory of a step with room for `contacts` contact points is sized by.
#[allow(dead_code)]
pub const fn step_dims(contacts: usize) -> StepDims {
    StepDims {
        robot: DIMS,
        controls: 0,
        geometries: 4,
        closure_rows: 9,
        limits: 0,
        dry_frictions: 0,
        contacts,
    }
}

/// What the memory of an optimizer that looks `horizon` steps ahead is sized by, with room for `terms` terms in its cost.
#[allow(dead_code)]
pub const fn mpc_dims(contacts: usize, horizon: usize, terms: usize) -> MpcDims {
    MpcDims::new(step_dims(contacts), horizon, terms)
}

static BODIES: [Body<f32>; 4] = [
    Body { parent: BodyId::new(0), joint: Joint::Revolute { axis: Vector3::new(0.0, 1.0, 0.0) }, placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.0)), inertia: Inertia::new(4.1887903, Vector3::new(0.1, 0.0, 0.3), Symmetric3 { xx: 0.01675516, xy: 0.0, xz: 0.0, yy: 0.01675516, yz: 0.0, zz: 0.01675516 }), first_q: 0, first_v: 0 },
    Body { parent: BodyId::new(1), joint: Joint::Revolute { axis: Vector3::new(0.0, 1.0, 0.0) }, placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.3)), inertia: Inertia::new(4.1887903, Vector3::new(0.4, 0.0, 0.0), Symmetric3 { xx: 0.01675516, xy: 0.0, xz: 0.0, yy: 0.01675516, yz: 0.0, zz: 0.01675516 }), first_q: 1, first_v: 1 },
    Body { parent: BodyId::new(0), joint: Joint::Revolute { axis: Vector3::new(0.0, 1.0, 0.0) }, placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.8, 0.0, 0.0)), inertia: Inertia::new(4.1887903, Vector3::new(0.0, 0.0, 0.2), Symmetric3 { xx: 0.01675516, xy: 0.0, xz: 0.0, yy: 0.01675516, yz: 0.0, zz: 0.01675516 }), first_q: 2, first_v: 2 },
    Body { parent: BodyId::new(0), joint: Joint::FreeFlyer, placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.0)), inertia: Inertia::new(4.1887903, Vector3::new(0.0, 0.0, 0.0), Symmetric3 { xx: 0.01675516, xy: 0.0, xz: 0.0, yy: 0.01675516, yz: 0.0, zz: 0.01675516 }), first_q: 3, first_v: 3 },
];
static DOFS: [DofParameters<f32>; 9] = [
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
    DofParameters { armature: 0.0, damping: 0.0, dry_friction: 0.0, stiffness: 0.0, spring_reference: 0.0, velocity_limit: f32::INFINITY, effort_limit: f32::INFINITY },
];
static POSITION_LIMITS: [Range<f32>; 10] = [
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
    Range::new(f32::NEG_INFINITY, f32::INFINITY),
];
static FRAMES: [Frame<f32>; 0] = [
];
static GEOMETRIES: [Geometry<f32>; 4] = [
    Geometry { body: BodyId::new(1), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.1, 0.0, 0.3)), shape: Shape::Sphere { radius: 0.1 }, reach: 0.1000001, material: Material::new(1.0, 0.0), filter: CollisionFilter { category: 1, mask: 1 } },
    Geometry { body: BodyId::new(2), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.4, 0.0, 0.0)), shape: Shape::Sphere { radius: 0.1 }, reach: 0.1000001, material: Material::new(1.0, 0.0), filter: CollisionFilter { category: 1, mask: 1 } },
    Geometry { body: BodyId::new(3), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.2)), shape: Shape::Sphere { radius: 0.1 }, reach: 0.1000001, material: Material::new(1.0, 0.0), filter: CollisionFilter { category: 1, mask: 1 } },
    Geometry { body: BodyId::new(4), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.0)), shape: Shape::Sphere { radius: 0.1 }, reach: 0.1000001, material: Material::new(1.0, 0.0), filter: CollisionFilter { category: 1, mask: 1 } },
];
static VERTICES: [Vector3<f32>; 0] = [
];
static PAIRS: [GeometryPair<f32>; 5] = [
    GeometryPair { a: GeometryId::new(0), b: GeometryId::new(2), material: Material::new(1.0, 0.0) },
    GeometryPair { a: GeometryId::new(0), b: GeometryId::new(3), material: Material::new(1.0, 0.0) },
    GeometryPair { a: GeometryId::new(1), b: GeometryId::new(2), material: Material::new(1.0, 0.0) },
    GeometryPair { a: GeometryId::new(1), b: GeometryId::new(3), material: Material::new(1.0, 0.0) },
    GeometryPair { a: GeometryId::new(2), b: GeometryId::new(3), material: Material::new(1.0, 0.0) },
];
static CLOSURES: [Closure<f32>; 2] = [
    Closure { a: Frame { body: BodyId::new(2), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.8, 0.0, 0.1)) }, b: Frame { body: BodyId::new(3), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.4)) }, kind: ClosureKind::Point },
    Closure { a: Frame { body: BodyId::new(4), placement: Placement::new(Matrix3::new(0.83867055, 0.54463905, 0.0, -0.54463905, 0.83867055, 0.0, 0.0, 0.0, 1.0), Vector3::new(-0.54463905, -0.83867055, 0.0)) }, b: Frame { body: BodyId::new(0), placement: Placement::new(Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 0.0)) }, kind: ClosureKind::Weld },
];
static ACTUATORS: [Actuator<f32>; 0] = [
];
static KEYFRAMES: [f32; 19] = [
    0.0,
    0.0,
    0.0,
    0.0,
    1.0,
    0.0,
    0.0,
    0.0,
    0.28401536,
    0.95881975,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
];
static LINKS: [Link; 9] = [
    Link { parent: 65535, run_start: 0, subtree_end: 2 },
    Link { parent: 0, run_start: 0, subtree_end: 2 },
    Link { parent: 65535, run_start: 2, subtree_end: 3 },
    Link { parent: 65535, run_start: 3, subtree_end: 9 },
    Link { parent: 3, run_start: 3, subtree_end: 9 },
    Link { parent: 4, run_start: 3, subtree_end: 9 },
    Link { parent: 5, run_start: 3, subtree_end: 9 },
    Link { parent: 6, run_start: 3, subtree_end: 9 },
    Link { parent: 7, run_start: 3, subtree_end: 9 },
];
static NAME_ENDS: [u32; 13] = [
    5,
    12,
    18,
    22,
    27,
    34,
    40,
    44,
    44,
    44,
    44,
    44,
    49,
];
/// The robot.
pub static MODEL: Model<'static, f32> = Model {
    bodies: &BODIES,
    dofs: &DOFS,
    position_limits: &POSITION_LIMITS,
    frames: &FRAMES,
    tree: Tree(&LINKS),
    geometries: &GEOMETRIES,
    vertices: &VERTICES,
    pairs: &PAIRS,
    closures: &CLOSURES,
    actuators: &ACTUATORS,
    keyframes: &KEYFRAMES,
    gravity: Vector3::new(0.0, 0.0, -9.81),
    names: Names { text: "crankcouplerrockerbasecrankcouplerrockerbaseqpos0", ends: &NAME_ENDS },
};
