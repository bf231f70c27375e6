//! A model as Rust source: a `static` that firmware links into flash.
//!
//! Every number is written so that it reads back to the same bits, so a baked model computes what the loaded one does.

use std::fmt::{Display, Write};

use nalgebra::{Matrix3, Vector3};
use saltus::linalg::tree::Link;
use saltus::model::{
    Actuator, Body, Closure, ClosureKind, DofParameters, Frame, Geometry, GeometryPair, Joint, Material, Model, Range,
    Shape, Transmission,
};
use saltus::scalar::Real;
use saltus::spatial::{Inertia, Placement, Symmetric3};
use saltus::step::StepDims;

/// Rust source of `model` in its own scalar type: `pub static MODEL`, `pub const DIMS`, and
/// `pub const fn step_dims` and `mpc_dims`, which size memory.
///
/// The source needs the crate `saltus` alone and no `alloc`. `origin` is named in its first line.
///
/// ```
/// # use saltus::model::{BodySpec, JointSpec, ModelBuilder};
/// # use saltus::spatial::Inertia;
/// # let rod = BodySpec::new("rod", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, 0.1));
/// # let robot = ModelBuilder::new().body(rod).build::<f32>()?;
/// let source = saltus_loaders::bake(robot.model(), "ball.xml");
/// assert!(source.contains("pub const DIMS: Dims = Dims::new(1, 7, 6);"));
/// # Ok::<(), saltus::model::ModelError>(())
/// ```
pub fn bake<T: Real>(model: Model<'_, T>, origin: &str) -> String {
    let scalar = if size_of::<T>() == size_of::<f32>() { "f32" } else { "f64" };
    let baker = Baker { scalar };
    let dims = model.dims();
    let mut out = String::new();
    let _ = writeln!(out, "// Made from {origin:?} by `saltus bake`; change that and bake again.");
    out.push_str(HEADER);
    let _ = writeln!(out, "/// Bodies, configuration coordinates and degrees of freedom.");
    let _ = writeln!(out, "pub const DIMS: Dims = Dims::new({}, {}, {});", dims.bodies, dims.nq, dims.nv);
    write_step_dims(&mut out, &StepDims::of(model, 0));
    baker.list(&mut out, "BODIES", "Body", model.bodies, |b| baker.body(b));
    baker.list(&mut out, "DOFS", "DofParameters", model.dofs, |d| baker.dof(d));
    baker.list(&mut out, "POSITION_LIMITS", "Range", model.position_limits, |r| baker.range(r));
    baker.list(&mut out, "FRAMES", "Frame", model.frames, |f| baker.frame(f));
    baker.list(&mut out, "GEOMETRIES", "Geometry", model.geometries, |g| baker.geometry(g));
    baker.list(&mut out, "VERTICES", "Vector3", model.vertices, |v| baker.vector(v));
    baker.list(&mut out, "PAIRS", "GeometryPair", model.pairs, |p| baker.pair(p));
    baker.list(&mut out, "CLOSURES", "Closure", model.closures, |c| baker.closure(c));
    baker.list(&mut out, "ACTUATORS", "Actuator", model.actuators, |a| baker.actuator(a));
    plain_list(&mut out, "KEYFRAMES", scalar, model.keyframes.iter().map(|x| baker.number(*x)));
    plain_list(&mut out, "LINKS", "Link", model.tree.0.iter().map(link));
    plain_list(&mut out, "NAME_ENDS", "u32", model.names.ends.iter());
    let _ = writeln!(out, "/// The robot.");
    let _ = writeln!(out, "pub static MODEL: Model<'static, {scalar}> = Model {{");
    out.push_str(MODEL_FIELDS);
    let _ = writeln!(out, "    gravity: {},", baker.vector(&model.gravity));
    let _ = writeln!(out, "    names: Names {{ text: {:?}, ends: &NAME_ENDS }},\n}};", model.names.text);
    out
}

const HEADER: &str = "\
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

";

const MODEL_FIELDS: &str = "    bodies: &BODIES,
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
";

const MPC_DIMS: &str = "\
/// What the memory of an optimizer that looks `horizon` steps ahead is sized by, with room for `terms` terms in its cost.
#[allow(dead_code)]
pub const fn mpc_dims(contacts: usize, horizon: usize, terms: usize) -> MpcDims {
    MpcDims::new(step_dims(contacts), horizon, terms)
}

";

