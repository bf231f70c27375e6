//! Debian packages: what is missing, and how it gets there.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::{command, must_succeed, probe};

/// Another package manager may hold the lock for a while; wait this long (seconds) instead of failing at once.
const LOCK_TIMEOUT: &str = "DPkg::Lock::Timeout=300";

/// A Debian package.
#[derive(Clone, Copy)]
pub struct Package {
    /// Its name in Debian.
    pub name: &'static str,
    /// A program or an absolute path that serves as well, wherever it came from.
    pub provides: Option<&'static str>,
}

impl Package {
    fn is_installed(&self) -> bool {
        let query = ["--show", "--showformat=${db:Status-Status}", self.name];
        self.provides.is_some_and(is_available)
            || probe(command("dpkg-query").args(query)).is_some_and(|status| status == "installed")
    }
}

/// The names of the packages that are not there.
pub fn missing(packages: &[Package]) -> Vec<&'static str> {
    packages.iter().filter(|package| !package.is_installed()).map(|package| package.name).collect()
}

/// The commands that install `names`, as one types them.
pub fn install_command(names: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install --yes {}", names.join(" "))
}

/// Installs what is missing of `packages`: as root by itself, otherwise by asking for it.
pub fn ensure(packages: &[Package]) -> Result<()> {
    let names = missing(packages);
    if names.is_empty() {
        return Ok(());
    }
    if probe(command("apt-get").arg("--version")).is_none() {
        bail!("missing: {}; this machine has no apt-get, so install their equivalents by hand", names.join(", "));
    }
    if probe(command("id").arg("-u")).as_deref() != Some("0") {
        bail!("missing: {}; run `{}`, then try again", names.join(", "), install_command(&names));
    }
    let apt = |arguments: &[&str]| {
        let mut apt = command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(["-o", LOCK_TIMEOUT]).args(arguments);
        must_succeed(&mut apt)
    };
    // One unreachable source is no reason to stop: the packages may come from another.
    if let Err(error) = apt(&["update"]) {
        eprintln!("warning: {error:#}");
    }
    apt(&["install", "--yes", "--no-install-recommends"].into_iter().chain(names).collect::<Vec<_>>())
}

/// Whether a path exists, or a program is on the PATH.
fn is_available(name: &str) -> bool {
    let on_path = |paths| std::env::split_paths(&paths).any(|folder| folder.join(name).is_file());
    if name.starts_with('/') { Path::new(name).exists() } else { std::env::var_os("PATH").is_some_and(on_path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_source_provides_is_not_missing() {
        let there = Package { name: "no-such-package", provides: Some("sh") };
        let absent = Package { name: "no-such-package", provides: Some("/no/such/path") };
        assert_eq!(missing(&[there, absent]), ["no-such-package"]);
    }

    #[test]
    fn the_install_command_can_be_pasted() {
        assert_eq!(install_command(&["a", "b"]), "sudo apt-get update && sudo apt-get install --yes a b");
    }
}
