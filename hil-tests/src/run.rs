//! One run of a scenario: plant, link, target, and the host's own computation beside it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use saltus::link::{Header, Numbers, Receiver, encode};
use saltus::mpc::Nanos;
use saltus::realtime::Mode;
use saltus_control::messages::{CommandMessage, LinkFigures, STAGES, SolveFigures, StateMessage, Summary};
use saltus_control::{FRAME_BYTES, Scenario};
use saltus_scenarios::{Judge, Verdict};
use serde::Serialize;

use crate::bench::COUNTER_NS;
use crate::faults::{Faulty, Injected, Rates};
use crate::mirror::Mirror;
use crate::plant::{Orders, Plant};
use crate::target::Target;

/// How to run a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Time that a solve may take, preemption included; the scenario's period if not given.
    pub deadline_us: Option<u32>,
    /// Ticks to run; the scenario's own number if not given.
    pub ticks: Option<u32>,
    /// What goes wrong on the link.
    pub faults: Rates,
    /// Which of the scenario's starts and pushes.
    pub seed: u64,
}

/// How a run went.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Which scenario.
    pub scenario: String,
    /// Ticks of the control loop.
    pub ticks: u32,
    /// Plans made.
    pub solves: u32,
    /// Solves and ticks that took longer than they may.
    pub misses: u32,
    /// What a solve may take.
    pub deadline_us: u32,
    /// Of a solve, half of them less.
    pub instructions_p50: u64,
    /// Of the worst solve.
    pub instructions_max: u64,
    /// Of each stage, in its worst solve.
    pub stages: BTreeMap<&'static str, u64>,
    /// Of the worst tick, from the interrupt to its end.
    pub tick_instructions_max: u64,
    /// The most that the two stacks held, bytes.
    pub stack_bytes: u32,
    /// Of that, the solver's.
    pub main_stack_bytes: u32,
    /// And that of interrupts.
    pub handler_stack_bytes: u32,
    /// Whether every frame of the target equals the host's computation bit for bit.
    pub bit_exact: bool,
    /// Where they differ first, if they do.
    pub first_difference: Option<String>,
    /// What went wrong on the link, and what was noticed.
    pub faults: Faults,
    /// Ticks by how the command came about.
    pub modes: BTreeMap<&'static str, u32>,
    /// From the last state that arrived to the first command to damp.
    pub damping_after_us: Option<u64>,
    /// What the robot did not achieve.
    pub missed_goal: Option<String>,
}

/// Faults in both directions.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Faults {
    /// States on their way to the target: what was done, and what the target counted.
    pub to_target: Direction,
    /// Commands on their way to the plant: what was done, and what the plant counted.
    pub to_plant: Direction,
    /// States that were whole and could not be true, as the target counted them.
    pub invalid_states: u32,
    /// Whether every fault was noticed as what it was.
    pub all_counted: bool,
}

/// One direction of the link.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Direction {
    /// What was done.
    pub injected: Injected,
    /// What was noticed.
    pub counted: LinkFigures,
}

impl Direction {
    /// Frames that went wrong leave a gap as well; all else is counted as what it is.
    fn is_counted(&self) -> bool {
        let Self { injected, counted } = self;
        counted.lost == injected.lost + injected.corrupt
            && counted.corrupt == injected.corrupt
            && counted.duplicated == injected.duplicated
            && counted.late == injected.late
    }
}

/// Ticks without a command after which the motors damp by themselves.
const WATCHDOG_TICKS: u32 = 10;

/// Ticks at the end of a run in which nothing goes wrong, so that all gaps show.
const CLEAN_TICKS: u32 = 8;

/// Seeds of the two directions.
const SEEDS: [u64; 2] = [1, 2];

/// Runs a scenario to its end; `progress` is told the tick.
pub fn run(
    scenario: &Scenario,
    options: &RunOptions,
    target: &mut dyn Target,
    mut progress: impl FnMut(u32),
) -> Result<Outcome> {
    let ticks = options.ticks.unwrap_or(scenario.ticks());
    let mut session = Session::new(scenario, options, ticks)?;
    let mut memory = [0; FRAME_BYTES];
    let mut receiver = Receiver::new(&mut memory);
    for tick in 0..ticks {
        progress(tick);
        session.tick(tick, target, &mut receiver).with_context(|| format!("{} at tick {tick}", scenario.name()))?;
    }
    let (words, code) = target.finish()?;
    ensure!(code.is_none_or(|code| code == 0), "the image ended with exit code {code:?}");
    session.finish(&words, target.ns_per_instruction(), receiver.counts().into())
}

