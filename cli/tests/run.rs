//! What `saltus run` prints, and how it ends.

use std::process::{Command, Output};

use serde_json::Value;

fn saltus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saltus")).args(arguments).output().unwrap()
}

/// The document of a run, whether it succeeded or not.
fn document(arguments: &[&str]) -> Value {
    let output = saltus(&[&["run", "--headless", "--json"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn complaint(arguments: &[&str]) -> String {
    let output = saltus(arguments);
    assert!(!output.status.success(), "it must fail");
    String::from_utf8(output.stderr).unwrap()
}

/// All that does not depend on how busy the machine is.
fn without_times(mut document: Value) -> Value {
    for key in ["solve_us", "first_solve_us", "stages_us", "late"] {
        document.as_object_mut().unwrap().remove(key).expect(key);
    }
    document
}

#[test]
fn a_document_says_how_the_seeds_went() {
    let found = document(&["quadrotor-takeoff", "--seeds", "2", "--seconds", "0.5"]);
    for key in ["scenario", "seeds", "successes", "mean_cost", "statuses", "solve_us", "failures"] {
        assert!(found.get(key).is_some(), "{key} is missing in {found}");
    }
    assert_eq!((&found["scenario"], &found["seeds"]), (&"quadrotor-takeoff".into(), &2.into()));
    // Nobody hovers at one metre after half a second.
    assert_eq!(found["successes"], 0);
    let failures = found["failures"].as_array().unwrap();
    assert_eq!(failures.iter().map(|failure| failure["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    assert!(failures[0]["reason"].as_str().unwrap().starts_with("position off by "), "{failures:?}");
    // 25 periods of 20 ms, twice.
    let statuses = found["statuses"].as_object().unwrap();
    assert_eq!(statuses.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 50);
    let solve_us = |key: &str| found["solve_us"][key].as_f64().unwrap();
    assert!(0.0 < solve_us("p50") && solve_us("p50") <= solve_us("p99") && solve_us("p99") <= solve_us("max"));
}

#[test]
fn a_run_depends_on_its_seed_alone() {
    let run = |seed| without_times(document(&["hopper-hop", "--seconds", "0.3", "--seed", seed]));
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3")["mean_cost"], run("4")["mean_cost"]);
}

#[test]
fn without_time_every_solve_says_so() {
    let found = document(&["go1-push", "--seconds", "0.2", "--budget-us", "0"]);
    assert_eq!(found["statuses"], serde_json::json!({ "deadline_reached": 10 }));
    // The first one is before the robot moves.
    assert_eq!(found["late"], 9);
}

#[test]
fn the_exit_code_says_whether_the_robot_did_it() {
    let seconds = |seconds| saltus(&["run", "quadrotor-takeoff", "--headless", "--seconds", seconds]);
    let (short, long) = (seconds("0.5"), seconds("4"));
    assert_eq!((short.status.code(), long.status.code()), (Some(1), Some(0)));
    let (short, long) = (String::from_utf8_lossy(&short.stdout), String::from_utf8_lossy(&long.stdout));
    assert!(short.contains("FAILURE: position off by "), "{short}");
    assert!(long.contains("\nsuccess\n"), "{long}");
    // A line for each second.
    for line in ["  1.00 ", "  2.00 ", "  3.00 ", "  4.00 "] {
        assert!(long.contains(&format!("\n{line}")), "{line} in {long}");
    }
}

#[test]
fn options_change_the_plan() {
    let cost = |arguments: &[&str]| {
        let run = [&["go1-push", "--seconds", "0.7", "--seed", "2"], arguments].concat();
        document(&run)["mean_cost"].as_f64().unwrap()
    };
    let plain = cost(&[]);
    let changes: [&[&str]; 6] = [
        &["--horizon", "12"],
        &["--period-us", "40000"],
        &["--gradient", "exact"],
        &["--gradient", "relaxed:1e-1"],
        &["--gradient", "smoothed"],
        &["--impulse", "0"],
    ];
    for change in changes {
        assert_ne!(cost(change), plain, "{change:?}");
    }
}

#[test]
fn a_recording_holds_every_step_and_solve() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("run.mcap");
    document(&["cartpole-swingup", "--seconds", "0.1", "--mcap", path.to_str().unwrap()]);
    let bytes = std::fs::read(path).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        *counts.entry(message.unwrap().channel.topic.clone()).or_insert(0) += 1;
    }
    assert_eq!(counts, [("/contacts".to_string(), 50), ("/solve".to_string(), 4), ("/state".to_string(), 50)].into());
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let message = complaint(&["run", "go1-fly"]);
    assert!(message.contains("there is no scenario \"go1-fly\"; known are cartpole-swingup, "), "{message}");
    assert!(message.contains("go1-push"));
    assert!(complaint(&["run", "--gradient", "lcp"]).contains("expected exact, relaxed[:kappa], aware or smoothed"));
    assert!(
        complaint(&["run", "--gradient", "relaxed:-1"]).contains("expected a number above zero after \"relaxed:\"")
    );
}

#[test]
fn impossible_options_are_named() {
    assert!(complaint(&["run", "--seconds", "0"]).contains("--seconds must be at least 0.002, found 0"));
    assert!(complaint(&["run", "--budget-us", "-5"]).contains("--budget-us must not be negative, found -5"));
    assert!(complaint(&["run", "--horizon", "0"]).contains("--horizon must be above zero"));
    assert!(complaint(&["run", "--seeds", "0"]).contains("--seeds must be above zero"));
    assert!(complaint(&["run", "ur5-reach", "--impulse", "3"]).contains("--impulse: ur5-reach has no push"));
    assert!(complaint(&["run", "ur5-reach", "--largest-push"]).contains("--largest-push: ur5-reach has no push"));
    assert!(complaint(&["run", "--largest-push", "--seeds", "3"]).contains("cannot be used with"));
}

#[test]
fn the_list_names_scenarios_and_robots() {
    let listed = String::from_utf8(saltus(&["list"]).stdout).unwrap();
    for name in ["go1-push ", "h1-balance ", "go1 ", "cartpole "] {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name} in {listed}");
    }
}

/// A file of the repository.
fn example(name: &str) -> String {
    format!("{}/../examples/tasks/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_task_from_a_file_runs_and_is_judged() {
    let bow = example("go1_bow.toml");
    let found = document(&["--task", &bow, "--seeds", "2"]);
    assert_eq!((&found["scenario"], &found["successes"]), (&bow.as_str().into(), &2.into()), "{found}");
    // Too short to get there.
    let found = document(&["--task", &bow, "--seconds", "0.1"]);
    let reason = found["failures"][0]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("position of trunk off by ") && reason.ends_with(" in the end, asked: 0.03"),
        "{reason}"
    );
    let run = |seed| without_times(document(&["--task", &bow, "--seconds", "0.1", "--seed", seed]));
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1")["mean_cost"], run("2")["mean_cost"]);
}

#[test]
fn what_is_wrong_with_a_task_is_named() {
    let bow = example("go1_bow.toml");
    let message = complaint(&["run", "--task", &bow, "--robot", "ur5"]);
    assert!(message.contains("go1_bow.toml:20: term 1 body: expected a body of the robot (shoulder, "), "{message}");
    assert!(complaint(&["run", "--task", "nowhere.toml"]).contains("nowhere.toml: cannot be read"));
    assert!(complaint(&["run", "go1-push", "--task", &bow]).contains("cannot be used with"));
    assert!(complaint(&["run", "--robot", "ur5"]).contains("--task"));
    assert!(complaint(&["run", "--task", &bow, "--impulse", "3"]).contains("has no push"));
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("homeless.toml");
    std::fs::write(&path, "seconds = 1").unwrap();
    let message = complaint(&["run", "--task", path.to_str().unwrap()]);
    assert!(message.contains("homeless.toml: no robot; name one there (robot = \"go1\") or with --robot"), "{message}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_its_table() {
    use std::io::{BufRead, BufReader, Read};

    let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
    let mut child = command.args(["run", "go1-push"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("time s") {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the head of the columns never came");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(rest.contains("solve time") && rest.contains("stopped after"), "{rest}");
}
