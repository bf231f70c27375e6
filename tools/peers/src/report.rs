//! What is printed: medians over the rounds, and ratios taken round by round.

use std::fmt;

use serde::Serialize;

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
        writeln!(
            f,
            "{:<6} {:>3}  {:<30} {:>9} {:>14} {:>6} {:>14} {:>6}",
            "robot", "nv", "algorithm", "ours µs", "Pinocchio µs", "ratio", "native µs", "ratio"
        )?;
        for robot in &self.dynamics {
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
        writeln!(f, "medians; ratios taken round by round; native: Pinocchio compiled for x86-64-v3")
    }
}

/// The middle value; NaN of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
