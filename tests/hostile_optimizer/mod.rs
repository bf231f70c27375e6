//! The optimizer on input that makes no sense: a typed error or a status, and the last good plan to the bit.

use nalgebra::Vector3;
use saltus::input::InputError;
use saltus::kinematics::Target;
use saltus::memory::{Arena, Block};
use saltus::model::{Actuator, FrameId, GeometryId, Model, OwnedModel, Range};
use saltus::mpc::{
    Budget, Dofs, Measured, Moving, Mpc, MpcDims, MpcError, MpcSettings, Nanos, Plan, PolicyScratch, Report, Residual,
    Start, Status, Stopped, Task, Term,
};
use saltus::step::{StepDims, StepError};
use saltus_testkit::builtin_robot;

const HORIZON: usize = 6;
const TERMS: usize = 4;
const NEVER: Budget<'static, Stopped> = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };

/// A robot in its rest pose and an optimizer that has a good plan for staying there.
struct Desk<'m, 'a> {
    model: Model<'m, f64>,
    mpc: Mpc<'m, 'a, f64>,
    q: Vec<f64>,
    v: Vec<f64>,
}

fn memory(model: Model<'_, f64>, horizon: usize) -> (MpcDims, Vec<Block>) {
    let dims = MpcDims::new(StepDims::of(model, 8), horizon, TERMS);
    (dims, vec![Block::EMPTY; Mpc::<f64>::blocks(dims)])
}

fn stay<'t>(reference: &'t [f64]) -> [Term<'t, f64>; 3] {
    [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference }, 10.0).at_end(10.0),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 1.0).at_end(1.0),
        Term::new(Residual::Control { reference: &[] }, 1e-3),
    ]
}

impl<'m, 'a> Desk<'m, 'a> {
    fn new(model: Model<'m, f64>, settings: MpcSettings<f64>, dims: MpcDims, memory: &'a mut [Block]) -> Self {
        let rest = model.find_keyframe("rest").unwrap();
        let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(memory)).unwrap();
        mpc.reset(rest.u).unwrap();
        let mut desk = Self { model, mpc, q: rest.q.to_vec(), v: rest.v.to_vec() };
        for _ in 0..2 {
            let report = desk.solve_good();
            assert_ne!(report.status, Status::Diverged, "{report:?}");
        }
        desk
    }

    fn solve(&mut self, terms: &[Term<'_, f64>], q: &[f64], v: &[f64]) -> Result<Report<f64>, MpcError> {
        self.mpc.solve(&Task::new(terms), Measured { time: Nanos(0), q, v }, NEVER)
    }

    fn solve_good(&mut self) -> Report<f64> {
        let (q, v) = (self.q.clone(), self.v.clone());
        self.solve(&stay(&q), &q, &v).unwrap()
    }

    /// What `run` does must be refused or end early, and leave the plan as it is; the optimizer works on after it.
    fn keeps_plan<R>(&mut self, what: &str, run: impl FnOnce(&mut Self) -> R) -> R {
        let before = bits(self.mpc.plan());
        let answer = run(self);
        assert!(bits(self.mpc.plan()) == before, "{what}: the plan has changed");
        let report = self.solve_good();
        assert!(!matches!(report.status, Status::Diverged | Status::DeadlineReached), "{what}: {report:?} afterwards");
        assert_finite(self.mpc.plan(), what);
        answer
    }
}

/// All numbers of a plan.
fn plan_numbers(plan: &Plan<'_, f64>) -> Vec<f64> {
    let n = plan.horizon();
    let mut all: Vec<f64> = (0..=n).flat_map(|k| [plan.q(k), plan.v(k), &[plan.time_s(k)]].concat()).collect();
    for k in 0..n {
        all.extend(plan.u(k));
        (0..plan.gain(k).rows()).for_each(|row| all.extend(plan.gain(k).row(row)));
    }
    all
}

fn bits(plan: &Plan<'_, f64>) -> (Nanos, Vec<u64>) {
    (plan.start(), plan_numbers(plan).into_iter().map(f64::to_bits).collect())
}

fn assert_finite(plan: &Plan<'_, f64>, what: &str) {
    assert!(plan_numbers(plan).iter().all(|x| x.is_finite()), "{what}: the plan is not finite");
}

