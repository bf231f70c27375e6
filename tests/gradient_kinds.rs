//! Products with the Jacobian of the step, forward and back, and the kinds of gradient.

mod scenes;

use nalgebra::{DMatrix, DVector, Vector3};
use saltus::contact::Mode;
use saltus::derivatives::{Cotangent, Derivatives, Quality, differentiate, pull_back, push_forward};
use saltus::linalg::MatMut;
use saltus::memory::{Arena, Block};
use saltus::model::configuration::Argument;
use saltus::model::{BodySpec, GeometrySpec, JointSpec, Model, ModelBuilder, OwnedModel, Shape};
use saltus::spatial::Inertia;
use saltus::step::{Gradient, NextState, Step, StepDims, StepInput, StepSettings, advance_jacobian, step};
use saltus_cli::states::{CONTACTS, sample};
use saltus_loaders::{BUILTIN, LoadOptions, load};
use saltus_testkit::Random;

/// The two ways sum the same products in another order.
const TRANSPOSED: f64 = 1e-12;
/// Of each robot.
const STATES: usize = 25;

/// Every kind that has a full Jacobian, with values that matter at the size of a robot.
const KINDS: [Gradient<f64>; 3] =
    [Gradient::Exact, Gradient::Relaxed { kappa: 1e-3 }, Gradient::Smoothed { samples: 12, radius_m: 1e-3, seed: 7 }];

/// A step just taken, and its Jacobian.
struct Taken {
    /// ∂v⁺/∂(q, v, u).
    jacobian: DMatrix<f64>,
    /// ∂q⁺/∂(q, v, u).
    moved: DMatrix<f64>,
    v: Vec<f64>,
    quality: Quality<f64>,
}

/// Memory for steps and derivatives of a model, handed to `body`.
fn with_memory<R>(model: Model<'_, f64>, body: impl FnOnce(&mut Step<'_, f64>, &mut Derivatives<'_, f64>) -> R) -> R {
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let mut work = Step::carve(&mut arena, dims).unwrap();
    body(&mut work, &mut Derivatives::carve(&mut arena, dims).unwrap())
}

/// Takes a step and its Jacobian; nothing when the step has no answer.
fn take(
    model: Model<'_, f64>,
    input: &StepInput<'_, f64>,
    settings: &StepSettings<f64>,
    (work, out): (&mut Step<'_, f64>, &mut Derivatives<'_, f64>),
) -> Option<Taken> {
    let (nv, dt_s) = (model.nv(), settings.dt_s);
    let (mut q, mut v) = (input.q.to_vec(), input.v.to_vec());
    work.forget();
    step(model, input, settings, NextState { q: &mut q, v: &mut v }, work).ok()?;
    let quality = differentiate(model, input, settings, work, out).unwrap();
    let jacobian = out.all().to_nalgebra().into_owned();
    let parts = [Argument::From, Argument::To].map(|argument| {
        let mut part = vec![0.0; nv * nv];
        advance_jacobian(model, dt_s, &v, argument, MatMut::new(&mut part, nv, nv)).unwrap();
        DMatrix::from_row_slice(nv, nv, &part)
    });
    let mut moved = &parts[1] * &jacobian;
    let mut by_configuration = moved.columns_mut(0, nv);
    by_configuration += &parts[0];
    Some(Taken { jacobian, moved, v, quality })
}

fn settings(gradient: Gradient<f64>) -> StepSettings<f64> {
    StepSettings { gradient, ..StepSettings::default() }
}

/// Largest difference, over the largest product that was summed.
fn difference(a: &DVector<f64>, b: &DVector<f64>, scale: f64) -> f64 {
    (a - b).amax() / scale.max(f64::MIN_POSITIVE)
}

