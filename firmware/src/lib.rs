//! What the images share: the board, logging, and the end of the program.
#![no_std]
#![cfg(target_os = "none")]

pub mod board;
pub mod control;
mod copy;
mod log;
pub mod once;
pub mod panic;
pub mod stacks;
