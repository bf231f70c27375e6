//! Hardware in the loop: Cortex-M7 images against simulated robots, deterministic to the instruction.
//!
//! An [`Image`](image::Image) is built from `firmware/` and runs on a [`Target`](target::Target): QEMU, where virtual
//! time is instructions executed, or a board behind a serial port. What it costs is compared with
//! [`expected`](golden) figures.

pub mod bench;
pub mod elf;
pub mod faults;
pub mod golden;
pub mod image;
pub mod in_process;
pub mod mirror;
pub mod plant;
pub mod run;
pub mod target;