#[test]
fn products_equal_those_with_the_jacobian() {
    let mut worst = 0.0_f64;
    for robot in BUILTIN {
        let loaded = load(robot.name, &LoadOptions::default()).unwrap().model;
        let model = loaded.model();
        let states = sample(model, StepSettings::default(), STATES, 5).unwrap();
        let mut random = Random::new(6);
        with_memory(model, |work, out| {
            for (k, state) in states.iter().enumerate() {
                let settings = settings(KINDS[k % KINDS.len()]);
                let input = StepInput::new(&state.q, &state.v, &state.u);
                let Some(taken) = take(model, &input, &settings, (work, out)) else { continue };
                let error = compare_products(model, (&input, &settings), &taken, &mut random, (work, out));
                worst = worst.max(error);
                assert!(error <= TRANSPOSED, "{}, state {k}, {:?}: {error:.1e}", robot.name, settings.gradient);
            }
        });
    }
    println!("products differ by {worst:.1e} at most");
}

/// Of one step: forward along a random direction, and back from a random loss of q⁺ and v⁺.
fn compare_products(
    model: Model<'_, f64>,
    step: (&StepInput<'_, f64>, &StepSettings<f64>),
    taken: &Taken,
    random: &mut Random,
    (work, out): (&mut Step<'_, f64>, &mut Derivatives<'_, f64>),
) -> f64 {
    let (nv, columns) = (model.nv(), taken.jacobian.ncols());
    let size = taken.jacobian.amax().max(taken.moved.amax()) * columns as f64;
    let direction = DVector::from_vec(random.vector(columns));
    let mut change = vec![0.0; nv];
    push_forward(model, step, direction.as_slice(), &mut change, (work, out)).unwrap();
    let forward = difference(&DVector::from_vec(change), &(&taken.jacobian * &direction), size);

    let (by_q, by_v) = (random.vector(nv), random.vector(nv));
    let mut gradient = vec![0.0; columns];
    pull_back(model, step, Cotangent { q: &by_q, v: &by_v }, &mut gradient, (work, out)).unwrap();
    let (by_q, by_v) = (DVector::from_vec(by_q), DVector::from_vec(by_v));
    let expected = taken.moved.transpose() * by_q + taken.jacobian.transpose() * by_v;
    forward.max(difference(&DVector::from_vec(gradient), &expected, size))
}

/// A ball on a floor: a free body, so that every entry has a meaning one can name.
fn ball(friction: f64) -> OwnedModel<f64> {
    let skin = GeometrySpec::new("skin", Shape::Sphere { radius: 0.1 }).friction(friction);
    let floor = GeometrySpec::new("floor", Shape::HalfSpace).friction(friction);
    let ball = BodySpec::new("ball", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, 0.1)).geometry(skin);
    ModelBuilder::new().body(ball).geometry("world", floor).gravity(Vector3::new(0.0, 0.0, -9.81)).build().unwrap()
}

const AT_REST: [f64; 7] = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0];

#[test]
fn relaxed_gradients_become_exact_as_kappa_goes_to_zero() {
    // Sliding contacts included; far from a mode boundary the central path ends at the solution.
    let robot = load("go1", &LoadOptions::default()).unwrap().model;
    let model = robot.model();
    let states = sample(model, StepSettings::default(), STATES, 5).unwrap();
    let mut compared = 0;
    with_memory(model, |work, out| {
        for state in &states {
            let input = StepInput::new(&state.q, &state.v, &state.u);
            let exact = take(model, &input, &settings(Gradient::Exact), (work, out)).unwrap();
            // Redundant contacts share their load in many ways, and the central path has one of its own.
            if exact.quality.mode_margin < 1e-3 || exact.quality.pivot_ratio < 1e-6 {
                continue;
            }
            let mut apart = |kappa: f64| {
                let relaxed = take(model, &input, &settings(Gradient::Relaxed { kappa }), (work, out)).unwrap();
                (relaxed.jacobian - &exact.jacobian).amax() / exact.jacobian.amax()
            };
            let [far, near] = [apart(1e-6), apart(1e-10)];
            compared += 1;
            assert!(near <= 1e-4 && near <= far + 1e-9, "{near:.1e} apart at the end of the path, {far:.1e} before");
        }
    });
    assert!(compared >= 3, "{compared} states are too few");
}

