//! Finds out what the model does not know.

use anyhow::Result;
use saltus::memory::Arena;
use saltus::mpc::{Mpc, MpcDims, Observer, Passage};

use super::PLANT_DT_S;

/// An observer between two solves; with a gain of zero, nothing.
pub struct Watcher<'a> {
    observer: Observer<'a, f64>,
    gain: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Sum since the last solve.
    control: Vec<f64>,
    ticks: f64,
}

impl<'a> Watcher<'a> {
    /// Arena blocks that it takes.
    pub fn blocks(dims: MpcDims) -> usize {
        Observer::<f64>::blocks(dims.step)
    }

    /// One that has seen nothing yet.
    pub fn carve(arena: &mut Arena<'a>, dims: MpcDims, gain: f64) -> Result<Self> {
        let observer = Observer::carve(arena, dims.step)?;
        Ok(Self { observer, gain, q: Vec::new(), v: Vec::new(), control: vec![0.0; dims.step.controls], ticks: 0.0 })
    }

    /// Counts the controls of a tick.
    pub fn note(&mut self, u: &[f64]) {
        self.control.iter_mut().zip(u).for_each(|(sum, u)| *sum += u);
        self.ticks += 1.0;
    }

    /// Compares a new measurement with what was expected of the controls since the last one.
    pub fn look(&mut self, mpc: &mut Mpc<'_, '_, f64>, q: &[f64], v: &[f64]) -> Result<()> {
        if self.gain == 0.0 {
            return Ok(());
        }
        if self.ticks > 0.0 {
            self.control.iter_mut().for_each(|sum| *sum /= self.ticks);
            let dt_s = self.ticks * PLANT_DT_S;
            let passage = Passage { from: (&self.q, &self.v), control: &self.control, velocity: v, dt_s };
            self.observer.update(mpc.model(), &mpc.settings.step, &passage, self.gain)?;
            mpc.set_disturbance(self.observer.force())?;
        }
        (self.q, self.v, self.ticks) = (q.to_vec(), v.to_vec(), 0.0);
        self.control.fill(0.0);
        Ok(())
    }
}
