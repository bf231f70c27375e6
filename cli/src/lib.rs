//! What the `saltus` command is made of and other programs may use.

pub mod differences;
pub mod recording;
pub mod states;
