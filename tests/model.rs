//! What the builder makes of a robot, and what it refuses.

use nalgebra::{Matrix3, Vector3};
use saltus::model::{
    ActuatorSpec, BodyId, BodySpec, ClosureKind, ClosureSpec, CollisionFilter, ConvexSpec, FrameId, GeometrySpec, Item,
    JointSpec, KeyframeSpec, Material, Model, ModelBuilder, ModelError, OwnedModel, Problem, Range, Shape,
    Transmission,
};
use saltus::spatial::{Inertia, Placement, Symmetric3};

const BALL: Shape<f64> = Shape::Sphere { radius: 0.1 };

fn hinge(name: &str) -> BodySpec {
    BodySpec::new(name, JointSpec::revolute(Vector3::y())).inertia(Inertia::solid_sphere(1.0, 0.1))
}

fn fixed(name: &str) -> BodySpec {
    BodySpec::new(name, JointSpec::Fixed).inertia(Inertia::solid_sphere(1.0, 0.1))
}

fn ball(name: &str) -> GeometrySpec {
    GeometrySpec::new(name, BALL)
}

fn build(builder: ModelBuilder) -> OwnedModel<f64> {
    builder.build().expect("the robot is sound")
}

fn refusal(builder: ModelBuilder) -> ModelError {
    builder.build::<f64>().expect_err("the robot must be refused")
}

fn problem_of(body: BodySpec) -> Problem {
    let error = refusal(ModelBuilder::new().body(body));
    assert_eq!((error.item, error.name.as_str()), (Item::Body, "link"));
    error.problem
}

fn pair_names(model: Model<'_, f64>) -> Vec<(&str, &str)> {
    model.pairs.iter().map(|pair| (model.geometry_name(pair.a), model.geometry_name(pair.b))).collect()
}

// ---- numbering and merging

#[test]
fn bodies_are_numbered_depth_first_in_the_order_of_addition() {
    let owned = build(
        ModelBuilder::new()
            .body(hinge("left foot").parent("left leg"))
            .body(hinge("torso"))
            .body(hinge("left leg").parent("torso"))
            .body(hinge("right leg").parent("torso"))
            .body(hinge("right foot").parent("right leg")),
    );
    let model = owned.model();
    let names: Vec<_> = model.body_ids().map(|id| model.body_name(id)).collect();
    assert_eq!(names, ["torso", "left leg", "left foot", "right leg", "right foot"]);
    let parents: Vec<_> = model.bodies.iter().map(|body| model.body_name(body.parent)).collect();
    assert_eq!(parents, ["world", "torso", "left leg", "torso", "right leg"]);
}

#[test]
fn merged_bodies_leave_their_inertia_frames_and_shapes_on_the_carrier() {
    let quarter_turn = Matrix3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    let owned = build(
        ModelBuilder::new()
            .body(hinge("arm"))
            .body(fixed("bracket").parent("arm").placement(Placement::new(quarter_turn, Vector3::x())))
            .body(
                fixed("tool")
                    .parent("bracket")
                    .placement(Placement::translation(1.0, 0.0, 0.0))
                    .geometry(ball("tip").placement(Placement::translation(0.0, 0.0, 0.5))),
            )
            .frame("tcp", "tool", Placement::translation(0.0, 1.0, 0.0)),
    );
    let model = owned.model();
    assert_eq!((model.bodies.len(), model.total_mass()), (1, 3.0));
    let position = |name| model.find_frame(name).map(|id| model.frames[id.index()].placement.translation);
    assert_eq!(position("bracket"), Some(Vector3::x()));
    assert_eq!(position("tool"), Some(Vector3::new(1.0, 1.0, 0.0)));
    assert_eq!(position("tcp"), Some(Vector3::new(0.0, 1.0, 0.0)));
    let tip = model.geometries[0];
    assert_eq!((tip.body, tip.placement.translation), (model.body_ids().next().unwrap(), Vector3::new(1.0, 1.0, 0.5)));
    assert_eq!(tip.placement.rotation, quarter_turn);
    assert_eq!(model.bodies[0].inertia.com, Vector3::new(2.0, 1.0, 0.0) / 3.0);
}

