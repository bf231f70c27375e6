//! `saltus inspect`: what is in a robot, and how much memory it takes.

use anyhow::Result;
use clap::Args;
use saltus::dynamics::Dynamics;
use saltus::memory::BLOCK_BYTES;
use saltus::model::{self, BodyId, ClosureKind, FrameId, GeometryId, Joint, Model, Shape, Transmission};
use saltus::mpc::{Mpc, MpcDims};
use saltus::scalar::Real;
use saltus::step::{Simulator, Step, StepDims};
use saltus_scenarios::MOST_TERMS;
use serde::Serialize;

use crate::robot::RobotArguments;

/// What to inspect.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    robot: RobotArguments,
    /// Contact points that the memory has room for.
    #[arg(long, default_value_t = 16, value_name = "N")]
    contacts: usize,
    /// Steps that the plan of the optimizer looks ahead.
    #[arg(long, default_value_t = 20, value_name = "H")]
    horizon: usize,
    /// Terms that its cost has room for.
    #[arg(long, default_value_t = MOST_TERMS, value_name = "N")]
    terms: usize,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    robot: String,
    nq: usize,
    nv: usize,
    nu: usize,
    mass_kg: f64,
    bodies: Vec<Body>,
    frames: Vec<Frame>,
    geometries: Vec<Geometry>,
    pairs: Vec<[String; 2]>,
    closures: Vec<Closure>,
    actuators: Vec<Actuator>,
    keyframes: Vec<String>,
    arena_bytes: ArenaBytes,
    images: Vec<ImageBytes>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Body {
    name: String,
    parent: String,
    joint: String,
    kind: &'static str,
    mass_kg: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    effort: Option<f64>,
}

#[derive(Serialize)]
struct Frame {
    name: String,
    body: String,
}

#[derive(Serialize)]
struct Geometry {
    name: String,
    body: String,
    shape: String,
    friction: f64,
}

#[derive(Serialize)]
struct Closure {
    kind: &'static str,
    bodies: [String; 2],
}

#[derive(Serialize)]
struct Actuator {
    name: String,
    pulls_at: String,
    control_lower: Option<f64>,
    control_upper: Option<f64>,
}

/// Exact sizes of what is carved from an arena.
#[derive(Serialize)]
struct ArenaBytes {
    contacts: usize,
    horizon: usize,
    terms: usize,
    f32: WorkspaceBytes,
    f64: WorkspaceBytes,
}

/// A Cortex-M7 image that controls this robot.
#[derive(Serialize)]
struct ImageBytes {
    scenario: &'static str,
    /// Predicted from the sizes of the robot and its plan, stacks included.
    ram_bytes: usize,
}

/// Step and simulator contain what stands before them; the optimizer contains the step.
#[derive(Serialize)]
struct WorkspaceBytes {
    dynamics: usize,
    step: usize,
    simulator: usize,
    mpc: usize,
    mpc_without_kept_nodes: usize,
}

/// Reads the robot and prints what is in it.
pub fn run(options: &Options) -> Result<()> {
    let loaded = options.robot.load()?;
    let warnings = loaded.warnings.iter().map(ToString::to_string).collect();
    let report = Report::new(options, loaded.model.model(), warnings);
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        report.print();
    }
    Ok(())
}

