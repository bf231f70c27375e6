//! The control loop on the board: the timer runs the tick, the main loop the solver.
//!
//! Plans go from the solver to the tick, and states from the tick to the solver, through triple buffers; neither waits
//! for the other.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m_rt::exception;
use critical_section::Mutex;
use saltus::link::{Header, encode};
use saltus::memory::{Arena, Block};
use saltus::mpc::{Measured, Nanos};
use saltus::realtime::{PlanSlot, Reader, TripleBuffer, Writer};
use saltus_control::messages::{SolveFigures, Summary, stages};
use saltus_control::{FRAME_BYTES, Planner, Scenario, TickLoop};

use crate::board::{self, Link};
use crate::once::Once;
use crate::stacks;

/// Largest configuration and velocity.
const LARGEST: usize = 19;

/// Bytes that may arrive in one tick: several frames.
const WINDOW_BYTES: usize = 3 * FRAME_BYTES;

/// A plan and what it cost.
struct Planned {
    slot: PlanSlot<'static, f32>,
    figures: SolveFigures,
}

/// A state for the solver.
#[derive(Clone, Copy)]
struct State {
    q: [f32; LARGEST],
    v: [f32; LARGEST],
    time: Nanos,
    tick: u32,
}

impl State {
    const NONE: Self = Self { q: [0.0; LARGEST], v: [0.0; LARGEST], time: Nanos(0), tick: 0 };
}

/// What the timer's interrupt owns.
struct Tick {
    tick_loop: TickLoop<'static>,
    plans: Reader<'static, Planned>,
    states: Writer<'static, State>,
    link: Link,
    scenario: &'static Scenario,
    window: [u8; WINDOW_BYTES],
    count: u32,
    last: u32,
}

static PLANS: Once<Option<TripleBuffer<Planned>>> = Once::new(None);
static STATES: Once<Option<TripleBuffer<State>>> = Once::new(None);
static TICK: Once<Option<Tick>> = Once::new(None);
/// The way of the tick's own data from the main loop into the interrupt.
static HANDOVER: Mutex<Cell<Option<&'static mut Tick>>> = Mutex::new(Cell::new(None));
/// Counter ticks that interrupts have taken from the main loop.
static TAKEN: AtomicU32 = AtomicU32::new(0);
static FAILED_SOLVES: AtomicU32 = AtomicU32::new(0);

/// Exit code of an image that could not start.
const NOT_STARTED: u32 = 3;
/// Exit code when the plant went away without saying so.
const PLANT_GONE: u32 = 4;

/// Runs a scenario in the given memory until the plant ends it.
pub fn run(scenario: &'static Scenario, memory: &'static mut [Block], timer: SYST) -> ! {
    match start(scenario, memory, timer) {
        Some((planner, plans, states)) => solve_forever(scenario, planner, plans, states),
        None => {
            board::motors_off();
            defmt::error!("{=str} cannot start", scenario.name());
            board::exit(NOT_STARTED)
        }
    }
}