// ---- which geometries may meet

#[test]
fn parents_and_children_do_not_meet_but_others_and_the_world_do() {
    let owned = build(
        ModelBuilder::new()
            .geometry("world", GeometrySpec::new("floor", Shape::HalfSpace))
            .body(hinge("thigh").geometry(ball("hip")).geometry(ball("knee")))
            .body(hinge("shank").parent("thigh").geometry(ball("shin")))
            .body(hinge("foot").parent("shank").geometry(ball("toe")))
            .body(fixed("wall").geometry(ball("bump"))),
    );
    let expected = [
        ("hip", "toe"),
        ("hip", "bump"),
        ("hip", "floor"),
        ("knee", "toe"),
        ("knee", "bump"),
        ("knee", "floor"),
        ("shin", "bump"),
        ("shin", "floor"),
        ("toe", "bump"),
        ("toe", "floor"),
    ];
    assert_eq!(pair_names(owned.model()), expected);
}

#[test]
fn a_chain_of_massless_joints_is_one_joint_to_the_filter() {
    let bare = |name| BodySpec::new(name, JointSpec::revolute(Vector3::x()));
    let owned = build(
        ModelBuilder::new()
            .body(hinge("pelvis").geometry(ball("a")))
            .body(bare("yaw").parent("pelvis"))
            .body(bare("roll").parent("yaw"))
            .body(hinge("thigh").parent("roll").geometry(ball("b"))),
    );
    assert_eq!(pair_names(owned.model()), []);
}

#[test]
fn masks_follow_mujoco_and_exclusions_and_stated_pairs_override_them() {
    let filtered = |name, category, mask| ball(name).filter(CollisionFilter { category, mask });
    let two = |builder: ModelBuilder| {
        builder.body(hinge("left").geometry(filtered("l", 1, 0))).body(hinge("right").geometry(filtered("r", 2, 1)))
    };
    assert_eq!(pair_names(build(two(ModelBuilder::new())).model()), [("l", "r")]);
    assert_eq!(pair_names(build(two(ModelBuilder::new()).exclude("right", "left")).model()), []);
    let slippery = Material::new(0.1, 0.5);
    let stated = build(two(ModelBuilder::new()).exclude("right", "left").pair("r", "l", slippery));
    assert_eq!(stated.model().pairs[0].material, slippery);
    let unseen = build(
        ModelBuilder::new()
            .body(hinge("left").geometry(filtered("l", 1, 4)))
            .body(hinge("right").geometry(filtered("r", 2, 8))),
    );
    assert_eq!(pair_names(unseen.model()), []);
}

#[test]
fn exclusions_concern_bodies_as_stated_not_as_merged() {
    let owned = build(
        ModelBuilder::new()
            .body(hinge("trunk").geometry(ball("chest")))
            .body(fixed("pelvis").parent("trunk").geometry(ball("hip")))
            .body(hinge("tail").geometry(ball("tip")))
            .exclude("tail", "pelvis"),
    );
    assert_eq!(pair_names(owned.model()), [("chest", "tip")]);
}

#[test]
fn the_rougher_and_bouncier_surface_decides() {
    let owned = build(
        ModelBuilder::new()
            .body(hinge("left").geometry(ball("l").friction(0.3).restitution(0.2)))
            .body(hinge("right").geometry(ball("r").friction(0.8).restitution(0.1))),
    );
    assert_eq!(owned.model().pairs[0].material, Material::new(0.8, 0.2));
}

#[test]
fn hulls_share_one_list_of_vertices() {
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let shifted = corners.map(|corner| corner + Vector3::x());
    let owned = build(
        ModelBuilder::new()
            .body(hinge("a").geometry(GeometrySpec::new("one", ConvexSpec::new(corners))))
            .body(hinge("b").geometry(GeometrySpec::new("two", ConvexSpec::new(shifted)))),
    );
    let model = owned.model();
    assert_eq!(model.hull(&model.geometries[1].shape), shifted);
    assert!(model.hull(&BALL).is_empty());
}

// ---- loops and anchors

