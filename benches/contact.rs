//! The contact solvers on problems recorded from rollouts, from a cold start.
//!
//! `go1/standing` is one still problem with point feet, `h1/standing` one with flat feet (singular G); the others take
//! one problem in five of a second in which the robot falls, so the times are means over easy and hard ones.

use criterion::{Criterion, criterion_group, criterion_main};
use saltus::contact::{
    Admm, Constraint, GaussSeidel, Mode, Newton, Problem, ProblemDims, Scratch, Solution, Solver, SolverStatus,
};
use saltus::linalg::{MatRef, padded};
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_cli::hold::holding_motors;
use saltus_loaders::{LoadOptions, load};

const CONTACTS: usize = 64;
const SECOND: usize = 500;

/// A problem on its own.
struct Recorded {
    constraints: Vec<Constraint<f64>>,
    delassus: Vec<f64>,
    free_velocity: Vec<f64>,
}

impl Recorded {
    fn of(problem: &Problem<'_, f64>) -> Self {
        let (rows, stride) = (problem.rows(), padded(problem.rows()));
        let mut delassus = vec![0.0; rows * stride];
        for row in 0..rows {
            delassus[row * stride..][..rows].copy_from_slice(&problem.delassus.row(row)[..rows]);
        }
        Self { constraints: problem.constraints.to_vec(), delassus, free_velocity: problem.free_velocity.to_vec() }
    }

    fn problem(&self) -> Problem<'_, f64> {
        let rows = self.free_velocity.len();
        Problem {
            constraints: &self.constraints,
            delassus: MatRef::with_stride(&self.delassus, rows, rows, padded(rows)),
            free_velocity: &self.free_velocity,
        }
    }
}

/// What a robot meets: its last problem when held for a second, or every fifth when left to fall.
fn record(robot: &str, held: bool) -> Vec<Recorded> {
    let loaded = load(robot, &LoadOptions::default()).expect("a built-in robot").model;
    let rest = loaded.model().find_keyframe("rest").expect("every built-in robot has one");
    let motors = holding_motors(loaded.model(), rest.q);
    let model = Model { actuators: if held { &motors } else { loaded.model().actuators }, ..loaded.model() };
    let control = if held { rest.u } else { &[] };
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Simulator::<f64>::blocks(dims)];
    let mut simulator =
        Simulator::new(model, StepSettings::default(), dims, &mut Arena::new(&mut memory)).expect("sized for it");
    simulator.set_keyframe(&rest).expect("fits");
    let mut recorded = Vec::new();
    for step in 0..SECOND {
        simulator.step(control).expect("the state is finite");
        let wanted = if held { step + 1 == SECOND } else { step % 5 == 0 };
        if wanted && !simulator.work().assembly.is_empty() {
            recorded.push(Recorded::of(&simulator.work().assembly.problem()));
        }
    }
    recorded
}

fn contact(c: &mut Criterion) {
    for (name, robot, held) in [
        ("go1/standing", "go1", true),
        ("h1/standing", "h1", true),
        ("go1/falling", "go1", false),
        ("humanoid/falling", "humanoid", false),
    ] {
        let problems = record(robot, held);
        bench_solver(c, name, "newton", &problems, &Newton::default());
        bench_solver(c, name, "gauss_seidel", &problems, &GaussSeidel::default());
        bench_solver(c, name, "admm", &problems, &Admm::default());
    }
}

/// Microseconds per problem; how many of them were solved is said on stderr.
fn bench_solver(c: &mut Criterion, name: &str, solver_name: &str, problems: &[Recorded], solver: &impl Solver<f64>) {
    let rows = problems.iter().map(|problem| problem.free_velocity.len()).max().unwrap_or(0);
    let constraints = problems.iter().map(|problem| problem.constraints.len()).max().unwrap_or(0);
    let dims = ProblemDims { constraints, rows };
    let mut memory = vec![Block::EMPTY; Scratch::<f64>::blocks(dims)];
    let mut scratch = Scratch::carve(&mut Arena::new(&mut memory), dims).expect("sized for it");
    let (mut impulses, mut velocity) = (vec![0.0; rows], vec![0.0; rows]);
    let mut modes = vec![Mode::default(); constraints];
    let mut solve = |recorded: &Recorded| {
        let (problem, rows) = (recorded.problem(), recorded.free_velocity.len());
        impulses[..rows].fill(0.0);
        let solution = Solution {
            impulses: &mut impulses[..rows],
            velocity: &mut velocity[..rows],
            modes: &mut modes[..problem.constraints.len()],
        };
        solver.solve(&problem, solution, &mut scratch)
    };
    let solved = problems.iter().filter(|problem| solve(problem).status == SolverStatus::Converged).count();
    eprintln!("{name}/{solver_name}: {solved} of {} problems solved, up to {rows} rows", problems.len());
    let mut k = 0;
    c.benchmark_group(name).bench_function(solver_name, |b| {
        b.iter(|| {
            k = (k + 1) % problems.len();
            solve(std::hint::black_box(&problems[k]))
        })
    });
}

criterion_group!(benches, contact);
criterion_main!(benches);
