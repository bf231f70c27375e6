//! Repeatable random numbers.

use saltus::model::{Model, configuration};

/// SplitMix64: a small generator whose sequence never changes between versions or machines.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Evenly in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly in [−1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }

    /// `len` numbers in [−1, 1).
    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.signed()).collect()
    }

    /// A configuration within limits.
    pub fn configuration(&mut self, model: Model<'_, f64>) -> Vec<f64> {
        let mut q = vec![0.0; model.nq()];
        configuration::random(model, || self.uniform(), &mut q).expect("q has the model's length");
        q
    }
}
