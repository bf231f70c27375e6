//! Three slots that carry the newest value from one side to the other without waiting.

use core::cell::UnsafeCell;
use core::fmt;

use super::swap::Shared;

/// Set in the shared number while the middle slot holds what the reader has not seen.
const FRESH: u8 = 4;
const INDEX: u8 = 3;

/// Three slots: one that the writer fills, one that the reader uses, and the newest full one between them.
///
/// Slots may be anything, also views of memory that the caller owns: values stay where they are, indices cross.
///
/// ```
/// use saltus::realtime::TripleBuffer;
///
/// let mut buffer = TripleBuffer::new([[0.0; 2]; 3]);
/// let (mut writer, mut reader) = buffer.split();
/// writer.slot()[0] = 1.0;
/// writer.publish();
/// assert!(reader.refresh());
/// assert_eq!(reader.slot()[0], 1.0);
/// assert!(!reader.refresh()); // nothing newer
/// ```
pub struct TripleBuffer<P> {
    slots: [UnsafeCell<P>; 3],
    middle: Shared,
}

// SAFETY: writer and reader hold different indices at all times, and the third is in `middle`: indices are only ever
// exchanged (`swap`), so no two of the three are equal and every slot has one user. The exchange orders memory.
#[allow(unsafe_code)]
unsafe impl<P: Send> Sync for TripleBuffer<P> {}

impl<P> TripleBuffer<P> {
    /// Of three slots; what the reader sees first is the last of them.
    pub fn new([writer, middle, reader]: [P; 3]) -> Self {
        let slots = [UnsafeCell::new(writer), UnsafeCell::new(middle), UnsafeCell::new(reader)];
        Self { slots, middle: Shared::new(1) }
    }

    /// The two sides, one for each context.
    pub fn split(&mut self) -> (Writer<'_, P>, Reader<'_, P>) {
        self.middle = Shared::new(1);
        (Writer { buffer: self, slot: 0 }, Reader { buffer: self, slot: 2 })
    }

    /// A slot for the side that holds its index.
    #[allow(unsafe_code, clippy::mut_from_ref)]
    fn slot(&self, index: u8) -> &mut P {
        let slot = match index {
            0 => &self.slots[0],
            1 => &self.slots[1],
            _ => &self.slots[2],
        };
        // SAFETY: only the side that holds `index` calls this, through an exclusive borrow of itself; see `Sync` above.
        unsafe { &mut *slot.get() }
    }
}

impl<P> fmt::Debug for TripleBuffer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TripleBuffer").finish_non_exhaustive()
    }
}

/// The side that fills slots.
#[derive(Debug)]
pub struct Writer<'b, P> {
    buffer: &'b TripleBuffer<P>,
    slot: u8,
}

impl<P> Writer<'_, P> {
    /// The slot to fill; it holds something old.
    pub fn slot(&mut self) -> &mut P {
        self.buffer.slot(self.slot)
    }

    /// Hands the slot over; the next one to fill is another. One exchange, whatever the reader does.
    pub fn publish(&mut self) {
        self.slot = self.buffer.middle.swap(self.slot | FRESH) & INDEX;
    }
}

/// The side that uses slots.
#[derive(Debug)]
pub struct Reader<'b, P> {
    buffer: &'b TripleBuffer<P>,
    slot: u8,
}

impl<P> Reader<'_, P> {
    /// Takes the newest slot if there is a newer one than the present; whether there was.
    pub fn refresh(&mut self) -> bool {
        let fresh = self.buffer.middle.load() & FRESH != 0;
        if fresh {
            self.slot = self.buffer.middle.swap(self.slot) & INDEX;
        }
        fresh
    }

    /// The slot in use.
    pub fn slot(&mut self) -> &mut P {
        self.buffer.slot(self.slot)
    }
}
