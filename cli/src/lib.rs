//! What the `saltus` command is made of and other programs may use.

pub mod closed_loop;
pub mod differences;
pub mod hold;
pub mod recording;
pub mod states;
