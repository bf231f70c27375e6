//! One sweep back through a trajectory gives the slopes that finite differences of the whole rollout have.

use saltus::contact::Newton;
use saltus::derivatives::{Derivatives, Gradients, Parameter, Tape, TapeDims, roll_out, sweep_back};
use saltus::memory::{Arena, Block};
use saltus::model::{Body, BodyId, GeometryPair, Model, configuration};
use saltus::step::{Step, StepDims, StepError, StepSettings};
use saltus_loaders::{LoadOptions, load};
use saltus_testkit::Random;

const CONTACTS: usize = 32;
/// Relative to the largest slope of its kind: noise of the solver, over the step of the difference, over many steps.
const TOLERANCE: f64 = 1e-5;
/// Of a difference; a shorter one must agree for the slope to be one.
const STEP: f64 = 1e-5;
/// Slopes over the two steps that differ by more have a kink between them.
const SMOOTH: f64 = 1e-4;

/// Steps, controls and start of a rollout, and the weights of a loss of all its states.
struct Rollout {
    settings: StepSettings<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    controls: Vec<f64>,
    steps: usize,
}

/// What of a rollout varies.
#[derive(Clone, Copy, Debug)]
enum Input {
    Control(usize),
    Configuration(usize),
    Velocity(usize),
    Mass(BodyId),
    Friction(u16),
}

impl Rollout {
    /// Of a robot from its `rest` keyframe, with random controls that keep it on the ground and moving.
    fn new(model: Model<'_, f64>, steps: usize, effort: f64) -> Self {
        let rest = model.find_keyframe("rest").unwrap();
        let mut random = Random::new(11);
        let mut controls = Vec::new();
        for _ in 0..steps {
            controls.extend(rest.u.iter().map(|u| u + effort * random.signed()));
        }
        let v = random.vector(model.nv()).iter().map(|x| 0.05 * x).collect();
        let solver = Newton { tolerance: 1e-14, ..Newton::default() };
        let settings = StepSettings { solver, ..StepSettings::default() };
        Self { settings, q: rest.q.to_vec(), v, controls, steps }
    }

    /// Rolls out with one number varied; the loss.
    fn loss(&self, model: Model<'_, f64>, vary: Option<(Input, f64)>, work: &mut Step<'_, f64>) -> f64 {
        let (mut q, mut v, mut controls) = (self.q.clone(), self.v.clone(), self.controls.clone());
        let (mut bodies, mut pairs): (Vec<Body<f64>>, Vec<GeometryPair<f64>>) =
            (model.bodies.to_vec(), model.pairs.to_vec());
        match vary {
            Some((Input::Control(k), by)) => controls[k] += by,
            Some((Input::Velocity(k), by)) => v[k] += by,
            Some((Input::Configuration(k), by)) => {
                let mut along = vec![0.0; model.nv()];
                along[k] = by;
                configuration::integrate(model, &self.q, &along, &mut q).unwrap();
            }
            Some((Input::Mass(body), by)) => bodies[body.index() - 1].inertia.mass += by,
            Some((Input::Friction(pair), by)) => pairs[usize::from(pair)].material.friction += by,
            None => {}
        }
        let model = Model { bodies: &bodies, pairs: &pairs, ..model };
        let dims = TapeDims { step: StepDims::of(model, CONTACTS), steps: self.steps };
        let mut memory = vec![Block::EMPTY; Tape::<f64>::blocks(dims)];
        let mut tape = Tape::carve(&mut Arena::new(&mut memory), dims).unwrap();
        roll_out(model, &self.settings, (&q, &v), &controls, &mut tape, work).unwrap();
        (0..=self.steps)
            .map(|k| {
                let (q, v) = tape.state(k).unwrap();
                let (by_q, by_v) = self.weights(model, k);
                let mut moved = vec![0.0; model.nv()];
                configuration::difference(model, &self.q, q, &mut moved).unwrap();
                let of_q: f64 = moved.iter().zip(&by_q).map(|(x, w)| x * w).sum();
                of_q + v.iter().zip(&by_v).map(|(x, w)| x * w).sum::<f64>()
            })
            .sum()
    }

    /// ℓ = Σₖ (wₖ · (qₖ ⊖ q₀) + zₖ · vₖ).
    fn weights(&self, model: Model<'_, f64>, k: usize) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::new(100 + k as u64);
        (random.vector(model.nv()), random.vector(model.nv()))
    }
}

