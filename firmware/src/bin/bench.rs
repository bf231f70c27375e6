//! Counts instructions: what a step, its derivatives and one iteration of the optimizer cost, stage by stage.
//!
//! Prints one line per figure: `robot stage ticks`, of a counter whose ticks the host turns into instructions.
#![no_std]
#![no_main]

use core::fmt::{self, Write};
use core::hint::black_box;

use cortex_m::Peripherals;
use cortex_m_rt::entry;
use saltus::collision;
use saltus::contact::{self, Situation};
use saltus::derivatives::{Derivatives, differentiate};
use saltus::dynamics;
use saltus::memory::{Arena, Block};
use saltus::mpc::{Measured, Mpc, Nanos};
use saltus::step::{NextState, Step, StepError, StepInput, StepSettings, step};
use saltus_control::messages::{STAGES, stages};
use saltus_control::robots::{self, Robot, SETTLE_STEPS};
use saltus_control::{ALL, Planner, Scenario, bits_of};
use saltus_firmware::once::Once;
use saltus_firmware::{board, stacks};

/// Largest configuration and velocity.
const LARGEST: usize = 19;

const BLOCKS: usize = largest_blocks();
static MEMORY: Once<[Block; BLOCKS]> = Once::new([Block::EMPTY; BLOCKS]);

const fn largest_blocks() -> usize {
    let (mut largest, mut k) = (0, 0);
    while k < robots::ALL.len() {
        let dims = robots::ALL[k].dims;
        let blocks = Step::<f32>::blocks(dims) + Derivatives::<f32>::blocks(dims);
        largest = if blocks > largest { blocks } else { largest };
        k += 1;
    }
    k = 0;
    while k < ALL.len() {
        let blocks = Mpc::<f32>::blocks(ALL[k].dims());
        largest = if blocks > largest { blocks } else { largest };
        k += 1;
    }
    largest
}

#[entry]
fn main() -> ! {
    board::init();
    match Peripherals::take() {
        Some(mut peripherals) => stacks::enter(&mut peripherals.MPU, run),
        None => board::exit(1),
    }
}

extern "C" fn run() -> ! {
    let Some(memory) = MEMORY.take() else { board::exit(1) };
    defmt::info!("bench: {=usize} robots", robots::ALL.len());
    let mut good = true;
    for robot in robots::ALL {
        good &= count(&robot, memory).is_ok();
    }
    for scenario in ALL {
        good &= count_solve(&scenario, memory).is_ok();
    }
    let [main, handlers] = stacks::deepest();
    report("all", "main_stack_bytes", main as u32);
    report("all", "handler_stack_bytes", handlers as u32);
    board::exit(u32::from(!good))
}

/// Why a robot has no figures.
#[derive(Debug)]
struct Failed;

impl From<StepError> for Failed {
    fn from(_: StepError) -> Self {
        Self
    }
}

