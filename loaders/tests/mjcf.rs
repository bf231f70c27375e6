//! What the MJCF reader makes of files, and how it refuses broken ones.

use std::path::{Path, PathBuf};

use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{ClosureKind, Frame, Model, Range, Shape, Transmission};
use saltus_loaders::{LoadError, LoadOptions, Loaded, load, load_text};
use saltus_testkit::Random;
use serde_json::Value;

/// Relative: MuJoCo sums in another order.
const ROUNDING: f64 = 1e-12;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mjcf"))
}

fn everything() -> Loaded {
    load(folder().join("everything.xml"), &LoadOptions::default()).expect("the file is sound")
}

fn read(text: &str) -> Result<Loaded, LoadError> {
    load_text(Path::new("robot.xml"), text, &LoadOptions::default())
}

/// A file with these elements in `<mujoco>`.
fn robot(content: &str) -> Loaded {
    read(&format!("<mujoco>{content}</mujoco>")).expect("the file is sound")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-12_f64, |max, x| max.max(x.abs()));
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= ROUNDING * scale, "[{k}]: {a} instead of {b}");
    }
}

fn center_and_mass_matrix(model: Model<'_, f64>, q: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let nv = model.nv();
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).expect("the arena was sized for it");
    dynamics::update(model, q, &vec![0.0; nv], &mut work).expect("q and v have the model's length");
    dynamics::mass_matrix(model, &mut work).unwrap();
    let m = work.mass_matrix_view(model.dims());
    let full = (0..nv * nv).map(|k| m[((k / nv).max(k % nv), (k / nv).min(k % nv))]).collect();
    (dynamics::center_of_mass(&work).position_world.as_slice().to_vec(), full)
}

/// The warnings without their positions.
fn messages(loaded: &Loaded) -> Vec<&str> {
    loaded.warnings.iter().map(|warning| warning.message.as_str()).collect()
}

// ---- against MuJoCo

#[test]
fn masses_centres_and_mass_matrices_are_those_of_mujoco() {
    let text = std::fs::read_to_string(folder().join("everything.json")).expect("the figures are stored");
    let figures: Value = serde_json::from_str(&text).expect("the figures are JSON");
    let loaded = everything();
    let model = loaded.model.model();
    assert_close(&[model.total_mass()], &[figures["mass"].as_f64().expect("a number")]);
    for state in figures["states"].as_array().expect("an array") {
        let (com, mass_matrix) = center_and_mass_matrix(model, &numbers(&state["q"]));
        assert_close(&com, &numbers(&state["com"]));
        assert_close(&mass_matrix, &numbers(&state["mass_matrix"]));
    }
}

#[test]
fn closures_hold_what_mujoco_holds() {
    let text = std::fs::read_to_string(folder().join("loops.json")).expect("the figures are stored");
    let figures: Value = serde_json::from_str(&text).expect("the figures are JSON");
    let loaded = load(folder().join("loops.xml"), &LoadOptions::default()).expect("the file is sound");
    let model = loaded.model.model();
    let q = model.find_keyframe("qpos0").expect("every file has it").q;
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).expect("the arena was sized for it");
    dynamics::update(model, q, &vec![0.0; model.nv()], &mut work).expect("q and v have the model's length");
    let in_world = |end: &Frame<f64>| {
        work.kinematics.body_placement_world(end.body).expect("the body is the model's") * end.placement
    };
    let expected = figures["closures"].as_array().expect("an array");
    assert_eq!(model.closures.len(), expected.len());
    for (closure, expected) in model.closures.iter().zip(expected) {
        assert_eq!(Some(closure.kind.rows() as u64), expected["rows"].as_u64());
        let ends = [in_world(&closure.a), in_world(&closure.b)];
        let positions: Vec<f64> = ends.iter().flat_map(|end| end.translation.iter().copied()).collect();
        assert_close(&positions, &numbers(&expected["positions"]));
        if closure.kind == ClosureKind::Weld {
            let rows = ends.map(|end| end.rotation.transpose());
            let rotations: Vec<f64> = rows.iter().flat_map(|rows| rows.iter().copied()).collect();
            assert_close(&rotations, &numbers(&expected["rotations"]));
        }
    }
    assert_eq!(
        messages(&loaded),
        [
            "<connect>: it is not active; this constraint is left out",
            "<weld>: it is not active; this constraint is left out",
            "<weld>: its two bodies move as one; this constraint is left out",
            "<joint> in <equality>: this element is ignored",
        ]
    );
}