impl Report {
    fn new(options: &Options, model: Model<'_, f64>, warnings: Vec<String>) -> Self {
        let geometry_name = |id: GeometryId| display_name(model.geometry_name(id), "geometry", id.index());
        let dims = MpcDims::new(StepDims::of(model, options.contacts), options.horizon, options.terms);
        Self {
            robot: options.robot.name().to_string(),
            nq: model.nq(),
            nv: model.nv(),
            nu: model.nu(),
            mass_kg: model.total_mass(),
            bodies: model.body_ids().map(|id| Body::new(model, id)).collect(),
            frames: (0..model.frames.len() as u16)
                .map(FrameId::new)
                .map(|id| Frame {
                    name: model.frame_name(id).to_string(),
                    body: model.body_name(model.frames[id.index()].body).to_string(),
                })
                .collect(),
            geometries: (0..model.geometries.len() as u16)
                .map(GeometryId::new)
                .map(|id| {
                    let geometry = &model.geometries[id.index()];
                    Geometry {
                        name: geometry_name(id),
                        body: model.body_name(geometry.body).to_string(),
                        shape: shape_text(&geometry.shape),
                        friction: geometry.material.friction,
                    }
                })
                .collect(),
            pairs: model.pairs.iter().map(|pair| [geometry_name(pair.a), geometry_name(pair.b)]).collect(),
            closures: model.closures.iter().map(|closure| Closure::new(model, closure)).collect(),
            actuators: (0..model.nu()).map(|k| Actuator::new(model, k)).collect(),
            keyframes: (0..).map_while(|k| model.keyframe(k).map(|_| model.keyframe_name(k).to_string())).collect(),
            arena_bytes: ArenaBytes {
                contacts: options.contacts,
                horizon: options.horizon,
                terms: options.terms,
                f32: WorkspaceBytes::of::<f32>(dims),
                f64: WorkspaceBytes::of::<f64>(dims),
            },
            images: saltus_control::ALL
                .iter()
                .filter(|scenario| scenario.robot.name == options.robot.name())
                .map(|scenario| ImageBytes { scenario: scenario.name(), ram_bytes: scenario.image_ram_bytes() })
                .collect(),
            warnings,
        }
    }

    fn print(&self) {
        println!(
            "{}: {} bodies, {} coordinates, {} degrees of freedom, {} motors, {:.3} kg\n",
            self.robot,
            self.bodies.len(),
            self.nq,
            self.nv,
            self.nu,
            self.mass_kg
        );
        println!("{:<24} {:<24} {:<24} {:<11} {:>9}  range; effort", "body", "parent", "joint", "kind", "mass kg");
        for body in &self.bodies {
            let range = format!("{} … {}", bound(body.lower), bound(body.upper));
            println!(
                "{:<24} {:<24} {:<24} {:<11} {:>9.4}  {range}; {}",
                body.name,
                body.parent,
                body.joint,
                body.kind,
                body.mass_kg,
                bound(body.effort)
            );
        }
        println!("\n{:<24} {:<24} {:<44} {:>8}", "geometry", "body", "shape", "friction");
        for geometry in &self.geometries {
            let Geometry { name, body, shape, friction } = geometry;
            println!("{name:<24} {body:<24} {shape:<44} {friction:>8}");
        }
        println!("\n{:<24} {:<36} control range", "motor", "pulls at");
        for motor in &self.actuators {
            let range = format!("{} … {}", bound(motor.control_lower), bound(motor.control_upper));
            println!("{:<24} {:<36} {range}", motor.name, motor.pulls_at);
        }
        let frames: Vec<&str> = self.frames.iter().map(|frame| frame.name.as_str()).collect();
        println!("\nframes     {}", list(&frames));
        let closures: Vec<String> = self.closures.iter().map(Closure::text).collect();
        println!("closures   {}", list(&closures));
        println!("keyframes  {}", list(&self.keyframes));
        println!("pairs      {} that may meet (--json lists them)", self.pairs.len());
        println!("\narena bytes, room for {} contacts {:>10} {:>10}", self.arena_bytes.contacts, "f32", "f64");
        let ArenaBytes { horizon, terms, f32, f64, .. } = &self.arena_bytes;
        println!("{:<33} {:>10} {:>10}", "rigid-body workspace", f32.dynamics, f64.dynamics);
        println!("{:<33} {:>10} {:>10}", "step, with that", f32.step, f64.step);
        println!("{:<33} {:>10} {:>10}", "simulator, with both", f32.simulator, f64.simulator);
        println!("{:<33} {:>10} {:>10}", "optimizer, with the step", f32.mpc, f64.mpc);
        let small = [f32, f64].map(|bytes| bytes.mpc_without_kept_nodes);
        println!("{:<33} {:>10} {:>10}", "the same without kept nodes", small[0], small[1]);
        println!("({horizon} steps ahead, room for {terms} terms: --horizon, --terms)");
        for image in &self.images {
            println!("{:<33} {:>10}", format!("RAM of the image {}", image.scenario), image.ram_bytes);
        }
    }
}

