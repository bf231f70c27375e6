//! From bytes to messages.

use serde::Deserialize;

use super::crc::crc32;
use super::frame::{CRC_BYTES, Header};
use super::{Counts, cobs};

/// Why a frame was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Wrong stuffing, CRC or content.
    Corrupt,
    /// Longer than the buffer.
    Overlong,
    /// The same sequence number as the frame before.
    Duplicate,
    /// Older than one that was delivered, or than the receiver's limit.
    Late,
}

/// Collects bytes in the caller's buffer and gives the frames that are worth having.
#[derive(Debug)]
pub struct Receiver<'b> {
    buffer: &'b mut [u8],
    length: usize,
    overlong: bool,
    last: Option<u16>,
    max_age_us: u64,
    counts: Counts,
}

impl<'b> Receiver<'b> {
    /// Over a buffer that the longest frame fits, without its final zero. No frame is too old.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, length: 0, overlong: false, last: None, max_age_us: u64::MAX, counts: Counts::default() }
    }

    /// Refuses frames whose content is older than this.
    pub fn with_max_age_us(self, max_age_us: u64) -> Self {
        Self { max_age_us, ..self }
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The next frame in `bytes`, which is cut by what was read; none when it is used up.
    ///
    /// O(bytes). Time `now_us` is on the clock of the headers.
    pub fn next<'s, M: Deserialize<'s>>(
        &'s mut self,
        bytes: &mut &[u8],
        now_us: u64,
    ) -> Option<Result<(Header, M), Rejected>> {
        let length = self.collect(bytes)?;
        let Self { buffer, last, counts, .. } = self;
        let Some(length) = length else {
            counts.overlong += 1;
            return Some(Err(Rejected::Overlong));
        };
        let Some((header, message)) = buffer.get_mut(..length).and_then(decode::<M>) else {
            counts.corrupt += 1;
            return Some(Err(Rejected::Corrupt));
        };
        if let Err(rejected) = admit(&header, last, counts) {
            return Some(Err(rejected));
        }
        if now_us.saturating_sub(header.time_us) > self.max_age_us {
            counts.late += 1;
            return Some(Err(Rejected::Late));
        }
        counts.received += 1;
        Some(Ok((header, message)))
    }

    /// Takes bytes up to the next zero: the length of the frame before it, none inside if it was too long.
    fn collect(&mut self, bytes: &mut &[u8]) -> Option<Option<usize>> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if byte != 0 {
                match self.buffer.get_mut(self.length) {
                    Some(free) => *free = byte,
                    None => self.overlong = true,
                }
                self.length = self.length.saturating_add(1);
                continue;
            }
            let (length, overlong) = (core::mem::take(&mut self.length), core::mem::take(&mut self.overlong));
            match (length, overlong) {
                (0, _) => {} // An idle line.
                (_, true) => return Some(None),
                (length, false) => return Some(Some(length)),
            }
        }
        None
    }
}

/// Header and message of stuffed bytes, if the CRC holds and nothing is left over.
fn decode<'s, M: Deserialize<'s>>(stuffed: &'s mut [u8]) -> Option<(Header, M)> {
    let length = cobs::unstuff(stuffed)?;
    let stuffed: &'s [u8] = stuffed;
    let (content, crc) = stuffed.get(..length)?.split_last_chunk::<CRC_BYTES>()?;
    if crc32(content) != u32::from_le_bytes(*crc) {
        return None;
    }
    let (decoded, rest) = postcard::take_from_bytes(content).ok()?;
    rest.is_empty().then_some(decoded)
}

/// Whether the frame is the next or a later one; notes what is missing in between.
fn admit(header: &Header, last: &mut Option<u16>, counts: &mut Counts) -> Result<(), Rejected> {
    const HALF: u16 = 1 << 15;
    match last.map(|last| header.sequence.wrapping_sub(last)) {
        None => {}
        Some(0) => {
            counts.duplicated += 1;
            return Err(Rejected::Duplicate);
        }
        Some(ahead) if ahead < HALF => counts.lost += u32::from(ahead - 1),
        Some(_) => {
            // It was taken for lost when its successor came.
            counts.lost = counts.lost.saturating_sub(1);
            counts.late += 1;
            return Err(Rejected::Late);
        }
    }
    *last = Some(header.sequence);
    Ok(())
}
