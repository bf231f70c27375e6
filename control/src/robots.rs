//! The robots, baked into flash when this crate is built.

use saltus::model::Model;
use saltus::step::StepDims;

macro_rules! baked {
    ($($name:ident: $contacts:literal, $about:literal;)*) => {$(
        #[allow(clippy::approx_constant, dead_code)] // Numbers as they were baked; not every robot needs all of them.
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
        #[doc = $about]
        #[allow(non_upper_case_globals)]
        pub const $name: Robot = Robot {
            name: stringify!($name),
            model: &$name::MODEL,
            dims: $name::step_dims($contacts),
        };
    )*};
}

/// A robot in flash, and what the memory of its step is sized by.
#[derive(Clone, Copy, Debug)]
pub struct Robot {
    /// As the built-in robots are named.
    pub name: &'static str,
    /// The robot.
    pub model: &'static Model<'static, f32>,
    /// With room for as many contacts as it is expected to have at a time.
    pub dims: StepDims,
}

baked! {
    cartpole: 0, "A pole on a cart on a rail.";
    hopper: 4, "A planar leg with a torso and one foot.";
    quadrotor: 4, "One free body and four rotors.";
    go1: 8, "A quadruped with twelve joints and a free base.";
}

/// Steps from a keyframe until contacts and impulses have settled.
pub const SETTLE_STEPS: usize = 5;

/// Every robot of the firmware.
pub const ALL: [Robot; 4] = [cartpole, hopper, quadrotor, go1];