struct Session<'s> {
    scenario: &'s Scenario,
    deadline_us: u32,
    ticks: u32,
    plant: Plant,
    mirror: Mirror,
    wires: [Faulty; 2],
    judge: Judge,
    orders: Orders,
    silent_ticks: u32,
    solves: Vec<SolveFigures>,
    worst_tick: u32,
    first_difference: Option<String>,
    modes: BTreeMap<&'static str, u32>,
    stall: Option<u32>,
    damping_after_us: Option<u64>,
    counted: LinkFigures,
    invalid_states: u32,
}

impl<'s> Session<'s> {
    fn new(scenario: &'s Scenario, options: &RunOptions, ticks: u32) -> Result<Self> {
        // A plant that stalls sends nothing; it still hears its commands.
        let deaf = Rates { stall: None, ..options.faults };
        Ok(Self {
            scenario,
            deadline_us: options.deadline_us.unwrap_or(scenario.solve_ticks * scenario.tick_us),
            ticks,
            plant: Plant::new(scenario, options.seed)?,
            mirror: Mirror::new(scenario)?,
            wires: [Faulty::new(options.faults, SEEDS[0]), Faulty::new(Rates { nan: 0.0, ..deaf }, SEEDS[1])],
            judge: Judge::new(scenario.task, f64::from(ticks) * f64::from(scenario.tick_us) * 1e-6),
            orders: Orders { mode: Mode::Stop, u: vec![0.0; scenario.robot.model.nu()], damping: 0.0 },
            silent_ticks: 0,
            solves: Vec::new(),
            worst_tick: 0,
            first_difference: None,
            modes: BTreeMap::new(),
            stall: options.faults.stall,
            damping_after_us: None,
            counted: LinkFigures::default(),
            invalid_states: 0,
        })
    }

    /// State out, command in, and the plant a tick further.
    fn tick(&mut self, tick: u32, target: &mut dyn Target, receiver: &mut Receiver<'_>) -> Result<()> {
        let now = Nanos(u64::from(tick) * u64::from(self.scenario.tick_us) * 1000);
        let window = self.state_window(tick, now)?;
        let answer = target.exchange(&window)?;
        self.check(&window, &answer, tick, now)?;
        let clean = self.is_clean(tick);
        let heard = if clean { self.wires[1].pass_clean(&answer) } else { self.wires[1].pass(&answer) };
        self.obey(&heard, now, receiver);
        self.plant.step(&self.orders)?;
        self.plant.show(&mut self.judge);
        Ok(())
    }

    /// What arrives at the target in a tick.
    fn state_window(&mut self, tick: u32, now: Nanos) -> Result<Vec<u8>> {
        let spoilt = !self.is_clean(tick) && self.wires[0].spoils_numbers();
        let (q, v) = self.plant.state();
        let mut v = v.to_vec();
        if spoilt {
            v[0] = f32::NAN;
        }
        let message = StateMessage { q: Numbers::of(q), v: Numbers::of(&v) };
        let header = Header { sequence: tick as u16, time_us: now.0 / 1000 };
        let mut buffer = [0; FRAME_BYTES];
        let frame = encode(header, &message, &mut buffer)?;
        let clean = spoilt || self.is_clean(tick);
        Ok(if clean { self.wires[0].pass_clean(frame) } else { self.wires[0].pass(frame) })
    }

    fn is_clean(&self, tick: u32) -> bool {
        self.stall.is_none() && (tick == 0 || tick + CLEAN_TICKS >= self.ticks)
    }

    /// Compares the target's frame with the host's, and notes what it says about itself.
    fn check(&mut self, window: &[u8], answer: &[u8], tick: u32, now: Nanos) -> Result<()> {
        let mut memory = [0; FRAME_BYTES];
        let mut receiver = Receiver::new(&mut memory);
        let Some(Ok((_, command))) = receiver.next::<CommandMessage>(&mut &*answer, 0) else {
            bail!("the target sent no command, but {answer:02x?}");
        };
        let expected = self.mirror.answer(window, command.plan_start_ns, (command.solve, command.last_tick), now)?;
        if self.first_difference.is_none() && expected != answer {
            self.first_difference = Some(difference(tick, &command, &expected));
        }
        if command.solve.number != self.solves.last().map_or(0, |solve| solve.number) {
            self.solves.push(command.solve);
        }
        self.worst_tick = self.worst_tick.max(command.last_tick);
        self.counted = command.link;
        self.invalid_states = command.invalid_states;
        let mode = Mode::from_code(command.mode);
        *self.modes.entry(mode_name(mode)).or_insert(0) += 1;
        if let Some(stall) = self.stall.filter(|stall| tick >= *stall && mode == Mode::Damping) {
            let silent_us = u64::from(tick + 1 - stall) * u64::from(self.scenario.tick_us);
            self.damping_after_us.get_or_insert(silent_us);
        }
        Ok(())
    }

