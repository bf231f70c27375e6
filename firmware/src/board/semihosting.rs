//! Calls to the debugger or emulator. The processor stands still meanwhile: no virtual time passes.

use core::arch::asm;

const SYS_OPEN: usize = 0x01;
const SYS_WRITE0: usize = 0x04;
const SYS_WRITE: usize = 0x05;
const SYS_READ: usize = 0x06;
const SYS_EXIT_EXTENDED: usize = 0x20;
const ADP_STOPPED_APPLICATION_EXIT: usize = 0x20026;

/// A file of the host.
#[derive(Clone, Copy)]
pub struct File(usize);

/// How a file is opened (the modes of C's `fopen`).
#[derive(Clone, Copy)]
pub enum Access {
    /// `rb`.
    Read = 1,
    /// `wb`.
    Write = 5,
}

impl File {
    /// Opens a file of the host; `name` ends with a zero byte.
    pub fn open(name: &[u8], access: Access) -> Option<Self> {
        let length = name.len().checked_sub(1)?;
        let handle = call(SYS_OPEN, &[name.as_ptr() as usize, access as usize, length]);
        (handle != usize::MAX).then_some(Self(handle))
    }

    /// Reads until `bytes` is full; false at the end of the file.
    pub fn read(self, bytes: &mut [u8]) -> bool {
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let left = call(SYS_READ, &[self.0, rest.as_mut_ptr() as usize, rest.len()]);
            if left >= rest.len() {
                return false;
            }
            done += rest.len() - left;
        }
        true
    }

    /// Writes all of `bytes`; false if the host did not take them.
    pub fn write(self, bytes: &[u8]) -> bool {
        bytes.is_empty() || call(SYS_WRITE, &[self.0, bytes.as_ptr() as usize, bytes.len()]) == 0
    }
}

/// Shows text that ends with a zero byte.
pub fn print(text: &[u8]) {
    if text.last() == Some(&0) {
        // SAFETY: the text ends with a zero byte, and the host only reads it.
        unsafe { raw(SYS_WRITE0, text.as_ptr() as usize) };
    }
}

/// Ends the emulation with an exit code.
pub fn exit(code: u32) -> ! {
    loop {
        call(SYS_EXIT_EXTENDED, &[ADP_STOPPED_APPLICATION_EXIT, code as usize]);
    }
}

fn call(operation: usize, arguments: &[usize]) -> usize {
    // SAFETY: every operation above takes a block of words, whose pointers and lengths come from slices.
    unsafe { raw(operation, arguments.as_ptr() as usize) }
}

/// # Safety
/// `argument` is what the operation asks for.
unsafe fn raw(operation: usize, argument: usize) -> usize {
    let result;
    // SAFETY: the breakpoint hands over to the host and comes back; the host may read and write the caller's memory.
    unsafe { asm!("bkpt #0xAB", inout("r0") operation => result, in("r1") argument, options(nostack)) };
    result
}
