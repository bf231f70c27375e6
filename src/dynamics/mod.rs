//! Forces and accelerations: inverse and forward dynamics, the mass matrix, energies and momenta, and derivatives.
//!
//! [`update`] takes a state; everything else reads what it left in the [`Dynamics`] workspace. Each algorithm stands in
//! a file of its own with its derivative beside it. Joint forces include the rotor armature; damping and friction are
//! the step's.

mod energy;
mod forward;
mod forward_derivatives;
mod inverse;
mod inverse_derivatives;
mod mass_matrix;
mod momentum;
mod regressor;

use core::fmt;

use crate::input::{InputError, check_length};
use crate::kinematics::{self, Kinematics};
use crate::memory::{Values, carved, rest, rest_mut};
use crate::model::{Dims, Model};
use crate::scalar::Real;
use crate::spatial::{ArticulatedInertia, CompositeInertia, Coriolis, Force, Motion};

pub use energy::{kinetic_energy, potential_energy};
pub use forward::{forward, forward_factored};
pub use forward_derivatives::forward_derivatives;
pub use inverse::{bias, gravity_force, inverse};
pub use inverse_derivatives::inverse_derivatives;
pub(crate) use inverse_derivatives::inverse_derivatives_prepared;
pub use mass_matrix::{factorize, factorize_with, mass_matrix, solve};
pub use momentum::{CenterOfMass, center_of_mass, center_of_mass_jacobian, centroidal_map, centroidal_momentum};
pub use regressor::{PARAMETERS, inertial_parameters, regressor};
pub(crate) use regressor::{accelerate, inertial_force};

carved! {
    /// Everything that the algorithms of this module leave for each other.
    ///
    /// Per body with the world first, per degree of freedom in the order of v; in the working frame of the kinematics.
    pub struct Dynamics<'a, T>(d: Dims) {
        /// Written by [`update`].
        pub kinematics: { Kinematics },
        /// Of each body alone. Written by [`update`].
        pub inertia: [CompositeInertia<T>; d.with_world()],
        /// I v of each body alone. Written by [`update`].
        pub momentum: [Force<T>; d.with_world()],
        /// Of each body with all that it carries. Written by [`mass_matrix`].
        pub composite: [CompositeInertia<T>; d.with_world()],
        /// Composite inertia times axis: momentum of the carried bodies per joint velocity. Written by [`mass_matrix`].
        pub unit_momentum: [Force<T>; d.nv],
        /// M, nv × nv, lower triangle, rows of [`Dims::stride`]. Written by [`mass_matrix`].
        pub mass_matrix: [T; d.square()],
        /// L of M = Lᵀ D L, unit lower triangle, the same shape. Written by [`factorize`].
        pub factor: [T; d.square()],
        /// 1 / D. Written by [`factorize`].
        pub inverse_pivots: [T; d.nv],
        /// Spatial acceleration of each body, minus gravity. Written by [`inverse`] and [`forward`].
        pub acceleration: [Motion<T>; d.with_world()],
        /// Force through each joint. Written by [`inverse`]; bias force in [`forward`].
        pub force: [Force<T>; d.with_world()],
        /// Accelerations of the joints. Written by [`forward_derivatives`].
        pub joint_acceleration: [T; d.nv],
        scratch: { Scratch },
    }
}

carved! {
    /// Values that no one reads after the call.
    pub(crate) struct Scratch<'a, T>(d: Dims) {
        /// Inertia of each body with free joints below, per [`forward`].
        articulated: [ArticulatedInertia<T>; d.with_world()],
        /// Articulated inertia times axis, per [`forward`].
        articulated_axis: [Force<T>; d.nv],
        /// Inverse inertia about each axis, per [`forward`].
        inverse_axis_inertia: [T; d.nv],
        /// Force on each axis that nothing below takes up, per [`forward`].
        axis_force: [T; d.nv],
        /// Of each body with all that it carries, per [`inverse_derivatives`].
        coriolis: [Coriolis<T>; d.with_world()],
        /// Ψ̈ of each axis, per [`inverse_derivatives`].
        drift_rate: [Motion<T>; d.nv],
        /// Of each row: angular Sᵀ 2B (the linear part is zero), then Sᵀ I, per [`inverse_derivatives`].
        row_factors: [[T; 9]; d.nv],
        /// Columns that all rows of the derivative meet, per [`inverse_derivatives`].
        columns: [inverse_derivatives::Columns<T>; inverse_derivatives::column_blocks(d.nv)],
    }
}