#[test]
fn a_relaxed_contact_can_let_go_where_an_exact_one_holds() {
    let scene = ball(1.0);
    let model = scene.model();
    let input = StepInput::new(&AT_REST, &[0.0; 6], &[]);
    with_memory(model, |work, out| {
        let exact = take(model, &input, &settings(Gradient::Exact), (work, out)).unwrap();
        assert!(exact.jacobian[(2, 8)].abs() < 1e-9, "a push upwards does nothing: {}", exact.jacobian[(2, 8)]);
        let mut last = 0.0;
        for kappa in [1e-6, 1e-4, 1e-2] {
            let relaxed = take(model, &input, &settings(Gradient::Relaxed { kappa }), (work, out)).unwrap();
            let lift = relaxed.jacobian[(2, 8)];
            assert!(lift > last && lift <= 1.0 + 1e-9, "kappa {kappa}: {lift} after {last}");
            last = lift;
        }
    });
}

#[test]
fn a_contact_that_the_loss_would_break_is_taken_as_broken() {
    let scene = ball(1.0);
    let model = scene.model();
    let input = StepInput::new(&AT_REST, &[0.0; 6], &[]);
    with_memory(model, |work, out| {
        let mut pull = |gradient, by_height: f64| {
            let settings = settings(gradient);
            let taken = take(model, &input, &settings, (work, out)).unwrap();
            assert_eq!(taken.v[2], 0.0);
            assert_eq!(work.modes(), [Mode::Stick]);
            let (loss, mut result) = ([0.0, 0.0, by_height, 0.0, 0.0, 0.0], [0.0; 12]);
            pull_back(model, (&input, &settings), Cotangent { q: &[], v: &loss }, &mut result, (work, out)).unwrap();
            result[8]
        };
        // The loss falls when the ball rises: it should know that it could be thrown upwards.
        assert_eq!(pull(Gradient::Exact, -1.0), 0.0);
        assert!((pull(Gradient::ComplementarityAware, -1.0) + 1.0).abs() < 1e-12);
        // It falls when the ball sinks: the floor will not let it.
        assert_eq!(pull(Gradient::ComplementarityAware, 1.0), 0.0);
    });
}

#[test]
fn complementarity_aware_gradients_are_exact_or_longer() {
    let robot = load("go1", &LoadOptions::default()).unwrap().model;
    let (model, mut random) = (robot.model(), Random::new(9));
    let states = sample(model, StepSettings::default(), STATES, 5).unwrap();
    let (nv, mut longer) = (model.nv(), 0);
    with_memory(model, |work, out| {
        for state in &states {
            let (input, loss) = (StepInput::new(&state.q, &state.v, &state.u), random.vector(nv));
            let mut length = |gradient| {
                let settings = settings(gradient);
                take(model, &input, &settings, (work, out)).unwrap();
                let mut result = vec![0.0; 2 * nv + model.nu()];
                pull_back(model, (&input, &settings), Cotangent { q: &[], v: &loss }, &mut result, (work, out))
                    .unwrap();
                let (v, u) = result[nv..].split_at(nv);
                let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                square(v) + square(u) / settings.dt_s
            };
            let [exact, aware] = [length(Gradient::Exact), length(Gradient::ComplementarityAware)];
            assert!(aware >= exact * (1.0 - 1e-12), "{aware} is shorter than {exact}");
            longer += usize::from(aware > exact * 1.01);
        }
    });
    assert!(longer > 0, "no loss found anything to break");
}

