//! Images: built from `firmware/` when asked for.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use saltus_toolchain::Toolchain;

use crate::elf::Elf;

/// A program for the Cortex-M7.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its name: that of the file in `firmware/src/bin`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The compiler that made it, `rustc 1.95`: counts of instructions belong to it.
    pub compiler: String,
}

impl Image {
    /// Builds an image if its sources have changed since the last time. Cargo's output goes to stderr.
    pub fn build(name: &str) -> Result<Self> {
        let toolchain = Toolchain::find()
            .context("no compiler for the Cortex-M7: `cargo xtask setup` installs one, or prints how")?;
        let root = workspace();
        let target = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
        let (mut build, folder) = toolchain.build_images(Some(name), &target);
        let status =
            build.arg("--quiet").current_dir(root).stdout(Stdio::null()).status().context("cannot start cargo")?;
        ensure!(status.success(), "the image {name} does not build; the output above says why");
        let version = toolchain.version().context("the compiler does not say its version")?;
        Ok(Self { name: name.to_owned(), path: folder.join(name), compiler: format!("rustc {version}") })
    }

    /// Its sections, sizes and symbols.
    pub fn elf(&self) -> Result<Elf> {
        let bytes = std::fs::read(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?;
        Elf::read(&bytes)
    }
}

/// The root of the workspace that this program was built in.
pub fn workspace() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}