fn robots() -> [(&'static str, OwnedModel<f64>); 3] {
    ["cartpole", "hopper", "go1"].map(|name| (name, builtin_robot(name)))
}

#[test]
fn a_state_that_is_no_state_is_named_and_the_plan_stays() {
    for (name, robot) in robots() {
        let (dims, mut memory) = memory(robot.model(), HORIZON);
        let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
        let (q, v) = (desk.q.clone(), desk.v.clone());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let (mut bad_q, mut bad_v) = (q.clone(), v.clone());
            (bad_q[1], bad_v[0]) = (bad, bad);
            let error = desk.keeps_plan(name, |desk| desk.solve(&stay(&q), &bad_q, &v)).unwrap_err();
            assert_eq!(error, MpcError::Step(StepError::NotFinite { what: "q", index: 1 }));
            let error = desk.keeps_plan(name, |desk| desk.solve(&stay(&q), &q, &bad_v)).unwrap_err();
            assert_eq!(error, MpcError::Step(StepError::NotFinite { what: "v", index: 0 }));
        }
        let error = desk.keeps_plan(name, |desk| desk.solve(&stay(&q), &q[1..], &v)).unwrap_err();
        let expected = InputError::Length { what: "q", expected: q.len(), got: q.len() - 1 };
        assert_eq!(error, MpcError::Step(StepError::Input(expected)));
        let error = desk.keeps_plan(name, |desk| desk.solve(&stay(&q), &q, &[])).unwrap_err();
        assert!(matches!(error, MpcError::Step(StepError::Input(InputError::Length { what: "v", .. }))), "{error}");
    }
}

#[test]
fn a_task_that_does_not_fit_the_robot_is_named_and_the_plan_stays() {
    let robot = builtin_robot("go1");
    let (dims, mut memory) = memory(robot.model(), HORIZON);
    let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
    let (q, v) = (desk.q.clone(), desk.v.clone());
    let reference = Moving::still(Vector3::zeros());
    let unknown = Residual::Position { target: Target::Frame(FrameId::new(999)), reference, axes: [1.0; 3] };
    let unknown_floor = Residual::NormalForce { geometry: GeometryId::new(999), reference_n: 1.0 };
    let wrong = [
        ("frame", unknown),
        ("geometry", unknown_floor),
        ("posture reference", Residual::Posture { dofs: Dofs::ALL, reference: &[1.0] }),
        ("velocity reference", Residual::Velocity { dofs: Dofs::ALL, reference: &[1.0] }),
        ("control reference", Residual::Control { reference: &[1.0] }),
    ];
    for (name, residual) in wrong {
        let run = |desk: &mut Desk| desk.solve(&[Term::new(residual, 1.0)], &q, &v);
        match desk.keeps_plan(name, run).unwrap_err() {
            MpcError::Step(StepError::Input(InputError::UnknownIndex { what, index: 999 })) => assert_eq!(what, name),
            MpcError::Step(StepError::Input(InputError::Length { what, got: 1, .. })) => assert_eq!(what, name),
            other => panic!("{name}: {other}"),
        }
    }
    let many = [Term::new(Residual::Control { reference: &[] }, 1.0); TERMS + 1];
    let error = desk.keeps_plan("terms", |desk| desk.solve(&many, &q, &v)).unwrap_err();
    assert_eq!(error, MpcError::Terms { room: TERMS, got: TERMS + 1 });
}

#[test]
fn an_empty_budget_leaves_the_plan_to_the_bit() {
    for (name, robot) in robots() {
        let (dims, mut memory) = memory(robot.model(), HORIZON);
        let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
        for (now, start) in [(0, Start::Rollout), (20_000_000, Start::Rollout), (20_000_000, Start::Gaps)] {
            let clock = Stopped(Nanos(now));
            let report = desk.keeps_plan(name, |desk| {
                desk.mpc.settings.start = start;
                let (q, v) = (desk.q.clone(), desk.v.clone());
                let measured = Measured { time: Nanos(now), q: &q, v: &v };
                desk.mpc.solve(&Task::new(&stay(&q)), measured, Budget { clock: &clock, deadline: Nanos(now) })
            });
            assert_eq!(report.unwrap().status, Status::DeadlineReached);
        }
    }
}

#[test]
fn an_empty_budget_after_a_plan_that_diverged_leaves_the_good_one() {
    let robot = builtin_robot("hopper");
    let (dims, mut memory) = memory(robot.model(), HORIZON);
    let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
    desk.keeps_plan("both", |desk| {
        let (q, v) = (desk.q.clone(), desk.v.clone());
        let mut goal = q.clone();
        goal[0] = f64::NAN;
        assert_eq!(desk.solve(&stay(&goal), &q, &v).unwrap().status, Status::Diverged);
        let late = Budget { clock: &Stopped(Nanos(1)), deadline: Nanos(1) };
        let measured = Measured { time: Nanos(1), q: &q, v: &v };
        let report = desk.mpc.solve(&Task::new(&stay(&q)), measured, late).unwrap();
        assert_eq!(report.status, Status::DeadlineReached);
    });
}

