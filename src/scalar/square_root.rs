//! Square roots by the fastest way there is. All of them round correctly, so the bits do not depend on the way.

/// In single precision.
#[inline(always)]
pub(super) fn single(x: f32) -> f32 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(all(not(feature = "std"), target_arch = "arm", target_abi = "eabihf"))]
    return hardware::single(x);
    #[cfg(not(any(feature = "std", all(target_arch = "arm", target_abi = "eabihf"))))]
    return libm::sqrtf(x);
}

/// In double precision, which some of the units that have the single one lack.
#[inline(always)]
pub(super) fn double(x: f64) -> f64 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(x);
}

/// The instruction of ARM's floating-point unit. Without `std` the language does not offer it, and `libm` takes 51
/// instructions; a function of assembly, unlike assembly in place, asks no particular flags of the build.
#[cfg(all(not(feature = "std"), target_arch = "arm", target_abi = "eabihf"))]
#[allow(unsafe_code)]
mod hardware {
    core::arch::global_asm!(
        ".fpu fpv4-sp-d16",
        ".section .text.saltus_sqrtf, \"ax\", %progbits",
        ".balign 4",
        ".global saltus_sqrtf",
        ".type saltus_sqrtf, %function",
        ".thumb_func",
        "saltus_sqrtf:",
        "vsqrt.f32 s0, s0",
        "bx lr",
        ".size saltus_sqrtf, . - saltus_sqrtf",
    );

    unsafe extern "C" {
        fn saltus_sqrtf(x: f32) -> f32;
    }

    #[inline(always)]
    pub fn single(x: f32) -> f32 {
        // SAFETY: defined above. By the calling convention of the target (`eabihf`) the argument and the result are in
        // s0; nothing else is touched.
        unsafe { saltus_sqrtf(x) }
    }
}
