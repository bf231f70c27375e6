//! Bits of a result, to hold the target to the host.

use saltus::linalg::MatRef;

/// A hash of the bits of a matrix (FNV-1a, 32 bits), row by row.
pub fn bits_of(matrix: MatRef<'_, f32>) -> u32 {
    let entries = (0..matrix.rows()).flat_map(|row| matrix.row(row));
    let bytes = entries.flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
