//! The robots that need no file: the project's own models, by name.

/// A built-in robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What stands where a path could stand.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Its MJCF.
    pub text: &'static str,
}

macro_rules! builtin {
    ($($name:literal: $about:literal),* $(,)?) => {
        /// Every built-in robot, by name.
        pub const BUILTIN: &[Builtin] = &[$(
            Builtin { name: $name, about: $about, text: include_str!(concat!("../../models/", $name, ".xml")) },
        )*];
    };
}

builtin! {
    "atlas": "humanoid, thirty joints and a free base",
    "cartpole": "a pole on a cart on a rail",
    "catapult": "an arm of three links and a projectile",
    "cube": "one free box on the ground",
    "double_cartpole": "two poles, one on the other, on a cart",
    "go1": "quadruped, twelve joints and a free base",
    "gripper": "a parallel gripper around a thin plate",
    "h1": "humanoid, nineteen joints and a free base",
    "half_cheetah": "planar runner with two sprung legs",
    "hopper": "planar leg with a torso and one foot",
    "humanoid": "a simple human of capsules, 21 joints and a free base",
    "jump_worm": "a planar worm that throws itself up",
    "pendulum": "a ball on a rod with a weak motor",
    "quadrotor": "one free body and four rotors",
    "two_balls": "two free spheres that touch",
    "ur5": "arm of six joints, bolted to the ground",
}

/// The built-in robot of that name.
///
/// ```
/// assert!(saltus_loaders::builtin("go1").is_some());
/// ```
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTIN.iter().find(|robot| robot.name == name)
}
