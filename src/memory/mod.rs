//! Memory that the caller owns: one [`Arena`] of [`Block`]s, carved into the slices that the algorithms work on.
//!
//! Sizes come from `const fn`s on plain dimensions, so firmware sizes a `static` at compile time and the host a `Vec`
//! once. Each workspace declares its fields in one place through an internal macro; its size and its carving are
//! derived from that.
//!
//! ```
//! use saltus::dynamics::Dynamics;
//! use saltus::memory::{Arena, Block};
//! use saltus::model::Dims;
//!
//! const DIMS: Dims = Dims::new(2, 2, 2); // bodies, nq, nv: a cart-pole
//! const BLOCKS: usize = Dynamics::<f32>::blocks(DIMS);
//! let mut memory = [Block::EMPTY; BLOCKS]; // on a microcontroller: a `static`
//! let mut arena = Arena::new(&mut memory);
//! let dynamics = Dynamics::<f32>::carve(&mut arena, DIMS)?;
//! assert_eq!(arena.remaining(), 0);
//! # Ok::<(), saltus::memory::ArenaTooSmall>(())
//! ```

mod arena;
mod carved;
mod parts;

pub use arena::{Arena, ArenaTooSmall, BLOCK_BYTES, Block, blocks_for};
pub(crate) use carved::carved;
pub(crate) use parts::{
    Values, clear, copy, exchange, first, part, part_and_next, part_mut, put, rest, rest_mut, run, run_mut, split,
    split_mut, swap, within, within_mut,
};
