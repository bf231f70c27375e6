//! Model-predictive control *through* contact, from a Cortex-M7 to a workstation.
//!
//! This crate is the core: `no_std`, without `alloc`, without panics on bad input, without a clock. The caller owns the
//! memory, and its size is known before the program runs. Today it holds robots, their dynamics, collision, rigid
//! frictional contact, the simulation step, its exact derivatives, and the optimizer that plans with them.
//!
//! # The map
//!
//! Data flows in one direction, and a module uses only what stands to its left:
//!
//! ```text
//! model ─► kinematics ─► dynamics ─► collision ─► contact ─► step ─► derivatives ─► mpc ─► realtime
//! ```
//!
//! | module | what it holds | start at |
//! |---|---|---|
//! | [`model`] | the robot as a `Copy` bundle of slices; builder and checks on the host; the configuration manifold | [`model::ModelBuilder`], [`model::configuration`] |
//! | [`kinematics`] | placements, velocities, joint axes; Jacobians and their rates; points | [`kinematics::forward`] |
//! | [`dynamics`] | inverse and forward dynamics, mass matrix, momenta, energies, regressor, derivatives | [`dynamics::update`], [`dynamics::forward_derivatives`] |
//! | [`collision`] | contact points of all shape pairs, differentiable; broad phase; terrain of triangles (`parry`) | [`collision::detect`], [`collision::collide`] |
//! | [`contact`] | the problem of impulses: friction, limits, loops; Newton, Gauss–Seidel and ADMM | [`contact::Problem`], [`contact::Newton`] |
//! | [`step`] | (q, v, u) → (q⁺, v⁺): motors, contacts, integration; a simulator around it | [`step::step`], [`step::Simulator`] |
//! | [`derivatives`] | ∂(q⁺, v⁺)/∂(q, v, u), exact, relaxed or smoothed; products with it, forward and back | [`derivatives::differentiate`], [`derivatives::pull_back`] |
//! | [`mpc`] | plans over a horizon, by an iLQR with contact: costs, backward pass, step lengths, policy, deadlines | [`mpc::Mpc`], [`mpc::Residual`] |
//! | [`realtime`] | the tick: validity, ages, limits; wait-free hand-off of plans | [`realtime::Controller`], [`realtime::TripleBuffer`] |
//!
//! They stand on:
//!
//! | module | what it holds | start at |
//! |---|---|---|
//! | [`scalar`] | `f32`, `f64` and dual numbers behind one trait | [`scalar::Real`] |
//! | [`spatial`] | placements, motions, forces, inertias | [`spatial::Placement`] |
//! | [`linalg`] | dense kernels for run-time sizes, and the sparse factor along the kinematic tree | [`linalg::tree`] |
//! | [`memory`] | one arena, carved into workspaces | [`memory::Arena`] |
//! | [`input`] | what can be wrong with a call | [`input::InputError`] |
//! | `link` (feature) | frames between a controller and its plant | `link::encode`, `link::Receiver` |
//!
//! Around the core, in the same workspace: `loaders/` reads URDF and MJCF files, holds the built-in robots of `models/`
//! and bakes a model into Rust source; `scenarios/` are tasks for them; `cli/` is the `saltus` command; `firmware/` is the controller as a Cortex-M7 image,
//! `control/` its portable part, `hil-tests/` what runs it against a plant; `tools/testkit` and `tools/peers` serve the tests
//! and the comparison with other programs; `xtask/` runs everything that CI runs.
//!
//! # In twenty lines
//!
//! ```
//! use nalgebra::Vector3;
//! use saltus::dynamics::{self, Dynamics};
//! use saltus::linalg::MatMut;
//! use saltus::memory::{Arena, Block};
//! use saltus::model::{BodySpec, JointSpec, ModelBuilder};
//! use saltus::spatial::{Inertia, Placement};
//!
//! let bob = Inertia::solid_sphere(1.0, 0.05).moved_by(&Placement::translation(0.0, 0.0, -0.5));
//! let robot = ModelBuilder::new()
//!     .body(BodySpec::new("rod", JointSpec::revolute(Vector3::y())).inertia(bob))
//!     .build::<f64>()?;
//! let model = robot.model();
//!
//! let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
//! let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims())?;
//!
//! let mut jacobian = [0.0; 3]; // ∂a/∂q, ∂a/∂v, ∂a/∂τ
//! dynamics::update(model, &[0.3], &[1.0], &mut work)?;
//! dynamics::forward_derivatives(model, &[0.1], &[], MatMut::new(&mut jacobian, 1, 3), &mut work)?;
//! assert!(jacobian[0] < 0.0); // gravity pulls it back
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Conventions
//!
//! SI units. Quaternions are (x, y, z, w). Spatial vectors are (linear, angular). Velocities of free bodies are in the
//! body frame. Derivatives with respect to a configuration are along tangent vectors in the body frame. Matrices are
//! row-major over slices, with [`linalg::MatRef::to_nalgebra`] as the bridge.
//!
//! # Features
//!
//! `std` (default) gives hardware square roots and fused multiply-add on the host, and implies `alloc`, which gives the
//! [`model::ModelBuilder`]. Without both the crate is the embedded core. `parry` adds ground of triangles on the host; `rayon`, threads for the optimizer; `link`, frames between a controller and its plant.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod collision;
pub mod contact;
pub mod derivatives;
pub mod dynamics;
pub mod input;
pub mod kinematics;
pub mod linalg;
#[cfg(feature = "link")]
pub mod link;
pub mod memory;
pub mod model;
pub mod mpc;
pub mod realtime;
pub mod scalar;
pub mod spatial;
pub mod step;

pub use nalgebra;

/// The README's example, run with the other examples in the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