#[test]
fn smoothed_gradients_repeat_and_tell_the_corner_from_the_face() {
    // A ball near the edge of a box: the exact normal does not know that the face ends.
    let block = GeometrySpec::new("block", Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.1) });
    let skin = GeometrySpec::new("skin", Shape::Sphere { radius: 0.05 });
    let ball = BodySpec::new("ball", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, 0.05)).geometry(skin);
    let scene = ModelBuilder::new().body(ball).geometry("world", block).build::<f64>().unwrap();
    let model = scene.model();
    // Over the face, a hair from its edge.
    let q = [0.1999, 0.0, 0.15, 0.0, 0.0, 0.0, 1.0];
    let input = StepInput::new(&q, &[0.1, 0.0, -0.5, 0.0, 0.0, 0.0], &[]);
    with_memory(model, |work, out| {
        let mut jacobian = |gradient| take(model, &input, &settings(gradient), (work, out)).unwrap().jacobian;
        let exact = jacobian(Gradient::Exact);
        let smoothed = |radius_m, seed| Gradient::Smoothed { samples: 64, radius_m, seed };
        let (first, second) = (jacobian(smoothed(1e-3, 1)), jacobian(smoothed(1e-3, 1)));
        assert_eq!(first, second, "the same seed gives the same bits");
        assert!(first != jacobian(smoothed(1e-3, 2)), "another seed gives other displacements");
        let near = (jacobian(smoothed(1e-5, 1)) - &exact).amax() / exact.amax();
        let far = (&first - &exact).amax() / exact.amax();
        assert!(near < 1e-6, "within the face nothing is to be smoothed, but {near:.1e} differs");
        assert!(far > 1e-2, "over the edge the normal turns, but only {far:.1e} differs");
        assert!(first.iter().all(|x| x.is_finite()));
    });
}

/// Never NaN: all kinds, all products, states far out and degenerate ones.
#[test]
fn gradients_of_every_kind_are_numbers_everywhere() {
    let aware = Gradient::ComplementarityAware;
    let kinds = [KINDS[0], KINDS[1], KINDS[2], Gradient::Relaxed { kappa: 0.0 }, aware];
    let mut checked = 0;
    for robot in BUILTIN {
        let loaded = load(robot.name, &LoadOptions::default()).unwrap().model;
        let (model, mut random) = (loaded.model(), Random::new(4));
        with_memory(model, |work, out| {
            for k in 0..60 {
                let reach = [1e-12, 1e-6, 1.0, 100.0][k % 4];
                let scaled = |numbers: Vec<f64>| numbers.iter().map(|x| reach * x).collect::<Vec<f64>>();
                let (q, v) = (random.configuration(model), scaled(random.vector(model.nv())));
                let u = scaled(random.vector(model.nu()));
                let input = StepInput::new(&q, &v, &u);
                checked += usize::from(all_are_numbers(robot.name, model, &input, kinds[k % kinds.len()], (work, out)));
            }
        });
    }
    for scene in scenes::degenerate() {
        let model = scene.model.model();
        with_memory(model, |work, out| {
            for kind in kinds {
                checked += usize::from(all_are_numbers(&scene.name, model, &scene.input(), kind, (work, out)));
            }
        });
    }
    assert!(checked >= 500, "{checked} steps are too few");
}

/// False when the step has no answer.
fn all_are_numbers(
    name: &str,
    model: Model<'_, f64>,
    input: &StepInput<'_, f64>,
    gradient: Gradient<f64>,
    (work, out): (&mut Step<'_, f64>, &mut Derivatives<'_, f64>),
) -> bool {
    let (nv, settings) = (model.nv(), settings(gradient));
    let Some(taken) = take(model, input, &settings, (work, out)) else { return false };
    let columns = taken.jacobian.ncols();
    let (mut change, mut result, ones) = (vec![0.0; nv], vec![0.0; columns], vec![1.0; columns]);
    push_forward(model, (input, &settings), &ones, &mut change, (work, out)).unwrap();
    let cotangent = Cotangent { q: &ones[..nv], v: &ones[..nv] };
    pull_back(model, (input, &settings), cotangent, &mut result, (work, out)).unwrap();
    let all = taken.jacobian.iter().chain(&taken.moved).chain(&change).chain(&result);
    assert!(all.into_iter().all(|x| x.is_finite()), "{name}, {gradient:?}: {:?} at {input:?}", taken.quality);
    true
}