#[test]
fn closures_can_be_disabled_as_a_whole() {
    let anchored = |flag: &str| {
        robot(&format!(
            "<option><flag {flag}='disable'/></option><equality><connect body1='b' anchor='0 0 0'/></equality>\
             <worldbody><body name='b'><joint/><geom size='1'/></body></worldbody>"
        ))
    };
    for (flag, closures) in [("equality", 0), ("constraint", 0), ("contact", 1)] {
        assert_eq!(anchored(flag).model.model().closures.len(), closures, "{flag}");
    }
}

#[test]
fn a_keyframe_is_converted_and_the_placed_robot_is_one_too() {
    let loaded = everything();
    let model = loaded.model.model();
    let odd = model.find_keyframe("odd").expect("the file states it");
    assert_close(odd.q, &[0.5, 1.0, 2.0, 3.0, 0.0, 0.8, 0.0, 0.6, 0.0, 0.0, 1.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    // Half of 2·atan2(0.8, 0.6) about y: cosine −0.28, sine 0.96.
    let (c, s) = (-0.28, 0.96);
    assert_close(&odd.v[1..4], &[c * 1.0 - s * 3.0, 2.0, s * 1.0 + c * 3.0]);
    assert_eq!(&odd.v[4..], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]);
    assert_eq!(odd.u, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let (bare, placed) = (model.find_keyframe("bare"), model.find_keyframe("qpos0"));
    assert_eq!(bare, placed);
    let placed = placed.expect("there always is one");
    assert_eq!((placed.q[3], placed.q[12]), (1.2, 0.05));
    assert!((placed.q[13] - 20_f64.to_radians()).abs() < 1e-15);
}

#[test]
fn motors_have_their_gains_ranges_and_places() {
    let loaded = everything();
    let model = loaded.model.model();
    let motor = |name| model.actuators[model.find_actuator(name).expect("the file states it")];
    let dof = |name| model.bodies[model.find_joint(name).expect("the file states it").index() - 1].first_v;
    assert_eq!(motor("hip").transmission, Transmission::Joint { dof: dof("hip"), gear: 12.0 });
    assert_eq!((motor("hip").gain, motor("hip").control_range), (1.0, Range::symmetric(2.0)));
    assert_eq!((motor("turn").gain, motor("turn").bias), (20.0, [0.0, -20.0, -1.5]));
    assert_eq!(motor("turn").force_range, Range::symmetric(5.0));
    assert_eq!((motor("tail").bias, motor("tail").control_range), ([0.0, 0.0, -0.5], Range::none()));
    assert_eq!((motor("bend").gain, motor("bend").bias), (2.0, [0.1, -3.0, -0.2]));
    let frame = model.find_frame("grip").expect("sites are frames");
    assert_eq!(motor("thrust").transmission, Transmission::Frame { frame, gear: [0.0, 0.0, 1.0, 0.0, 0.0, 0.1] });
}

#[test]
fn pairs_and_their_friction_follow_masks_relations_priority_and_statements() {
    let loaded = everything();
    let model = loaded.model.model();
    let friction = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|name| model.find_geometry(name).expect("the file states it"));
        let pair = model.pairs.iter().find(|pair| (pair.a, pair.b) == (a.min(b), a.max(b)));
        pair.map(|pair| pair.material.friction)
    };
    assert_eq!(friction("torso", "thigh"), Some(0.33), "stated, though one carries the other");
    assert_eq!(friction("torso", "upper"), None, "one carries the other");
    assert_eq!(friction("sole", "palm"), None, "excluded");
    assert_eq!(friction("floor", "post"), None, "neither moves");
    assert_eq!(friction("floor", "sole"), Some(0.4), "the higher priority decides");
    assert_eq!(friction("floor", "thigh"), Some(0.7), "one of them has friction");
    assert_eq!(friction("thigh", "flag"), Some(0.7));
    assert!(model.find_geometry("paint").is_none(), "it can touch nothing");
}

#[test]
fn options_and_joints_are_read_with_their_defaults() {
    let loaded = everything();
    let model = loaded.model.model();
    assert_eq!((loaded.timestep_s, model.gravity.as_slice()), (Some(0.004), &[0.0, 0.5, -9.5][..]));
    let body = |joint| model.bodies[model.find_joint(joint).expect("the file states it").index() - 1];
    let limit = |joint| model.position_limits[usize::from(body(joint).first_q)];
    assert_eq!(limit("hip"), Range::new((-60_f64).to_radians(), 45_f64.to_radians()));
    assert_eq!((limit("tail"), limit("wrist_slide")), (Range::none(), Range::new(-0.1, 0.2)));
    let dof = |joint| model.dofs[usize::from(body(joint).first_v)];
    assert_eq!((dof("root").armature, dof("hip").armature), (0.0, 0.01));
    assert_eq!((dof("shoulder").damping, dof("flag").dry_friction), (0.3, 0.2));
    assert_eq!((dof("wrist_turn").stiffness, dof("wrist_turn").spring_reference), (3.0, 10_f64.to_radians()));
    let names: Vec<_> = model.body_ids().map(|id| model.body_name(id)).collect();
    assert_eq!(names, ["flag", "torso", "arm", "hand/wrist_slide", "hand/wrist_turn", "hand", "thigh", "tail"]);
    let fixed = ["post", "sole", "grip", "hand"];
    assert!(fixed.iter().all(|name| model.find_frame(name).is_some()));
}

