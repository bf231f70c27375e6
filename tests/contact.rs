//! Solvers on problems from rollouts of every built-in robot, judged by a natural map of the tests' own.

use std::cell::{Cell, RefCell};

use nalgebra::{DMatrix, DVector, Vector3};
use saltus::contact::{
    Admm, Constraint, GaussSeidel, Law, Mode, Newton, Outcome, Problem, ProblemDims, Scratch, Solution, Solver,
    SolverStatus, Source, Stop,
};
use saltus::linalg::{MatRef, padded};
use saltus::memory::{Arena, Block};
use saltus::model::{BodySpec, ClosureSpec, GeometrySpec, JointSpec, ModelBuilder, Shape};
use saltus::scalar::Real;
use saltus::spatial::{Inertia, Placement};
use saltus::step::StepSettings;
use saltus_testkit::{RandomControls, Watched, builtin_robot, builtin_robots, simulator};

/// Shares of the control range: a robot that stands, one that struggles, one that is thrown about.
const AMPLITUDES: [f64; 3] = [0.1, 0.3, 1.0];
/// Steps of each rollout, from the keyframe `rest`.
const STEPS: usize = 1000;
/// Turn in a part of a step: under full torque a catapult's joints whirl by a radian in 2 ms, and whole steps of that feed
/// them energy until they leave the range of `f32`.
const MAX_TURN_RAD: f64 = 0.1;

/// A problem in memory of its own, in f64 whatever it was solved in.
#[derive(Clone)]
struct Recorded {
    constraints: Vec<Constraint<f64>>,
    delassus: DMatrix<f64>,
    free_velocity: DVector<f64>,
    warm: Vec<f64>,
}

impl Recorded {
    fn of<T: Real>(problem: &Problem<'_, T>, warm: &[T]) -> Self {
        let rows = problem.rows();
        let law = |law: &Law<T>| match *law {
            Law::Contact { friction } => Law::Contact { friction: friction.to_f64() },
            Law::Unilateral => Law::Unilateral,
            Law::DryFriction { bound } => Law::DryFriction { bound: bound.to_f64() },
            Law::Bilateral => Law::Bilateral,
        };
        let constraint = |c: &Constraint<T>| Constraint { law: law(&c.law), first_row: c.first_row, source: c.source };
        Self {
            constraints: problem.constraints.iter().map(constraint).collect(),
            delassus: DMatrix::from_fn(rows, rows, |i, j| problem.delassus[(i, j)].to_f64()),
            free_velocity: DVector::from_fn(rows, |i, _| problem.free_velocity[i].to_f64()),
            warm: warm.iter().map(|x| x.to_f64()).collect(),
        }
    }

    fn rows(&self) -> usize {
        self.warm.len()
    }

    /// Whether two geometries touch at more than one point: G is singular, or nearly so.
    fn has_patches(&self) -> bool {
        let pair = |c: &Constraint<f64>| match c.source {
            Source::Contact { pair, .. } => Some(pair),
            _ => None,
        };
        self.constraints.windows(2).any(|two| pair(&two[0]).is_some() && pair(&two[0]) == pair(&two[1]))
    }

    fn without_friction(mut self) -> Self {
        for constraint in &mut self.constraints {
            if let Law::Contact { friction } = &mut constraint.law {
                *friction = 0.0;
            }
        }
        self
    }

    /// σ = G λ + g.
    fn velocity(&self, impulses: &[f64]) -> DVector<f64> {
        &self.delassus * DVector::from_column_slice(impulses) + &self.free_velocity
    }

