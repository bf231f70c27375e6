//! Small scenes, each there for one mode, one motor or one pair of shapes.

#![allow(dead_code, reason = "each test takes its own part")]

use nalgebra::{Rotation3, UnitQuaternion, Vector3};
use saltus::collision::collide;
use saltus::contact::Stabilization;
use saltus::model::{
    ActuatorSpec, BodySpec, ClosureSpec, ConvexSpec, GeometrySpec, JointSpec, ModelBuilder, OwnedModel, Shape,
};
use saltus::spatial::{Force, Inertia, Placement};
use saltus::step::{StepInput, StepSettings};
use saltus_cli::differences::TOLERANCE;
use saltus_testkit::{Random, SampleShape};

/// A state to differentiate, and what occurs in it.
pub struct Scene {
    pub name: String,
    /// Must occur.
    pub mode: &'static str,
    pub model: OwnedModel<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub u: Vec<f64>,
    pub force: Vec<f64>,
    pub external: Vec<Force<f64>>,
    pub settings: StepSettings<f64>,
    pub tolerance: f64,
}

impl Scene {
    fn new(name: impl Into<String>, mode: &'static str, model: &ModelBuilder, q: &[f64], v: &[f64]) -> Self {
        Self {
            name: name.into(),
            mode,
            model: model.build().unwrap(),
            q: q.to_vec(),
            v: v.to_vec(),
            u: Vec::new(),
            force: Vec::new(),
            external: Vec::new(),
            settings: StepSettings::default(),
            tolerance: TOLERANCE,
        }
    }

    fn controls(mut self, u: &[f64]) -> Self {
        self.u = u.to_vec();
        self
    }

    fn compliance(mut self, compliance_m_n: f64) -> Self {
        self.settings.stabilization = Stabilization { compliance_m_n, ..Stabilization::default() };
        self
    }

    pub fn input(&self) -> StepInput<'_, f64> {
        StepInput { q: &self.q, v: &self.v, control: &self.u, force: &self.force, external: &self.external }
    }
}

/// A lopsided inertia, so that every product of the equations counts.
fn inertia() -> Inertia<f64> {
    Inertia::solid_box(1.0, &Vector3::new(0.2, 0.3, 0.4)).moved_by(&Placement::translation(0.01, -0.02, 0.03))
}

/// A coordinate vector of a free body.
fn free(at: &Placement<f64>) -> Vec<f64> {
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(at.rotation));
    at.translation.iter().chain(turn.coords.iter()).copied().collect()
}

fn translated(x: f64, y: f64, z: f64) -> Vec<f64> {
    free(&Placement::translation(x, y, z))
}

/// A free body of some shape over a floor.
fn over_floor(shape: Shape<f64>, friction: f64, restitution: f64) -> ModelBuilder {
    let skin = GeometrySpec::new("skin", shape).friction(friction).restitution(restitution);
    let floor = GeometrySpec::new("floor", Shape::HalfSpace).friction(friction).restitution(restitution);
    ModelBuilder::new()
        .body(BodySpec::new("body", JointSpec::free_flyer()).inertia(inertia()).geometry(skin))
        .geometry("world", floor)
}

/// An arm of two links that turn about skew axes.
fn arm(set: impl Fn(BodySpec) -> BodySpec) -> ModelBuilder {
    let link = |name: &str, axis| set(BodySpec::new(name, JointSpec::revolute(axis)).inertia(inertia()));
    ModelBuilder::new()
        .body(link("upper", Vector3::y()))
        .body(link("lower", Vector3::x()).parent("upper").placement(Placement::translation(0.1, 0.0, -0.5)))
}