#[test]
fn closures_are_between_moving_bodies_wherever_they_were_stated() {
    let along = |x| Placement::translation(x, 0.0, 0.0);
    let owned = build(
        ModelBuilder::new()
            .closure(ClosureSpec::point("tool", "rocker").at(along(0.5), along(0.25)))
            .closure(ClosureSpec::weld("world", "rocker"))
            .body(hinge("crank"))
            .body(fixed("tool").parent("crank").placement(along(1.0)))
            .body(hinge("rocker")),
    );
    let model = owned.model();
    let [loops, anchor] = model.closures else { panic!("two closures were stated") };
    assert_eq!((model.body_name(loops.a.body), model.body_name(loops.b.body)), ("crank", "rocker"));
    assert_eq!((loops.a.placement, loops.b.placement), (along(1.5), along(0.25)));
    assert_eq!((loops.kind, loops.kind.rows()), (ClosureKind::Point, 3));
    assert_eq!((anchor.a.body, anchor.kind, anchor.kind.rows()), (BodyId::WORLD, ClosureKind::Weld, 6));
}

#[test]
fn a_closure_holds_two_bodies_that_exist_at_placements_that_are_placements() {
    let refused = |closure| {
        let error = refusal(
            ModelBuilder::new()
                .body(hinge("arm"))
                .body(fixed("hand").parent("arm"))
                .body(hinge("leg"))
                .closure(closure),
        );
        assert_eq!(error.item, Item::Closure);
        (error.name.clone(), error.problem.clone(), error.to_string())
    };
    let (name, problem, text) = refused(ClosureSpec::point("arm", "tail"));
    assert_eq!((name.as_str(), problem), ("arm, tail", Problem::UnknownTarget { what: "body", target: "tail".into() }));
    assert_eq!(text, "closure of bodies \"arm, tail\": the body \"tail\" does not exist");
    assert_eq!(refused(ClosureSpec::weld("arm", "hand")).1, Problem::ClosureOfOne);
    assert_eq!(refused(ClosureSpec::weld("world", "world")).1, Problem::ClosureOfOne);
    let nowhere = Placement::translation(0.0, f64::NAN, 0.0);
    let (_, problem, _) = refused(ClosureSpec::point("arm", "leg").at(Placement::IDENTITY, nowhere));
    assert_eq!(problem, Problem::NotFinite { what: "placement" });
    let mirrored = Placement::new(-Matrix3::identity(), Vector3::zeros());
    assert_eq!(refused(ClosureSpec::point("arm", "leg").at(mirrored, Placement::IDENTITY)).1, Problem::NotARotation);
}

// ---- motors and keyframes

#[test]
fn joints_have_motors_within_their_effort_limits_unless_motors_are_stated() {
    let robot = || {
        ModelBuilder::new()
            .body(BodySpec::new("base", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, 0.1)))
            .body(hinge("hip").parent("base").effort_limit(20.0))
            .body(hinge("knee").parent("hip").actuated(false))
            .body(
                BodySpec::new("gimbal", JointSpec::spherical())
                    .parent("knee")
                    .inertia(Inertia::solid_sphere(1.0, 0.1))
                    .actuated(true),
            )
    };
    let owned = build(robot());
    let model = owned.model();
    let dofs: Vec<_> = model.actuators.iter().map(|motor| motor.transmission).collect();
    assert_eq!(dofs, [6, 8, 9, 10].map(|dof| Transmission::Joint { dof, gear: 1.0 }));
    assert_eq!(model.actuators[0].force_range, Range::symmetric(20.0));
    assert_eq!((model.actuator_name(0), model.actuator_name(2)), ("hip", "gimbal_1"));
    assert_eq!(model.actuators[0].force(50.0, 0.0, 0.0), 20.0);

    let stated = build(robot().frame("nozzle", "base", Placement::IDENTITY).actuator(ActuatorSpec::frame(
        "thruster",
        "nozzle",
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    )));
    let model = stated.model();
    assert_eq!((model.nu(), model.find_actuator("thruster")), (1, Some(0)));
    let Transmission::Frame { frame, .. } = model.actuators[0].transmission else { panic!("a thruster has a frame") };
    assert_eq!((frame, model.frame_name(frame)), (FrameId::new(0), "nozzle"));
}