    /// ‖λ − P_K(λ − ρ (σ + Γ(σ)))‖∞ over the largest impulse, ρ the inverse of the constraint's largest entry of G.
    fn natural_residual(&self, impulses: &[f64]) -> f64 {
        let sigma = self.velocity(impulses);
        let mut worst: f64 = 0.0;
        for constraint in &self.constraints {
            let rows = constraint.rows();
            let (row, n) = (rows.start, rows.len());
            let most = rows.map(|k| self.delassus[(k, k)]).fold(0.0, f64::max);
            let rho = if most > 0.0 { 1.0 / most } else { 1.0 };
            let lambda = DVector::from_column_slice(&impulses[row..row + n]);
            let mut shifted = &lambda - sigma.rows(row, n) * rho;
            let projected = match constraint.law {
                Law::Contact { friction } => {
                    shifted[2] -= rho * friction * sigma.rows(row, 2).norm();
                    let nearest = nearest_in_cone(Vector3::new(shifted[0], shifted[1], shifted[2]), friction);
                    DVector::from_column_slice(nearest.as_slice())
                }
                Law::Unilateral => shifted.map(|x| x.max(0.0)),
                Law::DryFriction { bound } => shifted.map(|x| x.clamp(-bound, bound)),
                Law::Bilateral => shifted,
            };
            let error = (lambda - projected).amax();
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
        let largest = impulses.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if largest > 0.0 { worst / largest } else { worst }
    }

    /// What a solver gives, from the recorded warm start or from zero.
    fn solve(&self, solver: &impl Solver<f64>, warm: bool) -> Answer {
        self.solve_until(solver, warm, &mut || false)
    }

    /// The same, or what it has when it is told to stop.
    fn solve_until(&self, solver: &impl Solver<f64>, warm: bool, stop: Stop<'_>) -> Answer {
        let (rows, stride) = (self.rows(), padded(self.rows()));
        let mut matrix = vec![0.0; rows * stride];
        for i in 0..rows {
            for j in 0..rows {
                matrix[i * stride + j] = self.delassus[(i, j)];
            }
        }
        let delassus = MatRef::with_stride(&matrix, rows, rows, stride);
        let free_velocity = self.free_velocity.as_slice();
        let problem = Problem { constraints: &self.constraints, delassus, free_velocity };
        let dims = ProblemDims { constraints: self.constraints.len(), rows };
        let mut memory = vec![Block::EMPTY; Scratch::<f64>::blocks(dims)];
        let mut scratch = Scratch::carve(&mut Arena::new(&mut memory), dims).unwrap();
        let mut impulses = if warm { self.warm.clone() } else { vec![0.0; rows] };
        let (mut velocity, mut modes) = (vec![0.0; rows], vec![Mode::Break; self.constraints.len()]);
        let solution = Solution { impulses: &mut impulses, velocity: &mut velocity, modes: &mut modes };
        let Outcome { status, iterations, .. } = solver.solve_until(&problem, solution, &mut scratch, stop);
        Answer { status, iterations, impulses, modes }
    }
}

/// The nearest point of ‖x_T‖ ≤ μ x_N, by the Moreau decomposition: into the cone, onto its boundary ray, or its apex.
fn nearest_in_cone(x: Vector3<f64>, friction: f64) -> Vector3<f64> {
    let tangent = x.xy().norm();
    if x.z >= 0.0 && tangent <= friction * x.z {
        return x;
    }
    if tangent == 0.0 {
        return Vector3::zeros();
    }
    let ray = Vector3::new(friction * x.x / tangent, friction * x.y / tangent, 1.0);
    ray * (x.dot(&ray) / ray.norm_squared()).max(0.0)
}

struct Answer {
    status: SolverStatus,
    iterations: u16,
    impulses: Vec<f64>,
    modes: Vec<Mode>,
}

/// Rolls every built-in robot out, with the default solver, and shows each problem with its answer.
fn roll_out<T: Real>(seen: impl Fn(&str, Recorded, Vec<f64>, SolverStatus)) {
    for (name, robot) in builtin_robots() {
        for (k, amplitude) in AMPLITUDES.into_iter().enumerate() {
            let look = |problem: &Problem<'_, T>, warm: &[T], impulses: &[T], outcome: &Outcome<T>| {
                let impulses = impulses.iter().map(|x| x.to_f64()).collect();
                seen(name, Recorded::of(problem, warm), impulses, outcome.status);
            };
            let solver = Watched { solver: Newton::default(), seen: look };
            let settings = StepSettings { max_turn_rad: T::from_f64(MAX_TURN_RAD), ..StepSettings::default() };
            let mut simulator = simulator(robot.cast::<T>(), settings.with_solver(solver));
            let mut controls = RandomControls::new(simulator.model(), amplitude, 100 + k as u64);
            for step in 0..STEPS {
                let (control, force) = controls.draw();
                let result = simulator.step_with(control, force, &[]);
                result.unwrap_or_else(|error| panic!("{name}, step {step}: {error}"));
            }
        }
    }
}

/// How the default solver fared on one robot, or on all.
#[derive(Clone, Copy, Default)]
struct Tally {
    problems: usize,
    patches: usize,
    loose: usize,
    silent: usize,
    worst_converged: f64,
}

