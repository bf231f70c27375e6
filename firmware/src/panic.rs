//! The end of a program that cannot go on: motors off, whatever happened.

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};

use crate::board;

/// Exit code of a panic that left the motors without power.
pub const PANICKED: u32 = 101;
/// Exit code of a fault (bad memory access, stack overrun) that left the motors without power.
pub const FAULTED: u32 = 102;
/// Exit code if the motors have power all the same.
pub const STILL_ON: u32 = 103;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    board::motors_off();
    // The place alone: formatting the message would pull in the formatter, and can panic itself.
    match info.location() {
        Some(place) => defmt::error!("panic at {=str}:{=u32}", place.file(), place.line()),
        None => defmt::error!("panic"),
    }
    stop(PANICKED)
}

#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    board::motors_off();
    defmt::error!("fault");
    stop(FAULTED)
}

#[exception]
unsafe fn DefaultHandler(interrupt: i16) {
    board::motors_off();
    defmt::error!("unexpected interrupt {=i16}", interrupt);
    stop(FAULTED)
}

/// With motors off for good. A board without an emulator around it would wait for its watchdog here.
fn stop(code: u32) -> ! {
    board::exit(if board::motors_are_on() { STILL_ON } else { code })
}