/// Stick, slide, break, gaps, bounces, limits, dry friction and loops.
pub fn modes() -> Vec<Scene> {
    let ball = Shape::Sphere { radius: 0.1 };
    let cube = Shape::Box { half_extents: Vector3::new(0.1, 0.15, 0.1) };
    let rest = translated(0.1, 0.2, 0.1);
    let turning = [0.1, 0.2, -0.3];
    let ball_scene = |name: &str, mode, (friction, restitution), z: f64, v: [f64; 3]| {
        let v = [&v[..], &turning].concat();
        Scene::new(name, mode, &over_floor(ball, friction, restitution), &translated(0.1, 0.2, z), &v)
    };
    let sliding = [1.0, 0.5, -0.1];
    let mut scenes = vec![
        ball_scene("ball sticks", "stick", (1.0, 0.0), 0.1, [0.01, 0.02, -0.1]),
        ball_scene("ball slides", "slide", (0.3, 0.0), 0.1, sliding),
        ball_scene("ball slides without friction", "slide", (0.0, 0.0), 0.1, sliding),
        ball_scene("ball leaves", "break", (1.0, 0.0), 0.1, [0.1, 0.2, 1.0]),
        ball_scene("ball closes a gap and sticks", "stick", (1.0, 0.0), 0.101, [0.01, 0.02, -1.0]),
        ball_scene("ball closes a gap and slides", "slide", (0.1, 0.0), 0.101, [1.0, 0.2, -1.0]),
        ball_scene("deep ball sticks", "stick", (1.0, 0.0), 0.099, [0.01, 0.02, -0.1]),
        ball_scene("deep ball slides", "slide", (0.1, 0.0), 0.099, sliding),
        ball_scene("very deep ball", "stick", (1.0, 0.0), 0.08, [0.01, 0.02, -0.1]),
        ball_scene("ball bounces and sticks", "stick", (1.0, 0.5), 0.1005, [0.01, 0.02, -1.0]),
        ball_scene("ball bounces and slides", "slide", (0.1, 0.5), 0.1005, [1.0, 0.02, -1.0]),
        ball_scene("soft ball sticks", "stick", (1.0, 0.0), 0.099, [0.01, 0.02, -0.1]).compliance(1e-3),
        ball_scene("soft ball slides", "slide", (0.1, 0.0), 0.099, sliding).compliance(1e-3),
        Scene::new("box rests", "stick", &over_floor(cube, 1.0, 0.0), &rest, &[0.0; 6]),
        Scene::new("box lands flat", "stick", &over_floor(cube, 1.0, 0.0), &rest, &[0.0, 0.0, -0.2, 0.0, 0.0, 0.0]),
        Scene::new("soft box rests", "stick", &over_floor(cube, 1.0, 0.0), &rest, &[0.0; 6]).compliance(1e-4),
        Scene::new("box slides", "slide", &over_floor(cube, 0.2, 0.0), &rest, &[1.0, 0.3, 0.0, 0.0, 0.0, 0.0]),
    ];
    scenes.extend(limits());
    scenes.extend(loops());
    scenes
}

fn limits() -> Vec<Scene> {
    let limited = arm(|link| link.position_limits(-0.5, 0.5));
    let soft = Scene::new("soft limit", "limit", &limited, &[0.5, 0.1], &[0.5, 0.2]).controls(&[3.0, 0.2]);
    let held = arm(|link| link.dry_friction(5.0));
    let dragged = arm(|link| link.dry_friction(0.1));
    let rail = BodySpec::new("cart", JointSpec::prismatic(Vector3::x())).inertia(inertia()).position_limits(-0.2, 0.2);
    let rail = ModelBuilder::new().body(rail).body(
        BodySpec::new("pole", JointSpec::revolute(Vector3::y()))
            .parent("cart")
            .placement(Placement::translation(0.1, 0.0, -0.5))
            .inertia(inertia()),
    );
    vec![
        Scene::new("limit at rest", "limit", &limited, &[0.5, 0.1], &[0.0, 0.2]).controls(&[3.0, 0.2]),
        Scene::new("both limits", "limit", &limited, &[0.5, -0.5], &[0.1, -0.2]).controls(&[3.0, -2.0]),
        Scene::new("limit approached", "limit", &limited, &[0.499, 0.1], &[2.0, 0.2]).controls(&[3.0, 0.2]),
        Scene::new("limit left", "free", &limited, &[0.499, 0.1], &[-2.0, 0.2]),
        Scene::new("limit overrun", "limit", &limited, &[0.503, 0.1], &[0.2, 0.2]).controls(&[3.0, 0.2]),
        soft.compliance(1e-3),
        Scene::new("end of a rail", "limit", &rail, &[-0.2, 0.3], &[-0.5, 1.0]),
        Scene::new("dry friction holds", "friction", &held, &[0.1, 0.2], &[0.0, 0.0]),
        Scene::new("dry friction stops", "friction", &held, &[0.1, 0.2], &[1e-3, -2e-3]),
        Scene::new("dry friction drags", "friction", &dragged, &[0.1, 0.2], &[1.0, -2.0]),
        Scene::new("dry friction drags one", "friction", &dragged, &[0.1, 0.2], &[1.0, -2.0]).controls(&[1.0, 1.0]),
    ]
}

