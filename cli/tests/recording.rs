//! A recording holds what was recorded.

use std::path::PathBuf;
use std::process::Command;

use saltus_cli::recording::{ContactRow, Recording, Statistics};
use serde_json::{Value, json};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Topic, nanoseconds and content of every message, in the order of the file.
fn read(path: &PathBuf) -> Vec<(String, u64, Value)> {
    let bytes = std::fs::read(path).unwrap();
    let messages = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    let read = messages.map(|message| {
        assert_eq!(message.channel.message_encoding, "json");
        let schema = message.channel.schema.as_ref().expect("every channel has a schema");
        let schema_text: Value = serde_json::from_slice(&schema.data).unwrap();
        let content: Value = serde_json::from_slice(&message.data).unwrap();
        assert_eq!((schema.encoding.as_str(), &schema_text["type"]), ("jsonschema", &json!("object")));
        assert_eq!(names(&schema_text["properties"]), names(&content), "{}", message.channel.topic);
        (message.channel.topic.clone(), message.log_time, content)
    });
    read.collect()
}

fn names(object: &Value) -> Vec<&String> {
    object.as_object().expect("an object").keys().collect()
}

#[test]
fn what_is_recorded_is_read_back() {
    let path = path("round_trip.mcap");
    let contact = ContactRow {
        geometries: ["floor", "foot"],
        point_world: [0.1, 0.2, 0.0],
        normal_world: [0.0, 0.0, 1.0],
        distance_m: -1e-4,
        impulse_world: [0.0, 0.5, 2.0],
    };
    let statistics = Statistics {
        kinetic_j: 1.5,
        potential_j: -3.25,
        contacts: 1,
        penetration_m: 1e-4,
        iterations: 2,
        residual: 1e-12,
        step_us: 12.0,
    };
    let mut recording = Recording::create(&path).unwrap();
    recording.state(0.0, &[0.1, -2.5], &[1e-300]).unwrap();
    recording.state(0.001, &[0.3, 1.0 / 3.0], &[4.0]).unwrap();
    recording.contacts(0.001, &[contact]).unwrap();
    recording.statistics(0.001, &statistics).unwrap();
    recording.finish().unwrap();

    let row = json!({
        "geometries": ["floor", "foot"],
        "point_world": [0.1, 0.2, 0.0],
        "normal_world": [0.0, 0.0, 1.0],
        "distance_m": -1e-4,
        "impulse_world": [0.0, 0.5, 2.0],
    });
    let statistics = json!({
        "time_s": 0.001,
        "kinetic_j": 1.5,
        "potential_j": -3.25,
        "contacts": 1,
        "penetration_m": 1e-4,
        "iterations": 2,
        "residual": 1e-12,
        "step_us": 12.0,
    });
    let expected = [
        ("/state", 0, json!({ "time_s": 0.0, "q": [0.1, -2.5], "v": [1e-300] })),
        ("/state", 1_000_000, json!({ "time_s": 0.001, "q": [0.3, 1.0 / 3.0], "v": [4.0] })),
        ("/contacts", 1_000_000, json!({ "time_s": 0.001, "contacts": [row] })),
        ("/statistics", 1_000_000, statistics),
    ];
    assert_eq!(read(&path), expected.map(|(topic, time, content)| (topic.to_owned(), time, content)));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = Recording::create(path("nowhere").join("a.mcap")).err().expect("it must fail").to_string();
    assert!(error.starts_with("cannot write ") && error.ends_with("a.mcap"), "{error}");
}

#[test]
fn a_simulation_records_its_states_every_millisecond() {
    let path = path("cartpole.mcap");
    simulate(&["cartpole", "--control", "random", "--time", "0.01", "--dt-us", "250"], &path);
    let messages = read(&path);
    let states = of_topic(&messages, "/state");
    let times: Vec<u64> = states.iter().map(|(_, time, _)| *time).collect();
    assert_eq!(times, (0..=10).map(|k| k * 1_000_000).collect::<Vec<_>>());
    assert!(states.iter().all(|(.., state)| state["q"].as_array().unwrap().len() == 2));
    assert_ne!(states[0].2["q"], states[10].2["q"]);
    assert_eq!(of_topic(&messages, "/statistics").len(), 10);
}

#[test]
fn a_simulation_records_where_the_feet_push() {
    let path = path("go1.mcap");
    simulate(&["go1", "--time", "1"], &path);
    let messages = read(&path);
    let (.., last) = of_topic(&messages, "/contacts").pop().expect("there are contacts");
    let contacts = last["contacts"].as_array().unwrap();
    assert_eq!(contacts.len(), 4);
    let number = |contact: &Value, key: &str, axis: usize| contact[key][axis].as_f64().unwrap();
    for contact in contacts {
        assert!(contact["geometries"][1].as_str().unwrap().ends_with("_foot"), "{contact}");
        assert!(
            number(contact, "point_world", 2).abs() < 1e-4 && number(contact, "normal_world", 2) == 1.0,
            "{contact}"
        );
    }
    // m g Δt of a robot at rest.
    let weight = 12.74 * 9.81 * 0.002;
    let held: f64 = contacts.iter().map(|contact| number(contact, "impulse_world", 2)).sum();
    assert!((held / weight - 1.0).abs() < 1e-2, "{held} N s instead of {weight}");
}

fn simulate(arguments: &[&str], recording: &PathBuf) {
    let mut saltus = Command::new(env!("CARGO_BIN_EXE_saltus"));
    saltus.args(["simulate", "--json"]).args(arguments).arg("--mcap").arg(recording);
    assert!(saltus.output().unwrap().status.success());
}

fn of_topic<'m>(messages: &'m [(String, u64, Value)], topic: &str) -> Vec<&'m (String, u64, Value)> {
    messages.iter().filter(|(of, ..)| of == topic).collect()
}
