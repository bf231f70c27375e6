//! Model-predictive control *through* contact, from a Cortex-M7 to a workstation.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod dynamics;
pub mod input;
pub mod kinematics;
pub mod linalg;
pub mod memory;
pub mod model;
pub mod scalar;
pub mod spatial;
