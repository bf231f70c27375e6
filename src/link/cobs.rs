//! Consistent overhead byte stuffing (Cheshire and Baker 1999): bytes without zeros, ended by one.

/// Bytes before one is spent on a code.
const RUN: usize = 254;

/// Bytes that stuffing adds to `length` at most, the zero at the end included.
pub(super) const fn overhead(length: usize) -> usize {
    length / RUN + 2
}

/// Stuffs `buffer[start..end]` into the front of the buffer and ends it by a zero: the length of all.
///
/// `start` must leave room for the [`overhead`] less the final zero, and that must fit after `end`; none otherwise.
pub(super) fn stuff(buffer: &mut [u8], start: usize, end: usize) -> Option<usize> {
    let (mut code_at, mut to, mut code) = (0, 1, 1u8);
    for from in start..end {
        let byte = *buffer.get(from)?;
        // What is written never overtakes what is read.
        if to > from {
            return None;
        }
        if byte != 0 {
            *buffer.get_mut(to)? = byte;
            to += 1;
            code += 1;
        }
        if byte == 0 || usize::from(code) == RUN + 1 {
            *buffer.get_mut(code_at)? = code;
            (code_at, code) = (to, 1);
            to += 1;
        }
    }
    *buffer.get_mut(code_at)? = code;
    *buffer.get_mut(to)? = 0;
    Some(to + 1)
}

/// Undoes the stuffing in place, without the final zero: the length of what is left; none if no stuffing gives this.
pub(super) fn unstuff(buffer: &mut [u8]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while from < buffer.len() {
        let code = usize::from(*buffer.get(from)?);
        let run = code.checked_sub(1)?;
        from += 1;
        // What is left moves towards the front, so the second never happens: the compiler takes it from here.
        if from + run > buffer.len() || to > buffer.len() - run {
            return None;
        }
        buffer.copy_within(from..from + run, to);
        (from, to) = (from + run, to + run);
        if run < RUN && from < buffer.len() {
            *buffer.get_mut(to)? = 0;
            to += 1;
        }
    }
    Some(to)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;

    fn stuffed(data: &[u8]) -> Vec<u8> {
        let start = overhead(data.len()) - 1;
        let mut buffer = vec![0; start + data.len() + 1];
        buffer[start..][..data.len()].copy_from_slice(data);
        let length = stuff(&mut buffer, start, start + data.len()).unwrap();
        buffer.truncate(length);
        buffer
    }

    #[test]
    fn the_examples_of_the_paper() {
        assert_eq!(stuffed(&[]), [1, 0]);
        assert_eq!(stuffed(&[0]), [1, 1, 0]);
        assert_eq!(stuffed(&[0x45, 0, 0, 0x2C]), [2, 0x45, 1, 2, 0x2C, 0]);
        let long: Vec<u8> = (1..=254).collect();
        assert_eq!(stuffed(&long)[..2], [255, 1]);
    }

    #[test]
    fn stuffed_bytes_come_back_at_every_length() {
        for length in 0..800 {
            for step in [1, 3, 255] {
                let data: Vec<u8> = (0..length).map(|k: usize| (k * step) as u8).collect();
                let mut bytes = stuffed(&data);
                assert_eq!(bytes.pop(), Some(0));
                assert!(!bytes.contains(&0));
                let left = unstuff(&mut bytes).unwrap();
                assert_eq!(bytes[..left], data, "length {length}");
            }
        }
    }

    #[test]
    fn a_code_that_points_beyond_the_end_is_refused() {
        assert_eq!(unstuff(&mut [5, 1, 2]), None);
        assert_eq!(unstuff(&mut [0]), None);
    }
}