#[test]
fn keyframes_are_read_back_and_orientations_normalized() {
    let robot = ModelBuilder::new()
        .body(BodySpec::new("base", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, 0.1)).actuated(true));
    let tilted = [0.0, 0.0, 0.5, 0.0, 0.0, 0.6, 0.800003];
    let owned = build(
        robot
            .keyframe(KeyframeSpec::new("rest", [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]))
            .keyframe(KeyframeSpec::new("tilted", tilted).velocity([1.0; 6]).control([2.0; 6])),
    );
    let single = owned.cast::<f32>();
    let model = owned.model();
    let rest = model.keyframe(0).expect("there are two");
    assert_eq!((rest.q[2], rest.v, rest.u), (0.5, &[0.0; 6][..], &[0.0; 6][..]));
    let tilted = model.find_keyframe("tilted").expect("it was stated");
    assert!((tilted.q[3..].iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
    assert_eq!((tilted.v, tilted.u), (&[1.0; 6][..], &[2.0; 6][..]));
    assert!(model.keyframe(2).is_none());
    assert_eq!(single.model().find_keyframe("tilted").map(|key| key.u[5]), Some(2.0_f32));
}

#[test]
fn a_cast_model_keeps_every_part() {
    let owned = build(
        ModelBuilder::new()
            .geometry("world", GeometrySpec::new("floor", Shape::HalfSpace))
            .body(hinge("arm").spring(3.0, 0.25).geometry(ball("fist").friction(0.5)))
            .frame("tip", "arm", Placement::IDENTITY)
            .closure(ClosureSpec::weld("arm", "world").at(Placement::translation(0.5, 0.0, 0.0), Placement::IDENTITY)),
    );
    let single = owned.cast::<f32>();
    let model = single.model();
    assert_eq!(model.geometries[0].shape, Shape::Sphere { radius: 0.1_f32 });
    assert_eq!((model.pairs.len(), model.nu(), model.geometry_name(model.pairs[0].b)), (1, 1, "floor"));
    assert_eq!((model.dofs[0].stiffness, model.dofs[0].spring_reference), (3.0, 0.25));
    assert_eq!((model.frame_name(FrameId::new(0)), model.actuator_name(0)), ("tip", "arm"));
    assert_eq!(model.closures[0].a.placement.translation.x, 0.5_f32);
}

// ---- what is refused

#[test]
fn a_moving_leaf_needs_mass() {
    assert_eq!(problem_of(hinge("link").inertia(Inertia::ZERO)), Problem::MasslessLeaf { mass: 0.0 });
    let negative = Inertia::new(-1.0, Vector3::zeros(), Symmetric3::ZERO);
    assert_eq!(problem_of(hinge("link").inertia(negative)), Problem::NegativeMass { mass: -1.0 });
}

#[test]
fn inertias_obey_the_triangle_inequality() {
    let inertia = |a, b, c| Inertia::new(1.0, Vector3::zeros(), Symmetric3::diagonal(a, b, c));
    for impossible in [inertia(1.0, 1.0, 2.1), inertia(-0.1, 1.0, 1.0)] {
        assert!(matches!(problem_of(hinge("link").inertia(impossible)), Problem::ImpossibleInertia { .. }));
    }
}

#[test]
fn axes_have_length_one() {
    for (axis, length) in [(Vector3::zeros(), 0.0), (Vector3::new(0.0, 2.0, 0.0), 2.0)] {
        let body = BodySpec::new("link", JointSpec::revolute(axis)).inertia(Inertia::solid_sphere(1.0, 0.1));
        assert_eq!(problem_of(body), Problem::AxisNotUnit { length });
    }
}

#[test]
fn numbers_are_finite() {
    let nan = f64::NAN;
    let cases = [
        (hinge("link").placement(Placement::translation(nan, 0.0, 0.0)), "placement"),
        (hinge("link").inertia(Inertia::solid_sphere(nan, 0.1)), "mass"),
        (hinge("link").armature(f64::INFINITY), "armature"),
        (hinge("link").damping(nan), "damping"),
        (hinge("link").spring(1.0, nan), "spring reference"),
        (hinge("link").effort_limit(nan), "effort limit"),
        (hinge("link").position_limits(nan, 1.0), "position limits"),
    ];
    for (body, what) in cases {
        assert_eq!(problem_of(body), Problem::NotFinite { what });
    }
    let gravity = ModelBuilder::new().gravity(Vector3::new(0.0, nan, 0.0));
    assert_eq!(refusal(gravity).problem, Problem::NotFinite { what: "gravity" });
}

#[test]
fn parameters_are_not_negative_and_limits_not_reversed() {
    let negative = Problem::Negative { what: "stiffness", value: -1.0 };
    assert_eq!(problem_of(hinge("link").spring(-1.0, 0.0)), negative);
    let reversed = Problem::RangeReversed { what: "position limits", lower: 1.0, upper: -1.0 };
    assert_eq!(problem_of(hinge("link").position_limits(1.0, -1.0)), reversed);
    let free = BodySpec::new("link", JointSpec::free_flyer()).position_limits(-1.0, 1.0);
    assert_eq!(problem_of(free), Problem::LimitsWithoutPosition);
    let mirrored = Placement::new(Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0)), Vector3::zeros());
    assert_eq!(problem_of(hinge("link").placement(mirrored)), Problem::NotARotation);
}

