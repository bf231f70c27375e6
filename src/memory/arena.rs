//! A bump arena over caller-supplied, aligned blocks.

use core::fmt;
use core::mem::{align_of, size_of};

/// Bytes in a [`Block`], and its alignment: one 256-bit vector.
pub const BLOCK_BYTES: usize = 32;

/// The unit of arena memory. Its content is scratch.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Block([u8; BLOCK_BYTES]);

impl Block {
    /// A block of zeros, to fill a `static` or a `Vec` with.
    pub const EMPTY: Self = Self([0; BLOCK_BYTES]);
}

/// Blocks that a slice of `len` values of type `X` takes.
pub const fn blocks_for<X>(len: usize) -> usize {
    (len * size_of::<X>()).div_ceil(BLOCK_BYTES)
}

/// The arena has fewer blocks than the workspace needs; size it with the workspace's `blocks` function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaTooSmall {
    /// Blocks that the field being carved needs.
    pub needed: usize,
    /// Blocks that were left.
    pub got: usize,
}

impl fmt::Display for ArenaTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, got } = self;
        write!(f, "arena too small: {needed} blocks of {BLOCK_BYTES} bytes needed, {got} left")
    }
}

impl core::error::Error for ArenaTooSmall {}

/// Hands out slices of the caller's memory, each aligned to a block; never gives any back.
pub struct Arena<'a> {
    free: &'a mut [Block],
}

impl<'a> Arena<'a> {
    /// An arena over `memory`.
    pub fn new(memory: &'a mut [Block]) -> Self {
        Self { free: memory }
    }

    /// Blocks not yet handed out.
    pub fn remaining(&self) -> usize {
        self.free.len()
    }

    /// `len` values, each set to its default.
    pub fn slice<X: Copy + Default>(&mut self, len: usize) -> Result<&'a mut [X], ArenaTooSmall> {
        const { assert!(align_of::<X>() <= BLOCK_BYTES, "the type needs a larger alignment than a block has") };
        let needed = blocks_for::<X>(len);
        let free = core::mem::take(&mut self.free);
        let got = free.len();
        if needed > got {
            self.free = free;
            return Err(ArenaTooSmall { needed, got });
        }
        let (blocks, rest) = free.split_at_mut(needed);
        self.free = rest;
        Ok(initialized(blocks, len))
    }
}

/// Turns blocks into `len` default values.
#[allow(unsafe_code)]
fn initialized<X: Copy + Default>(blocks: &mut [Block], len: usize) -> &mut [X] {
    let first = blocks.as_mut_ptr().cast::<X>();
    for k in 0..len {
        // SAFETY: k < len, and `blocks` holds at least len · size_of::<X>() bytes (`blocks_for`), borrowed exclusively;
        // a block's alignment is at least that of X (checked in `slice`).
        unsafe { first.add(k).write(X::default()) };
    }
    // SAFETY: the loop above initialized `len` values; X is Copy, so nothing needs dropping; the lifetime is that of the
    // exclusive borrow of `blocks`, and blocks may hold any bytes when it ends.
    unsafe { core::slice::from_raw_parts_mut(first, len) }
}
