//! The derivatives of the step by masses, inertias, friction, restitution, time and motors equal finite differences of it.

mod scenes;

use saltus::contact::{Newton, Source};
use saltus::derivatives::{
    Cotangent, Derivatives, Parameter, differentiate_parameters, pull_back, pull_back_parameters,
};
use saltus::linalg::MatMut;
use saltus::memory::{Arena, Block};
use saltus::model::configuration;
use saltus::model::{Actuator, Body, BodyId, GeometryPair, Model};
use saltus::step::{NextState, Step, StepDims, StepError, StepInput, StepSettings, step};
use saltus_cli::states::{CONTACTS, State, sample};
use saltus_loaders::{BUILTIN, LoadOptions, load};
use saltus_testkit::Random;

/// Relative to the largest entry of the column.
const TOLERANCE: f64 = 1e-6;
/// Columns whose entries are smaller are below the noise of a difference: the change of velocity, m/s or rad/s, when the
/// parameter changes by its own size.
const FLOOR: f64 = 1e-2;
/// First step of a difference, over the size of the parameter; shorter ones follow in this ratio.
const STEP: f64 = 1e-2;
const SHRINK: f64 = 0.25;
const LEVELS: usize = 7;
/// Slopes over h and over 2h that differ by less are of a smooth function; the step at which they differ least counts.
const SMOOTH: f64 = 1e-5;
/// Slopes to the two sides that differ by more are those of a kink.
const SMOOTH_SIDES: f64 = 1e-2;
/// Residual of a step that has been solved.
const SOLVED: f64 = 1e-10;
/// Of each robot, and the parameters of each state.
const STATES: usize = 12;
const PARAMETERS: usize = 24;
/// Columns that must be within the tolerance. The others are of redundant contacts that slide, where what keeps the system
/// regular shows: a pivot over the largest that is below [`REDUNDANT_PIVOT`].
const EXACT_SHARE: f64 = 0.995;
const REDUNDANT_PIVOT: f64 = 1e-10;
/// Columns that are smooth within some stencil; the others have a mode boundary in it (measured: 99.4 %).
const SMOOTH_SHARE: f64 = 0.99;

/// A model whose parameters can be changed, and its memory.
struct Bench<'m> {
    model: Model<'m, f64>,
    settings: StepSettings<f64>,
    bodies: Vec<Body<f64>>,
    pairs: Vec<GeometryPair<f64>>,
    actuators: Vec<Actuator<f64>>,
}

/// A step: q⁺, v⁺ and how well it was solved.
struct Outcome {
    q: Vec<f64>,
    v: Vec<f64>,
    residual: f64,
}

impl<'m> Bench<'m> {
    fn new(model: Model<'m, f64>, settings: StepSettings<f64>) -> Self {
        let solver = Newton { tolerance: 1e-14, ..settings.solver };
        let settings = StepSettings { solver, ..settings };
        let (bodies, pairs, actuators) = (model.bodies.to_vec(), model.pairs.to_vec(), model.actuators.to_vec());
        Self { model, settings, bodies, pairs, actuators }
    }