/// Writes the functions that size a step and an optimizer.
fn write_step_dims(out: &mut String, dims: &StepDims) {
    let StepDims { robot: _, controls, geometries, closure_rows, limits, dry_frictions, contacts: _ } = dims;
    let _ = writeln!(out, "/// What the memory of a step with room for `contacts` contact points is sized by.");
    let _ = writeln!(out, "#[allow(dead_code)]");
    let _ = writeln!(out, "pub const fn step_dims(contacts: usize) -> StepDims {{");
    let _ = writeln!(out, "    StepDims {{");
    let _ = writeln!(out, "        robot: DIMS,");
    let sizes = [
        ("controls", controls),
        ("geometries", geometries),
        ("closure_rows", closure_rows),
        ("limits", limits),
        ("dry_frictions", dry_frictions),
    ];
    for (name, size) in sizes {
        let _ = writeln!(out, "        {name}: {size},");
    }
    let _ = writeln!(out, "        contacts,\n    }}\n}}\n");
    out.push_str(MPC_DIMS);
}

/// Writes a list of values of a type without scalar parameter.
fn plain_list<X: Display>(out: &mut String, name: &str, type_name: &str, values: impl ExactSizeIterator<Item = X>) {
    let _ = writeln!(out, "static {name}: [{type_name}; {}] = [", values.len());
    for value in values {
        let _ = writeln!(out, "    {value},");
    }
    out.push_str("];\n");
}

fn link(link: &Link) -> String {
    let Link { parent, run_start, subtree_end } = link;
    format!("Link {{ parent: {parent}, run_start: {run_start}, subtree_end: {subtree_end} }}")
}

/// Writes values as expressions in one scalar type.
struct Baker {
    scalar: &'static str,
}

impl Baker {
    fn list<X>(&self, out: &mut String, name: &str, type_name: &str, values: &[X], write: impl Fn(&X) -> String) {
        plain_list(out, name, &format!("{type_name}<{}>", self.scalar), values.iter().map(write));
    }

    /// The shortest text that reads back to the same bits.
    fn number<T: Real>(&self, x: T) -> String {
        let value = x.to_f64();
        match (value.is_nan(), value.is_infinite(), self.scalar) {
            (true, ..) => format!("{}::NAN", self.scalar),
            (_, true, _) if value > 0.0 => format!("{}::INFINITY", self.scalar),
            (_, true, _) => format!("{}::NEG_INFINITY", self.scalar),
            (_, _, "f32") => format!("{:?}", value as f32),
            _ => format!("{value:?}"),
        }
    }

    fn numbers<T: Real>(&self, values: &[T]) -> String {
        values.iter().map(|&x| self.number(x)).collect::<Vec<_>>().join(", ")
    }

    fn vector<T: Real>(&self, v: &Vector3<T>) -> String {
        format!("Vector3::new({})", self.numbers(v.as_slice()))
    }

    fn placement<T: Real>(&self, p: &Placement<T>) -> String {
        let rows: Matrix3<T> = p.rotation.transpose();
        let rotation = self.numbers(rows.as_slice());
        format!("Placement::new(Matrix3::new({rotation}), {})", self.vector(&p.translation))
    }

    fn inertia<T: Real>(&self, inertia: &Inertia<T>) -> String {
        let Symmetric3 { xx, xy, xz, yy, yz, zz } = inertia.rotational;
        let [xx, xy, xz, yy, yz, zz] = [xx, xy, xz, yy, yz, zz].map(|x| self.number(x));
        let rotational = format!("Symmetric3 {{ xx: {xx}, xy: {xy}, xz: {xz}, yy: {yy}, yz: {yz}, zz: {zz} }}");
        format!("Inertia::new({}, {}, {rotational})", self.number(inertia.mass), self.vector(&inertia.com))
    }

    fn joint<T: Real>(&self, joint: &Joint<T>) -> String {
        match joint {
            Joint::Revolute { axis } => format!("Joint::Revolute {{ axis: {} }}", self.vector(axis)),
            Joint::Continuous { axis } => format!("Joint::Continuous {{ axis: {} }}", self.vector(axis)),
            Joint::Prismatic { axis } => format!("Joint::Prismatic {{ axis: {} }}", self.vector(axis)),
            Joint::Spherical => "Joint::Spherical".to_string(),
            Joint::Planar => "Joint::Planar".to_string(),
            Joint::FreeFlyer => "Joint::FreeFlyer".to_string(),
        }
    }

    fn body<T: Real>(&self, body: &Body<T>) -> String {
        format!(
            "Body {{ parent: BodyId::new({}), joint: {}, placement: {}, inertia: {}, first_q: {}, first_v: {} }}",
            body.parent.index(),
            self.joint(&body.joint),
            self.placement(&body.placement),
            self.inertia(&body.inertia),
            body.first_q,
            body.first_v
        )
    }

