//! The compiler for the Cortex-M7 and its emulator: installing what is missing.

use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Result;
use saltus_toolchain::has_rustup_target;
pub use saltus_toolchain::{TARGET, Toolchain};

use crate::packages::{self, Package};
use crate::process::{command, probe, root, succeeds_within, target_dir};

/// rustup downloads some 10 MB for a target; a network that needs longer is as good as none.
pub const RUSTUP_LIMIT: Duration = Duration::from_secs(90);

/// QEMU's `mps2-an500` is the board that the images run on.
const EMULATOR: [Package; 1] = [Package { name: "qemu-system-arm", provides: Some("qemu-system-arm") }];

/// `cargo <arguments>` for the target at the root of the workspace.
pub fn cargo_for_target(arguments: &[&str], libraries: &str) -> Result<Command> {
    let mut build = ensure()?.cargo(arguments, libraries, &target_dir());
    build.current_dir(root());
    Ok(build)
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
        packages::ensure(&packaged())?;
        Toolchain::Packaged
    };
    Ok(*CHOSEN.get_or_init(|| chosen))
}

/// What [`ensure`] would do where no toolchain is found.
pub fn plan() -> String {
    let packages = packages::install_command(&packages::missing(&packaged()));
    if has_rustup() { format!("rustup target add {TARGET}; if that fails, {packages}") } else { packages }
}

/// Whether the emulator is there.
pub fn has_emulator() -> bool {
    packages::missing(&EMULATOR).is_empty()
}

/// Installs the emulator if it is missing.
pub fn ensure_emulator() -> Result<()> {
    packages::ensure(&EMULATOR)
}

/// How the emulator would be installed.
pub fn plan_emulator() -> String {
    packages::install_command(&packages::missing(&EMULATOR))
}

/// Whether rustup manages this machine's toolchains.
pub fn has_rustup() -> bool {
    probe(command("rustup").arg("--version")).is_some()
}

fn packaged() -> [Package; 4] {
    saltus_toolchain::PACKAGED.map(|(name, provides)| Package { name, provides })
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
