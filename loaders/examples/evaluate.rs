//! Loads a robot and prints, as one JSON document, what a peer is held against: masses, configurations drawn at random
//! with centre of mass and mass matrix at each, pairs, motors and keyframes. `tools/peers/mjcf.py` reads it.

use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus_loaders::{LoadOptions, load};
use saltus_testkit::Random;
use serde_json::{Value, json};

/// Configurations for each robot.
const STATES: usize = 5;

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: evaluate FILE");
        std::process::exit(2);
    };
    let report = match load(&path, &LoadOptions::default()) {
        Ok(loaded) => {
            let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
            let mut report = describe(loaded.model.model());
            report["warnings"] = json!(warnings);
            report["timestep"] = json!(loaded.timestep_s);
            report
        }
        Err(error) => json!({ "refused": error.to_string() }),
    };
    println!("{report}");
}

fn describe(model: Model<'_, f64>) -> Value {
    let mut random = Random::new(1);
    let states: Vec<Value> = (0..STATES).map(|_| state(model, random.configuration(model))).collect();
    let pairs: Vec<Value> = model
        .pairs
        .iter()
        .map(|pair| json!([model.geometry_name(pair.a), model.geometry_name(pair.b), pair.material.friction]))
        .collect();
    let actuators: Vec<Value> = (0..model.nu())
        .map(|k| {
            let it = &model.actuators[k];
            json!({
                "name": model.actuator_name(k), "gain": it.gain, "bias": it.bias,
                "control_range": [it.control_range.lower, it.control_range.upper],
                "force_range": [it.force_range.lower, it.force_range.upper],
            })
        })
        .collect();
    let keyframes: Vec<Value> = (0..)
        .map_while(|k| model.keyframe(k).map(|key| json!({ "name": model.keyframe_name(k), "q": key.q, "v": key.v })))
        .collect();
    let limits: Vec<Value> = model.position_limits.iter().map(|range| json!([range.lower, range.upper])).collect();
    let dofs: Vec<Value> = model
        .dofs
        .iter()
        .map(|dof| json!([dof.armature, dof.damping, dof.dry_friction, dof.stiffness, dof.spring_reference]))
        .collect();
    json!({
        "nq": model.nq(), "nv": model.nv(), "nu": model.nu(), "mass": model.total_mass(),
        "gravity": model.gravity.as_slice(), "states": states, "pairs": pairs, "actuators": actuators,
        "keyframes": keyframes, "limits": limits, "dofs": dofs,
    })
}

fn state(model: Model<'_, f64>, q: Vec<f64>) -> Value {
    let v = vec![0.0; model.nv()];
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).expect("the arena was sized for it");
    dynamics::update(model, &q, &v, &mut work).expect("q and v have the model's length");
    dynamics::mass_matrix(model, &mut work);
    let m = work.mass_matrix_view(model.dims());
    let nv = model.nv();
    let full: Vec<f64> = (0..nv * nv).map(|k| m[((k / nv).max(k % nv), (k / nv).min(k % nv))]).collect();
    let com = dynamics::center_of_mass(model, &work).position_world;
    json!({ "q": q, "com": com.as_slice(), "mass_matrix": full })
}
