//! The derivatives of the step equal finite differences of the whole step: all robots, shapes and modes.

mod scenes;

use saltus::derivatives::{Derivatives, differentiate};
use saltus::memory::{Arena, Block};
use saltus::model::{Model, configuration};
use saltus::scalar::Dual;
use saltus::step::{NextState, Step, StepDims, StepInput, StepSettings, step};
use saltus_cli::differences::{Checker, Comparison, Modes, TOLERANCE};
use saltus_cli::states::{CONTACTS, State, sample};
use saltus_loaders::{BUILTIN, LoadOptions, load};
use saltus_testkit::{Random, random_tree};
use scenes::Scene;

/// Of each built-in robot.
const STATES: usize = 130;
/// Measured: 93.0 %. The goal is 99.5 %; the rest has a kink within the stencil, several solutions or none, as fallen
/// and jammed robots have.
const SMOOTH_SHARE: f64 = 0.92;
/// Half of the states differ by less: what the noise of the solver leaves of a finite difference.
const MEDIAN: f64 = 1e-8;
/// States, and scenes, that differ although no kink shows: two sharp edges that overlap. Their contact frame moves
/// otherwise than the collision in dual numbers has it; to be found out.
const UNEXPLAINED_STATES: usize = 1;
const UNEXPLAINED_SCENES: usize = 2;

fn compare_all(model: Model<'_, f64>, settings: StepSettings<f64>, states: &[State]) -> Vec<Comparison> {
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Checker::blocks(dims)];
    let mut checker = Checker::new(model, settings, dims, &mut Arena::new(&mut memory)).unwrap();
    states.iter().map(|state| checker.compare(&StepInput::new(&state.q, &state.v, &state.u)).unwrap()).collect()
}

#[test]
fn derivatives_of_all_robots_equal_finite_differences() {
    let (mut errors, mut failures, mut modes) = (Vec::new(), Vec::new(), [0; 7]);
    for robot in BUILTIN {
        let loaded = load(robot.name, &LoadOptions::default()).unwrap();
        let (model, settings) = (loaded.model.model(), StepSettings::default());
        let states = sample(model, settings, STATES, 1).unwrap();
        for (k, comparison) in compare_all(model, settings, &states).iter().enumerate() {
            if !comparison.passes() {
                failures.push(format!("{}, state {k}: {}", robot.name, describe(comparison, model)));
            }
            errors.push(comparison.error());
            comparison.modes.named().iter().zip(&mut modes).for_each(|(mode, count)| *count += usize::from(mode.1));
        }
    }
    let few = failures.len() <= UNEXPLAINED_STATES;
    assert!(few, "{} of {} states:\n{}", failures.len(), errors.len(), failures.join("\n"));
    assert!(errors.len() >= 2000);
    errors.sort_by(f64::total_cmp);
    let smooth = errors.iter().filter(|error| **error <= TOLERANCE).count() as f64 / errors.len() as f64;
    let median = errors[errors.len() / 2];
    println!("{} states, {:.2} % within {TOLERANCE:.0e}, median {median:.1e}", errors.len(), 100.0 * smooth);
    assert!(smooth >= SMOOTH_SHARE && median <= MEDIAN, "{smooth} of the states agree, median {median:.1e}");
    let names = Modes::default().named().map(|(name, _)| name);
    for (name, count) in names.into_iter().zip(modes).filter(|(name, _)| *name != "loop") {
        assert!(count >= 20, "{count} states are too few for {name}");
    }
}

fn describe(comparison: &Comparison, model: Model<'_, f64>) -> String {
    format!(
        "{:.1e}{} at {}; {:?}, {:?}, residual {:.1e}",
        comparison.error(),
        if comparison.boundary { " on a boundary" } else { "" },
        comparison.worst.describe(model),
        comparison.modes,
        comparison.quality,
        comparison.residual
    )
}

/// Compares scenes; the mode that each is there for must occur, and no kink excuses it.
fn check_scenes(scenes: &[Scene], unexplained: usize) {
    let failures: Vec<String> = scenes.iter().filter_map(|scene| check_scene(scene).err()).collect();
    let few = failures.len() <= unexplained;
    assert!(few, "{} of {} scenes:\n{}", failures.len(), scenes.len(), failures.join("\n"));
}

fn check_scene(scene: &Scene) -> Result<(), String> {
    let model = scene.model.model();
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Checker::blocks(dims)];
    let mut checker = Checker::new(model, scene.settings, dims, &mut Arena::new(&mut memory)).unwrap();
    let comparison = checker.compare(&scene.input()).unwrap();
    let occurs = comparison.modes.named().into_iter().any(|(name, occurs)| occurs && name == scene.mode);
    match () {
        () if !occurs => Err(format!("{}: {} does not occur in {:?}", scene.name, scene.mode, comparison.modes)),
        () if comparison.error() > scene.tolerance => Err(format!("{}: {}", scene.name, describe(&comparison, model))),
        () => Ok(()),
    }
}

#[test]
fn derivatives_in_every_mode_equal_finite_differences() {
    check_scenes(&scenes::modes(), 0);
}

#[test]
fn derivatives_of_motors_and_springs_equal_finite_differences() {
    check_scenes(&scenes::motors(), 0);
}

#[test]
fn derivatives_of_every_pair_of_shapes_equal_finite_differences() {
    let scenes = scenes::shape_pairs();
    assert!(scenes.len() >= 300, "{} scenes are too few", scenes.len());
    check_scenes(&scenes, 0);
}

