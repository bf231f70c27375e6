//! The tick: what is followed, what is refused, and what happens when plans or states stop coming.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use saltus::input::InputError;
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::mpc::{Measured, Nanos};
use saltus::realtime::{Command, Controller, ControllerSettings, Invalid, Mode, Policy, TripleBuffer};
use saltus::step::StepDims;
use saltus_testkit::builtin_robot;

const MILLISECOND: u64 = 1_000_000;

/// u = what was planned − gain · v, on every motor.
#[derive(Clone, Copy)]
struct Damper {
    start: Nanos,
    planned: f64,
    gain: f64,
    asked: Nanos,
}

impl Policy<f64> for Damper {
    fn start(&self) -> Nanos {
        self.start
    }

    fn end(&self) -> Nanos {
        Nanos(self.start.0 + 100 * MILLISECOND)
    }

    fn control(
        &mut self,
        _: Model<'_, f64>,
        at: Nanos,
        (_, v): (&[f64], &[f64]),
        u: &mut [f64],
    ) -> Result<(), InputError> {
        self.asked = at;
        u.fill(self.planned - self.gain * v[0]);
        Ok(())
    }
}

const PLAN: Damper = Damper { start: Nanos(0), planned: 1.0, gain: 2.0, asked: Nanos(0) };

const SETTINGS: fn() -> ControllerSettings<f64> = ControllerSettings::default;

/// Calls `check` with a controller of a cart-pole.
fn with_controller(check: impl FnOnce(&mut Controller<'_, '_, f64>)) {
    let robot = builtin_robot("cartpole");
    let dims = StepDims::of(robot.model(), 0);
    let mut memory = vec![Block::EMPTY; Controller::<f64>::blocks(dims)];
    let mut controller = Controller::new(robot.model(), SETTINGS(), dims, &mut Arena::new(&mut memory)).unwrap();
    check(&mut controller);
}

fn at(milliseconds: u64) -> Nanos {
    Nanos(milliseconds * MILLISECOND)
}

/// A tick with a good state of this moment.
fn tick<'c>(controller: &'c mut Controller<'_, '_, f64>, plan: &mut Damper, milliseconds: u64) -> Command<'c, f64> {
    let measured = Measured { q: &[0.1, 0.2], v: &[0.5, 0.0], time: at(milliseconds) };
    controller.tick(Some(measured), Some(plan), at(milliseconds))
}

#[test]
fn a_fresh_plan_is_followed_with_its_gain() {
    with_controller(|controller| {
        let command = tick(controller, &mut PLAN.clone(), 1);
        assert_eq!((command.mode, command.u, command.invalid), (Mode::Plan, &[0.0][..], None));
    });
}

#[test]
fn controls_stay_within_the_range_of_their_motor() {
    with_controller(|controller| {
        let command = tick(controller, &mut Damper { planned: 1e6, ..PLAN }, 1);
        assert_eq!(command.u, [10.0]);
    });
}

#[test]
fn a_plan_that_ages_is_shifted_then_held_at_its_end_then_given_up_and_then_the_motors_stop_for_good() {
    with_controller(|controller| {
        let mut plan = PLAN;
        let modes = [(60, Mode::Plan), (61, Mode::ShiftedPlan), (200, Mode::ShiftedPlan), (201, Mode::Feedback)];
        for (milliseconds, mode) in modes {
            assert_eq!(tick(controller, &mut plan, milliseconds).mode, mode, "at {milliseconds} ms");
        }
        assert_eq!(plan.asked, at(100)); // the end of the plan
        assert_eq!(tick(controller, &mut plan, 500).mode, Mode::Feedback);
        let command = tick(controller, &mut plan, 501);
        assert_eq!((command.mode, command.u, command.damping), (Mode::Damping, &[0.0][..], SETTINGS().damping));
        assert_eq!(tick(controller, &mut plan, 2501).mode, Mode::Damping);
        assert_eq!(tick(controller, &mut plan, 2502).mode, Mode::Stop);
        let late = tick(controller, &mut Damper { start: at(2503), ..PLAN }, 2503);
        assert_eq!((late.mode, late.u, late.damping), (Mode::Stop, &[0.0][..], 0.0));
    });
}

#[test]
fn a_new_plan_ends_damping_before_the_stop() {
    with_controller(|controller| {
        assert_eq!(tick(controller, &mut PLAN.clone(), 600).mode, Mode::Damping);
        assert_eq!(tick(controller, &mut Damper { start: at(600), ..PLAN }, 601).mode, Mode::Plan);
    });
}

