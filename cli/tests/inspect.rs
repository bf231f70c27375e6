//! What `saltus inspect` and `saltus bake` say about memory.

use std::process::Command;

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
fn a_baked_robot_sizes_its_own_memory() {
    let source = saltus(&["bake", "hopper"]);
    assert!(source.contains("pub const DIMS: Dims = Dims::new("));
    assert!(source.contains("pub const fn step_dims(contacts: usize) -> StepDims {"));
}
