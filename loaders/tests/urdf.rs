//! What URDF files become.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{BodyId, Joint, Model, Range, Shape};
use saltus_loaders::{LoadOptions, Loaded, load, load_text, mesh};

/// Sums of a few products.
const TOLERANCE: f64 = 1e-12;

fn robot_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/robots").join(name)
}

fn every_joint(options: &LoadOptions) -> Loaded {
    load(robot_path("every_joint.urdf"), options).unwrap_or_else(|error| panic!("{error}"))
}

fn joint_names(model: Model<'_, f64>) -> Vec<&str> {
    model.body_ids().map(|id| model.joint_name(id)).collect()
}

#[test]
fn children_are_numbered_by_the_name_of_their_joint() {
    let robot = every_joint(&LoadOptions::default());
    assert_eq!(joint_names(robot.model.model()), ["a_axle", "air", "b_shoulder", "rail", "table"]);
}

#[test]
fn joints_have_their_axes_limits_and_losses() {
    let robot = every_joint(&LoadOptions::default());
    let model = robot.model.model();
    let shoulder = model.find_joint("b_shoulder").and_then(|id| model.body(id)).unwrap();
    assert_eq!(shoulder.joint, Joint::Revolute { axis: Vector3::z() });
    assert_eq!(model.position_limits[usize::from(shoulder.first_q)], Range::new(-1.0, 2.0));
    let dof = model.dofs[usize::from(shoulder.first_v)];
    assert_eq!((dof.damping, dof.dry_friction, dof.velocity_limit, dof.effort_limit), (0.1, 0.2, 4.0, 30.0));
    let rail = model.find_joint("rail").and_then(|id| model.body(id)).unwrap();
    assert_eq!(rail.joint, Joint::Prismatic { axis: Vector3::x() });
    assert!(matches!(model.body(model.find_joint("air").unwrap()).unwrap().joint, Joint::FreeFlyer));
}

#[test]
fn an_inertial_frame_is_turned_into_the_link() {
    let robot = every_joint(&LoadOptions::default());
    let model = robot.model.model();
    let upper = model.body(model.find_body("upper").unwrap()).unwrap().inertia;
    assert_eq!((upper.mass, upper.com), (2.0, Vector3::new(0.1, 0.0, 0.2)));
    assert!((upper.rotational.to_matrix().diagonal() - Vector3::new(0.2, 0.1, 0.25)).amax() < TOLERANCE);
}

#[test]
fn a_fixed_link_adds_its_mass_and_stays_as_a_frame() {
    let robot = every_joint(&LoadOptions::default());
    let model = robot.model.model();
    let slider = model.find_body("slider").unwrap();
    assert_eq!(model.body(slider).unwrap().inertia.mass, 2.0);
    let tool = model.frames[model.find_frame("tool").unwrap().index()];
    assert_eq!((tool.body, tool.placement.translation), (slider, Vector3::new(0.0, 0.0, 0.1)));
}

#[test]
fn the_root_is_ground_or_flies() {
    let fixed = every_joint(&LoadOptions::default());
    let free = every_joint(&LoadOptions { free_flyer: true, ..LoadOptions::default() });
    let (fixed, free) = (fixed.model.model(), free.model.model());
    assert_eq!(free.nv(), fixed.nv() + 6);
    assert_eq!(free.joint_name(BodyId::new(1)), "root_joint");
    assert!((free.total_mass() - fixed.total_mass() - 1.0).abs() < TOLERANCE);
    assert_eq!(fixed.frames[fixed.find_frame("base").unwrap().index()].body, BodyId::WORLD);
}

/// Centre of mass at a configuration.
fn center_of_mass(model: Model<'_, f64>, q: &[f64]) -> Vector3<f64> {
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    dynamics::update(model, q, &vec![0.0; model.nv()], &mut work).unwrap();
    dynamics::center_of_mass(model, &work).position_world
}

