//! Tasks from TOML: what is read, and what a user reads when a file is broken, word for word.

use std::path::Path;

use saltus::kinematics::Target;
use saltus::memory::{Arena, Block};
use saltus::model::OwnedModel;
use saltus::mpc::{Budget, Dofs, Measured, Mpc, MpcDims, Nanos, Residual, Start, Stopped, Task};
use saltus::step::{Gradient, StepDims};
use saltus_loaders::task::{TaskFile, TaskSource};
use saltus_loaders::{LoadError, LoadOptions, load};

const TASK: &str = "\
robot = 'ur5'
seconds = 3
[start]
keyframe = 'rest'
joint_spread = 0.1
[plan]
horizon = 20
step_s = 0.03
[[term]]
residual = 'position'
frame = 'tool'
reference = [0.5, 0.3, 0.4]
weight = 100.0
within = 0.01
[[term]]
residual = 'posture'
keyframe = 'rest'
joints = ['elbow', 'wrist_1']
weight = 1
";

/// One line for each broken task below.
const MESSAGES: &str = include_str!("tasks/messages.txt");
/// Cost of a body that is where it should be: squares of round-off.
const PLACE_TOLERANCE: f64 = 1e-25;

fn ur5() -> OwnedModel<f64> {
    load("ur5", &LoadOptions::default()).unwrap().model
}

fn read(text: &str) -> Result<TaskFile, LoadError> {
    TaskSource::from_text(Path::new("task.toml"), text).resolve(ur5().model())
}

