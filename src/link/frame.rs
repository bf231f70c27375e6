//! What is in a frame, and how it is made.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::cobs;
use super::crc::crc32;

/// Bytes of the CRC at the end of a frame.
pub(super) const CRC_BYTES: usize = 4;

/// What every frame starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// One more than in the frame before, modulo 2¹⁶.
    pub sequence: u16,
    /// When the content was true, on the clock that both sides share.
    pub time_us: u64,
}

/// The frame does not fit the buffer; give it more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooLong {
    /// Bytes that the buffer has.
    pub got: usize,
}

impl fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the frame does not fit a buffer of {} bytes", self.got)
    }
}

impl core::error::Error for FrameTooLong {}

/// Writes a frame to the front of `buffer` and gives its bytes, the zero at the end included.
///
/// A frame takes the message's own bytes, up to 13 for the header, 4 for the CRC and one in 254 for the stuffing.
pub fn encode<'b, M: Serialize>(
    header: Header,
    message: &M,
    buffer: &'b mut [u8],
) -> Result<&'b mut [u8], FrameTooLong> {
    let error = FrameTooLong { got: buffer.len() };
    let start = cobs::overhead(buffer.len()) - 1;
    let end = write_plain(header, message, buffer.get_mut(start..).ok_or(error)?).ok_or(error)? + start;
    let length = cobs::stuff(buffer, start, end).ok_or(error)?;
    buffer.get_mut(..length).ok_or(error)
}

/// Header, message and CRC: their length; none if they do not fit.
fn write_plain<M: Serialize>(header: Header, message: &M, buffer: &mut [u8]) -> Option<usize> {
    let length = postcard::to_slice(&(header, message), buffer).ok()?.len();
    let crc = crc32(buffer.get(..length)?).to_le_bytes();
    buffer.get_mut(length..length + CRC_BYTES)?.copy_from_slice(&crc);
    Some(length + CRC_BYTES)
}