    fn model(&self) -> Model<'_, f64> {
        Model { bodies: &self.bodies, pairs: &self.pairs, actuators: &self.actuators, ..self.model }
    }

    /// All parameters of the model.
    fn parameters(&self) -> Vec<Parameter> {
        let mut all = vec![Parameter::TimeStep];
        for (k, _) in self.model.bodies.iter().enumerate().filter(|(_, body)| body.inertia.mass > 0.0) {
            let body = BodyId::new(k as u16 + 1);
            all.push(Parameter::Mass { body });
            all.extend((0..3).map(|axis| Parameter::CenterOfMass { body, axis }));
            all.extend((0..6).map(|entry| Parameter::Inertia { body, entry }));
        }
        for motor in 0..self.model.nu() as u16 {
            all.push(Parameter::MotorGain { motor });
            all.extend((0..3).map(|term| Parameter::MotorBias { motor, term }));
        }
        all
    }

    /// The number, and what counts as a change of its own size.
    fn number(&mut self, parameter: Parameter) -> (&mut f64, f64) {
        match parameter {
            Parameter::Mass { body } => {
                let number = &mut self.bodies[body.index() - 1].inertia.mass;
                let size = number.abs();
                (number, size)
            }
            Parameter::CenterOfMass { body, axis } => {
                (&mut self.bodies[body.index() - 1].inertia.com[usize::from(axis)], 0.1)
            }
            Parameter::Inertia { body, entry } => {
                let i = &mut self.bodies[body.index() - 1].inertia.rotational;
                let size = i.xx.max(i.yy).max(i.zz).max(1e-4);
                let [xx, xy, yy, xz, yz, zz] = [&mut i.xx, &mut i.xy, &mut i.yy, &mut i.xz, &mut i.yz, &mut i.zz];
                (
                    if entry < 3 { [xx, xy, yy] } else { [xz, yz, zz] }
                        .into_iter()
                        .nth(usize::from(entry % 3))
                        .unwrap(),
                    size,
                )
            }
            Parameter::Friction { pair } => (&mut self.pairs[usize::from(pair)].material.friction, 0.5),
            Parameter::Restitution { pair } => (&mut self.pairs[usize::from(pair)].material.restitution, 0.5),
            Parameter::TimeStep => {
                let number = &mut self.settings.dt_s;
                let size = *number;
                (number, size)
            }
            Parameter::MotorGain { motor } => {
                let number = &mut self.actuators[usize::from(motor)].gain;
                let size = number.abs().max(1.0);
                (number, size)
            }
            Parameter::MotorBias { motor, term } => {
                let number = &mut self.actuators[usize::from(motor)].bias[usize::from(term)];
                let size = number.abs().max(1.0);
                (number, size)
            }
        }
    }

    fn evaluate(&self, input: &StepInput<'_, f64>, work: &mut Step<'_, f64>) -> Result<Outcome, StepError> {
        let (mut q, mut v) = (input.q.to_vec(), input.v.to_vec());
        work.forget();
        let report = step(self.model(), input, &self.settings, NextState { q: &mut q, v: &mut v }, work)?;
        Ok(Outcome { q, v, residual: report.outcome.residuals.natural })
    }

    /// ∂v⁺ and ∂q⁺ by central differences of fourth order; nothing where no step is smooth.
    fn difference(
        &mut self,
        input: &StepInput<'_, f64>,
        parameter: Parameter,
        here: &Outcome,
        work: &mut Step<'_, f64>,
    ) -> Option<Vec<f64>> {
        let (value, size) = self.number(parameter);
        let value = *value;
        let (mut h, mut best) = (STEP * size, None::<(f64, Vec<f64>)>);
        for _ in 0..LEVELS {
            let mut same = true;
            let mut at = |times: f64| {
                *self.number(parameter).0 = value + times * h;
                let there = self.evaluate(input, work);
                *self.number(parameter).0 = value;
                let there = there.unwrap();
                same &= there.residual <= SOLVED;
                let mut moved = vec![0.0; there.v.len()];
                configuration::difference(self.model, &here.q, &there.q, &mut moved).unwrap();
                let change = there.v.iter().zip(&here.v).map(|(there, here)| there - here);
                change.chain(moved).collect::<Vec<f64>>()
            };
            let [ahead, behind, far_ahead, far_behind] = [at(1.0), at(-1.0), at(2.0), at(-2.0)];
            let slopes = |near: &[f64], far: &[f64], width: f64| -> Vec<f64> {
                near.iter().zip(far).map(|(near, far)| (near - far) / (width * h)).collect()
            };
            let (near, far) = (slopes(&ahead, &behind, 2.0), slopes(&far_ahead, &far_behind, 4.0));
            let slope: Vec<f64> = near.iter().zip(&far).map(|(near, far)| (4.0 * near - far) / 3.0).collect();
            let scale = slope.iter().fold(FLOOR / size, |largest: f64, x| largest.max(x.abs()));
            let rough = near.iter().zip(&far).fold(0.0_f64, |worst, (near, far)| worst.max((near - far).abs()));
            let bent = ahead.iter().zip(&behind).fold(0.0_f64, |worst, (a, b)| worst.max((a + b).abs() / h));
            let smooth = same && rough <= SMOOTH * scale && bent <= SMOOTH_SIDES * scale;
            if smooth && best.as_ref().is_none_or(|(least, _)| rough < *least * scale) {
                best = Some((rough / scale, slope));
            }
            h *= SHRINK;
        }
        best.map(|(_, slope)| slope)
    }
}