#[test]
fn a_planar_joint_moves_in_the_plane_of_its_axis() {
    let puck = |axis: &str| {
        let text = format!(
            "<robot><link name='table'/><link name='puck'><inertial><origin xyz='0.1 0.2 0.3'/><mass value='1'/>
             <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>
             <joint name='slide' type='planar'><parent link='table'/><child link='puck'/><axis xyz='{axis}'/></joint>
             </robot>"
        );
        load_text(Path::new("puck.urdf"), &text, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    };
    let start = Vector3::new(0.1, 0.2, 0.3);
    for (axis, normal) in [("0 0 1", Vector3::z()), ("1 0 0", Vector3::x()), ("0 0 -1", Vector3::z())] {
        let robot = puck(axis);
        let at = |x: f64, y: f64| center_of_mass(robot.model.model(), &[x, y, 1.0, 0.0]);
        assert!((at(0.0, 0.0) - start).norm() < TOLERANCE, "{axis}");
        let moved = at(3.0, 4.0) - start;
        assert!((moved.norm() - 5.0).abs() < TOLERANCE && moved.dot(&normal).abs() < TOLERANCE, "{axis}: {moved}");
    }
}

#[test]
fn collision_shapes_stand_in_their_links() {
    let robot = every_joint(&LoadOptions::default());
    let model = robot.model.model();
    let geometry = |name: &str| model.geometries[model.find_geometry(name).unwrap().index()];
    assert_eq!(geometry("base_0").shape, Shape::Box { half_extents: Vector3::new(0.5, 1.0, 1.5) });
    assert_eq!(geometry("upper_0").shape, Shape::Capsule { radius: 0.1, half_length: 0.3 });
    assert_eq!(geometry("upper_0").placement.translation, Vector3::new(0.0, 0.0, 0.3));
    assert_eq!(geometry("upper_1").shape, Shape::Cylinder { radius: 0.1, half_length: 0.2 });
    let corners = model.hull(&geometry("slider_0").shape);
    assert_eq!(corners.len(), 8);
    assert!(corners.iter().all(|c| (c.abs() - Vector3::new(0.1, 0.4, 0.3)).amax() < 1e-7));
    assert_eq!(geometry("tool_0").body, model.find_body("slider").unwrap());
    assert_eq!(robot.hulls.iter().map(|hull| hull.kept_vertices).collect::<Vec<_>>(), [8, 8]);
}

#[test]
fn excluded_pairs_do_not_meet() {
    let meet = |options: &LoadOptions, a: &str, b: &str| {
        let robot = every_joint(options);
        let model = robot.model.model();
        let (a, b) = (model.find_geometry(a).unwrap(), model.find_geometry(b).unwrap());
        model.pairs.iter().any(|pair| [pair.a, pair.b] == [a.min(b), a.max(b)])
    };
    assert!(meet(&LoadOptions::default(), "wheel_0", "upper_0"));
    let exclude = vec![("upper".to_owned(), "wheel".to_owned())];
    assert!(!meet(&LoadOptions { exclude, ..LoadOptions::default() }, "wheel_0", "upper_0"));
    // The tool is welded to the slider, but it alone is excluded.
    let srdf = LoadOptions { srdf: Some(robot_path("every_joint.srdf")), ..LoadOptions::default() };
    assert!(!meet(&srdf, "wheel_0", "tool_0") && meet(&srdf, "wheel_0", "slider_0"));
}

#[test]
fn what_is_not_read_is_named_once() {
    let warnings = every_joint(&LoadOptions::default()).warnings;
    let text: Vec<String> = warnings.iter().map(|warning| format!("{} ×{}", warning.message, warning.count)).collect();
    assert_eq!(
        text,
        ["<transmission> in <robot>: this element is ignored ×2", "<gazebo> in <robot>: this element is ignored ×1"]
    );
}

#[test]
fn a_mesh_is_the_same_in_every_format() {
    let options = LoadOptions::default();
    let corners = |name: &str| {
        let mesh = mesh::read(&robot_path("meshes").join(name), &options.limits).unwrap();
        mesh::Hull::of(&mesh.vertices, 64).unwrap().vertices
    };
    let expected = corners("brick.obj");
    for name in ["brick.stl", "brick_text.stl", "brick.dae"] {
        let found = corners(name);
        let has = |a: &Vector3<f64>| found.iter().any(|b| (a - b).norm() < 1e-7);
        assert!(found.len() == 8 && expected.iter().all(has), "{name}: {found:?}");
    }
}

#[test]
fn an_impossible_inertia_is_mended_on_request() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken/impossible_inertia.urdf");
    let robot = load(path, &LoadOptions { balance_inertia: true, ..LoadOptions::default() }).unwrap();
    assert!(robot.warnings[0].message.ends_with("mended"), "{}", robot.warnings[0]);
    assert_eq!(robot.model.model().total_mass(), 1.0);
}

#[test]
fn a_follower_moves_on_its_own_on_request() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken/mimic.urdf");
    let robot = load(path, &LoadOptions { free_mimic: true, ..LoadOptions::default() }).unwrap();
    assert_eq!((robot.model.model().nv(), robot.warnings.len()), (1, 1));
}