/// Rolls out and counts: problems above `limit`, and those among them whose status says converged.
fn judge<T: Real>(limit: f64) -> Tally {
    let tallies = RefCell::new(Vec::<(String, Tally)>::new());
    roll_out::<T>(|name, problem, impulses, status| {
        let mut tallies = tallies.borrow_mut();
        if tallies.last().is_none_or(|(last, _)| last != name) {
            tallies.push((name.to_owned(), Tally::default()));
        }
        let tally = &mut tallies.last_mut().unwrap().1;
        let residual = problem.natural_residual(&impulses);
        tally.problems += 1;
        tally.patches += usize::from(problem.has_patches());
        if residual > limit {
            tally.loose += 1;
            tally.silent += usize::from(status == SolverStatus::Converged);
        }
        if status == SolverStatus::Converged {
            tally.worst_converged = tally.worst_converged.max(residual);
        }
    });
    let mut total = Tally::default();
    println!("{:<16} {:>8} {:>8} {:>6} {:>6} {:>10}", "robot", "problems", "patches", "loose", "silent", "converged≤");
    for (name, t) in tallies.into_inner() {
        println!(
            "{name:<16} {:>8} {:>8} {:>6} {:>6} {:>10.1e}",
            t.problems, t.patches, t.loose, t.silent, t.worst_converged
        );
        total.problems += t.problems;
        total.patches += t.patches;
        total.loose += t.loose;
        total.silent += t.silent;
    }
    println!("{} problems, {} above {limit:e}", total.problems, total.loose);
    total
}

/// Problems that the rollouts must give at least, and how many of them with contact patches, and without.
const ENOUGH: usize = 5000;
const ENOUGH_OF_A_KIND: usize = 1000;

#[test]
fn newton_solves_999_of_1000_problems_in_f64_and_says_so_of_the_rest() {
    // Ten times the solver's own tolerance: its last correction is measured by sums in another order.
    let tally = judge::<f64>(1e-9);
    assert!(tally.problems >= ENOUGH && tally.patches >= ENOUGH_OF_A_KIND);
    assert!(tally.problems - tally.patches >= ENOUGH_OF_A_KIND);
    assert!(tally.loose * 1000 <= tally.problems, "{} of {} are not solved", tally.loose, tally.problems);
    assert_eq!(tally.silent, 0, "converged, but not to 1e-9");
}

#[test]
fn newton_solves_999_of_1000_problems_in_f32_and_says_so_of_the_rest() {
    let tally = judge::<f32>(1e-4);
    assert!(tally.problems >= ENOUGH && tally.patches >= ENOUGH_OF_A_KIND);
    assert!(tally.problems - tally.patches >= ENOUGH_OF_A_KIND);
    assert!(tally.loose * 1000 <= tally.problems, "{} of {} are not solved", tally.loose, tally.problems);
    assert_eq!(tally.silent, 0, "converged, but not to 1e-4");
}