#[test]
fn the_last_valid_state_stands_in_for_a_while_and_then_the_motors_damp() {
    with_controller(|controller| {
        tick(controller, &mut PLAN.clone(), 10);
        for (milliseconds, mode) in [(12, Mode::Plan), (30, Mode::Plan), (31, Mode::Damping)] {
            let command = controller.tick(None, Some(&mut PLAN.clone()), at(milliseconds));
            assert_eq!(command.mode, mode, "at {milliseconds} ms");
        }
    });
}

#[test]
fn states_that_cannot_be_are_refused_and_change_nothing() {
    let cases: [([f64; 2], [f64; 2], Invalid); 5] = [
        ([f64::NAN, 0.0], [0.0; 2], Invalid::NotFinite),
        ([0.0; 2], [0.0, f64::INFINITY], Invalid::NotFinite),
        ([2.3, 0.0], [0.0; 2], Invalid::Position),
        ([0.0, 2000.0], [0.0; 2], Invalid::Position),
        ([0.0; 2], [101.0, 0.0], Invalid::Speed),
    ];
    with_controller(|controller| {
        tick(controller, &mut PLAN.clone(), 1);
        for (q, v, reason) in cases {
            let measured = Measured { q: &q, v: &v, time: at(2) };
            let command = controller.tick(Some(measured), Some(&mut PLAN.clone()), at(2));
            assert_eq!((command.invalid, command.mode), (Some(reason), Mode::Plan));
            assert_eq!(controller.state().unwrap().q, [0.1, 0.2]);
        }
    });
}

#[test]
fn states_of_another_robot_and_wrong_rotations_are_refused() {
    let robot = builtin_robot("quadrotor");
    let limits = SETTINGS().state;
    let q = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(limits.check(robot.model(), &q, &[0.0; 6]), Ok(()));
    assert!(matches!(limits.check(robot.model(), &q[1..], &[0.0; 6]), Err(Invalid::Length(_))));
    assert!(matches!(limits.check(robot.model(), &q, &[0.0; 7]), Err(Invalid::Length(_))));
    assert_eq!(limits.check(robot.model(), &[0.0; 7], &[0.0; 6]), Err(Invalid::NotNormalized));
}

#[test]
fn a_policy_that_answers_nan_is_not_obeyed() {
    with_controller(|controller| {
        let command = tick(controller, &mut Damper { planned: f64::NAN, ..PLAN }, 1);
        assert_eq!((command.mode, command.u), (Mode::Damping, &[0.0][..]));
    });
}

#[test]
fn without_a_plan_or_a_state_the_motors_damp() {
    with_controller(|controller| {
        let measured = Measured { q: &[0.0; 2], v: &[0.0; 2], time: at(0) };
        assert_eq!(controller.tick(Some(measured), None::<&mut Damper>, at(0)).mode, Mode::Damping);
    });
    with_controller(|controller| {
        assert_eq!(controller.tick(None, Some(&mut PLAN.clone()), at(0)).mode, Mode::Damping);
    });
}

#[test]
fn modes_come_back_from_their_numbers() {
    for mode in [Mode::Plan, Mode::ShiftedPlan, Mode::Feedback, Mode::Damping, Mode::Stop] {
        assert_eq!(Mode::from_code(mode.code()), mode);
    }
    assert_eq!(Mode::from_code(200), Mode::Stop);
}

#[test]
fn the_reader_of_a_triple_buffer_sees_whole_values_in_order_and_the_last_one() {
    /// Numbers in a slot; a torn one would mix two rounds.
    const WIDTH: usize = 64;
    const ROUNDS: u64 = 200_000;
    let mut buffer = TripleBuffer::new([[0_u64; WIDTH]; 3]);
    let done = AtomicBool::new(false);
    let (mut writer, mut reader) = buffer.split();
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                writer.slot().fill(round);
                writer.publish();
            }
            done.store(true, Ordering::Release);
        });
        let mut last = 0;
        loop {
            let finished = done.load(Ordering::Acquire);
            let fresh = reader.refresh();
            let slot = reader.slot();
            assert!(slot.iter().all(|x| *x == slot[0]), "torn: {slot:?}");
            assert!(slot[0] > last || (!fresh && slot[0] == last));
            last = slot[0];
            if finished {
                break;
            }
        }
        assert_eq!(last, ROUNDS);
    });
}
