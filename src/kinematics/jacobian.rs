//! Jacobians of bodies and frames, and their rates.

use super::Kinematics;
use crate::input::{InputError, check_length};
use crate::linalg::MatMut;
use crate::memory::Values;
use crate::model::{BodyId, FrameId, Model};
use crate::scalar::Real;
use crate::spatial::{Motion, Placement};

/// What a Jacobian is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A body, at the origin of its frame.
    Body(BodyId),
    /// A frame fixed to a body.
    Frame(FrameId),
}

impl Target {
    /// The body that carries it, and its placement in the working frame.
    pub(super) fn resolve<T: Real>(
        self,
        model: Model<'_, T>,
        kinematics: &Kinematics<'_, T>,
    ) -> Result<(BodyId, Placement<T>), InputError> {
        match self {
            Self::Body(body) => Ok((body, kinematics.body_placement(body)?)),
            Self::Frame(id) => {
                let missing = InputError::UnknownIndex { what: "frame", index: id.index() };
                let frame = model.frames.get(id.index()).ok_or(missing)?;
                Ok((frame.body, kinematics.body_placement(frame.body)? * frame.placement))
            }
        }
    }
}

/// The frame that a Jacobian is expressed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The target's own axes and origin.
    Local,
    /// The world's axes, the target's origin.
    Aligned,
    /// The world's axes and origin.
    World,
}

impl Reference {
    /// The reference frame in the working frame, for a target at `target`.
    fn placement<T: Real>(self, kinematics: &Kinematics<'_, T>, target: &Placement<T>) -> Placement<T> {
        match self {
            Self::Local => *target,
            Self::Aligned => Placement { translation: target.translation, ..Placement::IDENTITY },
            Self::World => Placement { translation: -kinematics.origin, ..Placement::IDENTITY },
        }
    }

    /// How the reference frame itself moves, for a target at `target` on a body with velocity `body`.
    fn velocity<T: Real>(self, target: &Placement<T>, body: &Motion<T>) -> Motion<T> {
        match self {
            Self::Local => *body,
            Self::Aligned => Motion { linear: body.velocity_at(&target.translation), ..Motion::ZERO },
            Self::World => Motion::ZERO,
        }
    }
}

/// 6 × nv, (linear, angular) rows: the target's velocity is J v. Reads what [`forward`](super::forward) wrote. O(nv).
///
/// ```
/// # use nalgebra::Vector3;
/// # use saltus::model::{BodyId, BodySpec, JointSpec, ModelBuilder};
/// # use saltus::spatial::{Inertia, Placement};
/// use saltus::kinematics::{self, Kinematics, Reference, Target};
/// use saltus::linalg::MatMut;
/// use saltus::memory::{Arena, Block};
/// # let rod = BodySpec::new("rod", JointSpec::revolute(Vector3::y())).inertia(Inertia::solid_sphere(1.0, 0.1));
/// # let robot = ModelBuilder::new().body(rod).frame("tip", "rod", Placement::translation(0.0, 0.0, -1.0)).build()?;
/// let model = robot.model();
/// let mut memory = vec![Block::EMPTY; Kinematics::<f64>::blocks(model.dims())];
/// let mut kinematics = Kinematics::carve(&mut Arena::new(&mut memory), model.dims())?;
/// kinematics::forward(model, &[0.0], &[0.0], &mut kinematics)?;
///
/// let tip = model.find_frame("tip").unwrap();
/// let mut jacobian = [0.0; 6];
/// let out = MatMut::new(&mut jacobian, 6, 1);
/// kinematics::jacobian(model, &kinematics, Target::Frame(tip), Reference::Aligned, out)?;
/// assert_eq!(jacobian, [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn jacobian<T: Real>(
    model: Model<'_, T>,
    kinematics: &Kinematics<'_, T>,
    target: Target,
    reference: Reference,
    out: MatMut<'_, T>,
) -> Result<(), InputError> {
    let (body, placement) = target.resolve(model, kinematics)?;
    let frame = reference.placement(kinematics, &placement);
    write_columns(model, body, out, |dof| frame.act_inverse_motion(&kinematics.axis.at(dof)).to_array())
}

/// J̇, 6 × nv: the rate of [`jacobian`] along the velocity that the kinematics were computed with. O(nv).
pub fn jacobian_rate<T: Real>(
    model: Model<'_, T>,
    kinematics: &Kinematics<'_, T>,
    target: Target,
    reference: Reference,
    out: MatMut<'_, T>,
) -> Result<(), InputError> {
    let (body, placement) = target.resolve(model, kinematics)?;
    let frame = reference.placement(kinematics, &placement);
    let frame_velocity = reference.velocity(&placement, &kinematics.velocity.at(body.index()));
    write_columns(model, body, out, |dof| {
        let rate = kinematics.axis_rate.at(dof) - frame_velocity.cross(&kinematics.axis.at(dof));
        frame.act_inverse_motion(&rate).to_array()
    })
}

/// Fills the columns of the degrees of freedom that move `body`; the others are zero.
pub(super) fn write_columns<T: Real, const ROWS: usize>(
    model: Model<'_, T>,
    body: BodyId,
    mut out: MatMut<'_, T>,
    column: impl Fn(usize) -> [T; ROWS],
) -> Result<(), InputError> {
    check_length("jacobian rows", ROWS, out.rows())?;
    check_length("jacobian columns", model.nv(), out.cols())?;
    out.fill(T::ZERO);
    let Some(body) = model.body(body) else { return Ok(()) };
    for dof in model.tree.runs(body.v_range().end - 1).flatten() {
        for (i, x) in column(dof).into_iter().enumerate() {
            out[(i, dof)] = x;
        }
    }
    Ok(())
}
