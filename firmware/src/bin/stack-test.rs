//! Overruns its stack on purpose, with the motors on: the test of the guard.
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
    board::exit(deeper(black_box(1)))
}

/// Comes back after four billion calls, 64 bytes each.
#[inline(never)]
fn deeper(depth: u32) -> u32 {
    let room = black_box([depth; 16]);
    if depth == 0 { 0 } else { deeper(depth.wrapping_add(1)).wrapping_add(room[0]) }
}
