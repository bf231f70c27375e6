//! CRC-32 as Ethernet has it (reflected 0x04C11DB7): finds every burst of up to 32 bits and all 1–3 bit errors in a frame.

/// The CRC of `bytes`. Eight instructions a byte, and 1 KiB of table in flash.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut k = 0;
    while k < 256 {
        let (mut crc, mut bit) = (k as u32, 0);
        while bit < 8 {
            crc = if crc & 1 != 0 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[k] = crc;
        k += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn no_bytes_have_crc_zero() {
        assert_eq!(crc32(&[]), 0);
    }
}