/// Compares columns of one state: those that are smooth, those that are not, the worst error.
fn compare(
    bench: &mut Bench<'_>,
    input: &StepInput<'_, f64>,
    parameters: &[Parameter],
    name: &str,
) -> (usize, usize, Vec<f64>) {
    let model = bench.model;
    let (nv, dims) = (model.nv(), StepDims::of(model, CONTACTS));
    let mut memory = vec![Block::EMPTY; 2 * Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let (mut work, mut other) = (Step::carve(&mut arena, dims).unwrap(), Step::carve(&mut arena, dims).unwrap());
    let mut scratch = Derivatives::carve(&mut arena, dims).unwrap();
    let here = bench.evaluate(input, &mut work).unwrap();
    let (mut slopes, settings) = (vec![0.0; nv * parameters.len()], bench.settings);
    let columns = MatMut::new(&mut slopes, nv, parameters.len());
    let quality =
        differentiate_parameters(model, (input, &settings), parameters, columns, (&mut work, &mut scratch)).unwrap();
    // The transpose, of a loss of both parts of the state.
    let (by_q, by_v) = (Random::new(1).vector(nv), Random::new(2).vector(nv));
    let (cotangent, mut gradient) = (Cotangent { q: &by_q, v: &by_v }, vec![0.0; 2 * nv + model.nu()]);
    pull_back(model, (input, &settings), cotangent, &mut gradient, (&mut work, &mut scratch)).unwrap();
    let mut pulled = vec![0.0; parameters.len()];
    let wanted = (parameters, &mut pulled[..]);
    pull_back_parameters(model, (input, &settings), cotangent, wanted, (&mut work, &mut scratch)).unwrap();

    let (mut smooth, mut rough, mut errors) = (0, 0, Vec::new());
    if here.residual > SOLVED {
        return (0, parameters.len(), errors);
    }
    for (column, &parameter) in parameters.iter().enumerate() {
        let (value, size) = bench.number(parameter);
        // At zero these have a kink: a motor that drives acts at the start of the step, and nothing bounces by less.
        let at_kink = matches!(parameter, Parameter::Restitution { .. } | Parameter::MotorBias { term: 1.., .. });
        if at_kink && *value == 0.0 {
            continue;
        }
        let Some(difference) = bench.difference(input, parameter, &here, &mut other) else {
            rough += 1;
            continue;
        };
        smooth += 1;
        let scale = difference[..nv].iter().fold(FLOOR / size, |largest: f64, x| largest.max(x.abs()));
        let error = (0..nv).fold(0.0_f64, |worst, dof| {
            worst.max((slopes[dof * parameters.len() + column] - difference[dof]).abs() / scale)
        });
        let expected: f64 = by_v.iter().chain(&by_q).zip(&difference).map(|(w, x)| w * x).sum();
        let back = (pulled[column] - expected).abs() / (scale * nv as f64);
        let error = error.max(back);
        let redundant = quality.sliding > 0 && quality.pivot_ratio < REDUNDANT_PIVOT;
        assert!(error <= TOLERANCE || redundant, "{name}, {parameter:?}: {error:.1e}, {quality:?}");
        errors.push(error);
    }
    (smooth, rough, errors)
}

#[test]
fn derivatives_by_parameters_of_all_robots_equal_finite_differences() {
    let (mut smooth, mut rough, mut errors) = (0, 0, Vec::new());
    for robot in BUILTIN {
        let loaded = load(robot.name, &LoadOptions::default()).unwrap().model;
        let model = loaded.model();
        let mut random = Random::new(8);
        for (k, state) in sample(model, StepSettings::default(), STATES, 3).unwrap().iter().enumerate() {
            let State { q, v, u } = state;
            let mut bench = Bench::new(model, StepSettings::default());
            let mut parameters = bench.parameters();
            while parameters.len() > PARAMETERS {
                parameters.swap_remove(1 + (random.uniform() * (parameters.len() - 1) as f64) as usize);
            }
            // Pairs that touch matter; the others have no slope at all.
            let touching = touching_pairs(model, &StepInput::new(q, v, u));
            for pair in touching {
                parameters.extend([Parameter::Friction { pair }, Parameter::Restitution { pair }]);
            }
            let name = format!("{}, state {k}", robot.name);
            let (s, r, e) = compare(&mut bench, &StepInput::new(q, v, u), &parameters, &name);
            (smooth, rough) = (smooth + s, rough + r);
            errors.extend(e);
        }
    }
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    println!(
        "{smooth} columns smooth, {rough} not; median error {median:.1e}, largest {:.1e}",
        errors[errors.len() - 1]
    );
    assert!(smooth >= 2000 && median <= 1e-8, "{smooth} columns, median {median:.1e}");
    let exact = errors.iter().filter(|error| **error <= TOLERANCE).count();
    println!("{exact} of {smooth} columns within {TOLERANCE:.0e}");
    assert!(exact as f64 >= EXACT_SHARE * smooth as f64, "{exact} of {smooth} columns within {TOLERANCE:.0e}");
    let share = smooth as f64 / (smooth + rough) as f64;
    assert!(share >= SMOOTH_SHARE, "{share} of the columns are smooth");
}

fn touching_pairs(model: Model<'_, f64>, input: &StepInput<'_, f64>) -> Vec<u16> {
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims)];
    let mut work = Step::carve(&mut Arena::new(&mut memory), dims).unwrap();
    let (mut q, mut v) = (input.q.to_vec(), input.v.to_vec());
    step(model, input, &StepSettings::default(), NextState { q: &mut q, v: &mut v }, &mut work).unwrap();
    let mut pairs: Vec<u16> = work
        .constraints()
        .iter()
        .filter_map(|c| if let Source::Contact { pair, .. } = c.source { Some(pair) } else { None })
        .collect();
    pairs.dedup();
    pairs
}

