//! `saltus check` says whether derivatives are right.

use std::process::Command;

use serde_json::Value;

fn check(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_saltus")).arg("check").args(arguments).output().unwrap()
}

#[test]
fn a_robot_passes_and_says_so_in_json() {
    let output = check(&["cartpole", "--states", "20", "--seed", "3", "--json"]);
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["robot"], &report["pass"]), (&Value::from("cartpole"), &Value::from(true)));
    for mode in ["stick", "slide", "break", "limit", "free"] {
        assert!(report["modes"][mode]["cases"].is_u64(), "{mode}");
    }
    assert!(report["blocks"]["dv_dq"]["max_rel_error"].as_f64().unwrap() < 1e-6);
    assert_eq!(report["all"]["cases"], 20);
}

#[test]
fn a_state_that_does_not_fit_is_named() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("state.json");
    std::fs::write(&path, r#"{"q": [0.1], "v": [0.0, 0.0]}"#).unwrap();
    let output = check(&["cartpole", "--state", path.to_str().unwrap()]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("q has 1 numbers, the robot 2"), "{error}");
}