#[test]
fn a_horizon_without_steps_or_steps_without_length_are_refused() {
    let robot = builtin_robot("cartpole");
    let model = robot.model();
    let (dims, mut empty) = memory(model, 0);
    let mut mpc = Mpc::new(model, MpcSettings::default(), dims, &mut Arena::new(&mut empty)).unwrap();
    let measured = Measured { time: Nanos(0), q: &[0.0, 0.0], v: &[0.0, 0.0] };
    assert_eq!(mpc.solve(&Task::new(&[]), measured, NEVER).unwrap_err(), MpcError::Horizon);
    let (dims, mut memory) = memory(model, HORIZON);
    let mut desk = Desk::new(model, MpcSettings::default(), dims, &mut memory);
    let good = desk.mpc.settings;
    for (first_s, growth) in [(0.0, 1.0), (-0.02, 1.0), (f64::NAN, 1.0), (0.02, 0.0), (0.02, -1.0), (0.02, f64::NAN)] {
        let error = desk.keeps_plan("spacing", |desk| {
            (desk.mpc.settings.spacing.first_s, desk.mpc.settings.spacing.growth) = (first_s, growth);
            let (q, v) = (desk.q.clone(), desk.v.clone());
            let answer = desk.solve(&stay(&q), &q, &v);
            desk.mpc.settings = good;
            answer
        });
        assert_eq!(error.unwrap_err(), MpcError::Horizon, "{first_s}, {growth}");
    }
}

#[test]
fn weights_that_are_negative_or_no_numbers_are_refused_and_the_plan_stays() {
    let robot = builtin_robot("hopper");
    let (dims, mut memory) = memory(robot.model(), HORIZON);
    let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
    let (q, v) = (desk.q.clone(), desk.v.clone());
    for bad in [f64::NAN, f64::INFINITY, -1e-9] {
        let schedule = [1.0, bad];
        let center = |axes| Residual::CenterOfMass { reference: Moving::still(Vector3::zeros()), axes };
        let last = stay(&q).len() - 1;
        for term in [
            Term { weight: bad, ..stay(&q)[last] },
            Term { terminal: bad, ..stay(&q)[last] },
            Term { schedule: &schedule, ..stay(&q)[last] },
            Term::new(center([1.0, bad, 1.0]), 1.0),
        ] {
            let mut terms = stay(&q);
            terms[last] = term;
            let refused = desk.keeps_plan("weight", |desk| desk.solve(&terms, &q, &v));
            assert_eq!(refused.unwrap_err(), MpcError::Weight { term: last }, "{bad} in {term:?}");
        }
    }
}

#[test]
fn numbers_that_overflow_are_called_diverged_and_the_plan_stays() {
    for (name, robot) in robots() {
        let (dims, mut memory) = memory(robot.model(), HORIZON);
        let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
        let (q, v) = (desk.q.clone(), desk.v.clone());
        for bad in [f64::NAN, f64::INFINITY] {
            let mut goal = q.clone();
            goal[0] = bad;
            let report = desk.keeps_plan(name, |desk| desk.solve(&stay(&goal), &q, &v));
            assert_eq!(report.unwrap().status, Status::Diverged, "{name}: a goal at {bad}");
        }
        let fast = vec![1e200; v.len()];
        match desk.keeps_plan(name, |desk| desk.solve(&stay(&q), &q, &fast)) {
            Ok(report) => assert_eq!(report.status, Status::Diverged, "{name}"),
            Err(error) => assert!(matches!(error, MpcError::Step(_)), "{name}: {error}"),
        }
    }
}

#[test]
fn steps_that_are_taken_untried_leave_a_finite_plan() {
    for (name, robot) in robots() {
        let (dims, mut memory) = memory(robot.model(), HORIZON);
        let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
        desk.mpc.settings.trials = 0;
        let (q, v) = (desk.q.clone(), desk.v.clone());
        for start in [Start::Rollout, Start::Gaps] {
            desk.mpc.settings.start = start;
            for far in [1.0, 1e3, 1e30, 1e100, 1e150, 1e200, f64::NAN] {
                let goal: Vec<f64> = q.iter().map(|q| q + far).collect();
                for _ in 0..3 {
                    let _ = desk.solve(&stay(&goal), &q, &v);
                    assert_finite(desk.mpc.plan(), name);
                }
            }
            desk.mpc.settings.regularization.initial = 1e-2;
            let report = desk.solve(&stay(&q), &q, &v).unwrap();
            assert!(report.cost.is_finite(), "{name}, {start:?}: {report:?}");
        }
    }
}