/// Bounces, compliance, limits, dry friction, loops, motors and springs: every parameter of every scene.
#[test]
fn derivatives_by_parameters_in_every_mode_equal_finite_differences() {
    let (mut smooth, mut rough) = (0, 0);
    for scene in scenes::modes().into_iter().chain(scenes::motors()) {
        let model = scene.model.model();
        let mut bench = Bench::new(model, scene.settings);
        let mut parameters = bench.parameters();
        for pair in 0..model.pairs.len() as u16 {
            parameters.extend([Parameter::Friction { pair }, Parameter::Restitution { pair }]);
        }
        let (s, r, errors) = compare(&mut bench, &scene.input(), &parameters, &scene.name);
        // Scenes are ours to choose: here redundant contacts are no excuse.
        assert!(errors.iter().all(|error| *error <= TOLERANCE), "{}: {errors:?}", scene.name);
        (smooth, rough) = (smooth + s, rough + r);
    }
    println!("{smooth} columns smooth, {rough} not");
    assert!(smooth >= 500 && rough * 20 <= smooth, "{smooth} columns smooth, {rough} not");
}

#[test]
fn parameters_that_the_model_lacks_are_refused() {
    let robot = load("cartpole", &LoadOptions::default()).unwrap().model;
    let model = robot.model();
    let dims = StepDims::of(model, CONTACTS);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let (mut work, mut scratch) =
        (Step::carve(&mut arena, dims).unwrap(), Derivatives::carve(&mut arena, dims).unwrap());
    let (q, v) = (vec![0.0; model.nq()], vec![0.0; model.nv()]);
    let (mut q_next, mut v_next) = (q.clone(), v.clone());
    let (input, settings) = (StepInput::new(&q, &v, &[]), StepSettings::default());
    step(model, &input, &settings, NextState { q: &mut q_next, v: &mut v_next }, &mut work).unwrap();
    let body = BodyId::new(1);
    for parameter in [
        Parameter::Mass { body: BodyId::WORLD },
        Parameter::Mass { body: BodyId::new(99) },
        Parameter::CenterOfMass { body, axis: 3 },
        Parameter::Inertia { body, entry: 6 },
        Parameter::Friction { pair: 99 },
        Parameter::Restitution { pair: 99 },
        Parameter::MotorGain { motor: 99 },
        Parameter::MotorBias { motor: 0, term: 3 },
    ] {
        let mut slopes = vec![7.0; model.nv()];
        let out = MatMut::new(&mut slopes, model.nv(), 1);
        let memory = (&mut work, &mut scratch);
        let result = differentiate_parameters(model, (&input, &settings), &[parameter], out, memory);
        assert!(matches!(result, Err(StepError::Input(_))), "{parameter:?}: {result:?}");
        assert!(slopes.iter().all(|x| *x == 7.0), "nothing is written");
    }
}
