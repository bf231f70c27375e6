//! A `static` that one part of the program takes for itself.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that can be borrowed mutably for the whole run, once.
pub struct Once<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `take` gives out one exclusive reference in the life of the program, whoever asks first.
unsafe impl<T: Send> Sync for Once<T> {}

impl<T> Once<T> {
    /// Around a value.
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value, at the first call.
    #[allow(clippy::mut_from_ref)]
    pub fn take(&'static self) -> Option<&'static mut T> {
        if self.taken.swap(true, Ordering::AcqRel) {
            return None;
        }
        // SAFETY: the flag was clear, so this is the only reference there ever is.
        Some(unsafe { &mut *self.value.get() })
    }
}
