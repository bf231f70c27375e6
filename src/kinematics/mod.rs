//! Where every body is and how it moves, and how that depends on the joints.
//!
//! All spatial vectors are expressed in the **working frame**: the axes of the world, the origin at the first body. A
//! robot far from the world's origin then loses no digits, which matters in f32; the world is one
//! [`origin`](Kinematics::origin) away.

mod forward;
mod jacobian;
mod point;

use nalgebra::Vector3;

use crate::input::InputError;
use crate::memory::carved;
use crate::model::{BodyId, Dims, FrameId, Model};
use crate::scalar::Real;
use crate::spatial::{Motion, Placement};

pub use forward::forward;
pub use jacobian::{Reference, Target, jacobian, jacobian_rate};
pub use point::{point_jacobian, point_velocity, point_velocity_derivatives};

carved! {
    /// Placements, velocities and joint axes of all bodies. Written by [`forward`].
    ///
    /// Per body with the world first; per degree of freedom in the order of v; in the working frame.
    pub struct Kinematics<'a, T>(d: Dims) {
        /// World coordinates of the origin of the working frame.
        pub origin: (Vector3<T>),
        /// Of each body.
        pub placement: [Placement<T>; d.with_world()],
        /// Of each body.
        pub velocity: [Motion<T>; d.with_world()],
        /// Σ Ṡ v of each body's joint: acceleration that it has because its axes move.
        pub bias: [Motion<T>; d.with_world()],
        /// S: motion of the body per unit of joint velocity.
        pub axis: [Motion<T>; d.nv],
        /// Ṡ = v × S: rate of the axis, which moves with the body.
        pub axis_rate: [Motion<T>; d.nv],
        /// v_λ × S: rate of the axis if it moved with the parent.
        pub axis_drift: [Motion<T>; d.nv],
    }
}

impl<T: Real> Kinematics<'_, T> {
    /// Placement of a body in the world.
    pub fn body_placement_world(&self, body: BodyId) -> Result<Placement<T>, InputError> {
        self.to_world(self.body_placement(body)?)
    }

    /// Placement of a frame in the world.
    pub fn frame_placement_world(&self, model: Model<'_, T>, frame: FrameId) -> Result<Placement<T>, InputError> {
        let (_, placement) = Target::Frame(frame).resolve(model, self)?;
        self.to_world(placement)
    }

    fn to_world(&self, mut placement: Placement<T>) -> Result<Placement<T>, InputError> {
        placement.translation += self.origin;
        Ok(placement)
    }

    /// Placement of a body in the working frame.
    fn body_placement(&self, body: BodyId) -> Result<Placement<T>, InputError> {
        let missing = InputError::UnknownIndex { what: "body", index: body.index() };
        self.placement.get(body.index()).copied().ok_or(missing)
    }
}