    fn dof<T: Real>(&self, dof: &DofParameters<T>) -> String {
        let DofParameters {
            armature,
            damping,
            dry_friction,
            stiffness,
            spring_reference,
            velocity_limit,
            effort_limit,
        } = *dof;
        let fields = [
            ("armature", armature),
            ("damping", damping),
            ("dry_friction", dry_friction),
            ("stiffness", stiffness),
            ("spring_reference", spring_reference),
            ("velocity_limit", velocity_limit),
            ("effort_limit", effort_limit),
        ];
        let fields = fields.map(|(name, value)| format!("{name}: {}", self.number(value)));
        format!("DofParameters {{ {} }}", fields.join(", "))
    }

    fn range<T: Real>(&self, range: &Range<T>) -> String {
        format!("Range::new({}, {})", self.number(range.lower), self.number(range.upper))
    }

    fn frame<T: Real>(&self, frame: &Frame<T>) -> String {
        let body = frame.body.index();
        format!("Frame {{ body: BodyId::new({body}), placement: {} }}", self.placement(&frame.placement))
    }

    fn shape<T: Real>(&self, shape: &Shape<T>) -> String {
        let number = |x: &T| self.number(*x);
        match shape {
            Shape::HalfSpace => "Shape::HalfSpace".to_string(),
            Shape::Sphere { radius } => format!("Shape::Sphere {{ radius: {} }}", number(radius)),
            Shape::Capsule { radius, half_length } => {
                format!("Shape::Capsule {{ radius: {}, half_length: {} }}", number(radius), number(half_length))
            }
            Shape::Box { half_extents } => format!("Shape::Box {{ half_extents: {} }}", self.vector(half_extents)),
            Shape::Cylinder { radius, half_length } => {
                format!("Shape::Cylinder {{ radius: {}, half_length: {} }}", number(radius), number(half_length))
            }
            Shape::Ellipsoid { radii } => format!("Shape::Ellipsoid {{ radii: {} }}", self.vector(radii)),
            Shape::Convex { first_vertex, vertices } => {
                format!("Shape::Convex {{ first_vertex: {first_vertex}, vertices: {vertices} }}")
            }
        }
    }

    fn material<T: Real>(&self, material: &Material<T>) -> String {
        format!("Material::new({}, {})", self.number(material.friction), self.number(material.restitution))
    }

    fn geometry<T: Real>(&self, geometry: &Geometry<T>) -> String {
        format!(
            "Geometry {{ body: BodyId::new({}), placement: {}, shape: {}, reach: {}, material: {}, \
             filter: CollisionFilter {{ category: {}, mask: {} }} }}",
            geometry.body.index(),
            self.placement(&geometry.placement),
            self.shape(&geometry.shape),
            self.number(geometry.reach),
            self.material(&geometry.material),
            geometry.filter.category,
            geometry.filter.mask
        )
    }

    fn pair<T: Real>(&self, pair: &GeometryPair<T>) -> String {
        format!(
            "GeometryPair {{ a: GeometryId::new({}), b: GeometryId::new({}), material: {} }}",
            pair.a.index(),
            pair.b.index(),
            self.material(&pair.material)
        )
    }

    fn closure<T: Real>(&self, closure: &Closure<T>) -> String {
        let Closure { a, b, kind } = closure;
        let kind = match kind {
            ClosureKind::Point => "Point",
            ClosureKind::Weld => "Weld",
        };
        format!("Closure {{ a: {}, b: {}, kind: ClosureKind::{kind} }}", self.frame(a), self.frame(b))
    }

    fn actuator<T: Real>(&self, actuator: &Actuator<T>) -> String {
        let transmission = match &actuator.transmission {
            Transmission::Joint { dof, gear } => {
                format!("Transmission::Joint {{ dof: {dof}, gear: {} }}", self.number(*gear))
            }
            Transmission::Frame { frame, gear } => {
                let frame = frame.index();
                format!("Transmission::Frame {{ frame: FrameId::new({frame}), gear: [{}] }}", self.numbers(gear))
            }
        };
        format!(
            "Actuator {{ transmission: {transmission}, gain: {}, bias: [{}], control_range: {}, force_range: {} }}",
            self.number(actuator.gain),
            self.numbers(&actuator.bias),
            self.range(&actuator.control_range),
            self.range(&actuator.force_range)
        )
    }
}