fn loops() -> Vec<Scene> {
    let tip = Placement::translation(0.0, 0.1, -0.4);
    let hooked = |gap: f64| {
        let bob = BodySpec::new("bob", JointSpec::spherical())
            .parent("lower")
            .placement(Placement::translation(0.0, 0.0, -0.3))
            .inertia(inertia());
        let hook = Placement::translation(0.1, 0.1 + gap, -1.2);
        arm(|link| link).body(bob).closure(ClosureSpec::point("bob", "world").at(tip, hook))
    };
    let welded = |turn: f64, gap: f64| {
        let free = |name: &str| BodySpec::new(name, JointSpec::free_flyer()).inertia(inertia());
        let at = Placement::from_rpy(turn, -turn, 2.0 * turn, Vector3::new(0.1, 0.2, 0.3 + gap));
        ModelBuilder::new().body(free("a")).body(free("b")).closure(ClosureSpec::weld("a", "b").at(at, tip))
    };
    let pair = [translated(0.0, 0.0, 0.0), translated(0.1, 0.1, 0.7)].concat();
    let v: Vec<f64> = (0..12).map(|k| 0.3 * f64::from(k % 5) - 0.5).collect();
    let neutral = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let v_arm = [0.3, -0.2, 0.1, 0.5, 0.4];
    vec![
        Scene::new("hooked", "loop", &hooked(0.0), &neutral, &v_arm).controls(&[1.0, -1.0]),
        Scene::new("hooked with a gap", "loop", &hooked(1e-3), &neutral, &v_arm),
        Scene::new("welded", "loop", &welded(0.0, 0.0), &pair, &v),
        Scene::new("welded with a gap", "loop", &welded(0.0, 2e-3), &pair, &v),
        Scene::new("welded askew", "loop", &welded(0.01, 2e-3), &pair, &v),
        Scene::new("welded far askew", "loop", &welded(0.3, 0.1), &pair, &v),
    ]
}

/// Motors at and within their bounds, springs of every joint, rotors, and forces from outside.
pub fn motors() -> Vec<Scene> {
    let (q, v) = ([0.4, -0.3], [1.9, -0.7]);
    let motors = arm(|link| link.effort_limit(2.0).velocity_limit(2.0).armature(0.01));
    let servo = |kp, kd, limit| {
        let servo =
            |name: &str| ActuatorSpec::joint(name, name).gear(1.5).position_servo(kp, kd).control_range(-3.0, 3.0);
        arm(move |link| link.effort_limit(limit)).actuator(servo("upper")).actuator(servo("lower"))
    };
    let speed = arm(|link| link).actuator(ActuatorSpec::joint("upper", "upper").velocity_servo(3.0));
    let narrow = arm(|link| link)
        .actuator(ActuatorSpec::joint("upper", "upper").position_servo(50.0, 1.0).force_range(-1.0, 1.0));
    let sprung = arm(|link| link.spring(40.0, 0.3).damping(0.5));
    let mut scenes = vec![
        Scene::new("motors within bounds", "free", &motors, &q, &[0.5, -0.7]).controls(&[1.0, 0.5]),
        Scene::new("motor at its effort limit", "free", &motors, &q, &[0.5, -0.7]).controls(&[2.5, 0.5]),
        Scene::new("motor near its speed limit", "free", &motors, &q, &v).controls(&[1.0, 0.5]),
        Scene::new("motor at both limits", "free", &motors, &q, &v).controls(&[2.5, -3.0]),
        Scene::new("motor beyond its speed limit", "free", &motors, &q, &[2.5, -0.7]).controls(&[1.0, 0.5]),
        Scene::new("motor brakes beyond its speed limit", "free", &motors, &q, &[2.5, -0.7]).controls(&[-1.0, 0.5]),
        Scene::new("servos", "free", &servo(100.0, 2.0, f64::INFINITY), &q, &v).controls(&[0.2, -0.1]),
        Scene::new("servo at its effort limit", "free", &servo(100.0, 2.0, 20.0), &q, &v).controls(&[0.9, -0.45]),
        Scene::new("servo beyond its control range", "free", &servo(10.0, 1.0, 1e3), &q, &v).controls(&[4.0, -0.4]),
        Scene::new("servo at its force range", "free", &narrow, &q, &v).controls(&[0.9]),
        Scene::new("speed servo", "free", &speed, &q, &v).controls(&[0.2]),
        Scene::new("sprung arm", "free", &sprung, &q, &v).controls(&[0.2, -0.1]),
    ];
    let turned = free(&Placement::from_rpy(0.4, -0.7, 1.1, Vector3::new(0.1, 0.2, 0.3)));
    let joints: [(&str, JointSpec, &[f64]); 5] = [
        ("continuous", JointSpec::continuous(Vector3::y()), &[0.8, 0.6]),
        ("prismatic", JointSpec::prismatic(Vector3::y()), &[0.3]),
        ("spherical", JointSpec::spherical(), &turned[3..]),
        ("planar", JointSpec::planar(), &[0.1, -0.2, 0.8, 0.6]),
        ("free", JointSpec::free_flyer(), &turned),
    ];
    let v = [0.3, -0.2, 0.5, 0.7, -0.4, 0.6];
    for (name, joint, q) in joints {
        let body = BodySpec::new("body", joint).inertia(inertia()).spring(30.0, 0.2).damping(0.4);
        let sprung = ModelBuilder::new().body(body);
        let nv = sprung.build::<f64>().unwrap().model().nv();
        scenes.push(Scene::new(format!("sprung {name} joint"), "free", &sprung, q, &v[..nv]));
    }
    scenes.extend(wrenches(&turned, &v));
    scenes
}