fn count(robot: &Robot, memory: &mut [Block]) -> Result<(), Failed> {
    let model = *robot.model;
    let mut arena = Arena::new(memory);
    let mut work = Step::<f32>::carve(&mut arena, robot.dims).map_err(|_| Failed)?;
    let mut jacobian = Derivatives::<f32>::carve(&mut arena, robot.dims).map_err(|_| Failed)?;
    let settings = StepSettings::<f32>::default();
    let rest = model.keyframe(0).ok_or(Failed)?;
    let (mut q, mut v, mut q_next, mut v_next) = ([0.0; LARGEST], [0.0; LARGEST], [0.0; LARGEST], [0.0; LARGEST]);
    let (q, v) = (q.get_mut(..model.nq()).ok_or(Failed)?, v.get_mut(..model.nv()).ok_or(Failed)?);
    let (q_next, v_next) = (q_next.get_mut(..model.nq()).ok_or(Failed)?, v_next.get_mut(..model.nv()).ok_or(Failed)?);
    q.copy_from_slice(rest.q);
    v.copy_from_slice(rest.v);
    for _ in 0..SETTLE_STEPS {
        let next = NextState { q: q_next, v: v_next };
        step(model, &StepInput::new(q, v, rest.u), &settings, next, &mut work)?;
        q.copy_from_slice(q_next);
        v.copy_from_slice(v_next);
    }
    let input = StepInput::new(q, v, rest.u);
    work.forget();
    for name in ["step_cold", "step"] {
        let next = NextState { q: q_next, v: v_next };
        timed(robot.name, name, || step(model, black_box(&input), &settings, next, &mut work))?;
    }
    report(robot.name, "contacts", work.collision.contacts().len() as u32);
    timed(robot.name, "gradient", || differentiate(model, black_box(&input), &settings, &mut work, &mut jacobian))?;
    report(robot.name, "jacobian_bits", bits_of(jacobian.all()));

    // The stages of the step once more, one by one.
    timed(robot.name, "step/update", || dynamics::update(model, black_box(q), v, &mut work.dynamics))
        .map_err(|_| Failed)?;
    let margin = settings.contact_margin_m;
    timed(robot.name, "step/detect", || {
        collision::detect(model, &work.dynamics.kinematics, margin, &mut work.collision)
    })
    .map_err(|_| Failed)?;
    timed(robot.name, "step/factorize", || {
        dynamics::mass_matrix(model, &mut work.dynamics)?;
        dynamics::factorize(model, &mut work.dynamics)
    })
    .map_err(|_| Failed)?;
    let contacts = work.collision.contacts();
    let situation = Situation { q, v, free: v, contacts, dt_s: settings.dt_s };
    timed(robot.name, "step/assemble", || {
        contact::assemble(model, &situation, &settings.stabilization, &work.dynamics, &mut work.assembly);
    });
    Ok(())
}

/// One iteration of the optimizer at the keyframe where its scenario starts, the second one after a fresh start.
fn count_solve(scenario: &Scenario, memory: &mut [Block]) -> Result<(), Failed> {
    let mut arena = Arena::new(memory);
    let mut planner = Planner::new(scenario, &mut arena).map_err(|_| Failed)?;
    let rest = scenario.robot.model.keyframe(0).ok_or(Failed)?;
    let clock = || Nanos(u64::from(board::counter_ticks()));
    for (time, names) in [(0, None), (u64::from(scenario.tick_us) * 1000, Some(STAGES))] {
        let measured = Measured { time: Nanos(time), q: rest.q, v: rest.v };
        let solved = planner.solve(black_box(measured), &clock).map_err(|_| Failed)?;
        let Some(names) = names else { continue };
        report(scenario.name(), "solve", solved.times.total as u32);
        for (name, ticks) in names.into_iter().zip(stages(&solved.times)) {
            report(scenario.name(), name, ticks);
        }
    }
    Ok(())
}

/// Runs `work` and reports how long it took.
fn timed<R>(robot: &str, stage: &str, work: impl FnOnce() -> R) -> R {
    let start = board::counter_ticks();
    let empty = board::counter_ticks() - start;
    let start = board::counter_ticks();
    let result = black_box(work());
    let ticks = board::counter_ticks() - start;
    report(robot, stage, ticks.saturating_sub(empty));
    result
}

fn report(robot: &str, stage: &str, ticks: u32) {
    let mut line = Line { text: [0; 96], length: 0 };
    if writeln!(line, "{robot} {stage} {ticks}").is_ok() {
        board::print(line.terminated());
    }
}

/// A line of text, with room for the zero that ends it.
struct Line {
    text: [u8; 96],
    length: usize,
}

impl Line {
    fn terminated(&self) -> &[u8] {
        self.text.get(..=self.length).unwrap_or(b"\0")
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        if end >= self.text.len() {
            return Err(fmt::Error);
        }
        let place = self.text.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.iter_mut().zip(text.as_bytes()).for_each(|(to, from)| *to = *from);
        self.length = end;
        Ok(())
    }
}
