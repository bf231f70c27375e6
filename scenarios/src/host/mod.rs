//! What only the host does: the plant, where a run starts, what pushes, and whether it succeeded.

mod judge;
mod plant;
mod push;
mod start;

pub use judge::{Judge, Sample, Verdict};
pub use plant::{plant, prediction};
pub use push::{Push, pushes};
pub use start::start;

/// Random numbers that only depend on the seed (SplitMix64, Steele et al. 2014).
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// In [−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}
