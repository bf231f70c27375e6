//! A list of `f32` in a message, read in place.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers as their bytes, little end first; borrowed from the sender's slice or from the receiver's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers<'a>(&'a [u8]);

#[cfg(target_endian = "big")]
compile_error!("the link sends the bytes of numbers as they stand, and the wire has the little end first");

impl<'a> Numbers<'a> {
    /// Of a slice.
    pub fn of(numbers: &'a [f32]) -> Self {
        Self(bytemuck::cast_slice(numbers))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / 4
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them, bit for bit.
    pub fn iter(&self) -> impl Iterator<Item = f32> + use<'a> {
        self.0.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// Copies them into `numbers`; false, and nothing is written, if there are not as many.
    #[must_use]
    pub fn copy_to(&self, numbers: &mut [f32]) -> bool {
        if self.0.len() != 4 * numbers.len() {
            return false;
        }
        for (to, from) in numbers.iter_mut().zip(self.iter()) {
            *to = from;
        }
        true
    }
}

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Numbers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(Self)
    }
}