type Solver = (Planner<'static>, Writer<'static, Planned>, Reader<'static, State>);

/// Carves the memory, opens the link and starts the timer.
fn start(scenario: &'static Scenario, memory: &'static mut [Block], mut timer: SYST) -> Option<Solver> {
    let mut arena = Arena::new(memory);
    let planner = Planner::new(scenario, &mut arena).ok()?;
    let dims = scenario.dims();
    let mut planned = || {
        let slot = PlanSlot::carve(&mut arena, dims).ok()?;
        Some(Planned { slot, figures: SolveFigures::default() })
    };
    let slots = [planned()?, planned()?, planned()?];
    let (plan_writer, plan_reader) = PLANS.take()?.insert(TripleBuffer::new(slots)).split();
    let (state_writer, state_reader) = STATES.take()?.insert(TripleBuffer::new([State::NONE; 3])).split();
    let tick = Tick {
        tick_loop: TickLoop::new(scenario, &mut arena).ok()?,
        plans: plan_reader,
        states: state_writer,
        link: board::open_link()?,
        scenario,
        window: [0; WINDOW_BYTES],
        count: 0,
        last: 0,
    };
    let tick = TICK.take()?.insert(tick);
    critical_section::with(|section| HANDOVER.borrow(section).set(Some(tick)));
    defmt::info!("{=str}: {=usize} blocks of memory left", scenario.name(), arena.remaining());
    board::motors_enable();
    board::start_control_timer(&mut timer, scenario.tick_us).then_some((planner, plan_writer, state_reader))
}

/// The main loop: a solve every `solve_ticks`, from the newest state.
fn solve_forever(
    scenario: &Scenario,
    mut planner: Planner<'static>,
    mut plans: Writer<'static, Planned>,
    mut states: Reader<'static, State>,
) -> ! {
    let (nq, nv) = (scenario.robot.dims.robot.nq, scenario.robot.dims.robot.nv);
    let (mut due, mut number) = (0, 0);
    loop {
        states.refresh();
        let state = states.slot();
        if state.tick == 0 || state.tick < due {
            cortex_m::asm::wfi();
            continue;
        }
        due = state.tick + scenario.solve_ticks;
        let (Some(q), Some(v)) = (state.q.get(..nq), state.v.get(..nv)) else { continue };
        let (began, wall) = (solver_ticks(), board::counter_ticks());
        number += 1;
        let report = planner.solve(Measured { time: state.time, q, v }, &|| Nanos(u64::from(solver_ticks())));
        let planned = plans.slot();
        if report.is_err() || planned.slot.fill(planner.plan()).is_err() {
            FAILED_SOLVES.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        planned.figures = SolveFigures {
            number,
            total: solver_ticks().wrapping_sub(began),
            elapsed: board::counter_ticks().wrapping_sub(wall),
            stages: report.as_ref().map_or([0; 6], |report| stages(&report.times)),
            status: report.map_or(u8::MAX, |report| report.status as u8),
        };
        plans.publish();
    }
}

/// The counter without what interrupts took.
fn solver_ticks() -> u32 {
    loop {
        let taken = TAKEN.load(Ordering::Relaxed);
        let now = board::counter_ticks();
        if TAKEN.load(Ordering::Relaxed) == taken {
            return now.wrapping_sub(taken);
        }
    }
}

#[exception]
fn SysTick() {
    static mut OWN: Option<&'static mut Tick> = None;
    let began = board::counter_ticks();
    if OWN.is_none() {
        *OWN = critical_section::with(|section| HANDOVER.borrow(section).take());
    }
    if let Some(tick) = OWN {
        tick.run();
        tick.last = board::counter_ticks().wrapping_sub(began);
        TAKEN.fetch_add(tick.last, Ordering::Relaxed);
    }
}

impl Tick {
    /// One tick: takes what arrived, follows the newest plan, answers, and lets the solver know the state.
    fn run(&mut self) {
        let Some(length) = self.link.receive(&mut self.window) else { return self.end() };
        let now = Nanos(u64::from(self.count) * u64::from(self.scenario.tick_us) * 1000);
        self.plans.refresh();
        let Planned { slot, figures } = self.plans.slot();
        let window = self.window.get(..length).unwrap_or(&[]);
        let ticked = self.tick_loop.tick(window, slot, (*figures, self.last), now);
        if !ticked.powered {
            board::motors_off();
        }
        let sent = ticked.frame.is_ok_and(|frame| self.link.send(frame));
        if !sent {
            board::motors_off();
            board::exit(PLANT_GONE);
        }
        self.count += 1;
        self.tell_solver();
    }

    fn tell_solver(&mut self) {
        let Some(Measured { time, q, v }) = self.tick_loop.state() else { return };
        let slot = self.states.slot();
        let (Some(to_q), Some(to_v)) = (slot.q.get_mut(..q.len()), slot.v.get_mut(..v.len())) else { return };
        to_q.copy_from_slice(q);
        to_v.copy_from_slice(v);
        (slot.time, slot.tick) = (time, self.count);
        self.states.publish();
    }

    /// The plant has ended the run: motors off, and some last words.
    fn end(&mut self) {
        board::motors_off();
        let [main, handlers] = stacks::deepest();
        let summary = Summary {
            main_stack_bytes: main as u32,
            handler_stack_bytes: handlers as u32,
            ticks: self.count,
            last_tick: self.last,
            failed_solves: FAILED_SOLVES.load(Ordering::Relaxed),
        };
        defmt::info!("the plant ended the run after {=u32} ticks", self.count);
        let sent = encode(Header::default(), &summary, &mut self.window).is_ok_and(|frame| self.link.send(frame));
        board::exit(if sent { 0 } else { PLANT_GONE })
    }
}

/// What `main` of an image does: the board first, then the control loop on a stack of its own.
pub fn boot(main: extern "C" fn() -> !) -> ! {
    board::init();
    match Peripherals::take() {
        Some(mut peripherals) => {
            critical_section::with(|section| TIMER.borrow(section).set(Some(peripherals.SYST)));
            stacks::enter(&mut peripherals.MPU, main)
        }
        None => board::exit(NOT_STARTED),
    }
}

static TIMER: Mutex<Cell<Option<SYST>>> = Mutex::new(Cell::new(None));

/// The timer, for the one who asks first.
pub fn take_timer() -> Option<SYST> {
    critical_section::with(|section| TIMER.borrow(section).take())
}

/// The image of one scenario: its memory as a `static`, whose size the compiler works out.
#[macro_export]
macro_rules! image {
    ($scenario:ident) => {
        static SCENARIO: saltus_control::Scenario = saltus_control::$scenario;
        const BLOCKS: usize = saltus_control::$scenario.blocks();
        static MEMORY: $crate::once::Once<[saltus::memory::Block; BLOCKS]> =
            $crate::once::Once::new([saltus::memory::Block::EMPTY; BLOCKS]);

        #[cortex_m_rt::entry]
        fn main() -> ! {
            $crate::control::boot(run)
        }

        extern "C" fn run() -> ! {
            match (MEMORY.take(), $crate::control::take_timer()) {
                (Some(memory), Some(timer)) => $crate::control::run(&SCENARIO, memory, timer),
                _ => $crate::board::exit(1),
            }
        }
    };
}