#[test]
fn settings_that_make_no_sense_give_a_finite_plan_or_an_error() {
    let robot = builtin_robot("go1");
    let (dims, mut memory) = memory(robot.model(), HORIZON);
    let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
    let (q, v, good) = (desk.q.clone(), desk.v.clone(), desk.mpc.settings);
    let changes: [fn(&mut MpcSettings<f64>, f64); 6] = [
        |s, x| s.keep = x,
        |s, x| s.tolerance = x,
        |s, x| s.regularization.initial = x,
        |s, x| s.regularization.least = x,
        |s, x| s.regularization.most = x,
        |s, x| s.regularization.factor = x,
    ];
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
        for change in changes {
            change(&mut desk.mpc.settings, bad);
            desk.mpc.settings.max_iterations = 3;
            let _ = desk.solve(&stay(&q), &q, &v);
            assert_finite(desk.mpc.plan(), "settings");
            desk.mpc.settings = good;
        }
    }
    for change in [
        (|s| s.max_iterations = 0) as fn(&mut MpcSettings<f64>),
        |s| s.trials = 0,
        |s| s.bound_iterations = 0,
        |s| s.start = Start::Gaps,
    ] {
        change(&mut desk.mpc.settings);
        let report = desk.solve(&stay(&q), &q, &v).unwrap();
        assert_ne!(report.status, Status::Diverged);
        assert_finite(desk.mpc.plan(), "bounds");
        desk.mpc.settings = good;
    }
}

#[test]
fn control_ranges_that_hold_nothing_give_a_finite_plan() {
    let robot = builtin_robot("go1");
    let nan = f64::NAN;
    for (lower, upper) in [(5.0, -5.0), (0.0, 0.0), (nan, nan), (-1.0, nan), (nan, 1.0)] {
        let spoil = |motor: &Actuator<f64>| Actuator { control_range: Range { lower, upper }, ..*motor };
        let motors: Vec<_> = robot.model().actuators.iter().map(spoil).collect();
        let model = Model { actuators: &motors, ..robot.model() };
        let rest = model.find_keyframe("rest").unwrap();
        let (dims, mut memory) = memory(model, HORIZON);
        let mut mpc = Mpc::new(model, MpcSettings::default(), dims, &mut Arena::new(&mut memory)).unwrap();
        let terms = stay(rest.q);
        for _ in 0..3 {
            let measured = Measured { time: Nanos(0), q: rest.q, v: rest.v };
            let _ = mpc.solve(&Task::new(&terms), measured, NEVER);
            assert_finite(mpc.plan(), "range");
        }
    }
}

#[test]
fn a_robot_that_has_lost_all_contacts_has_a_finite_plan() {
    for (name, robot) in [("go1", builtin_robot("go1")), ("hopper", builtin_robot("hopper"))] {
        let (dims, mut memory) = memory(robot.model(), HORIZON);
        let mut desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
        let (mut q, mut v) = (desk.q.clone(), desk.v.clone());
        let height = if name == "go1" { 2 } else { 1 };
        q[height] += 5.0;
        (v[0], v[height]) = (3.0, -2.0);
        for _ in 0..5 {
            let report = desk.solve(&stay(&desk.q.clone()), &q, &v).unwrap();
            assert!(!matches!(report.status, Status::Diverged | Status::ContactCapacity), "{name}: {report:?}");
            assert_finite(desk.mpc.plan(), name);
        }
    }
}

#[test]
fn a_policy_asked_the_wrong_thing_says_so() {
    let robot = builtin_robot("go1");
    let (dims, mut memory) = memory(robot.model(), HORIZON);
    let desk = Desk::new(robot.model(), MpcSettings::default(), dims, &mut memory);
    let (model, plan) = (desk.model, desk.mpc.plan());
    let mut space = vec![Block::EMPTY; PolicyScratch::<f64>::blocks(model.dims())];
    let mut scratch = PolicyScratch::carve(&mut Arena::new(&mut space), model.dims()).unwrap();
    let mut u = vec![0.0; model.nu()];
    let (q, v) = (&desk.q[..], &desk.v[..]);
    for (q, v, length) in [(&q[1..], v, model.nu()), (q, &v[1..], model.nu()), (q, v, model.nu() - 1)] {
        let error = plan.control(model, Nanos(0), (q, v), &mut u[..length], &mut scratch);
        assert!(matches!(error, Err(InputError::Length { .. })), "{error:?}");
    }
    // Before its start and long after its end it is that of the first and the last node.
    for now in [Nanos(0), Nanos::NEVER] {
        plan.control(model, now, (q, v), &mut u, &mut scratch).unwrap();
        assert!(u.iter().all(|u| u.is_finite()));
    }
    // A state that is no number has no answer that is one, but it is a control within the motors' range.
    let nowhere = vec![f64::NAN; v.len()];
    plan.control(model, Nanos(0), (q, &nowhere), &mut u, &mut scratch).unwrap();
    for (u, motor) in u.iter().zip(model.actuators) {
        assert!(!u.is_finite() || (motor.control_range.lower <= *u && *u <= motor.control_range.upper));
    }
}