/// Factorizations of all solves in rollouts of an optimizer's kind: long steps, each warm-started from the one before.
fn factorizations<T: Real>(dt_s: f64) -> Vec<u16> {
    /// Steps of each rollout: a robot falls, and struggles on the ground.
    const LONG_STEPS: usize = 300;
    let counts = RefCell::new(Vec::new());
    // Robots that do not whirl: a jump-worm's joints turn by radians in 20 ms, which no step of first order survives.
    for name in ["go1", "h1", "humanoid", "hopper", "half_cheetah", "cube"] {
        for (k, amplitude) in [0.1, 0.3].into_iter().enumerate() {
            let look = |_: &Problem<'_, T>, _: &[T], _: &[T], outcome: &Outcome<T>| {
                counts.borrow_mut().push(outcome.iterations);
            };
            let solver = Watched { solver: Newton::default(), seen: look };
            let settings = StepSettings::with_dt(T::from_f64(dt_s)).with_solver(solver);
            let mut simulator = simulator(builtin_robot(name).cast::<T>(), settings);
            let mut controls = RandomControls::new(simulator.model(), amplitude, 100 + k as u64);
            for _ in 0..LONG_STEPS {
                let (control, force) = controls.draw();
                simulator.step_with(control, force, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
    counts.into_inner()
}

#[test]
fn long_steps_take_few_factorizations() {
    // What an optimizer can afford on average, and in all but one of a hundred steps.
    const MEAN: f64 = 4.0;
    const HUNDREDTH: u16 = 25;
    for (kind, dt_s, mut counts) in [
        ("f64", 0.002, factorizations::<f64>(0.002)),
        ("f64", 0.01, factorizations::<f64>(0.01)),
        ("f64", 0.02, factorizations::<f64>(0.02)),
        ("f32", 0.01, factorizations::<f32>(0.01)),
        ("f32", 0.02, factorizations::<f32>(0.02)),
    ] {
        counts.sort_unstable();
        let at = |share: f64| counts[((counts.len() - 1) as f64 * share).round() as usize];
        let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / counts.len() as f64;
        let shares = [0.5, 0.9, 0.99, 0.999, 1.0].map(at);
        println!("{kind}, {:>2} ms: {} solves, mean {mean:.2}, {shares:?}", 1e3 * dt_s, counts.len());
        assert!(counts.len() > 3000 && mean <= MEAN && shares[2] <= HUNDREDTH, "{kind}, {dt_s} s: {mean} {shares:?}");
    }
}

/// Every so many-th problem goes to the slow solvers.
const SPARSELY: usize = 101;

/// A sample of the rollouts' problems.
fn sample() -> Vec<Recorded> {
    let (count, kept) = (Cell::new(0), RefCell::new(Vec::new()));
    roll_out::<f64>(|_, problem, _, _| {
        count.set(count.get() + 1);
        if count.get() % SPARSELY == 0 {
            kept.borrow_mut().push(problem);
        }
    });
    kept.into_inner()
}

/// ADMM as a referee: slow and tight.
fn referee() -> Admm<f64> {
    Admm { tolerance: 1e-12, max_iterations: 20_000, ..Admm::default() }
}

/// How far two velocities may differ where they are the same: a residual of 1e-10, amplified by the condition of G.
const SAME_VELOCITY: f64 = 1e-7;

/// ‖a − b‖∞ over the largest velocity that a problem knows.
fn velocity_gap(problem: &Recorded, a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (problem.velocity(a), problem.velocity(b));
    (&a - &b).amax() / problem.free_velocity.amax().max(f64::MIN_POSITIVE)
}

#[test]
fn without_friction_the_velocity_is_unique_and_newton_and_admm_find_the_same() {
    // Without friction the laws are the optimality conditions of ½ λᵀGλ + gᵀλ over a convex set: G λ is unique.
    let (mut all, mut compared) = (0, 0);
    for problem in sample().into_iter().map(Recorded::without_friction) {
        all += 1;
        let (newton, admm) = (problem.solve(&Newton::default(), true), problem.solve(&referee(), false));
        if [newton.status, admm.status] == [SolverStatus::Converged; 2] {
            compared += 1;
            let gap = velocity_gap(&problem, &newton.impulses, &admm.impulses);
            assert!(gap < SAME_VELOCITY, "{} rows: velocities differ by {gap:e}", problem.rows());
        }
    }
    println!("compared {compared} of {all}");
    assert!(compared * 10 >= all * 9, "compared only {compared} of {all}");
}

/// Smallest over largest eigenvalue of G above which the impulses, and not the velocities alone, are determined.
const FULL_RANK: f64 = 1e-6;

#[test]
fn with_friction_newton_and_admm_agree_or_both_give_a_true_solution() {
    // Coulomb's law promises no single solution. Where points are redundant, as under a cube that slides and spins,
    // each share of the weight among them is a solution with a friction, and a velocity, of its own.
    let (mut all, mut compared, mut regular, mut several) = (0, 0, 0, [0, 0]);
    for problem in sample() {
        all += 1;
        let (newton, admm) = (problem.solve(&Newton::default(), true), problem.solve(&referee(), false));
        if [newton.status, admm.status] != [SolverStatus::Converged; 2] {
            continue;
        }
        let eigenvalues = problem.delassus.symmetric_eigenvalues();
        let is_regular = eigenvalues.min() > FULL_RANK * eigenvalues.max();
        compared += 1;
        regular += usize::from(is_regular);
        if velocity_gap(&problem, &newton.impulses, &admm.impulses) > SAME_VELOCITY {
            several[usize::from(is_regular)] += 1;
            assert!(problem.natural_residual(&newton.impulses) < 1e-9);
            assert!(problem.natural_residual(&admm.impulses) < 1e-9);
        }
    }
    println!(
        "compared {compared} of {all}, {regular} of full rank; several solutions: {several:?} without and with it"
    );
    assert!(compared * 10 >= all * 9 && regular * 6 >= all, "compared {compared} of {all}, {regular} of full rank");
    assert!(several[1] * 100 <= regular, "{} of {regular} regular problems have several solutions", several[1]);
}

#[test]
fn cold_and_warm_start_give_the_same_velocity_where_it_is_unique() {
    let (mut all, mut compared) = (0, 0);
    for problem in sample().into_iter().map(Recorded::without_friction) {
        all += 1;
        let [cold, warm] = [false, true].map(|warm| problem.solve(&Newton::default(), warm));
        if [cold.status, warm.status] == [SolverStatus::Converged; 2] {
            compared += 1;
            let gap = velocity_gap(&problem, &cold.impulses, &warm.impulses);
            assert!(gap < SAME_VELOCITY, "velocities differ by {gap:e}");
        }
    }
    assert!(compared * 1000 >= all * 999, "compared only {compared} of {all}");
}

#[test]
fn gauss_seidel_and_admm_say_converged_only_when_they_are() {
    let mut converged = [0; 2];
    let problems = sample();
    for problem in &problems {
        let admm = Admm { max_iterations: 500, ..Admm::default() };
        let answers = [problem.solve(&GaussSeidel::default(), true), problem.solve(&admm, true)];
        for (answer, converged) in answers.into_iter().zip(&mut converged) {
            let residual = problem.natural_residual(&answer.impulses);
            assert_eq!(answer.modes.len(), problem.constraints.len());
            if answer.status == SolverStatus::Converged {
                *converged += 1;
                assert!(residual < 1e-9, "said converged at {residual:e}");
            } else {
                assert!(answer.iterations >= 500 && answer.impulses.iter().all(|x| x.is_finite()));
            }
        }
    }
    println!("Gauss–Seidel {}, ADMM {} of {}", converged[0], converged[1], problems.len());
    assert!(converged.iter().all(|&n| n > 0));
}

/// Stops a solver at its question number `most`, counted from zero; whether it heard.
fn stops_when_told(problem: &Recorded, solver: &impl Solver<f64>, most: u16) -> bool {
    let mut asked = 0;
    let mut stop = || {
        asked += 1;
        asked > most
    };
    let answer = problem.solve_until(solver, false, &mut stop);
    assert!(asked <= most + 1, "asked again after it was told to stop");
    assert!(answer.iterations <= most, "{} iterations after {most} questions", answer.iterations);
    assert!(answer.impulses.iter().all(|x| x.is_finite()));
    assert_eq!(answer.status == SolverStatus::Stopped, asked > most, "{:?}", answer.status);
    asked > most
}

#[test]
fn a_solver_that_is_told_to_stop_does_so_before_its_next_iteration_and_says_so() {
    let mut stopped = [0; 3];
    for problem in sample() {
        for most in [0, 1, 2, 5, 20] {
            // Without iterations of its own, Newton follows the central path.
            let path = Newton { iterations: 0, ..Newton::default() };
            stopped[0] += usize::from(stops_when_told(&problem, &Newton::default(), most));
            stopped[0] += usize::from(stops_when_told(&problem, &path, most));
            stopped[1] += usize::from(stops_when_told(&problem, &GaussSeidel::default(), most));
            stopped[2] += usize::from(stops_when_told(&problem, &Admm::default(), most));
        }
    }
    assert!(stopped.iter().all(|&n| n > 100), "too few were stopped: {stopped:?}");
}

/// Steps a scene and checks every answer; gives the number of problems.
fn solves(scene: &ModelBuilder, q: &[f64], v: &[f64], control: &[f64]) -> usize {
    let count = Cell::new(0);
    let look = |problem: &Problem<'_, f64>, warm: &[f64], impulses: &[f64], outcome: &Outcome<f64>| {
        let residual = Recorded::of(problem, warm).natural_residual(impulses);
        assert!(outcome.status == SolverStatus::Converged && residual < 1e-9, "{residual:e}, {outcome:?}");
        count.set(count.get() + 1);
    };
    let solver = Watched { solver: Newton::default(), seen: look };
    let mut simulator = simulator(scene.build().unwrap(), StepSettings::default().with_solver(solver));
    simulator.set_state(q, v).unwrap();
    for _ in 0..200 {
        simulator.step(control).unwrap();
    }
    count.get()
}

fn ground() -> ModelBuilder {
    ModelBuilder::new().geometry("world", GeometrySpec::new("floor", Shape::HalfSpace))
}

#[test]
fn a_box_on_the_floor_and_one_on_four_feet_solve_though_their_points_are_redundant() {
    let inertia = Inertia::solid_box(1.0, &Vector3::repeat(0.2));
    let shape = |x: f64| Shape::Box { half_extents: Vector3::repeat(x) };
    let cube =
        BodySpec::new("cube", JointSpec::free_flyer()).inertia(inertia).geometry(GeometrySpec::new("", shape(0.1)));
    let mut table = BodySpec::new("table", JointSpec::free_flyer()).inertia(inertia);
    for (x, y) in [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)] {
        table = table.geometry(GeometrySpec::new("", shape(0.02)).placement(Placement::translation(x, y, -0.08)));
    }
    for body in [cube, table] {
        for v in [[0.0; 6], [1.0, 0.5, 0.0, 0.0, 0.0, 3.0]] {
            let q = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0];
            assert_eq!(solves(&ground().body(body.clone()), &q, &v, &[]), 200);
        }
    }
}

