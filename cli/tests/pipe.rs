//! A reader that has seen enough.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn a_reader_that_leaves_ends_the_command_without_a_word() {
    let mut saltus = Command::new(env!("CARGO_BIN_EXE_saltus"));
    let mut child =
        saltus.args(["bake", "h1", "--scalar", "f64"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // More text than a pipe holds, so that it is not all written before the reader leaves.
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!first.is_empty());
    assert_eq!(said, "");
    assert_eq!(child.wait().unwrap().code(), Some(141));
}
