//! The log of an image, as text.

use anyhow::{Context, Result};
use defmt_decoder::{DecodeError, Table};

/// Decodes the bytes that an image sent: one line per message.
pub fn decode(elf: &[u8], bytes: &[u8]) -> Result<Vec<String>> {
    let table = Table::parse(elf)?.context("the image has no log messages")?;
    let mut decoder = table.new_stream_decoder();
    decoder.received(bytes);
    let mut lines = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let level = frame.level().map_or("", |level| level.as_str());
                lines.push(format!("{level:<5} {}", frame.display_message()));
            }
            Err(DecodeError::UnexpectedEof) => return Ok(lines),
            Err(DecodeError::Malformed) => lines.push("(a garbled message)".to_owned()),
        }
    }
}
