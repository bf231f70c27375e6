//! Every built-in robot loads clean, rests in its keyframe, and bakes to the same bits.

use std::path::Path;

use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::Model;
use saltus::mpc::MpcDims;
use saltus::scalar::Real;
use saltus::step::StepDims;
use saltus_loaders::{BUILTIN, LoadOptions, bake, load, load_text};

/// Degrees of freedom and motors that each robot has.
const SIZES: [(&str, usize, usize); 16] = [
    ("atlas", 36, 30),
    ("cartpole", 2, 1),
    ("catapult", 5, 3),
    ("cube", 6, 0),
    ("double_cartpole", 3, 1),
    ("go1", 18, 12),
    ("gripper", 9, 3),
    ("h1", 25, 19),
    ("half_cheetah", 9, 6),
    ("hopper", 6, 3),
    ("humanoid", 27, 21),
    ("jump_worm", 5, 3),
    ("pendulum", 1, 1),
    ("quadrotor", 6, 4),
    ("two_balls", 12, 0),
    ("ur5", 6, 6),
];

#[test]
fn every_builtin_robot_loads_without_a_warning_and_has_a_rest_keyframe() {
    assert_eq!(BUILTIN.len(), SIZES.len());
    for (name, nv, nu) in SIZES {
        let loaded = load(name, &LoadOptions::default()).unwrap();
        assert!(loaded.warnings.is_empty(), "{name}: {:?}", loaded.warnings);
        let model = loaded.model.model();
        assert_eq!((model.nv(), model.nu()), (nv, nu), "{name}");
        let rest = model.find_keyframe("rest").unwrap_or_else(|| panic!("{name} has no keyframe \"rest\""));
        assert!(rest.q.iter().chain(rest.v).chain(rest.u).all(|x| x.is_finite()));
        assert!(!model.geometries.is_empty(), "{name} has nothing to touch with");
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let message = load("r2d2", &LoadOptions::default()).unwrap_err().to_string();
    assert!(
        message.starts_with("r2d2: ") && message.contains("built-in robot; those are atlas, cartpole"),
        "{message}"
    );
}

mod baked_f32 {
    include!("baked/go1_f32.rs");
}

mod baked_loop {
    include!("baked/four_bar_f32.rs");
}

mod baked_f64 {
    include!("baked/mixed_f64.rs");
}

#[test]
fn baking_gives_the_stored_source() {
    let go1 = load("go1", &LoadOptions::default()).unwrap().model.cast::<f32>();
    assert_source("go1_f32.rs", &bake(go1.model(), "go1"));
    let mixed = mixed_tree();
    assert_source("mixed_f64.rs", &bake(mixed.model(), "mixed_tree.json"));
    assert_source("four_bar_f32.rs", &bake(four_bar().model(), "four_bar.xml"));
}

#[test]
fn a_baked_model_computes_the_same_bits_as_the_loaded_one() {
    let go1 = load("go1", &LoadOptions::default()).unwrap().model.cast::<f32>();
    assert_eq!(accelerations(baked_f32::MODEL), accelerations(go1.model()));
    assert_eq!(baked_f32::DIMS, go1.model().dims());
    assert_eq!(baked_f32::step_dims(9), StepDims::of(go1.model(), 9));
    assert_eq!(baked_f32::mpc_dims(9, 20, 5), MpcDims::new(StepDims::of(go1.model(), 9), 20, 5));
    assert_eq!(baked_f32::MODEL.find_keyframe("rest"), go1.model().find_keyframe("rest"));
    assert_eq!(baked_f32::MODEL.pairs, go1.model().pairs);
    let mixed = mixed_tree();
    assert_eq!(accelerations(baked_f64::MODEL), accelerations(mixed.model()));
    assert_eq!(baked_f64::DIMS, mixed.model().dims());
    let four_bar = four_bar();
    assert_eq!(accelerations(baked_loop::MODEL), accelerations(four_bar.model()));
    assert_eq!((baked_loop::DIMS, baked_loop::MODEL.closures), (four_bar.model().dims(), four_bar.model().closures));
    assert_eq!(baked_loop::step_dims(2), StepDims::of(four_bar.model(), 2));
}

/// A loop and an anchor.
fn four_bar() -> saltus::model::OwnedModel<f32> {
    let text = "<mujoco><worldbody><body name='crank'><joint axis='0 1 0'/><geom size='0.1' pos='0.1 0 0.3'/>\
        <body name='coupler' pos='0 0 0.3'><joint axis='0 1 0'/><geom size='0.1' pos='0.4 0 0'/></body></body>\
        <body name='rocker' pos='0.8 0 0'><joint axis='0 1 0'/><geom size='0.1' pos='0 0 0.2'/></body>\
        <body name='base' pos='0 1 0' euler='0 0 33'><freejoint/><geom size='0.1'/></body></worldbody>\
        <equality><connect body1='coupler' body2='rocker' anchor='0.8 0 0.1'/><weld body1='base'/></equality></mujoco>";
    load_text(Path::new("four_bar.xml"), text, &LoadOptions::default()).unwrap().model.cast()
}

/// A tree with joints of every type.
fn mixed_tree() -> saltus::model::OwnedModel<f64> {
    saltus_testkit::Oracle::load("mixed_tree").unwrap().model
}

/// Bits of the accelerations in a state that moves every joint.
fn accelerations<T: Real>(model: Model<'_, T>) -> Vec<u64> {
    let mut memory = vec![Block::EMPTY; Dynamics::<T>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    let mut random = saltus_testkit::Random::new(7);
    let mut q = vec![T::ZERO; model.nq()];
    saltus::model::configuration::random(model, || T::from_f64(random.uniform()), &mut q).unwrap();
    let v: Vec<T> = random.vector(model.nv()).into_iter().map(T::from_f64).collect();
    let mut acceleration = vec![T::ZERO; model.nv()];
    dynamics::update(model, &q, &v, &mut work).unwrap();
    dynamics::forward(model, &v, &[], &mut acceleration, &mut work).unwrap();
    acceleration.into_iter().map(|x| x.to_f64().to_bits()).collect()
}

/// Set `BLESS=1` to store the source anew.
fn assert_source(file: &str, source: &str) {
    let path = format!("{}/tests/baked/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, source).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(stored == source, "{file} is not what `bake` writes now: run with BLESS=1 and look at the difference");
}
