//! `saltus simulate`: a robot swings freely from a raised pose; energy tells whether the dynamics are right.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use saltus::dynamics::{self, Dynamics};
use saltus::linalg::{MatMut, padded};
use saltus::memory::{Arena, BLOCK_BYTES, Block, blocks_for};
use saltus::model::{Joint, Model, configuration};
use saltus_cli::recording::{Recording, Statistics};
use serde::Serialize;

use crate::robot::RobotArguments;

/// Simulated time between two states of a recording.
const RECORDED_EVERY_S: f64 = 1e-3;

/// What to simulate.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    robot: RobotArguments,
    /// Simulated seconds.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    time: f64,
    /// Step of the integrator, in microseconds.
    #[arg(long, default_value_t = 100.0, value_name = "MICROSECONDS")]
    dt_us: f64,
    /// Record the states and energies of every millisecond as MCAP, for Foxglove or Rerun.
    #[arg(long, value_name = "FILE")]
    mcap: Option<PathBuf>,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { robot: RobotArguments::default(), time: 5.0, dt_us: 100.0, mcap: None, json: false }
    }
}

/// What came out.
#[derive(Serialize)]
struct Summary {
    robot: String,
    nv: usize,
    simulated_s: f64,
    steps: u64,
    energy_start_j: f64,
    energy_end_j: f64,
    largest_energy_error_j: f64,
    largest_kinetic_energy_j: f64,
    step_us: f64,
    derivatives_us: f64,
    arena_bytes: usize,
}

/// Simulates and prints.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.time > 0.0 && options.time.is_finite(), "--time must be above zero, found {}", options.time);
    ensure!(options.dt_us > 0.0 && options.dt_us.is_finite(), "--dt-us must be above zero, found {}", options.dt_us);
    let robot = options.robot.load()?.model;
    let summary = simulate(robot.model(), options)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print_summary(&summary);
    }
    Ok(())
}

/// Energy parts of a state, J.
#[derive(Clone, Copy)]
struct Energy {
    kinetic: f64,
    potential: f64,
}

fn simulate(model: Model<'_, f64>, options: &Options) -> Result<Summary> {
    let (nv, dt_s) = (model.nv(), options.dt_us * 1e-6);
    let stride = padded(3 * nv);
    let blocks = Dynamics::<f64>::blocks(model.dims()) + blocks_for::<f64>(nv * stride);
    let mut memory = vec![Block::EMPTY; blocks];
    let mut arena = Arena::new(&mut memory);
    let mut work = Dynamics::carve(&mut arena, model.dims())?;
    let jacobian = arena.slice::<f64>(nv * stride)?;
    let (mut q, mut v) = (raised_pose(model), vec![0.0; nv]);
    let (torque, mut acceleration, mut q_next) = (vec![0.0; nv], vec![0.0; nv], q.clone());

    dynamics::update(model, &q, &v, &mut work)?;
    let start = energy(model, &work);
    let mut summary = Summary {
        robot: options.robot.name().to_string(),
        nv,
        simulated_s: options.time,
        steps: (options.time / dt_s).round().max(1.0) as u64,
        energy_start_j: start.kinetic + start.potential,
        energy_end_j: 0.0,
        largest_energy_error_j: 0.0,
        largest_kinetic_energy_j: 0.0,
        step_us: 0.0,
        derivatives_us: 0.0,
        arena_bytes: blocks * BLOCK_BYTES,
    };
    if !options.json {
        println!(
            "{} swings freely for {} s, {} steps of {} µs\n",
            summary.robot, options.time, summary.steps, options.dt_us
        );
        println!("{:>8} {:>14} {:>14} {:>14}", "time s", "kinetic J", "potential J", "total J");
    }
    let steps_in = |seconds: f64| ((seconds / dt_s).round() as u64).max(1);
    let (per_second, per_record) = (steps_in(1.0), steps_in(RECORDED_EVERY_S));
    let mut recording = options.mcap.as_ref().map(Recording::create).transpose()?;
    let mut stepping = Duration::ZERO;
    for step in 0..=summary.steps {
        dynamics::update(model, &q, &v, &mut work)?;
        let now = energy(model, &work);
        let total = now.kinetic + now.potential;
        summary.energy_end_j = total;
        summary.largest_energy_error_j = summary.largest_energy_error_j.max((total - summary.energy_start_j).abs());
        summary.largest_kinetic_energy_j = summary.largest_kinetic_energy_j.max(now.kinetic);
        if !options.json && step % per_second == 0 {
            println!("{:>8.2} {:>14.6} {:>14.6} {:>14.6}", step as f64 * dt_s, now.kinetic, now.potential, total);
        }
        if let Some(recording) = recording.as_mut().filter(|_| step % per_record == 0) {
            recording.state(step as f64 * dt_s, &q, &v)?;
        }
        let begin = Instant::now();
        symplectic_step(model, &torque, dt_s, (&mut q, &mut v), (&mut acceleration, &mut q_next), &mut work)?;
        let elapsed = begin.elapsed();
        stepping += elapsed;
        if let Some(recording) = recording.as_mut().filter(|_| step % per_record == 0) {
            let step_us = elapsed.as_secs_f64() * 1e6;
            let Energy { kinetic: kinetic_j, potential: potential_j } = now;
            recording.statistics(step as f64 * dt_s, &Statistics { kinetic_j, potential_j, step_us })?;
        }
    }
    recording.map_or(Ok(()), Recording::finish)?;
    summary.step_us = stepping.as_secs_f64() * 1e6 / (summary.steps + 1) as f64;
    summary.derivatives_us =
        time_derivatives(model, &q, &v, MatMut::with_stride(jacobian, nv, 3 * nv, stride), &mut work)?;
    Ok(summary)
}