/// Compares one robot: slopes that agree, and those at a kink.
fn compare(name: &str, steps: usize, effort: f64) -> (usize, usize) {
    let loaded = load(name, &LoadOptions::default()).unwrap().model;
    let model = loaded.model();
    let (nv, nu, rollout) = (model.nv(), model.nu(), Rollout::new(model, steps, effort));
    let step_dims = StepDims::of(model, CONTACTS);
    let dims = TapeDims { step: step_dims, steps };
    let blocks = Step::<f64>::blocks(step_dims) + Derivatives::<f64>::blocks(step_dims) + Tape::<f64>::blocks(dims);
    let mut memory = vec![Block::EMPTY; blocks];
    let mut arena = Arena::new(&mut memory);
    let mut work = Step::carve(&mut arena, step_dims).unwrap();
    let mut scratch = Derivatives::carve(&mut arena, step_dims).unwrap();
    let mut tape = Tape::carve(&mut arena, dims).unwrap();
    roll_out(model, &rollout.settings, (&rollout.q, &rollout.v), &rollout.controls, &mut tape, &mut work).unwrap();
    assert_eq!(tape.steps(), steps);

    let bodies = [BodyId::new(1), BodyId::new(model.bodies.len() as u16)];
    let mut parameters = bodies.map(|body| Parameter::Mass { body }).to_vec();
    let touches = !model.pairs.is_empty();
    parameters.extend(touches.then_some(Parameter::Friction { pair: 0 }));
    let (mut by_u, mut by_q, mut by_v) = (vec![0.0; steps * nu], vec![0.0; nv], vec![0.0; nv]);
    let mut by_parameters = vec![0.0; parameters.len()];
    let wanted =
        Gradients { controls: &mut by_u, q: &mut by_q, v: &mut by_v, parameters: (&parameters, &mut by_parameters) };
    let mut loss = |k: usize, (q, _): (&[f64], &[f64]), into_q: &mut [f64], into_v: &mut [f64]| {
        let (w, z) = rollout.weights(model, k);
        // qₖ ⊖ q₀ by qₖ.
        let mut slope = vec![0.0; nv * nv];
        let slope_out = saltus::linalg::MatMut::new(&mut slope, nv, nv);
        let to = configuration::Argument::To;
        configuration::difference_jacobian(model, &rollout.q, q, to, slope_out).unwrap();
        for i in 0..nv {
            for j in 0..nv {
                into_q[j] += w[i] * slope[i * nv + j];
            }
            into_v[i] += z[i];
        }
    };
    let memory = (&mut work, &mut scratch);
    sweep_back(model, &rollout.settings, &rollout.controls, &mut loss, wanted, &mut tape, memory).unwrap();

    let kinds: [Vec<(Input, f64)>; 4] = [
        (0..steps * nu).step_by(7).map(|k| (Input::Control(k), by_u[k])).collect(),
        (0..nv).map(|k| (Input::Configuration(k), by_q[k])).collect(),
        (0..nv).map(|k| (Input::Velocity(k), by_v[k])).collect(),
        bodies.map(Input::Mass).into_iter().chain(touches.then_some(Input::Friction(0))).zip(by_parameters).collect(),
    ];
    let (mut agree, mut kinks) = (0, 0);
    for kind in &kinds {
        let scale = kind.iter().fold(1e-3, |largest: f64, (_, slope)| largest.max(slope.abs()));
        for &(input, slope) in kind {
            let mut at = |by: f64| rollout.loss(model, Some((input, by)), &mut work);
            let mut central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
            let (far, near) = (central(STEP), central(0.5 * STEP));
            if (far - near).abs() > SMOOTH * scale {
                kinks += 1;
                continue;
            }
            let difference = (4.0 * near - far) / 3.0;
            let error = (difference - slope).abs() / scale;
            assert!(error <= TOLERANCE, "{name}, {input:?}: {slope} by the sweep, {difference} by differences");
            agree += 1;
        }
    }
    (agree, kinks)
}

#[test]
fn sweeps_equal_finite_differences_of_rollouts() {
    let (mut agree, mut kinks) = (0, 0);
    for (robot, steps, effort) in
        [("cartpole", 100, 1.0), ("hopper", 20, 0.1), ("half_cheetah", 20, 0.1), ("go1", 15, 2.0), ("h1", 10, 2.0)]
    {
        let (a, k) = compare(robot, steps, effort);
        println!("{robot}: {a} slopes agree, {k} at a kink");
        (agree, kinks) = (agree + a, kinks + k);
    }
    assert!(agree >= 200 && 5 * kinks <= agree, "{agree} slopes agree, {kinks} are at a kink");
}

#[test]
fn arguments_of_other_lengths_are_refused() {
    let loaded = load("cartpole", &LoadOptions::default()).unwrap().model;
    let model = loaded.model();
    let step_dims = StepDims::of(model, 4);
    let dims = TapeDims { step: step_dims, steps: 3 };
    let blocks = Step::<f64>::blocks(step_dims) + Derivatives::<f64>::blocks(step_dims) + Tape::<f64>::blocks(dims);
    let mut memory = vec![Block::EMPTY; blocks];
    let mut arena = Arena::new(&mut memory);
    let mut work = Step::carve(&mut arena, step_dims).unwrap();
    let mut scratch = Derivatives::carve(&mut arena, step_dims).unwrap();
    let mut tape = Tape::carve(&mut arena, dims).unwrap();
    let (q, v, settings) = (vec![0.0; model.nq()], vec![0.0; model.nv()], StepSettings::default());
    assert!(roll_out(model, &settings, (&q[1..], &v), &[0.0; 3], &mut tape, &mut work).is_err());
    roll_out(model, &settings, (&q, &v), &[0.0; 5], &mut tape, &mut work).unwrap();
    assert_eq!(tape.steps(), 3, "as many as fit");
    assert!(tape.state(4).is_none());
    let mut nothing = |_: usize, _: (&[f64], &[f64]), _: &mut [f64], _: &mut [f64]| {};
    let wanted = Gradients { controls: &mut [0.0; 2], q: &mut [], v: &mut [], parameters: (&[], &mut []) };
    let memory = (&mut work, &mut scratch);
    let result = sweep_back(model, &settings, &[0.0; 3], &mut nothing, wanted, &mut tape, memory);
    assert!(matches!(result, Err(StepError::Input(_))));
}
