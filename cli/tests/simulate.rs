//! What `saltus simulate` prints.

use std::process::{Command, Output};

use serde_json::Value;

fn saltus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saltus")).args(arguments).output().unwrap()
}

fn summary(arguments: &[&str]) -> Value {
    let output = saltus(&[&["simulate", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn complaint(arguments: &[&str]) -> String {
    let output = saltus(arguments);
    assert!(!output.status.success(), "it must fail");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_held_quadruped_stands_on_its_feet() {
    let summary = summary(&["go1", "--time", "1.5"]);
    let seconds = summary["seconds"].as_array().unwrap();
    let times: Vec<_> = seconds.iter().map(|second| second["time_s"].as_f64().unwrap()).collect();
    assert_eq!(times, [0.0, 1.0, 1.5]);
    let last = &seconds[2];
    assert_eq!(last["contacts"], 4);
    assert!(last["kinetic_j"].as_f64().unwrap() < 1e-6, "{last}");
    let statuses = summary["solver_statuses"].as_object().unwrap();
    assert_eq!(statuses.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 750);
    assert_eq!((summary["steps"].as_u64(), summary["keyframe"].as_str()), (Some(750), Some("rest")));
    assert_eq!((summary["dropped_contacts"].as_u64(), summary["dropped_constraints"].as_u64()), (Some(0), Some(0)));
    let step_us = |key: &str| summary["step_us"][key].as_f64().unwrap();
    assert!(step_us("p50") <= step_us("p99") && step_us("p99") <= step_us("p999") && step_us("p999") <= step_us("max"));
}

#[test]
fn energy_of_a_free_swing_stays() {
    let summary =
        summary(&["double_cartpole", "--keyframe", "qpos0", "--control", "zero", "--time", "1", "--dt-us", "100"]);
    let total = |k: usize| summary["seconds"][k]["total_j"].as_f64().unwrap();
    // A symplectic integrator of first order, 10 000 steps a second, and some joules that go to and fro.
    assert!((total(1) - total(0)).abs() < 0.05, "{} J became {} J", total(0), total(1));
}

#[test]
fn the_same_seed_gives_the_same_motion() {
    let run = |seed| summary(&["go1", "--time", "0.2", "--control", "random", "--seed", seed])["seconds"].clone();
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3"), run("4"));
}

#[test]
fn every_solver_runs() {
    for solver in ["newton", "gauss-seidel", "admm"] {
        let summary = summary(&["go1", "--time", "0.1", "--substeps", "2", "--solver", solver]);
        assert_eq!((summary["solver"].as_str(), summary["substeps"].as_u64()), (Some(solver), Some(2)));
    }
}

#[test]
fn contacts_that_find_no_room_are_counted() {
    let summary = summary(&["go1", "--time", "0.1", "--contacts", "3"]);
    assert_eq!(summary["dropped_contacts"], 50);
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    assert!(complaint(&["simulate", "go2"]).contains("go1"));
    assert!(complaint(&["simulate", "go1", "--keyframe", "crouch"]).contains("it has rest"));
    assert!(complaint(&["simulate", "go1", "--solver", "lcp"]).contains("newton, gauss-seidel, admm"));
    assert!(complaint(&["simulate", "go1", "--control", "walk"]).contains("zero, hold, random"));
}

#[test]
fn impossible_numbers_are_named() {
    assert!(complaint(&["simulate", "go1", "--time", "0"]).contains("--time must be above zero, found 0"));
    assert!(complaint(&["simulate", "go1", "--dt-us", "-1"]).contains("--dt-us must be above zero, found -1"));
}
