//! The steps themselves: timed, counted, recorded.

use std::time::Instant;

use anyhow::{Context, Result};
use saltus::dynamics;
use saltus::memory::{Arena, BLOCK_BYTES, Block};
use saltus::model::Model;
use saltus::step::{Simulator, StepDims, StepReport, StepSettings};
use saltus_cli::hold::holding_motors;
use saltus_cli::recording::{Recording, Statistics, contact_rows};

use super::control::{Control, Controller};
use super::method::AnySolver;
use super::progress::Progress;
use super::summary::{Percentiles, Second, Statuses, Summary, Tally};
use super::{Options, Start};

/// Simulated time between two records, at least.
const RECORDED_EVERY_S: f64 = 1e-3;

/// Rolls the robot out from `start`.
pub fn simulate(
    model: Model<'_, f64>,
    options: &Options,
    start: &Start,
    settings: StepSettings<f64, AnySolver>,
) -> Result<Summary> {
    let dt_s = settings.dt_s;
    let steps = ((options.time / dt_s).round() as u64).max(1);
    let mut controller = Controller::new(options.control, model, start, options.seed, dt_s);
    let motors = holding_motors(model, &start.q);
    let hold = matches!(options.control, Control::Hold);
    let model = Model { actuators: if hold { &motors } else { model.actuators }, ..model };

    let dims = StepDims::of(model, options.contacts);
    let blocks = Simulator::<f64>::blocks(dims);
    let mut memory = vec![Block::EMPTY; blocks];
    let mut simulator = Simulator::new(model, settings, dims, &mut Arena::new(&mut memory))?;
    simulator.set_state(&start.q, &start.v)?;

    let mut recorder = Recorder::new(options, dt_s)?;
    let mut progress = Progress::new();
    let mut seconds = Vec::new();
    let (mut second, mut total, mut statuses) = (Tally::default(), Tally::default(), Statuses::default());
    let (mut dropped_contacts, mut dropped_constraints) = (0, 0);
    let mut times_us = Vec::with_capacity(steps as usize);
    let steps_per_second = ((1.0 / dt_s).round() as u64).max(1);
    if !options.json {
        announce(options, start, steps, dt_s);
    }
    for step in 0..=steps {
        let time_s = step as f64 * dt_s;
        if step.is_multiple_of(steps_per_second) || step == steps {
            let line = second_at(time_s, std::mem::take(&mut second), &mut simulator)?;
            if !options.json {
                progress.clear();
                line.print();
            }
            seconds.push(line);
        }
        recorder.state(step, time_s, &mut simulator)?;
        if step == steps {
            break;
        }
        let control = controller.at(step);
        let begin = Instant::now();
        let report = simulator.step(control).with_context(|| format!("step {step}, at {time_s:.4} s"))?;
        let step_us = begin.elapsed().as_secs_f64() * 1e6;
        times_us.push(step_us);
        second.add(&report);
        total.add(&report);
        statuses.add(report.outcome.status);
        dropped_contacts += report.detected.dropped;
        dropped_constraints += report.dropped_constraints;
        recorder.step(step, time_s, &report, step_us, &simulator)?;
        progress.show(step as f64 / steps as f64);
    }
    progress.clear();
    recorder.finish()?;

    let simulated_s = steps as f64 * dt_s;
    Ok(Summary {
        robot: options.robot.name().to_string(),
        nv: model.nv(),
        keyframe: start.keyframe.clone(),
        control: options.control,
        solver: options.solver,
        dt_s,
        substeps: options.substeps,
        contact_capacity: options.contacts,
        simulated_s,
        seconds,
        steps,
        real_time_factor: simulated_s * 1e6 / times_us.iter().sum::<f64>(),
        step_us: Percentiles::of(times_us),
        solver_statuses: statuses,
        worst_residual: total.residual,
        worst_penetration_m: total.penetration_m,
        dropped_contacts,
        dropped_constraints,
        arena_bytes: blocks * BLOCK_BYTES,
    })
}

fn announce(options: &Options, start: &Start, steps: u64, dt_s: f64) {
    let from = start.keyframe.as_ref().map_or("neutral".to_string(), |name| format!("keyframe {name}"));
    let control = match options.control {
        Control::Zero => "controls zero",
        Control::Hold => "motors hold the pose",
        Control::Random => "random controls",
    };
    println!("{} from {from}, {control}: {steps} steps of {} µs\n", options.robot.name(), dt_s * 1e6);
    Second::print_head();
}

fn second_at(time_s: f64, steps: Tally, simulator: &mut Simulator<'_, '_, f64, AnySolver>) -> Result<Second> {
    let [kinetic_j, potential_j] = energies(simulator)?;
    Ok(Second { time_s, kinetic_j, potential_j, total_j: kinetic_j + potential_j, steps })
}

/// Kinetic, rotors included, and potential, J.
fn energies(simulator: &mut Simulator<'_, '_, f64, AnySolver>) -> Result<[f64; 2]> {
    let (model, q, v) = (simulator.model(), simulator.q().to_vec(), simulator.v().to_vec());
    let work = &mut simulator.work_mut().dynamics;
    dynamics::update(model, &q, &v, work)?;
    let rotors: f64 = model.dofs.iter().zip(&v).map(|(dof, v)| 0.5 * dof.armature * v * v).sum();
    Ok([dynamics::kinetic_energy(work) + rotors, dynamics::potential_energy(model, work)])
}

/// Writes a recording, or nothing.
struct Recorder {
    recording: Option<Recording>,
    steps_per_record: u64,
    energies_j: [f64; 2],
}

impl Recorder {
    fn new(options: &Options, dt_s: f64) -> Result<Self> {
        let recording = options.mcap.as_ref().map(Recording::create).transpose()?;
        let steps_per_record = ((RECORDED_EVERY_S / dt_s).round() as u64).max(1);
        Ok(Self { recording, steps_per_record, energies_j: [0.0; 2] })
    }

    /// The recording, if this step is to be in it.
    fn due(&mut self, step: u64) -> Option<&mut Recording> {
        self.recording.as_mut().filter(|_| step.is_multiple_of(self.steps_per_record))
    }

    /// The state before a step.
    fn state(&mut self, step: u64, time_s: f64, simulator: &mut Simulator<'_, '_, f64, AnySolver>) -> Result<()> {
        let Some(recording) = self.due(step) else { return Ok(()) };
        recording.state(time_s, simulator.q(), simulator.v())?;
        self.energies_j = energies(simulator)?;
        Ok(())
    }

    /// Contacts and statistics of a step that was taken.
    fn step(
        &mut self,
        step: u64,
        time_s: f64,
        report: &StepReport<f64>,
        step_us: f64,
        simulator: &Simulator<'_, '_, f64, AnySolver>,
    ) -> Result<()> {
        let [kinetic_j, potential_j] = self.energies_j;
        let Some(recording) = self.due(step) else { return Ok(()) };
        recording.contacts(time_s, &contact_rows(simulator.model(), simulator.work()))?;
        let statistics = Statistics {
            kinetic_j,
            potential_j,
            contacts: report.detected.kept,
            penetration_m: report.penetration_m,
            iterations: report.outcome.iterations,
            residual: report.outcome.residuals.natural,
            step_us,
        };
        recording.statistics(time_s, &statistics)
    }

    fn finish(self) -> Result<()> {
        self.recording.map_or(Ok(()), Recording::finish)
    }
}
