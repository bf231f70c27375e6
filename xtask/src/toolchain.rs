//! The compiler for the Cortex-M7.
//!
//! rustup's own target is the first choice: a stable compiler with a prebuilt `core`. Where rustup cannot add it (no
//! rustup, no route to its server), Debian's packaged compiler builds `core` from source.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Result;

use crate::packages::{self, Package};
use crate::process::{cargo, command, probe, succeeds_within, target_dir};

/// The Cortex-M7 with its FPU, without an operating system.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// rustup downloads some 10 MB for a target; a network that needs longer is as good as none.
pub const RUSTUP_LIMIT: Duration = Duration::from_secs(90);

/// The compiler, cargo, the sources of `core`, and the linker (the packaged compiler ships no `rust-lld`).
const PACKAGED: [Package; 4] = [
    Package { name: "rustc-web", provides: None },
    Package { name: "cargo-web", provides: None },
    Package { name: "rust-web-src", provides: None },
    Package { name: "binutils-arm-none-eabi", provides: Some("arm-none-eabi-ld") },
];

/// A compiler that builds for [`TARGET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The host's compiler with the target added by rustup.
    Rustup,
    /// Debian's compiler, which builds `core` from its own sources.
    Packaged,
}

impl Toolchain {
    /// `cargo <arguments>` for the target; `libraries` are those of the standard library that the build may use.
    pub fn cargo(self, arguments: &[&str], libraries: &str) -> Command {
        let mut build = match self {
            Toolchain::Rustup => cargo(),
            Toolchain::Packaged => command("/usr/bin/cargo"),
        };
        build.args(arguments).args(["--target", TARGET]);
        if self == Toolchain::Packaged {
            // -Zbuild-std is unstable, and two compilers must never share a target directory.
            build.arg(format!("-Zbuild-std={libraries}")).arg("--target-dir").arg(target_dir().join("thumb"));
            build.env("RUSTC_BOOTSTRAP", "1").env("RUSTC", "/usr/bin/rustc");
            // Set by rustup and `cargo run` for the other compiler.
            build.env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
        }
        build
    }
}

/// The toolchain this machine has now.
pub fn find() -> Option<Toolchain> {
    if has_rustup_target() {
        Some(Toolchain::Rustup)
    } else {
        packages::missing(&PACKAGED).is_empty().then_some(Toolchain::Packaged)
    }
}

/// Finds or installs a toolchain: rustup's target if it can be had, else the packages. Tried once for each run.
pub fn ensure() -> Result<Toolchain> {
    static CHOSEN: OnceLock<Toolchain> = OnceLock::new();
    if let Some(&chosen) = CHOSEN.get() {
        return Ok(chosen);
    }
    let chosen = if has_rustup_target() || add_rustup_target()? {
        Toolchain::Rustup
    } else {
        packages::ensure(&PACKAGED)?;
        Toolchain::Packaged
    };
    Ok(*CHOSEN.get_or_init(|| chosen))
}

/// What [`ensure`] would do where [`find`] finds nothing.
pub fn plan() -> String {
    let packages = packages::install_command(&packages::missing(&PACKAGED));
    if has_rustup() { format!("rustup target add {TARGET}; if that fails, {packages}") } else { packages }
}

/// Whether rustup manages this machine's toolchains.
pub fn has_rustup() -> bool {
    probe(command("rustup").arg("--version")).is_some()
}

fn has_rustup_target() -> bool {
    probe(command("rustc").args(["--print", "sysroot"]))
        .is_some_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

fn add_rustup_target() -> Result<bool> {
    if !has_rustup() {
        return Ok(false);
    }
    let added = succeeds_within(command("rustup").args(["target", "add", TARGET]), RUSTUP_LIMIT)?;
    if !added {
        eprintln!("rustup cannot add {TARGET} here; falling back to Debian's compiler");
    }
    Ok(added && has_rustup_target())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(toolchain: Toolchain) -> Vec<String> {
        let command = toolchain.cargo(&["build", "--release"], "core");
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_rustup_toolchain_needs_no_unstable_flag() {
        assert_eq!(arguments(Toolchain::Rustup), ["build", "--release", "--target", TARGET]);
    }

    #[test]
    fn the_packaged_toolchain_builds_core_in_its_own_directory() {
        let arguments = arguments(Toolchain::Packaged);
        assert!(arguments.contains(&"-Zbuild-std=core".to_owned()));
        assert_eq!(arguments.last().unwrap(), target_dir().join("thumb").to_str().unwrap());
    }
}