// ---- single facts

#[test]
fn all_forms_of_an_orientation_say_the_same() {
    let turned = |orientation: &str| {
        let loaded = robot(&format!(
            "<compiler angle='radian' eulerseq='XYZ'/><worldbody><site name='s' {orientation}/></worldbody>"
        ));
        let model = loaded.model.model();
        model.frames[0].placement.rotation
    };
    // A quarter turn about y brings z to x.
    let expected = turned("quat='1 0 1 0'");
    let quarter = std::f64::consts::FRAC_PI_2;
    let forms = [
        format!("axisangle='0 3 0 {quarter}'"),
        format!("euler='0 {quarter} 0'"),
        "xyaxes='0 0 -1 0 2 1'".to_owned(),
        "zaxis='5 0 0'".to_owned(),
    ];
    for form in forms {
        assert!((turned(&form) - expected).amax() < 1e-15, "{form}");
    }
}

#[test]
fn ranges_count_as_autolimits_say() {
    let limits = |compiler: &str, joint: &str| {
        let body = format!("<worldbody><body><joint type='slide' {joint}/><geom size='1'/></body></worldbody>");
        let loaded = robot(&format!("<compiler {compiler}/>{body}"));
        loaded.model.model().position_limits[0]
    };
    let range = Range::new(-1.0, 2.0);
    assert_eq!(limits("", "range='-1 2'"), range);
    assert_eq!(limits("autolimits='false'", "range='-1 2'"), Range::none());
    assert_eq!(limits("autolimits='false'", "range='-1 2' limited='true'"), range);
    assert_eq!(limits("", "range='-1 2' limited='false'"), Range::none());
}

#[test]
fn inertia_comes_from_where_the_compiler_says() {
    let mass = |compiler: &str| {
        let text = format!(
            "<compiler {compiler}/><worldbody><body><freejoint/><inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>\
             <geom type='box' size='.5 .5 .5' density='3'/><geom size='1' mass='7' group='3'/></body></worldbody>"
        );
        robot(&text).model.model().total_mass()
    };
    assert_eq!(mass(""), 2.0);
    assert_eq!(mass("inertiafromgeom='true'"), 10.0);
    assert_eq!(mass("inertiafromgeom='true' inertiagrouprange='0 2'"), 3.0);
    assert_eq!(mass("boundmass='5'"), 5.0);
    assert_eq!(mass("settotalmass='11'"), 11.0);
}

#[test]
fn impossible_inertias_are_balanced_on_request() {
    let file = |compiler: &str| {
        format!(
            "<mujoco><compiler {compiler}/><worldbody><body name='b'><freejoint/>\
             <inertial pos='0 0 0' mass='1' diaginertia='3 1 1'/></body></worldbody></mujoco>"
        )
    };
    assert!(read(&file("")).unwrap_err().to_string().contains("belong to no body"));
    let balanced = read(&file("balanceinertia='true'")).unwrap();
    let rotational = balanced.model.model().bodies[0].inertia.rotational;
    assert!((rotational.xx - 5.0 / 3.0).abs() < 1e-15 && (rotational.zz - 5.0 / 3.0).abs() < 1e-15);
}

