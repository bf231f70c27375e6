//! Two stacks that cannot run into data: guards, and how deep each has been.

use core::arch::asm;
use core::ptr::addr_of;

use cortex_m::peripheral::MPU;

unsafe extern "C" {
    static _main_stack_end: u32;
    static _handler_stack_end: u32;
    static _stack_start: u32;
}

/// Bytes at the end of each stack that nobody may touch.
const GUARD_BYTES: usize = 256;

/// What an unused word holds.
const PAINT: u32 = 0x5AFE_57AC;

/// Paints the stacks, puts guards at their ends, and goes on in `main` on a stack of its own.
///
/// Interrupts and faults stay on the stack that the program started on. Call it once, first of all.
pub fn enter(mpu: &mut MPU, main: extern "C" fn() -> !) -> ! {
    let [main_end, handler_end, _] = bounds();
    // SAFETY: nothing uses the main loop's stack yet, and of the handlers' the part in use is left out.
    unsafe {
        paint(main_end, handler_end);
        paint(handler_end, cortex_m::register::msp::read() as usize - GUARD_BYTES);
    }
    guard(mpu, 0, main_end);
    guard(mpu, 1, handler_end);
    // SAFETY: the background map stays for all other addresses, so no code loses its memory.
    unsafe { mpu.ctrl.write(0b101) };
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
    let control = cortex_m::register::control::read().bits() | 2;
    // SAFETY: the address is the top of an unused stack, aligned to eight bytes by the memory map; `main` never returns.
    unsafe {
        asm!(
            "msr psp, {top}",
            "msr control, {control}",
            "isb",
            "bx {main}",
            top = in(reg) handler_end,
            control = in(reg) control,
            main = in(reg) main,
            options(noreturn)
        )
    }
}

/// The most that the main loop and the handlers have had on their stacks, in bytes.
pub fn deepest() -> [usize; 2] {
    let [main_end, handler_end, top] = bounds();
    [used(main_end, handler_end), used(handler_end, top)]
}

/// Ends of the main loop's and of the handlers' stack, and the top of both.
fn bounds() -> [usize; 3] {
    [addr_of!(_main_stack_end) as usize, addr_of!(_handler_stack_end) as usize, addr_of!(_stack_start) as usize]
}

/// # Safety
/// The memory from `end` to `top` is not in use.
unsafe fn paint(end: usize, top: usize) {
    for address in (end..top).step_by(4) {
        // SAFETY: the caller's promise.
        unsafe { (address as *mut u32).write_volatile(PAINT) };
    }
}

fn used(end: usize, top: usize) -> usize {
    let mut address = end + GUARD_BYTES;
    // SAFETY: words of a stack, above its guard.
    while address < top && unsafe { (address as *const u32).read_volatile() } == PAINT {
        address += 4;
    }
    top - address
}

/// No access to the lowest bytes of a stack, not even for privileged code.
fn guard(mpu: &mut MPU, region: u32, end: usize) {
    const EXECUTE_NEVER: u32 = 1 << 28;
    const SIZE: u32 = GUARD_BYTES.ilog2() - 1;
    // SAFETY: the region is a guard that no code uses; its address is a multiple of its size.
    unsafe {
        mpu.rnr.write(region);
        mpu.rbar.write(end as u32);
        mpu.rasr.write(EXECUTE_NEVER | (SIZE << 1) | 1);
    }
}