/// Why a computation gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DynamicsError {
    /// An argument does not fit the model.
    Input(InputError),
    /// The mass matrix is not positive definite: nothing that this degree of freedom moves has inertia along it.
    SingularMassMatrix {
        /// Index in v.
        dof: usize,
    },
}

impl fmt::Display for DynamicsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::SingularMassMatrix { dof } => {
                write!(f, "degree of freedom {dof} moves no inertia: give its bodies mass or the joint armature")
            }
        }
    }
}

impl core::error::Error for DynamicsError {}

impl From<InputError> for DynamicsError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

/// Takes the state (q, v): kinematics, and every body's inertia and momentum. O(bodies).
///
/// ```
/// # use nalgebra::Vector3;
/// # use saltus::model::{BodySpec, JointSpec, ModelBuilder};
/// # use saltus::spatial::{Inertia, Placement};
/// use saltus::dynamics::{self, Dynamics};
/// use saltus::memory::{Arena, Block};
/// # let bob = Inertia::solid_sphere(1.0, 0.0).moved_by(&Placement::translation(0.0, 0.0, -0.5));
/// # let pendulum = ModelBuilder::new().body(BodySpec::new("rod", JointSpec::revolute(Vector3::y())).inertia(bob)).build()?;
///
/// let model = pendulum.model(); // a point mass half a metre below a hinge
/// let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
/// let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims())?;
/// dynamics::update(model, &[core::f64::consts::FRAC_PI_2], &[0.0], &mut work)?;
///
/// let mut acceleration = [0.0];
/// dynamics::forward(model, &[0.0], &[], &mut acceleration, &mut work)?;
/// assert!((acceleration[0] + 9.81 / 0.5).abs() < 1e-12); // q̈ = −(g / l) sin q
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update<T: Real>(model: Model<'_, T>, q: &[T], v: &[T], work: &mut Dynamics<'_, T>) -> Result<(), InputError> {
    check_workspace(&model, work)?;
    kinematics::forward(model, q, v, &mut work.kinematics)?;
    let Kinematics { placement, velocity, .. } = &work.kinematics;
    let moving = rest(placement, 1).iter().zip(rest(velocity, 1));
    let taken = rest_mut(work.inertia, 1).iter_mut().zip(rest_mut(work.momentum, 1));
    for ((body, (placement, velocity)), (inertia, momentum)) in model.bodies.iter().zip(moving).zip(taken) {
        *inertia = body.inertia.seen_from(placement);
        *momentum = *inertia * *velocity;
    }
    Ok(())
}

/// Checks that a workspace was carved for a robot of this size.
fn check_workspace<T: Real>(model: &Model<'_, T>, work: &Dynamics<'_, T>) -> Result<(), InputError> {
    check_length("workspace bodies", model.dims().with_world(), work.inertia.len())?;
    check_length("workspace degrees of freedom", model.nv(), work.unit_momentum.len())
}

/// Checks external forces: none, or one per body.
fn check_external<T: Real>(model: &Model<'_, T>, external: &[Force<T>]) -> Result<(), InputError> {
    if external.is_empty() { Ok(()) } else { check_length("external forces", model.bodies.len(), external.len()) }
}

/// v ×* I v − external force on body `index`: what its joint must provide without acceleration.
#[inline(always)]
fn velocity_force<T: Real>(work: &Dynamics<'_, T>, index: usize, external: &[Force<T>]) -> Force<T> {
    let force = work.kinematics.velocity.at(index).cross_force(&work.momentum.at(index));
    match external.get(index - 1) {
        Some(external) => force - work.kinematics.placement.at(index).act_force(external),
        None => force,
    }
}