/// The message of the task with `from` replaced by `to`.
fn message(from: &str, to: &str) -> String {
    assert!(TASK.contains(from), "{from} is not in the task");
    match read(&TASK.replacen(from, to, 1)) {
        Ok(_) => format!("read, with {to}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn broken_tasks_say_what_to_mend() {
    let cases = [
        ("seconds = 3", "seconds = "),
        ("seconds = 3\n", ""),
        ("seconds = 3", "seconds = 'long'"),
        ("seconds = 3", "seconds = 0"),
        ("seconds = 3", "secs = 3"),
        ("[plan]\nhorizon = 20\nstep_s = 0.03\n", ""),
        ("horizon = 20", "horizon = 0"),
        ("horizon = 20", "horizon = 1_000_000"),
        ("horizon = 20", "horizon = 2.5"),
        ("step_s = 0.03", "step_s = nan"),
        ("step_s = 0.03", "step_s = 0.03\ngradient = 'finite'"),
        ("step_s = 0.03", "step_s = 0.03\ngradient = 'relaxed:0'"),
        ("step_s = 0.03", "step_s = 0.03\nwarm_start = 'cold'"),
        ("step_s = 0.03", "step_s = 0.03\nidle = 'hover'"),
        ("step_s = 0.03", "step_s = 0.03\ntouches = ['foot']"),
        ("step_s = 0.03", "step_s = 0.03\nobserver_gain = 2"),
        ("keyframe = 'rest'\njoint", "keyframe = 'crouch'\njoint"),
        ("joint_spread = 0.1", "joint_spread = -0.1"),
        ("residual = 'position'", "residual = 'place'"),
        ("residual = 'position'\n", ""),
        ("weight = 100.0", "weigth = 100.0"),
        ("weight = 100.0\n", ""),
        ("weight = 100.0", "weight = -1"),
        ("weight = 100.0", "weight = [1, 2]"),
        ("weight = 100.0", "weight = 1\naxes = [1, 1, -1]"),
        ("weight = 100.0", "weight = 1\nschedule = 'late'"),
        ("weight = 100.0", "weight = 1\nmargin = 0.1"),
        ("frame = 'tool'", "frame = 'gripper'"),
        ("frame = 'tool'", "body = 'tool'"),
        ("frame = 'tool'", "frame = 'tool'\nbody = 'forearm'"),
        ("frame = 'tool'\n", ""),
        ("reference = [0.5, 0.3, 0.4]", "reference = [0.5, 0.3]"),
        ("reference = [0.5, 0.3, 0.4]\n", ""),
        ("reference = [0.5, 0.3, 0.4]", "reference = [0.5, 0.3, 0.4]\nkeyframe = 'rest'"),
        ("keyframe = 'rest'\njoints", "reference = [0, 1]\njoints"),
        ("['elbow', 'wrist_1']", "['knee', 'wrist_1']"),
        ("['elbow', 'wrist_1']", "['wrist_1', 'elbow']"),
        ("joints = ['elbow', 'wrist_1']", "dofs = [4, 3]"),
        ("[[term]]\nresidual = 'position'", "[term]\nresidual = 'position'"),
    ];
    for ((from, to), expected) in cases.into_iter().zip(MESSAGES.lines()) {
        assert_eq!(message(from, to), expected, "for {to:?} instead of {from:?}");
    }
    assert_eq!(cases.len(), MESSAGES.lines().count());
}

#[test]
fn a_task_file_that_is_not_there_is_named() {
    let message = TaskSource::read("no_such_task.toml").unwrap_err().to_string();
    assert!(message.starts_with("no_such_task.toml: cannot be read: "), "{message}");
}

#[test]
fn what_is_written_is_read() {
    let task = read(TASK).unwrap();
    assert_eq!((task.name.as_str(), task.seconds, task.horizon), ("task", 3.0, 20));
    assert_eq!((task.settings.spacing.first_s, task.settings.spacing.growth), (0.03, 1.0));
    assert_eq!((task.start.joint_spread, task.start.speed_spread), (0.1, 0.0));
    let robot = ur5();
    let rest = robot.model().find_keyframe("rest").unwrap();
    assert_eq!((task.start.q.as_slice(), task.idle.as_slice()), (rest.q, rest.u));
    let terms = task.terms();
    let tool = Target::Frame(robot.model().find_frame("tool").unwrap());
    assert!(matches!(terms[0].residual, Residual::Position { target, axes, .. } if target == tool && axes == [1.0; 3]));
    assert_eq!((terms[0].weight, terms[0].terminal), (100.0, 0.0));
    // Elbow and first wrist: the third and fourth of six.
    let joints = Dofs::new(2, 2);
    assert!(
        matches!(terms[1].residual, Residual::Posture { dofs, reference } if dofs == joints && reference == rest.q)
    );
    let goals = task.goals();
    assert_eq!(goals.iter().map(|goal| (goal.name, goal.within)).collect::<Vec<_>>(), [("position of tool", 0.01)]);
}

#[test]
fn settings_of_the_plan_are_read() {
    let plan = "step_s = 0.03\ngrowth = 1.1\ncontacts = 5\niterations = 3\ntrials = 2\nwarm_start = 'gaps'\n\
                gradient = 'smoothed:0.02'\ncontact_margin_m = 0.04\nobserver_gain = 0.5\ntouches = ['flange']";
    let task = read(&TASK.replace("step_s = 0.03", plan)).unwrap();
    let settings = task.settings;
    assert_eq!((task.contacts, settings.max_iterations, settings.trials), (5, 3, 2));
    assert_eq!((settings.spacing.growth, settings.start), (1.1, Start::Gaps));
    assert_eq!((settings.step.contact_margin_m, task.observer_gain), (0.04, 0.5));
    assert_eq!(task.touches, Some(vec![ur5().model().find_geometry("flange").unwrap()]));
    assert!(matches!(settings.step.gradient, Gradient::Smoothed { radius_m, .. } if radius_m == 0.02));
}

#[test]
fn every_residual_can_be_written() {
    let head = "seconds = 1\n[plan]\nhorizon = 2\nstep_s = 0.01\n";
    let terms = [
        "'posture'\nkeyframe = 'rest'",
        "'velocity'\njoints = 'elbow'",
        "'control'\nreference = [0, 0, 0, 0, 0, 0]",
        "'control_rate'",
        "'position'\nframe = 'tool'\nkeyframe = 'rest'\nrate = [0.1, 0, 0]",
        "'orientation'\nbody = 'wrist_3'\nreference = [0, 0, 0, 2]",
        "'point_velocity'\nframe = 'tool'\nreference = [0, 0, 1]",
        "'center_of_mass'\nkeyframe = 'rest'",
        "'momentum'\naxes = [1, 1, 1, 0, 0, 0]",
        "'slip'\nframe = 'tool'\nfade_m = 0.02",
        "'clearance'\nframe = 'tool'\nheight_m = 0.05\nground_m = -0.1",
        "'normal_force'\ngeometry = 'flange'\nreference_n = 10",
        "'position_limits'\nmargin = 0.1",
        "'velocity_limits'\nmargin = 0.1",
    ];
    let text: String = terms.iter().map(|term| format!("[[term]]\nweight = 2\nresidual = {term}\n")).collect();
    let task = read(&format!("{head}{text}")).unwrap();
    let read = task.terms();
    assert_eq!(read.len(), terms.len());
    assert!(matches!(read[5].residual, Residual::Orientation { reference, .. } if reference == [0.0, 0.0, 0.0, 1.0]));
    // The optimizer takes them all.
    let robot = ur5();
    let dims = MpcDims::new(StepDims::of(robot.model(), task.contacts), task.horizon, read.len());
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let mut mpc = Mpc::new(robot.model(), task.settings, dims, &mut Arena::new(&mut memory)).unwrap();
    mpc.reset(&task.idle).unwrap();
    let at = Measured { time: Nanos(0), q: &task.start.q, v: &task.start.v };
    let budget = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };
    let report = mpc.solve(&Task::new(&read), at, budget).unwrap();
    assert!(report.cost.is_finite() && report.cost > 0.0, "{report:?}");
    // References of a keyframe are where the robot is in it.
    let parts = mpc.expand(&Task::new(&[read[4], read[7]]), at, &task.idle, 0.01).unwrap().0;
    assert!(parts.abs() < PLACE_TOLERANCE, "{parts}");
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = saltus_testkit::Random::new(11);
    let robot = ur5();
    let (mut refused, alphabet) = (0, b"[]{}=.,'\"\n#-_019eainfu\xc3\xa9");
    for _ in 0..2000 {
        let mut bytes = TASK.as_bytes().to_vec();
        for _ in 0..3 {
            let at = (random.uniform() * bytes.len() as f64) as usize;
            match (random.uniform() * 3.0) as usize {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = alphabet[(random.uniform() * alphabet.len() as f64) as usize],
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let source = TaskSource::from_text(Path::new("task.toml"), text);
        let _ = source.robot();
        refused += usize::from(source.resolve(robot.model()).is_err());
    }
    assert!(refused > 1000, "{refused} of 2000 refused");
}

#[test]
fn the_examples_are_tasks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tasks");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let source = TaskSource::read(entry.unwrap().path()).unwrap();
        let robot = source.robot().unwrap().0.expect("an example names its robot");
        let model = load(&robot, &LoadOptions::default()).unwrap().model;
        assert!(!source.resolve(model.model()).unwrap().goals().is_empty());
        count += 1;
    }
    assert!(count >= 2);
}