/// Rotors at frames, and forces and wrenches from outside, in the air and on the floor.
fn wrenches(turned: &[f64], v: &[f64]) -> Vec<Scene> {
    let rotor = |builder: ModelBuilder, body: &str| {
        let at = Placement::from_rpy(0.1, 0.2, 0.3, Vector3::new(0.1, 0.0, 0.05));
        builder.frame("hub", body, at).actuator(ActuatorSpec::frame("rotor", "hub", [0.0, 0.1, 1.0, 0.0, 0.0, 0.02]))
    };
    let flyer =
        rotor(ModelBuilder::new().body(BodySpec::new("body", JointSpec::free_flyer()).inertia(inertia())), "body");
    let fan = rotor(arm(|link| link), "lower");
    let wrench = Force::from_array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3]);
    let mut pushed = Scene::new("pushed in the air", "free", &flyer, turned, v).controls(&[2.0]);
    pushed.external = vec![wrench; pushed.model.model().bodies.len()];
    pushed.force = vec![0.5; 6];
    let floor = over_floor(Shape::Sphere { radius: 0.1 }, 0.1, 0.0);
    let sliding = [1.0, 0.5, -0.1, 0.1, 0.2, 0.3];
    let mut dragged = Scene::new("pushed over the floor", "slide", &floor, &translated(0.0, 0.0, 0.1), &sliding);
    dragged.external = vec![Force::from_array([1.0, -2.0, -3.0, 0.1, -0.2, 0.3])];
    vec![
        Scene::new("rotor", "free", &flyer, turned, v).controls(&[5.0]),
        Scene::new("rotor on an arm", "free", &fan, &[0.4, -0.3], &[1.0, -0.7]).controls(&[5.0]),
        pushed,
        dragged,
    ]
}

/// Where derivatives might not exist: redundant points, sliding that all but sticks, nothing that presses.
pub fn degenerate() -> Vec<Scene> {
    let cube = Shape::Box { half_extents: Vector3::new(0.1, 0.1, 0.1) };
    let ball = Shape::Sphere { radius: 0.1 };
    let rest = translated(0.0, 0.0, 0.1);
    // Which of four points carries how much is open, and with it how friction turns the box: the step is one of many.
    let mut scenes = vec![Scene::new(
        "box slides and turns",
        "slide",
        &over_floor(cube, 0.2, 0.0),
        &rest,
        &[1.0, 0.3, 0.0, 0.0, 0.0, 2.0],
    )];
    for speed in [0.0, 1e-300, 1e-15, 1e-12, 1e-9, 1e-6] {
        for friction in [0.0, 1e-12, 0.5, 1e6] {
            for (name, shape) in [("cube", cube), ("ball", ball)] {
                for gravity in [-9.81, 0.0] {
                    let floor = over_floor(shape, friction, 0.0).gravity(Vector3::new(0.0, 0.0, gravity));
                    let v = [speed, 0.0, 0.0, 0.0, speed, 0.0];
                    let name = format!("{name} at {speed:e} with friction {friction} and gravity {gravity}");
                    scenes.push(Scene::new(name, "free", &floor, &rest, &v));
                }
            }
        }
    }
    scenes
}

/// How two shapes meet.
struct Meeting {
    mode: &'static str,
    gap: f64,
    friction: f64,
    /// Of the second body against the first, along the normal and across it.
    speed: [f64; 2],
}

/// Within the rest band.
const TOUCHING: f64 = 5e-6;
/// Where two corners meet, the normal turns within the gap, and jumps where it closes: there the gap is this.
const CORNERS_APART: f64 = 1e-3;

