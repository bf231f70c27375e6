//! A small number that two sides exchange in one step.

use core::sync::atomic::{AtomicU8, Ordering};

/// Exchanged by an atomic instruction or, with the feature `critical-section`, with interrupts held off.
pub(super) struct Shared(AtomicU8);

#[cfg(not(any(target_has_atomic = "8", feature = "critical-section")))]
compile_error!("this target cannot exchange a byte in one step: turn on the feature `critical-section`");

impl Shared {
    pub fn new(value: u8) -> Self {
        Self(AtomicU8::new(value))
    }

    pub fn load(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Puts a value in and takes the old one out. What either side wrote before is seen by the other after.
    #[cfg(not(feature = "critical-section"))]
    pub fn swap(&self, value: u8) -> u8 {
        self.0.swap(value, Ordering::AcqRel)
    }

    /// The same where the target has no such instruction.
    #[cfg(feature = "critical-section")]
    pub fn swap(&self, value: u8) -> u8 {
        critical_section::with(|_| {
            let old = self.0.load(Ordering::Acquire);
            self.0.store(value, Ordering::Release);
            old
        })
    }
}
