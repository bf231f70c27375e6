//! What the `saltus` command is made of and other programs may use.

pub mod hold;
pub mod recording;
