//! What the firmware controls and how, without the board.
//!
//! The image on the target and the host that checks it run this same code in `f32`, and get the same bits.
#![no_std]

pub mod robots;