#[test]
fn names_are_taken_once_and_parents_exist() {
    let problem = |builder: ModelBuilder| {
        let error = refusal(builder);
        (error.item, error.name, error.problem)
    };
    let one = || ModelBuilder::new().body(hinge("arm"));
    let taken = |item, name: &str| (item, name.to_string(), Problem::DuplicateName);
    assert_eq!(problem(one().body(hinge("arm"))), taken(Item::Body, "arm"));
    assert_eq!(problem(one().body(hinge("world"))), taken(Item::Body, "world"));
    assert_eq!(problem(one().body(hinge("b").joint_name("arm"))), taken(Item::Joint, "arm"));
    let tip = |builder: ModelBuilder| builder.frame("tip", "arm", Placement::IDENTITY);
    assert_eq!(problem(tip(tip(one()))), taken(Item::Frame, "tip"));
    assert_eq!(problem(tip(one().body(fixed("tip").parent("arm")))), taken(Item::Frame, "tip"));
    let skin = |builder: ModelBuilder| builder.geometry("arm", ball("skin"));
    assert_eq!(problem(skin(skin(one()))), taken(Item::Geometry, "skin"));
    let unnamed = |builder: ModelBuilder| builder.geometry("arm", ball(""));
    assert_eq!(build(unnamed(unnamed(one()))).model().geometries.len(), 2);
    let key = |builder: ModelBuilder| builder.keyframe(KeyframeSpec::new("rest", [0.0]));
    assert_eq!(problem(key(key(one()))), taken(Item::Keyframe, "rest"));
    let motor = |builder: ModelBuilder| builder.actuator(ActuatorSpec::joint("motor", "arm"));
    assert_eq!(problem(motor(motor(one()))), taken(Item::Actuator, "motor"));
    let orphan = problem(one().body(hinge("b").parent("nobody")));
    assert_eq!(orphan, (Item::Body, "b".into(), Problem::UnknownParent { parent: "nobody".into() }));
}

#[test]
fn a_cycle_is_named_by_a_body_on_it() {
    let error = refusal(
        ModelBuilder::new()
            .body(hinge("hangs on it").parent("b"))
            .body(hinge("a").parent("c"))
            .body(hinge("b").parent("a"))
            .body(hinge("c").parent("b")),
    );
    assert_eq!(error.problem, Problem::Cycle);
    assert_ne!(error.name, "hangs on it");
}

