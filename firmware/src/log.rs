//! `defmt` over the board's UART.

use core::sync::atomic::{AtomicBool, Ordering};

use critical_section::RestoreState;
use defmt::{Encoder, Logger};

use crate::board;

#[defmt::global_logger]
struct Uart;

static TAKEN: AtomicBool = AtomicBool::new(false);
static mut ENCODER: Encoder = Encoder::new();
static mut RESTORE: RestoreState = RestoreState::invalid();

// The references are made through raw pointers, as statics that change ask for.
#[allow(clippy::deref_addrof)]
// SAFETY: `acquire` and `release` bracket every other call, by the contract of the trait; in between, interrupts are off
// and the flag refuses a second entry, so the two statics have one user at a time.
unsafe impl Logger for Uart {
    fn acquire() {
        // SAFETY: matched by the `release` in this impl.
        let restore = unsafe { critical_section::acquire() };
        if TAKEN.swap(true, Ordering::Relaxed) {
            // A log within a log, from a formatter: drop everything rather than mix the two.
            board::motors_off();
            board::exit(2);
        }
        // SAFETY: see above.
        unsafe {
            RESTORE = restore;
            (*(&raw mut ENCODER)).start_frame(board::log_bytes);
        }
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: see above.
        unsafe {
            (*(&raw mut ENCODER)).end_frame(board::log_bytes);
            TAKEN.store(false, Ordering::Relaxed);
            critical_section::release(RESTORE);
        }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: see above.
        unsafe { (*(&raw mut ENCODER)).write(bytes, board::log_bytes) };
    }
}