impl WorkspaceBytes {
    fn of<T: Real>(dims: MpcDims) -> Self {
        Self {
            dynamics: Dynamics::<T>::blocks(dims.step.robot) * BLOCK_BYTES,
            step: Step::<T>::blocks(dims.step) * BLOCK_BYTES,
            simulator: Simulator::<T>::blocks(dims.step) * BLOCK_BYTES,
            mpc: Mpc::<T>::blocks(dims) * BLOCK_BYTES,
            mpc_without_kept_nodes: Mpc::<T>::blocks(dims.without_kept_nodes()) * BLOCK_BYTES,
        }
    }
}

impl Body {
    fn new(model: Model<'_, f64>, id: BodyId) -> Self {
        let body = &model.bodies[id.index() - 1];
        let limit = &model.position_limits[usize::from(body.first_q)];
        let kind = match body.joint {
            Joint::Revolute { .. } => "revolute",
            Joint::Continuous { .. } => "continuous",
            Joint::Prismatic { .. } => "prismatic",
            Joint::Spherical => "spherical",
            Joint::Planar => "planar",
            Joint::FreeFlyer => "free flyer",
        };
        Self {
            name: display_name(model.body_name(id), "body", id.index()),
            parent: display_name(model.body_name(body.parent), "body", body.parent.index()),
            joint: model.joint_name(id).to_string(),
            kind,
            mass_kg: body.inertia.mass,
            lower: finite(limit.lower),
            upper: finite(limit.upper),
            effort: finite(model.dofs[usize::from(body.first_v)].effort_limit),
        }
    }
}

impl Closure {
    fn new(model: Model<'_, f64>, closure: &model::Closure<f64>) -> Self {
        let kind = match closure.kind {
            ClosureKind::Point => "point",
            ClosureKind::Weld => "weld",
        };
        let body = |id: BodyId| display_name(model.body_name(id), "body", id.index());
        Self { kind, bodies: [body(closure.a.body), body(closure.b.body)] }
    }

    fn text(&self) -> String {
        let Self { kind, bodies: [a, b] } = self;
        format!("{kind} of {a} and {b}")
    }
}

impl Actuator {
    fn new(model: Model<'_, f64>, k: usize) -> Self {
        let actuator = &model.actuators[k];
        let pulls_at = match actuator.transmission {
            Transmission::Joint { dof, gear } => {
                let body =
                    model.body_ids().find(|id| model.bodies[id.index() - 1].v_range().contains(&usize::from(dof)));
                format!("joint {}, gear {gear}", body.map_or("", |id| model.joint_name(id)))
            }
            Transmission::Frame { frame, .. } => format!("frame {}", model.frame_name(frame)),
        };
        Self {
            name: display_name(model.actuator_name(k), "motor", k),
            pulls_at,
            control_lower: finite(actuator.control_range.lower),
            control_upper: finite(actuator.control_range.upper),
        }
    }
}

fn shape_text(shape: &Shape<f64>) -> String {
    match shape {
        Shape::HalfSpace => "half-space".to_string(),
        Shape::Sphere { radius } => format!("sphere, radius {radius}"),
        Shape::Capsule { radius, half_length } => format!("capsule, radius {radius}, half length {half_length:.4}"),
        Shape::Box { half_extents: h } => format!("box, half extents {} {} {}", h.x, h.y, h.z),
        Shape::Cylinder { radius, half_length } => format!("cylinder, radius {radius}, half length {half_length:.4}"),
        Shape::Ellipsoid { radii: r } => format!("ellipsoid, radii {} {} {}", r.x, r.y, r.z),
        Shape::Convex { vertices, .. } => format!("convex hull, {vertices} vertices"),
    }
}

/// A name, or what it is and its number when it has none.
fn display_name(name: &str, what: &str, index: usize) -> String {
    if name.is_empty() { format!("({what} {index})") } else { name.to_string() }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn bound(x: Option<f64>) -> String {
    x.map_or("–".to_string(), |x| format!("{x:.4}"))
}

fn list(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() { "–".to_string() } else { names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ") }
}
