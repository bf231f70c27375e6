//! What a user reads when a file is broken, word for word.

use std::path::Path;

use saltus_loaders::{Limits, LoadOptions, load, load_text};

/// One line for each file in `tests/broken`, without the folder.
const MESSAGES: &str = include_str!("broken/messages.txt");

fn message(file: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/broken/");
    let path = Path::new(folder).join(file);
    match load(&path, &LoadOptions::default()) {
        Ok(_) => "loaded".to_owned(),
        Err(error) => error.to_string().replace(folder, ""),
    }
}

#[test]
fn broken_files_say_what_to_mend() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/broken")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut messages: Vec<String> =
        names.filter(|name| name.ends_with(".urdf") || name.ends_with(".xml")).map(|name| message(&name)).collect();
    messages.sort();
    for (found, expected) in messages.iter().zip(MESSAGES.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(messages.len(), MESSAGES.lines().count());
}

#[test]
fn a_missing_file_is_named() {
    let message = message("no_such_file.urdf");
    assert!(message.starts_with("no_such_file.urdf: cannot be read: "), "{message}");
}

#[test]
fn what_a_file_may_ask_for_is_bounded() {
    let limits = Limits { file_bytes: 1 << 16, depth: 8, nodes: 100, bodies: 5, ..Limits::default() };
    let options = LoadOptions { limits, ..LoadOptions::default() };
    let refusal = |text: &str| load_text(Path::new("r.urdf"), text, &options).unwrap_err().to_string();
    let links: String = (0..6).map(|k| format!("<link name='{k}'/>\n")).collect();
    assert_eq!(refusal(&format!("<robot>{links}</robot>")), "r.urdf:6: <link name=\"5\">: more than 5 links");
    let deep = format!("{}{}", "<robot>".repeat(9), "</robot>".repeat(9));
    assert_eq!(refusal(&deep), "r.urdf:1: more than 8 levels of nested elements");
}
