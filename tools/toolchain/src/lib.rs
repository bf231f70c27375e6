//! The compiler for the Cortex-M7: which one this machine has, and how cargo is called with it.
//!
//! rustup's own target is the first choice: a stable compiler with a prebuilt `core`. Where rustup cannot add it (no
//! rustup, no route to its server), Debian's packaged compiler builds `core` from source.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The Cortex-M7 with its FPU, without an operating system.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// Debian's compiler, cargo and the sources of `core`, and the linker (the packaged compiler ships no `rust-lld`).
pub const PACKAGED: [(&str, Option<&str>); 4] = [
    ("rustc-web", None),
    ("cargo-web", None),
    ("rust-web-src", None),
    ("binutils-arm-none-eabi", Some("arm-none-eabi-ld")),
];

/// Where the files of Debian's packages are.
const PACKAGED_FILES: [&str; 3] = ["/usr/bin/cargo", "/usr/bin/rustc", "/usr/bin/arm-none-eabi-ld"];

/// A compiler that builds for [`TARGET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The host's compiler with the target added by rustup.
    Rustup,
    /// Debian's compiler, which builds `core` from its own sources.
    Packaged,
}

impl Toolchain {
    /// The toolchain this machine has now.
    pub fn find() -> Option<Self> {
        if has_rustup_target() {
            return Some(Self::Rustup);
        }
        PACKAGED_FILES.iter().all(|file| Path::new(file).exists()).then_some(Self::Packaged)
    }

    /// `cargo <arguments>` for the target; `libraries` are those of the standard library that the build may use.
    ///
    /// Two compilers must never share a target directory: the packaged one has its own, beside `target_dir`'s other
    /// content.
    pub fn cargo(self, arguments: &[&str], libraries: &str, target_dir: &Path) -> Command {
        let mut build = match self {
            Toolchain::Rustup => Command::new(host_cargo()),
            Toolchain::Packaged => Command::new("/usr/bin/cargo"),
        };
        build.args(arguments).args(["--target", TARGET]);
        if self == Toolchain::Packaged {
            // -Zbuild-std is unstable.
            build.arg(format!("-Zbuild-std={libraries}")).arg("--target-dir").arg(target_dir.join("thumb"));
            build.env("RUSTC_BOOTSTRAP", "1").env("RUSTC", "/usr/bin/rustc");
            // Set by rustup and `cargo run` for the other compiler.
            build.env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
        }
        build
    }

    /// `cargo build` of an image of the workspace, or of all of them, and the folder that they end in.
    pub fn build_images(self, image: Option<&str>, target_dir: &Path) -> (Command, PathBuf) {
        let mut build = self.cargo(&["build", "--package", "saltus-firmware"], "core", target_dir);
        build.args(["--features", "images", "--profile", "firmware"]);
        match image {
            Some(name) => build.args(["--bin", name]),
            None => build.arg("--bins"),
        };
        let folder = match self {
            Toolchain::Rustup => {
                build.arg("--target-dir").arg(target_dir);
                target_dir.to_owned()
            }
            Toolchain::Packaged => {
                build.args(["--config", &format!("target.{TARGET}.linker='arm-none-eabi-ld'")]);
                build.args(["--config", &format!("target.{TARGET}.rustflags=['-C', 'linker-flavor=ld']")]);
                target_dir.join("thumb")
            }
        };
        (build, folder.join(TARGET).join("firmware"))
    }

    /// The compiler's version, `1.95`: counts of instructions belong to it.
    pub fn version(self) -> Option<String> {
        let compiler = if self == Self::Rustup { "rustc" } else { "/usr/bin/rustc" };
        let line = stdout(Command::new(compiler).arg("--version"))?;
        let version = line.split_whitespace().nth(1)?;
        let mut parts = version.split('.');
        Some(format!("{}.{}", parts.next()?, parts.next()?))
    }
}

/// The cargo that started this program, or the one on the PATH.
fn host_cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether rustup's target is installed for the default compiler.
pub fn has_rustup_target() -> bool {
    stdout(Command::new("rustc").args(["--print", "sysroot"]))
        .is_some_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

fn stdout(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(toolchain: Toolchain) -> Vec<String> {
        let command = toolchain.cargo(&["build", "--release"], "core", Path::new("there"));
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
        assert_eq!(arguments.last().unwrap(), "there/thumb");
    }

    #[test]
    fn the_two_compilers_put_images_into_different_folders() {
        let folder = |toolchain: Toolchain| toolchain.build_images(None, Path::new("there")).1;
        assert_ne!(folder(Toolchain::Rustup), folder(Toolchain::Packaged));
    }
}
