//! What is printed: medians over the rounds, and ratios taken round by round.

use std::fmt;

use serde::Serialize;

use crate::{gradient, jitter, mpc, step};

/// Microseconds per call.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Forward dynamics.
    pub aba: f64,
    /// Derivatives of forward dynamics.
    pub aba_derivatives: f64,
    /// Inverse dynamics.
    pub rnea: f64,
    /// Derivatives of inverse dynamics.
    pub rnea_derivatives: f64,
    /// Mass matrix.
    pub crba: f64,
}

/// A name, and which of the times it has.
type NamedTime = (&'static str, fn(&Times) -> f64);

impl Times {
    const ALGORITHMS: [NamedTime; 5] = [
        ("forward dynamics derivatives", |t| t.aba_derivatives),
        ("forward dynamics", |t| t.aba),
        ("inverse dynamics derivatives", |t| t.rnea_derivatives),
        ("inverse dynamics", |t| t.rnea),
        ("mass matrix", |t| t.crba),
    ];
}

/// Everything, as it is serialized.
#[derive(Default, Serialize)]
pub struct Report {
    /// Rigid-body algorithms against Pinocchio.
    pub dynamics: Vec<Robot>,
    /// The simulation step against MuJoCo.
    pub step: Vec<step::Row>,
    /// The derivatives of the step against MuJoCo.
    pub gradient: Vec<gradient::Row>,
    /// How even the step is.
    pub jitter: Vec<jitter::Row>,
    /// One iteration of the optimizer against Crocoddyl.
    pub mpc: Vec<mpc::Row>,
}

/// One robot. The plain keys are those of the forward-dynamics derivatives; `algorithms` has all of them.
#[derive(Serialize)]
pub struct Robot {
    robot: String,
    nv: usize,
    ours_us: f64,
    /// As packaged.
    pinocchio_us: f64,
    /// Against the package.
    ratio: f64,
    /// Compiled for the instruction set that we use.
    pinocchio_native_us: f64,
    /// Against that.
    ratio_native: f64,
    algorithms: Vec<Algorithm>,
    #[serde(skip)]
    rounds: Vec<[Times; 3]>,
}

/// One algorithm on one robot.
#[derive(Serialize)]
struct Algorithm {
    algorithm: &'static str,
    ours_us: f64,
    pinocchio_us: f64,
    ratio: f64,
    pinocchio_native_us: f64,
    ratio_native: f64,
}

impl Robot {
    /// No rounds yet.
    pub fn new(robot: &str, nv: usize) -> Self {
        let nan = f64::NAN;
        Self {
            robot: robot.to_string(),
            nv,
            ours_us: nan,
            pinocchio_us: nan,
            ratio: nan,
            pinocchio_native_us: nan,
            ratio_native: nan,
            algorithms: Vec::new(),
            rounds: Vec::new(),
        }
    }

    /// Adds one turn of each side.
    pub fn add_round(&mut self, ours: Times, packaged: Times, native: Times) {
        self.rounds.push([ours, packaged, native]);
        let over = |value: &dyn Fn(&[Times; 3]) -> f64| median(self.rounds.iter().map(value).collect());
        self.algorithms = Times::ALGORITHMS
            .iter()
            .map(|&(algorithm, time)| Algorithm {
                algorithm,
                ours_us: over(&|r| time(&r[0])),
                pinocchio_us: over(&|r| time(&r[1])),
                ratio: over(&|r| time(&r[0]) / time(&r[1])),
                pinocchio_native_us: over(&|r| time(&r[2])),
                ratio_native: over(&|r| time(&r[0]) / time(&r[2])),
            })
            .collect();
        let Algorithm { ours_us, pinocchio_us, ratio, pinocchio_native_us, ratio_native, .. } = self.algorithms[0];
        (self.ours_us, self.pinocchio_us, self.ratio) = (ours_us, pinocchio_us, ratio);
        (self.pinocchio_native_us, self.ratio_native) = (pinocchio_native_us, ratio_native);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.dynamics.is_empty() {
            write_dynamics(f, &self.dynamics)?;
        }
        if !self.step.is_empty() {
            write_step(f, &self.step)?;
        }
        if !self.gradient.is_empty() {
            write_gradient(f, &self.gradient)?;
        }
        if !self.jitter.is_empty() {
            write_jitter(f, &self.jitter)?;
        }
        if !self.mpc.is_empty() {
            write_mpc(f, &self.mpc)?;
        }
        writeln!(f, "medians; ratios taken round by round; native: Pinocchio compiled for x86-64-v3")
    }
}

fn write_dynamics(f: &mut fmt::Formatter<'_>, robots: &[Robot]) -> fmt::Result {
    writeln!(
        f,
        "{:<6} {:>3}  {:<30} {:>9} {:>14} {:>6} {:>14} {:>6}",
        "robot", "nv", "algorithm", "ours µs", "Pinocchio µs", "ratio", "native µs", "ratio"
    )?;
    for robot in robots {
        for a in &robot.algorithms {
            writeln!(
                f,
                "{:<6} {:>3}  {:<30} {:>9.2} {:>14.2} {:>6.2} {:>14.2} {:>6.2}",
                robot.robot,
                robot.nv,
                a.algorithm,
                a.ours_us,
                a.pinocchio_us,
                a.ratio,
                a.pinocchio_native_us,
                a.ratio_native
            )?;
        }
    }
    writeln!(f)
}

fn write_step(f: &mut fmt::Formatter<'_>, rows: &[step::Row]) -> fmt::Result {
    writeln!(
        f,
        "{:<13} {:>3} {:>9} {:>10} {:>9} {:>10} {:>6} {:>13}",
        "robot, step", "nv", "contacts", "iterations", "ours µs", "MuJoCo µs", "ratio", "of rounds"
    )?;
    for row in rows {
        let contacts = format!("{} ({})", row.contacts, row.mujoco_contacts);
        let [least, most] = row.ratio_range;
        writeln!(
            f,
            "{:<13} {:>3} {contacts:>9} {:>10.2} {:>9.2} {:>10.2} {:>6.2} {:>13}",
            row.robot,
            row.nv,
            row.iterations,
            row.ours_us,
            row.mujoco_us,
            row.ratio,
            format!("{least:.2} … {most:.2}")
        )?;
    }
    writeln!(f, "contacts: ours (MuJoCo's)\n")
}

fn write_gradient(f: &mut fmt::Formatter<'_>, rows: &[gradient::Row]) -> fmt::Result {
    writeln!(
        f,
        "{:<16} {:>3} {:>8} {:>12} {:>9} {:>12} {:>14} {:>9} {:>13} {:>12}",
        "robot, gradient",
        "nv",
        "ours µs",
        "our step µs",
        "/ step",
        "MuJoCo FD µs",
        "MuJoCo step µs",
        "/ FD",
        "/ one-sided",
        "/ its step"
    )?;
    for row in rows {
        writeln!(
            f,
            "{:<16} {:>3} {:>8.2} {:>12.2} {:>9.2} {:>12.1} {:>14.2} {:>9.4} {:>13.4} {:>12.2}",
            row.robot,
            row.nv,
            row.ours_us,
            row.ours_step_us,
            row.ratio_own_step,
            row.mujoco_fd_us,
            row.mujoco_step_us,
            row.ratio_fd,
            row.ratio_fd_one_sided,
            row.ratio_step
        )?;
    }
    writeln!(f)
}

fn write_jitter(f: &mut fmt::Formatter<'_>, rows: &[jitter::Row]) -> fmt::Result {
    writeln!(
        f,
        "{:<24} {:>8} {:>8} {:>9} {:>9} {:>11}",
        "robot, pushed", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "p99.9/p50"
    )?;
    for row in rows {
        let jitter::Row { robot, p50_us, p99_us, p999_us, max_us, p999_over_p50, undisturbed: quiet, .. } = row;
        let on_clock = jitter::Percentiles {
            p50_us: *p50_us,
            p99_us: *p99_us,
            p999_us: *p999_us,
            max_us: *max_us,
            p999_over_p50: *p999_over_p50,
        };
        for (what, p) in [("on the clock", &on_clock), ("undisturbed", quiet)] {
            let jitter::Percentiles { p50_us, p99_us, p999_us, max_us, p999_over_p50 } = p;
            let name = format!("{robot}, {what}");
            writeln!(f, "{name:<24} {p50_us:>8.2} {p99_us:>8.2} {p999_us:>9.2} {max_us:>9.2} {p999_over_p50:>11.2}")?;
        }
        let jitter::Row { most_iterations, not_converged, steps, .. } = row;
        writeln!(f, "at most {most_iterations} solver iterations; {not_converged} of {steps} steps not converged")?;
    }
    writeln!(f, "undisturbed: the fastest time of each step over several runs of the same rollout\n")
}

fn write_mpc(f: &mut fmt::Formatter<'_>, rows: &[mpc::Row]) -> fmt::Result {
    writeln!(
        f,
        "{:<25} {:>3} {:>7} {:>9} {:>13} {:>6} {:>13} {:>17} {:>13} {:>6}",
        "robot, mpc",
        "nv",
        "horizon",
        "ours µs",
        "Crocoddyl µs",
        "ratio",
        "of rounds",
        "backward µs/node",
        "Crocoddyl",
        "ratio"
    )?;
    for row in rows {
        let [least, most] = row.ratio_range;
        writeln!(
            f,
            "{:<25} {:>3} {:>7} {:>9.1} {:>13.1} {:>6.2} {:>13} {:>17.2} {:>13.2} {:>6.2}",
            format!("{}, {}, {}", row.robot, row.model, row.situation),
            row.nv,
            row.horizon,
            row.ours_us,
            row.crocoddyl_us,
            row.ratio,
            format!("{least:.2} … {most:.2}"),
            row.backward_us_per_node,
            row.crocoddyl_backward_us_per_node,
            row.backward_ratio
        )?;
    }
    writeln!(f, "one iteration: linearization, backward pass, one trial; contacts found by us, given to Crocoddyl\n")
}

/// The middle value; NaN of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