const MEETINGS: [Meeting; 6] = [
    Meeting { mode: "stick", gap: TOUCHING, friction: 2.0, speed: [-1.5, 0.05] },
    Meeting { mode: "stick", gap: 1e-3, friction: 2.0, speed: [-1.5, 0.05] },
    Meeting { mode: "slide", gap: -TOUCHING, friction: 0.1, speed: [-0.5, 1.0] },
    Meeting { mode: "slide", gap: -1e-3, friction: 0.1, speed: [-0.5, 1.0] },
    Meeting { mode: "slide", gap: 1e-3, friction: 0.1, speed: [-1.5, 1.0] },
    Meeting { mode: "break", gap: 1e-3, friction: 1.0, speed: [1.0, 1.0] },
];

/// Each shape with each, in both orders, with the first one fixed or moving.
pub fn shape_pairs() -> Vec<Scene> {
    let ground = SampleShape { name: "ground", shape: Shape::HalfSpace, corners: Vec::new() };
    let shapes: Vec<_> = SampleShape::all().into_iter().chain([ground]).collect();
    let mut random = Random::new(11);
    let mut scenes = Vec::new();
    for a in &shapes {
        for b in &shapes {
            if matches!((a.shape, b.shape), (Shape::HalfSpace, Shape::HalfSpace)) {
                continue;
            }
            for (k, meeting) in MEETINGS.iter().enumerate() {
                scenes.extend(touching(a, b, meeting, k % 2 == 0, &mut random));
            }
        }
    }
    scenes
}

/// Two shapes in random attitudes, a given gap apart; none if no such placement was found.
fn touching(a: &SampleShape, b: &SampleShape, meeting: &Meeting, moves: bool, random: &mut Random) -> Option<Scene> {
    /// Each takes the rest of the gap along the normal.
    const ITERATIONS: usize = 200;
    let at_a = random.placement(0.2);
    let mut at_b = random.placement(0.2);
    at_b.translation +=
        if let Shape::HalfSpace = a.shape { at_a.rotation.column(2).into() } else { random.direction() };
    if let Shape::HalfSpace = b.shape {
        at_b.translation = -at_b.rotation.column(2);
    }
    let sharp =
        |shape: &SampleShape| matches!(shape.shape, Shape::Box { .. } | Shape::Cylinder { .. } | Shape::Convex { .. });
    let gap = if sharp(a) && sharp(b) { meeting.gap.signum() * CORNERS_APART } else { meeting.gap };
    let mut normal = Vector3::zeros();
    let mut rest = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let manifold = collide(&a.solid(&at_a), &b.solid(&at_b), 10.0);
        let nearest = manifold.points().iter().min_by(|p, q| p.distance.total_cmp(&q.distance))?;
        (normal, rest) = (nearest.normal, nearest.distance - gap);
        at_b.translation -= normal * rest;
    }
    (rest.abs() < 1e-9).then_some(())?;

    let body = |name: &str, shape: &SampleShape| {
        let skin = match shape.shape {
            Shape::Convex { .. } => GeometrySpec::new(name, ConvexSpec::new(shape.corners.clone())),
            primitive => GeometrySpec::new(name, primitive),
        };
        (BodySpec::new(name, JointSpec::free_flyer()).inertia(inertia()), skin.friction(meeting.friction))
    };
    let ((body_a, skin_a), (body_b, skin_b)) = (body("a", a), body("b", b));
    let across = normal.cross(&random.direction()).normalize();
    let [along, sideways] = meeting.speed;
    let spin = random.direction() * 0.1;
    let moving = |at: &Placement<f64>, share: f64| {
        let linear = at.rotation.transpose() * ((normal * along + across * sideways) * share);
        [linear, spin].iter().flat_map(|v| v.iter().copied().collect::<Vec<_>>()).collect::<Vec<f64>>()
    };
    let name = format!("{} and {}, {} at {gap}", a.name, b.name, meeting.mode);
    let builder = ModelBuilder::new().gravity(Vector3::new(0.0, 0.0, -1.0));
    Some(if moves {
        let scene = builder.body(body_a.geometry(skin_a)).body(body_b.geometry(skin_b));
        let (q, v) = ([free(&at_a), free(&at_b)].concat(), [moving(&at_a, -0.5), moving(&at_b, 0.5)].concat());
        Scene::new(name, meeting.mode, &scene, &q, &v)
    } else {
        let scene = builder.body(body_b.geometry(skin_b)).geometry("world", skin_a.placement(at_a));
        Scene::new(name, meeting.mode, &scene, &free(&at_b), &moving(&at_b, 1.0))
    })
}
