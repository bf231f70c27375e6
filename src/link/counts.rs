//! What happened on a link.

/// Frames by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Whole, new and in time.
    pub received: u32,
    /// Never seen, by the gaps in the sequence.
    pub lost: u32,
    /// Seen before.
    pub duplicated: u32,
    /// Whole, but after a later one, or too old.
    pub late: u32,
    /// Not what was sent: wrong stuffing, CRC or content.
    pub corrupt: u32,
    /// Longer than the receiver's buffer.
    pub overlong: u32,
}
