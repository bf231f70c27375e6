//! Panics on purpose, with the motors on: the test of what a panic leaves behind.
#![no_std]
#![no_main]

use core::hint::black_box;

use saltus_firmware::{board, control};

#[cortex_m_rt::entry]
fn main() -> ! {
    control::boot(run)
}

extern "C" fn run() -> ! {
    board::motors_enable();
    if !board::motors_are_on() {
        board::exit(1);
    }
    let numbers = [1, 2, 3];
    let beyond = numbers[black_box(3)];
    board::exit(black_box(beyond))
}
