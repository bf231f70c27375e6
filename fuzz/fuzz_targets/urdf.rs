//! No text makes the URDF reader panic, hang or allocate without bound.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use saltus_loaders::{Limits, LoadOptions, load_text};

fuzz_target!(|text: &str| {
    if text.contains("<robot") {
        let limits = Limits { file_bytes: 1 << 20, ..Limits::default() };
        let options = LoadOptions { limits, ..LoadOptions::default() };
        let _ = load_text(Path::new("fuzzed/robot.urdf"), text, &options);
    }
});
