//! Puts the memory map where the linker looks, and names the linker's scripts.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::copy("../memory.x", out.join("memory.x"))?;
    println!("cargo:rerun-if-changed=../memory.x");
    println!("cargo:rustc-link-search={}", out.display());
    for argument in ["-Tlink.x", "-Tdefmt.x", "--nmagic"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    Ok(())
}