#[test]
fn shapes_have_sizes_above_zero() {
    let problem = |shape: Shape<f64>| {
        let error = refusal(ModelBuilder::new().geometry("world", GeometrySpec::new("shape", shape)));
        assert_eq!((error.item, error.name.as_str()), (Item::Geometry, "shape"));
        error.problem
    };
    let zero = |what| Problem::NotPositive { what, value: 0.0 };
    assert_eq!(problem(Shape::Sphere { radius: 0.0 }), zero("radius"));
    assert_eq!(problem(Shape::Capsule { radius: 0.1, half_length: 0.0 }), zero("half length"));
    assert_eq!(problem(Shape::Cylinder { radius: 0.0, half_length: 1.0 }), zero("radius"));
    assert_eq!(problem(Shape::Box { half_extents: Vector3::new(1.0, 0.0, 1.0) }), zero("half extent"));
    assert_eq!(problem(Shape::Ellipsoid { radii: Vector3::new(1.0, 1.0, 0.0) }), zero("radius"));
    assert_eq!(problem(Shape::Sphere { radius: f64::NAN }), Problem::NotFinite { what: "radius" });
    assert_eq!(problem(Shape::Convex { first_vertex: 0, vertices: 4 }), Problem::HullWithoutVertices);
}

#[test]
fn hulls_surfaces_pairs_and_exclusions_are_checked() {
    let on_world = |geometry| refusal(ModelBuilder::new().geometry("world", geometry)).problem;
    let flat = GeometrySpec::new("hull", ConvexSpec::new([Vector3::zeros(), Vector3::x(), Vector3::y()]));
    assert_eq!(on_world(flat), Problem::TooFewVertices { found: 3 });
    assert_eq!(on_world(ball("a").friction(-0.1)), Problem::Negative { what: "friction", value: -0.1 });
    assert_eq!(on_world(ball("a").restitution(1.5)), Problem::NotAFraction { what: "restitution", value: 1.5 });
    let robot = || ModelBuilder::new().body(hinge("arm").geometry(ball("skin")));
    let material = Material::default();
    assert_eq!(refusal(robot().pair("skin", "skin", material)).problem, Problem::PairOfOne);
    let unknown = refusal(robot().pair("skin", "bone", material));
    assert_eq!((unknown.name.as_str(), unknown.problem), ("bone", Problem::UnknownName { what: "geometry" }));
    let unknown = refusal(robot().exclude("arm", "leg"));
    assert_eq!((unknown.name.as_str(), unknown.problem), ("leg", Problem::UnknownName { what: "body" }));
    let orphan = refusal(robot().geometry("leg", ball("a")));
    assert_eq!(orphan.to_string(), "geometry \"a\": its parent \"leg\" does not exist");
}

#[test]
fn motors_and_keyframes_fit_the_robot() {
    let robot = || ModelBuilder::new().body(hinge("arm"));
    let motor = |spec| refusal(robot().actuator(spec)).problem;
    let target = |what| Problem::UnknownTarget { what, target: "leg".into() };
    assert_eq!(motor(ActuatorSpec::joint("m", "leg")), target("joint"));
    assert_eq!(motor(ActuatorSpec::frame("m", "leg", [0.0; 6])), target("frame"));
    assert_eq!(motor(ActuatorSpec::joint_dof("m", "arm", 1)), Problem::NoSuchDof { joint: "arm".into(), dofs: 1 });
    assert_eq!(motor(ActuatorSpec::joint("m", "arm").gear(f64::NAN)), Problem::NotFinite { what: "gear" });
    let reversed = Problem::RangeReversed { what: "control range", lower: 1.0, upper: 0.0 };
    assert_eq!(motor(ActuatorSpec::joint("m", "arm").control_range(1.0, 0.0)), reversed);

    let key = |spec| refusal(robot().keyframe(spec)).problem;
    let length = |what, found| Problem::Length { what, expected: 1, found };
    assert_eq!(key(KeyframeSpec::new("k", [0.0, 0.0])), length("q", 2));
    assert_eq!(key(KeyframeSpec::new("k", [0.0]).velocity([])), length("v", 0));
    assert_eq!(key(KeyframeSpec::new("k", [0.0]).control([0.0; 3])), length("u", 3));
    assert_eq!(key(KeyframeSpec::new("k", [f64::NAN])), Problem::NotFinite { what: "q" });
    let free = BodySpec::new("base", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, 0.1));
    let tilted = KeyframeSpec::new("k", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
    assert_eq!(refusal(ModelBuilder::new().body(free).keyframe(tilted)).problem, Problem::NotNormalized { index: 6 });
}