#[test]
fn a_loop_closed_twice_solves() {
    let rod = |name: &str| {
        let middle = Placement::translation(0.0, 0.0, -0.25);
        BodySpec::new(name, JointSpec::revolute(Vector3::y()))
            .inertia(Inertia::solid_sphere(1.0, 0.05).moved_by(&middle))
    };
    let tip = Placement::translation(0.0, 0.0, -0.5);
    let tie = ClosureSpec::point("left", "right").at(tip, tip);
    let scene = ModelBuilder::new().body(rod("left")).body(rod("right")).closure(tie.clone()).closure(tie);
    assert_eq!(solves(&scene, &[0.5, 0.5], &[0.0; 2], &[0.0; 2]), 200);
}

#[test]
fn a_joint_at_its_limit_with_dry_friction_solves() {
    let slider = BodySpec::new("slider", JointSpec::prismatic(Vector3::x()))
        .inertia(Inertia::solid_sphere(2.0, 0.1))
        .dry_friction(3.0)
        .position_limits(0.0, 1.0);
    let scene = ModelBuilder::new().body(slider);
    for control in [-10.0, -3.0, -1.0, 0.0, 1.0, 10.0] {
        assert_eq!(solves(&scene, &[0.0], &[0.0], &[control]), 200);
    }
}