/// Dual numbers go through the whole step where nothing touches.
#[test]
fn derivatives_of_free_motion_equal_dual_numbers() {
    let mut compared = 0;
    for robot in BUILTIN {
        let model = load(robot.name, &LoadOptions::default()).unwrap().model;
        let states = sample(model.model(), StepSettings::default(), 40, 2).unwrap();
        compared += states.iter().filter(|state| equals_dual_numbers(robot.name, &model, state)).count();
    }
    for seed in 0..20 {
        let (model, mut random) = (random_tree(seed, 8), Random::new(seed));
        let (nv, nu) = (model.model().nv(), model.model().nu());
        let state = State { q: random.configuration(model.model()), v: random.vector(nv), u: random.vector(nu) };
        compared += usize::from(equals_dual_numbers("tree", &model, &state));
    }
    assert!(compared > 100, "{compared} states are too few");
}

/// False when a constraint holds.
fn equals_dual_numbers(name: &str, owned: &saltus::model::OwnedModel<f64>, state: &State) -> bool {
    /// Both are exact but for rounding.
    const TOLERANCE: f64 = 1e-10;
    type D = Dual<f64>;
    let (model, dual) = (owned.model(), owned.cast::<D>());
    let (nq, nv, dims) = (model.nq(), model.nv(), StepDims::of(model, CONTACTS));
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let (mut work, mut jacobian) =
        (Step::carve(&mut arena, dims).unwrap(), Derivatives::carve(&mut arena, dims).unwrap());
    let (settings, input) = (StepSettings::default(), StepInput::new(&state.q, &state.v, &state.u));
    let (mut q, mut v) = (vec![0.0; nq], vec![0.0; nv]);
    let report = step(model, &input, &settings, NextState { q: &mut q, v: &mut v }, &mut work).unwrap();
    if report.rows > 0 {
        return false;
    }
    differentiate(model, &input, &settings, &mut work, &mut jacobian).unwrap();
    let exact = jacobian.all();
    let scale = (0..nv).flat_map(|row| exact.row(row)).fold(1.0_f64, |largest, x| largest.max(x.abs()));

    let mut memory = vec![Block::EMPTY; Step::<D>::blocks(dims)];
    let mut work = Step::carve(&mut Arena::new(&mut memory), dims).unwrap();
    let constants = |x: &[f64]| -> Vec<D> { x.iter().map(|&x| D::constant(x)).collect() };
    for column in 0..exact.cols() {
        let (start, mut v, mut u) = (constants(&state.q), constants(&state.v), constants(&state.u));
        let (mut along, mut q) = (vec![D::constant(0.0); nv], start.clone());
        match column {
            k if k < nv => along[k] = D::variable(0.0),
            k if k < 2 * nv => v[k - nv] = D::variable(v[k - nv].value),
            k => u[k - 2 * nv] = D::variable(u[k - 2 * nv].value),
        }
        configuration::integrate(dual.model(), &start, &along, &mut q).unwrap();
        let (mut q_next, mut v_next) = (q.clone(), v.clone());
        let next = NextState { q: &mut q_next, v: &mut v_next };
        step(dual.model(), &StepInput::new(&q, &v, &u), &StepSettings::default(), next, &mut work).unwrap();
        for row in 0..nv {
            let error = (v_next[row].tangent[0] - exact[(row, column)]).abs() / scale;
            assert!(error <= TOLERANCE, "{name}: ({row}, {column}) is off by {error:.1e}");
        }
    }
    true
}

/// Whatever the state, no entry is infinite or not a number.
#[test]
fn derivatives_are_numbers_everywhere() {
    for robot in BUILTIN {
        let model = load(robot.name, &LoadOptions::default()).unwrap().model;
        let model = model.model();
        let mut random = Random::new(3);
        for k in 0..200 {
            let reach = [1e-12, 1e-6, 1.0, 100.0][k % 4];
            let scaled = |numbers: Vec<f64>| numbers.iter().map(|x| reach * x).collect();
            let (q, v) = (random.configuration(model), scaled(random.vector(model.nv())));
            let state = State { q, v, u: scaled(random.vector(model.nu())) };
            assert_finite(robot.name, model, StepSettings::default(), &StepInput::new(&state.q, &state.v, &state.u));
        }
        for keyframe in (0..).map_while(|k| model.keyframe(k)) {
            let at_rest = vec![0.0; model.nv()];
            assert_finite(robot.name, model, StepSettings::default(), &StepInput::new(keyframe.q, &at_rest, &[]));
        }
    }
    for scene in scenes::degenerate() {
        assert_finite(&scene.name, scene.model.model(), scene.settings, &scene.input());
    }
}

fn assert_finite(name: &str, model: Model<'_, f64>, settings: StepSettings<f64>, input: &StepInput<'_, f64>) {
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let (mut work, mut jacobian) =
        (Step::carve(&mut arena, dims).unwrap(), Derivatives::carve(&mut arena, dims).unwrap());
    let (mut q, mut v) = (vec![0.0; model.nq()], vec![0.0; model.nv()]);
    if step(model, input, &settings, NextState { q: &mut q, v: &mut v }, &mut work).is_err() {
        return;
    }
    let quality = differentiate(model, input, &settings, &mut work, &mut jacobian).unwrap();
    let entries = (0..model.nv()).flat_map(|row| jacobian.all().row(row));
    assert!(entries.into_iter().all(|x| x.is_finite()), "{name}: {quality:?} at {input:?}");
}