/// v⁺ = v + Δt a, q⁺ = q ⊕ Δt v⁺.
fn symplectic_step(
    model: Model<'_, f64>,
    torque: &[f64],
    dt_s: f64,
    (q, v): (&mut Vec<f64>, &mut [f64]),
    (acceleration, q_next): (&mut [f64], &mut Vec<f64>),
    work: &mut Dynamics<'_, f64>,
) -> Result<()> {
    dynamics::update(model, q, v, work)?;
    dynamics::forward(model, torque, &[], acceleration, work)?;
    for (v, a) in v.iter_mut().zip(&mut *acceleration) {
        *v += dt_s * *a;
        *a = dt_s * *v;
    }
    configuration::integrate(model, q, acceleration, q_next)?;
    std::mem::swap(q, q_next);
    Ok(())
}

/// Every joint a little off its zero, so that gravity moves it.
fn raised_pose(model: Model<'_, f64>) -> Vec<f64> {
    const ANGLE: f64 = 0.5;
    let mut q = vec![0.0; model.nq()];
    let mut offset = vec![0.0; model.nv()];
    for body in model.bodies {
        let turns = matches!(body.joint, Joint::Revolute { .. } | Joint::Continuous { .. } | Joint::Spherical);
        offset[body.v_range()].fill(if turns { ANGLE } else { 0.0 });
    }
    let mut neutral = q.clone();
    configuration::neutral(model, &mut neutral).expect("the slice has the model's length");
    configuration::integrate(model, &neutral, &offset, &mut q).expect("the slices have the model's lengths");
    q
}

fn energy(model: Model<'_, f64>, work: &Dynamics<'_, f64>) -> Energy {
    Energy { kinetic: dynamics::kinetic_energy(work), potential: dynamics::potential_energy(model, work) }
}

/// Mean microseconds of the forward-dynamics derivatives, kinematics included.
fn time_derivatives(
    model: Model<'_, f64>,
    q: &[f64],
    v: &[f64],
    mut out: MatMut<'_, f64>,
    work: &mut Dynamics<'_, f64>,
) -> Result<f64> {
    const CALLS: u32 = 10_000;
    let torque = vec![0.0; model.nv()];
    let begin = Instant::now();
    for _ in 0..CALLS {
        dynamics::update(model, std::hint::black_box(q), v, work)?;
        dynamics::forward_derivatives(model, &torque, &[], out.reborrow(), work)?;
    }
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS))
}

fn print_summary(summary: &Summary) {
    let Summary { largest_energy_error_j: error, largest_kinetic_energy_j: kinetic, .. } = summary;
    let real_time = summary.simulated_s * 1e6 / (summary.step_us * summary.steps as f64);
    println!();
    println!("energy error   {error:.2e} J at most, of {kinetic:.2} J that went to and fro");
    println!("step           {:.2} µs, {real_time:.0} times real time", summary.step_us);
    println!("derivatives    {:.2} µs for ∂a/∂(q, v, τ), {} degrees of freedom", summary.derivatives_us, summary.nv);
    println!("memory         {} bytes in one arena, none allocated after it", summary.arena_bytes);
}
