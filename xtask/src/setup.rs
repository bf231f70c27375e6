//! What the steps need from the machine, and how it gets there.

use anyhow::{Result, bail};

use crate::process::{cargo, command, probe, succeeds_within};
use crate::toolchain::{self, RUSTUP_LIMIT, Toolchain};

/// Something a step needs from the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `cargo fmt`.
    Rustfmt,
    /// `cargo clippy`.
    Clippy,
    /// A compiler for the Cortex-M7.
    Target,
    /// The emulator that the images run on.
    Emulator,
}

impl Need {
    const ALL: [Need; 4] = [Need::Rustfmt, Need::Clippy, Need::Target, Need::Emulator];

    fn name(self) -> &'static str {
        match self {
            Need::Rustfmt => "rustfmt",
            Need::Clippy => "clippy",
            Need::Target => toolchain::TARGET,
            Need::Emulator => "qemu-system-arm",
        }
    }

    /// Where it comes from on this machine, if it is there.
    fn found(self) -> Option<&'static str> {
        let component = |subcommand| probe(cargo().args([subcommand, "--version"])).map(|_| "component");
        match self {
            Need::Rustfmt => component("fmt"),
            Need::Clippy => component("clippy"),
            Need::Target => Toolchain::find().map(|found| match found {
                Toolchain::Rustup => "rustup's target",
                Toolchain::Packaged => "Debian's compiler",
            }),
            Need::Emulator => toolchain::has_emulator().then_some("program"),
        }
    }

    /// How it would be installed.
    fn plan(self) -> String {
        match self {
            Need::Target => toolchain::plan(),
            Need::Emulator => toolchain::plan_emulator(),
            _ => format!("rustup component add {}", self.name()),
        }
    }

    /// Installs it if it is missing.
    pub fn ensure(self) -> Result<()> {
        match self {
            Need::Target => toolchain::ensure().map(drop),
            Need::Emulator => toolchain::ensure_emulator(),
            _ if self.found().is_some() => Ok(()),
            _ => self.add_component(),
        }
    }

    fn add_component(self) -> Result<()> {
        let name = self.name();
        if !toolchain::has_rustup() {
            bail!("{name} is missing and there is no rustup: install the package that holds it for your cargo");
        }
        if !succeeds_within(command("rustup").args(["component", "add", name]), RUSTUP_LIMIT)? {
            bail!("`rustup component add {name}` failed: run it where there is a network");
        }
        Ok(())
    }
}

/// Makes the machine ready for every step, or only says what that takes. True if nothing is left to do by hand.
pub fn run(dry_run: bool) -> bool {
    let mut ready = true;
    for need in Need::ALL {
        let result = if dry_run { Ok(()) } else { need.ensure() };
        let state = match (result, need.found()) {
            (Err(error), _) => {
                ready = false;
                format!("failed: {error:#}")
            }
            (Ok(()), Some(source)) => format!("ready ({source})"),
            (Ok(()), None) => format!("missing: {}", need.plan()),
        };
        println!("{:<24}{state}", need.name());
    }
    ready
}