#[test]
fn a_problem_that_is_not_finite_gets_no_impulses() {
    let contact = Constraint {
        law: Law::Contact { friction: 0.5 },
        first_row: 0,
        source: Source::Contact { pair: 0, feature: 0 },
    };
    let sound = Recorded {
        constraints: vec![contact],
        delassus: DMatrix::identity(3, 3),
        free_velocity: DVector::from_vec(vec![1.0, 0.0, -1.0]),
        warm: vec![0.0, 0.0, 1.0],
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (mut velocity, mut matrix, mut warm) = (sound.clone(), sound.clone(), sound.clone());
        velocity.free_velocity[1] = bad;
        matrix.delassus[(2, 0)] = bad;
        warm.warm[2] = bad;
        for problem in [velocity, matrix, warm] {
            let answers = [
                problem.solve(&Newton::default(), true),
                problem.solve(&Admm::default(), true),
                problem.solve(&GaussSeidel::default(), true),
            ];
            for answer in answers {
                assert_eq!((answer.status, answer.impulses), (SolverStatus::NotFinite, vec![0.0; 3]));
            }
        }
    }
}

#[test]
fn a_problem_that_needs_no_impulse_gets_none_whatever_the_warm_start() {
    let chain = |friction: f64| Recorded {
        constraints: (0..2)
            .map(|k| Constraint {
                law: Law::Contact { friction },
                first_row: 3 * k,
                source: Source::Contact { pair: k, feature: 0 },
            })
            .collect(),
        delassus: DMatrix::from_fn(6, 6, |i, j| {
            if i == j {
                2.0
            } else if i.abs_diff(j) == 3 {
                -1.0
            } else {
                0.0
            }
        }),
        free_velocity: DVector::zeros(6),
        warm: vec![0.0, 0.0, 1e-10, 0.0, 0.0, 2e-10],
    };
    for problem in [chain(0.0), chain(0.5)] {
        let answer = problem.solve(&Newton::default(), true);
        assert_eq!((answer.status, answer.impulses), (SolverStatus::Converged, vec![0.0; 6]));
    }
}
