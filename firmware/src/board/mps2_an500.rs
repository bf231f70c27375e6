//! QEMU's `mps2-an500`: a Cortex-M7 with CMSDK peripherals.
//!
//! Virtual time is instructions executed (`-icount shift=N`: 2^N ns each), so a counter at 25 MHz counts instructions.
//! The link goes through two pipes of the host that semihosting opens: a call takes no virtual time, as DMA would take
//! no instructions, and it moves a whole frame, where the emulated UART moves a byte in 0.1 ms. The UART has the log.

use cortex_m::peripheral::{SYST, syst::SystClkSource};

use super::semihosting::{self, Access, File};

/// Rate of [`counter_ticks`] and of the control timer.
pub const COUNTER_HZ: u32 = 25_000_000;

/// Pipes of the link, in the folder that the emulator was started in.
const FROM_PLANT: &[u8] = b"to-target\0";
const TO_PLANT: &[u8] = b"from-target\0";

/// A length that no window has: the plant ends the run.
const END: usize = u16::MAX as usize;

/// A register of a peripheral.
struct Register(*mut u32);

impl Register {
    fn write(&self, value: u32) {
        // SAFETY: the addresses below are those of the board's peripherals.
        unsafe { self.0.write_volatile(value) }
    }

    fn read(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.read_volatile() }
    }
}

const TIMER0_CONTROL: Register = Register(0x4000_0000 as *mut u32);
const TIMER0_VALUE: Register = Register(0x4000_0004 as *mut u32);
const TIMER0_RELOAD: Register = Register(0x4000_0008 as *mut u32);
const UART0_DATA: Register = Register(0x4000_4000 as *mut u32);
const UART0_STATE: Register = Register(0x4000_4004 as *mut u32);
const UART0_CONTROL: Register = Register(0x4000_4008 as *mut u32);
const UART0_DIVIDER: Register = Register(0x4000_4010 as *mut u32);
/// Two lamps of the board; the first stands for the line that powers the motors.
const LAMPS: Register = Register(0x4002_8000 as *mut u32);
const MOTORS: u32 = 1;

/// Motors off, counter and UART on.
pub fn init() {
    motors_off();
    TIMER0_RELOAD.write(u32::MAX);
    TIMER0_VALUE.write(u32::MAX);
    TIMER0_CONTROL.write(1);
    UART0_DIVIDER.write(16);
    UART0_CONTROL.write(1);
}

/// A counter at [`COUNTER_HZ`] that wraps after 171 s.
pub fn counter_ticks() -> u32 {
    u32::MAX - TIMER0_VALUE.read()
}

/// Makes `SysTick` fire every `period_us`; false if the period does not fit its 24 bits.
pub fn start_control_timer(timer: &mut SYST, period_us: u32) -> bool {
    let ticks = u64::from(period_us) * u64::from(COUNTER_HZ) / 1_000_000;
    if !(1..=1 << 24).contains(&ticks) {
        return false;
    }
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(ticks as u32 - 1);
    timer.clear_current();
    timer.enable_counter();
    timer.enable_interrupt();
    true
}

/// Powers the motors.
pub fn motors_enable() {
    LAMPS.write(LAMPS.read() | MOTORS);
}

/// Takes the power from the motors.
pub fn motors_off() {
    LAMPS.write(LAMPS.read() & !MOTORS);
}

/// Whether the motors have power.
pub fn motors_are_on() -> bool {
    LAMPS.read() & MOTORS != 0
}

/// Sends bytes of the log.
pub fn log_bytes(bytes: &[u8]) {
    for byte in bytes {
        while UART0_STATE.read() & 1 != 0 {}
        UART0_DATA.write(u32::from(*byte));
    }
}

/// The two directions of the link.
#[derive(Clone, Copy)]
pub struct Link {
    from_plant: File,
    to_plant: File,
}

/// Opens the link; none if the host has not made its pipes.
pub fn open_link() -> Option<Link> {
    let from_plant = File::open(FROM_PLANT, Access::Read)?;
    Some(Link { from_plant, to_plant: File::open(TO_PLANT, Access::Write)? })
}

impl Link {
    /// What arrived since the last call: the number of bytes, none if the plant has ended the run.
    ///
    /// The plant sends a length and that many bytes, which may be none. More than fit are read and dropped.
    pub fn receive(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let mut length = [0; 2];
        if !self.from_plant.read(&mut length) {
            return None;
        }
        let length = usize::from(u16::from_le_bytes(length));
        if length == END {
            return None;
        }
        let kept = length.min(bytes.len());
        if !self.from_plant.read(bytes.get_mut(..kept)?) {
            return None;
        }
        for _ in kept..length {
            self.from_plant.read(&mut [0]);
        }
        Some(kept)
    }

    /// Sends bytes; false if the plant has gone.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.to_plant.write(&(bytes.len() as u16).to_le_bytes()) && self.to_plant.write(bytes)
    }
}

/// Shows text that ends with a zero byte.
pub fn print(text: &[u8]) {
    semihosting::print(text);
}

/// Ends the program.
pub fn exit(code: u32) -> ! {
    semihosting::exit(code)
}
