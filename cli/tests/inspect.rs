//! What `saltus inspect` and `saltus bake` say about memory.

use std::process::Command;

use saltus::memory::BLOCK_BYTES;
use saltus::mpc::{Mpc, MpcDims};
use saltus::step::StepDims;
use saltus_loaders::{LoadOptions, load};
use serde_json::Value;

fn saltus(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_saltus")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_arena_of_a_simulation_is_what_inspect_says() {
    let inspected: Value = serde_json::from_str(&saltus(&["inspect", "go1", "--contacts", "7", "--json"])).unwrap();
    let bytes = &inspected["arena_bytes"];
    let run = saltus(&["simulate", "go1", "--contacts", "7", "--time", "0.01", "--json"]);
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!((&bytes["contacts"], &bytes["f64"]["simulator"]), (&Value::from(7), &run["arena_bytes"]));
    for scalar in ["f32", "f64"] {
        let of = |what: &str| bytes[scalar][what].as_u64().unwrap();
        assert!(of("dynamics") < of("step") && of("step") < of("simulator"));
    }
}

#[test]
fn the_arena_of_an_optimizer_is_what_inspect_says() {
    let arguments = ["inspect", "go1", "--contacts", "7", "--horizon", "13", "--terms", "5", "--json"];
    let inspected: Value = serde_json::from_str(&saltus(&arguments)).unwrap();
    let bytes = &inspected["arena_bytes"];
    let go1 = load("go1", &LoadOptions::default()).unwrap().model;
    let dims = MpcDims::new(StepDims::of(go1.model(), 7), 13, 5);
    let exact = [Mpc::<f32>::blocks(dims), Mpc::<f64>::blocks(dims)].map(|blocks| Value::from(blocks * BLOCK_BYTES));
    assert_eq!([&bytes["f32"]["mpc"], &bytes["f64"]["mpc"]], [&exact[0], &exact[1]]);
    let small = Mpc::<f32>::blocks(dims.without_kept_nodes()) * BLOCK_BYTES;
    assert_eq!(bytes["f32"]["mpc_without_kept_nodes"], Value::from(small));
    assert_eq!([&bytes["horizon"], &bytes["terms"]], [&Value::from(13), &Value::from(5)]);
    let table = saltus(&arguments[..8]);
    let line = table.lines().find(|line| line.starts_with("optimizer, with the step")).expect("a line for it");
    assert!(exact.iter().all(|bytes| line.contains(&bytes.to_string())), "{line}");
}

#[test]
fn a_baked_robot_sizes_its_own_memory() {
    let source = saltus(&["bake", "hopper"]);
    assert!(source.contains("pub const DIMS: Dims = Dims::new("));
    assert!(source.contains("pub const fn step_dims(contacts: usize) -> StepDims {"));
    assert!(source.contains("pub const fn mpc_dims(contacts: usize, horizon: usize, terms: usize) -> MpcDims {"));
}