    /// What the motors do with the bytes that reach them.
    fn obey(&mut self, mut bytes: &[u8], now: Nanos, receiver: &mut Receiver<'_>) {
        self.silent_ticks += 1;
        while let Some(event) = receiver.next::<CommandMessage>(&mut bytes, now.0 / 1000) {
            let Ok((_, command)) = event else { continue };
            let mode = Mode::from_code(command.mode);
            self.orders = Orders { mode, u: command.u.iter().collect(), damping: command.damping };
            self.silent_ticks = 0;
        }
        if self.silent_ticks > WATCHDOG_TICKS {
            let damping = self.scenario.controller_settings().damping;
            self.orders = Orders { mode: Mode::Damping, damping, ..self.orders.clone() };
        }
    }

    fn finish(mut self, words: &[u8], ns_per_instruction: Option<u32>, heard: LinkFigures) -> Result<Outcome> {
        let summary = summary(words)?;
        self.worst_tick = self.worst_tick.max(summary.last_tick);
        ensure!(summary.failed_solves == 0, "{} solves failed with an error", summary.failed_solves);
        let instructions =
            |ticks: u32| ns_per_instruction.map_or(0, |ns| u64::from(ticks) * COUNTER_NS / u64::from(ns));
        let microseconds = |ticks: u32| u64::from(ticks) * COUNTER_NS / 1000;
        let late = |solve: &&SolveFigures| microseconds(solve.elapsed) > u64::from(self.deadline_us);
        let late_tick = u32::from(microseconds(self.worst_tick) > u64::from(self.scenario.tick_us));
        let mut totals: Vec<u32> = self.solves.iter().map(|solve| solve.total).collect();
        totals.sort_unstable();
        let worst = |k: usize| self.solves.iter().map(|solve| solve.stages[k]).max().unwrap_or(0);
        let to_target = Direction { injected: self.wires[0].injected(), counted: self.counted };
        let to_plant = Direction { injected: self.wires[1].injected(), counted: heard };
        let counted = to_target.is_counted() && to_plant.is_counted();
        Ok(Outcome {
            scenario: self.scenario.name().to_owned(),
            ticks: self.ticks,
            solves: self.solves.len() as u32,
            misses: self.solves.iter().filter(late).count() as u32 + late_tick,
            deadline_us: self.deadline_us,
            instructions_p50: instructions(totals.get(totals.len() / 2).copied().unwrap_or(0)),
            instructions_max: instructions(totals.last().copied().unwrap_or(0)),
            stages: STAGES.into_iter().enumerate().map(|(k, name)| (name, instructions(worst(k)))).collect(),
            tick_instructions_max: instructions(self.worst_tick),
            stack_bytes: summary.main_stack_bytes + summary.handler_stack_bytes,
            main_stack_bytes: summary.main_stack_bytes,
            handler_stack_bytes: summary.handler_stack_bytes,
            bit_exact: self.first_difference.is_none(),
            first_difference: self.first_difference,
            faults: Faults {
                to_target,
                to_plant,
                invalid_states: self.invalid_states,
                all_counted: self.invalid_states == to_target.injected.nan && (self.stall.is_some() || counted),
            },
            modes: self.modes,
            damping_after_us: self.damping_after_us,
            missed_goal: match self.plant.verdict(&self.judge) {
                Verdict::Success => None,
                Verdict::Failure(reason) => Some(reason),
            },
        })
    }
}

/// What the target sent and what it should have.
fn difference(tick: u32, command: &CommandMessage<'_>, expected: &[u8]) -> String {
    let mut memory = [0; FRAME_BYTES];
    let mut receiver = Receiver::new(&mut memory);
    match receiver.next::<CommandMessage>(&mut &*expected, 0) {
        Some(Ok((_, host))) => {
            let numbers = |numbers: Numbers<'_>| numbers.iter().collect::<Vec<f32>>();
            let (mine, theirs) = (numbers(host.u), numbers(command.u));
            format!(
                "tick {tick}, plan of {} ns: mode {} and {}, u {mine:?} on the host and {theirs:?} on the target",
                command.plan_start_ns, host.mode, command.mode
            )
        }
        _ => format!("tick {tick}: the host's frame cannot be read"),
    }
}

/// The target's last words; nothing where there is no target.
fn summary(words: &[u8]) -> Result<Summary> {
    if words.is_empty() {
        return Ok(Summary::default());
    }
    let mut memory = [0; FRAME_BYTES];
    match Receiver::new(&mut memory).next::<Summary>(&mut &*words, 0) {
        Some(Ok((_, summary))) => Ok(summary),
        _ => bail!("the target's last words make no sense: {words:02x?}"),
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::ShiftedPlan => "shifted_plan",
        Mode::Feedback => "feedback",
        Mode::Damping => "damping",
        Mode::Stop => "stop",
    }
}
