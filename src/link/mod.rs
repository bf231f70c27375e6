//! Frames between a controller and its plant, over a byte stream that loses, repeats and garbles them.
//!
//! A frame is a [`Header`] and a message, both in postcard's encoding, and the CRC-32 of the two, stuffed by COBS so that a
//! zero byte ends it and occurs nowhere else. After garbage the receiver is in step again at the next zero. The buffers
//! are the caller's; nothing here allocates or panics, whatever the bytes.
//!
//! ```
//! use saltus::link::{Header, Numbers, Receiver, encode};
//!
//! let mut buffer = [0; 64];
//! let header = Header { sequence: 7, time_us: 1_000 };
//! let frame = encode(header, &Numbers::of(&[1.5, -2.0]), &mut buffer)?;
//!
//! let mut memory = [0; 64];
//! let mut receiver = Receiver::new(&mut memory);
//! let mut bytes = &*frame; // as they come, in any pieces
//! while let Some(event) = receiver.next::<Numbers>(&mut bytes, 1_200) {
//!     let (header, numbers) = event.expect("this one is whole");
//!     assert_eq!((header.sequence, numbers.iter().sum()), (7, -0.5));
//! }
//! assert_eq!(receiver.counts().received, 1);
//! # Ok::<(), saltus::link::FrameTooLong>(())
//! ```

mod cobs;
mod counts;
mod crc;
mod frame;
mod numbers;
mod receiver;

pub use counts::Counts;
pub use frame::{FrameTooLong, Header, encode};
pub use numbers::Numbers;
pub use receiver::{Receiver, Rejected};
