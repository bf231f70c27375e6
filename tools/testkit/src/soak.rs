//! A long run of one robot under random torques, and what went wrong in it.

use std::collections::HashMap;

use saltus::contact::SolverStatus;
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{Joint, Model, OwnedModel};
use saltus::scalar::Real;
use saltus::step::{Simulator, StepSettings};

use crate::{RandomControls, simulator};

/// Shares of the control range, one after the other.
const AMPLITUDES: [f64; 3] = [0.1, 0.3, 1.0];
/// Steps of an episode, and how many of them, at its end, are without control.
const EPISODE: usize = 1000;
const PASSIVE: usize = 300;
/// Episodes from one return to the keyframe `rest` to the next: what flies stays near.
const EPISODES: usize = 3;
/// Steps after which a contact that is still there counts as lasting.
const LASTING: u32 = 50;

/// What a soak saw.
#[derive(Clone, Debug, Default)]
pub struct SoakReport {
    /// Steps taken.
    pub steps: usize,
    /// Steps that gave an error; the robot was put back to `rest`.
    pub errors: usize,
    /// Steps whose solver did not reach its tolerance, and said so.
    pub unconverged: usize,
    /// Steps in which contacts or constraints did not fit.
    pub overflows: usize,
    /// Most factorizations in one step, and the bound that the settings give.
    pub iterations: (u16, u16),
    /// Deepest penetration of any contact at any time, m.
    pub deepest_m: f64,
    /// Penetration of lasting contacts that 99 % do not exceed, and the deepest, m.
    pub lasting_m: [f64; 2],
    /// How many lasting contacts were measured.
    pub lasting: usize,
    /// Largest speed of any degree of freedom, rad/s or m/s.
    pub fastest: f64,
    /// Largest growth of the energy over a phase without control, J, and over the energy that the robot had there.
    pub gain: [f64; 2],
}

/// Throws a robot about for so many steps of 2 ms, with phases in which nothing drives it.
pub fn soak<T: Real>(robot: &OwnedModel<f64>, steps: usize, seed: u64) -> SoakReport {
    let settings = StepSettings::<T>::default();
    let bound = settings.solver.most_factorizations();
    let mut simulator = simulator(robot.cast::<T>(), settings);
    let model = simulator.model();
    let mut report = SoakReport { iterations: (0, bound), ..SoakReport::default() };
    let mut ages = HashMap::new();
    let mut lasting = Vec::new();
    let mut controls = RandomControls::new(model, AMPLITUDES[0], seed);
    let mut energy = Energy::new(model);
    for step in 0..steps {
        let (episode, moment) = (step / EPISODE, step % EPISODE);
        if moment == 0 {
            controls = RandomControls::new(model, AMPLITUDES[episode % AMPLITUDES.len()], seed + episode as u64);
            if episode.is_multiple_of(EPISODES) {
                back_to_rest(&mut simulator);
            }
        }
        let passive = moment >= EPISODE - PASSIVE;
        let (control, force) = if passive { (&[][..], &[][..]) } else { controls.draw() };
        report.steps += 1;
        match simulator.step_with(control, force, &[]) {
            Ok(step) => {
                report.unconverged += usize::from(step.outcome.status != SolverStatus::Converged);
                report.overflows += usize::from(step.dropped_constraints + step.detected.dropped > 0);
                report.iterations.0 = report.iterations.0.max(step.outcome.iterations);
                report.deepest_m = report.deepest_m.max(step.penetration_m.to_f64());
                note_contacts(&simulator, &mut ages, &mut lasting);
            }
            Err(_) => {
                report.errors += 1;
                back_to_rest(&mut simulator);
            }
        }
        report.fastest = simulator.v().iter().fold(report.fastest, |most, v| most.max(v.to_f64().abs()));
        if moment == EPISODE - PASSIVE {
            energy.start(&simulator);
        } else if passive {
            report.gain = energy.gain(&simulator, report.gain);
        }
    }
    lasting.sort_by(f64::total_cmp);
    report.lasting = lasting.len();
    let at = |share: f64| lasting.get(((lasting.len() as f64 * share) as usize).min(lasting.len().max(1) - 1));
    report.lasting_m = [0.99, 1.0].map(|share| at(share).copied().unwrap_or(0.0));
    report
}

fn back_to_rest<T: Real>(simulator: &mut Simulator<'_, '_, T>) {
    if let Some(rest) = simulator.model().find_keyframe("rest") {
        simulator.set_keyframe(&rest).expect("a keyframe fits its model");
    }
}

/// Ages the contacts, and notes how deep the lasting ones are.
fn note_contacts<T: Real>(
    simulator: &Simulator<'_, '_, T>,
    ages: &mut HashMap<(u16, u16), u32>,
    lasting: &mut Vec<f64>,
) {
    let touching = |distance: T| distance.to_f64() < 1e-4;
    let contacts = simulator.work().collision.contacts().iter().filter(|contact| touching(contact.at.distance));
    let mut next = HashMap::new();
    for contact in contacts {
        let age = ages.get(&contact.key()).map_or(1, |age| age + 1);
        if age > LASTING {
            lasting.push(-contact.at.distance.to_f64());
        }
        next.insert(contact.key(), age);
    }
    *ages = next;
}

/// Kinetic, potential and elastic energy, and the least that it has been since a start.
struct Energy<'m, T> {
    model: Model<'m, T>,
    memory: Vec<Block>,
    least: f64,
    size: f64,
}

impl<'m, T: Real> Energy<'m, T> {
    fn new(model: Model<'m, T>) -> Self {
        Self { model, memory: vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())], least: 0.0, size: 0.0 }
    }

    /// Total, and the kinetic part.
    fn of(&mut self, simulator: &Simulator<'_, '_, T>) -> [f64; 2] {
        let model = self.model;
        let arena = &mut Arena::new(&mut self.memory);
        let mut work = Dynamics::carve(arena, model.dims()).expect("the memory has the stated size");
        dynamics::update(model, simulator.q(), simulator.v(), &mut work).expect("the state fits");
        let kinetic = dynamics::kinetic_energy(&work).to_f64();
        let rotors = (simulator.v().iter().zip(model.dofs))
            .map(|(v, dof)| 0.5 * dof.armature.to_f64() * v.to_f64() * v.to_f64())
            .sum::<f64>();
        let springs = (model.bodies.iter())
            .filter(|body| matches!(body.joint, Joint::Revolute { .. } | Joint::Prismatic { .. }))
            .map(|body| {
                let dof = &model.dofs[usize::from(body.first_v)];
                let stretch = (simulator.q()[usize::from(body.first_q)] - dof.spring_reference).to_f64();
                0.5 * dof.stiffness.to_f64() * stretch * stretch
            })
            .sum::<f64>();
        let potential = dynamics::potential_energy(model, &work).to_f64();
        [kinetic + rotors + springs + potential, kinetic + rotors]
    }

    fn start(&mut self, simulator: &Simulator<'_, '_, T>) {
        [self.least, self.size] = self.of(simulator);
    }

    /// The larger of a known gain and the one since the least energy; relative to one joule and the kinetic energy.
    fn gain(&mut self, simulator: &Simulator<'_, '_, T>, [most, relative]: [f64; 2]) -> [f64; 2] {
        let [now, kinetic] = self.of(simulator);
        self.least = self.least.min(now);
        self.size = self.size.max(kinetic);
        let gain = now - self.least;
        [most.max(gain), relative.max(gain / (1.0 + self.size))]
    }
}