#[test]
fn meshes_become_hulls_with_their_scale() {
    let directory = std::env::temp_dir().join(format!("saltus-mjcf-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("meshes")).unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(directory.join("meshes/wedge.obj"), tetrahedron).unwrap();
    let text = "<mujoco><compiler meshdir='meshes'/><asset><mesh file='wedge.obj' scale='2 1 1'/></asset>\
                <worldbody><body><freejoint/><geom type='mesh' mesh='wedge' density='6'/></body></worldbody></mujoco>";
    let loaded = load_text(&directory.join("robot.xml"), text, &LoadOptions::default()).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let model = loaded.model.model();
    assert!((model.total_mass() - 2.0).abs() < 1e-12);
    assert_eq!(model.hull(&model.geometries[0].shape).len(), 4);
    assert!(matches!(model.geometries[0].shape, Shape::Convex { .. }));
    assert_eq!((loaded.hulls[0].hull_vertices, loaded.hulls[0].kept_vertices), (4, 4));
}

#[test]
fn a_mesh_may_stand_in_the_file_itself() {
    let corners = "vertex='0 0 0 1 0 0 0 1 0 0 0 1'";
    for faces in ["", "face='0 2 1 0 1 3 1 2 3 0 3 2'"] {
        let loaded = robot(&format!(
            "<asset><mesh name='wedge' {corners} {faces}/></asset>\
             <worldbody><body><freejoint/><geom type='mesh' mesh='wedge' density='6'/></body></worldbody>"
        ));
        let model = loaded.model.model();
        assert!((model.total_mass() - 1.0).abs() < 1e-12);
        assert_eq!(model.hull(&model.geometries[0].shape).len(), 4);
    }
    let broken = "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/></asset>\
                  <worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>";
    let error = read(broken).unwrap_err().to_string();
    assert!(error.contains("face=\"0 1 4\": expected three indices of vertices"), "{error}");
}

#[test]
fn what_is_not_read_is_named() {
    let loaded = robot(
        "<equality><tendon/></equality><option integrator='RK4'/><default><geom solref='.1 1'/></default><visual/>\
         <worldbody><body gravcomp='1'><joint name='j' margin='1'/><geom size='1' rgba='1 1 1 1'/><camera/>\
         <composite/></body><geom type='hfield'/></worldbody>\
         <tendon/><actuator><muscle joint='j'/><motor tendon='t'/><general joint='j' dyntype='filter'/></actuator>",
    );
    assert_eq!(
        messages(&loaded),
        [
            "<tendon> in <mujoco>: this element is ignored",
            "<option> integrator: this attribute is ignored",
            "<geom> solref: this attribute is ignored",
            "<geom>: a height field is not supported; this geom is left out",
            "<body> gravcomp: this attribute is ignored",
            "<composite> in <body>: this element is ignored",
            "<joint> margin: this attribute is ignored",
            "<tendon> in <equality>: this element is ignored",
            "<muscle> in <actuator>: this actuator is left out",
            "<motor>: tendons are not supported; this actuator is left out",
            "<general> dyntype: activation dynamics are ignored; the control acts at once",
        ]
    );
    assert_eq!(loaded.model.model().nu(), 1);
}

#[test]
fn a_robot_without_motors_gets_none() {
    let loaded = robot("<worldbody><body><joint/><geom size='1'/></body></worldbody>");
    assert_eq!(loaded.model.model().nu(), 0);
}

// ---- what is refused

/// Each broken file and what is said of it.
const REFUSALS: [(&str, &str); 28] = [
    ("<mujoco><worldbody></mujoco>", "robot.xml:1: not well-formed XML"),
    ("<compiler angle='grad'/>", "<compiler> angle=\"grad\": expected one of degree, radian, found \"grad\""),
    ("<compiler eulerseq='xyw'/>", "<compiler> eulerseq=\"xyw\": expected three of x, y, z, X, Y, Z, found \"xyw\""),
    ("<compiler coordinate='global'/>", "expected local; MuJoCo dropped global coordinates in 2.3.4, found \"global\""),
    ("<option gravity='0 0'/>", "<option> gravity=\"0 0\": expected 3 finite numbers, found \"0 0\""),
    ("<option timestep='fast'/>", "<option> timestep=\"fast\": expected a finite number, found \"fast\""),
    ("<include file='nowhere.xml'/>", "nowhere.xml: cannot be read: "),
    ("<include/>", "<include>: attribute file is missing"),
    ("<default><default><geom/></default></default>", "<default>: attribute class is missing"),
    (
        "<default><default class='a'/><default class='a'/></default>",
        "<default> class=\"a\": expected a class that is not defined elsewhere, found \"a\"",
    ),
    (
        "<worldbody><geom name='g' class='x' size='1'/></worldbody>",
        "<geom name=\"g\"> class=\"x\": expected the class of a <default> element, found \"x\"",
    ),
    ("<worldbody><geom name='g' type='ball'/></worldbody>", "<geom name=\"g\"> type=\"ball\": expected one of plane"),
    ("<worldbody><geom name='g' size='0'/></worldbody>", "size=\"0\": expected 1 numbers above zero, found \"0\""),
    (
        "<worldbody><geom type='capsule' fromto='1 1 1 1 1 1' size='1'/></worldbody>",
        "<geom> fromto=\"1 1 1 1 1 1\": expected two different points",
    ),
    ("<worldbody><geom type='mesh'/></worldbody>", "<geom>: attribute mesh is missing"),
    ("<worldbody><geom type='mesh' mesh='m'/></worldbody>", "<geom>: the mesh \"m\" is not among the assets"),
    (
        "<worldbody><body name='b' quat='0 0 0 0'/></worldbody>",
        "<body name=\"b\"> quat=\"0 0 0 0\": expected a quaternion that is not zero",
    ),
    (
        "<worldbody><body name='b' quat='1 0 0 0' euler='0 0 0'/></worldbody>",
        "<body name=\"b\">: states both quat and euler; one orientation is expected",
    ),
    (
        "<worldbody><body name='b'><joint name='j' axis='0 0 0'/></body></worldbody>",
        "<joint name=\"j\"> axis=\"0 0 0\": expected a direction that is not zero",
    ),
    (
        "<worldbody><body name='b'><joint/></body></worldbody>",
        "<body name=\"b\">: body \"b\": moves and carries nothing, so its mass must be above zero, found 0 kg",
    ),
    (
        "<worldbody><body><joint/><geom size='1'/><body name='c'><freejoint name='f'/></body></body></worldbody>",
        "<freejoint name=\"f\">: a free joint must be the only one of a body in <worldbody>",
    ),
    (
        "<worldbody><body name='b'><joint/><geom size='1'/><body name='b'/></body></worldbody>",
        "<body name=\"b\">: body \"b\": the name is already taken",
    ),
    ("<equality><connect anchor='0 0 0'/></equality>", "<connect>: attribute body1 is missing"),
    ("<equality><connect body1='world'/></equality>", "<connect>: attribute anchor is missing"),
    ("<equality><weld body1='b'/></equality>", "<weld> body1=\"b\": expected the name of a body, found \"b\""),
    (
        "<equality><weld site1='s' site2='t' anchor='0 0 0'/></equality>",
        "<weld>: states both site1 and anchor; sites or bodies are expected",
    ),
    ("<actuator><motor joint='j'/></actuator>", "<motor> joint=\"j\": expected the name of a joint, found \"j\""),
    (
        "<worldbody/><keyframe><key name='k' qpos='1 2'/></keyframe>",
        "<key name=\"k\"> qpos=\"1 2\": expected 0 finite numbers, as the joints and motors need, found \"1 2\"",
    ),
];

#[test]
fn errors_say_where_and_what() {
    for (content, expected) in REFUSALS {
        let text = if content.starts_with("<mujoco>") {
            content.to_owned()
        } else {
            format!("<mujoco>\n{content}\n</mujoco>")
        };
        let message = match read(&text) {
            Ok(_) => panic!("must be refused: {content}"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(expected), "{content}\n  says     {message}\n  expected {expected}");
        let line = if content.starts_with("<mujoco>") { "robot.xml:1:" } else { "robot.xml:2:" };
        assert!(message.starts_with(line) || message.contains("cannot be read"), "{message}");
    }
}

#[test]
fn a_file_may_not_include_itself() {
    let directory = std::env::temp_dir().join(format!("saltus-include-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("loop.xml");
    std::fs::write(&path, "<mujoco><include file='loop.xml'/></mujoco>").unwrap();
    let error = load(&path, &LoadOptions::default()).unwrap_err().to_string();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(error.contains("is included twice"), "{error}");
}

/// Broken copies of a sound file: none may panic, hang or succeed with numbers that are not finite.
#[test]
fn no_mutation_of_a_file_panics() {
    let text = std::fs::read_to_string(folder().join("everything.xml")).unwrap();
    let path = folder().join("everything.xml");
    let words: Vec<&str> = text.split(['"', '<', '>', ' ', '\n']).filter(|word| !word.is_empty()).collect();
    let mut random = Random::new(7);
    let mut index = |len: usize| ((random.uniform() * len as f64) as usize).min(len - 1);
    let mut loaded = 0;
    for round in 0..400 {
        let mut mutant = text.clone();
        for _ in 0..=round % 3 {
            let (old, new) = (words[index(words.len())], words[index(words.len())]);
            let new = ["", "nan", "1e308", "-1", "0", "1e-320", new, new, new][index(9)];
            let at: Vec<usize> = mutant.match_indices(old).map(|(at, _)| at).collect();
            if !at.is_empty() {
                let at = at[index(at.len())];
                mutant.replace_range(at..at + old.len(), new);
            }
        }
        if let Ok(robot) = load_text(&path, &mutant, &LoadOptions::default()) {
            loaded += 1;
            assert!(robot.model.model().bodies.iter().all(|body| body.inertia.mass.is_finite()));
        }
    }
    assert!(loaded > 20, "some mutations are harmless, but only {loaded} loaded");
}
