//! What a plan is judged by: a sum of weighted squares, each with its Gauss–Newton expansion.
//!
//! A [`Term`] is ½ w ‖r‖² of a [`Residual`] r, integrated along the way and added at the end. Every residual is written
//! once: it hands its rows to a sink, which either sums their squares or also expands them, so a value and its
//! derivative cannot come apart.

mod center;
mod force;
mod frame;
mod limits;
mod quadratic;
mod sink;
mod state;

use nalgebra::Vector3;

use crate::derivatives::Derivatives;
use crate::input::{InputError, check_length};
use crate::kinematics::Target;
use crate::linalg::MatMut;
use crate::memory::{run, run_mut};
use crate::model::{GeometryId, Model};
use crate::scalar::Real;
use crate::spatial::lie::Quaternion;
use crate::step::Step;

pub use quadratic::Quadratic;
use sink::Sink;
pub(super) use sink::{Expansion, Sum};

/// Rows of the largest residual that is not a list of single numbers.
pub const MOST_ROWS: usize = 8;

/// One term of the cost: ½ weight ‖residual‖².
///
/// ```
/// use saltus::mpc::{Dofs, Residual, Term};
///
/// let upright = Residual::Posture { dofs: Dofs::ALL, reference: &[0.0] };
/// let term = Term::new(upright, 1.0_f64).at_end(10.0);
/// assert_eq!((term.weight, term.terminal), (1.0, 10.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Term<'t, T> {
    /// What should be zero.
    pub residual: Residual<'t, T>,
    /// Along the way, per second. No weight is negative.
    pub weight: T,
    /// At the end.
    pub terminal: T,
    /// A factor for each node, the last one for the end; nodes beyond it have factor one.
    pub schedule: &'t [T],
}

impl<'t, T: Real> Term<'t, T> {
    /// A term that counts along the way.
    pub const fn new(residual: Residual<'t, T>, weight: T) -> Self {
        Self { residual, weight, terminal: T::ZERO, schedule: &[] }
    }

    /// The same term, which also counts at the end.
    pub const fn at_end(mut self, weight: T) -> Self {
        self.terminal = weight;
        self
    }

    /// The same term with a factor for each node.
    pub const fn scheduled(mut self, factors: &'t [T]) -> Self {
        self.schedule = factors;
        self
    }

    /// Its weight at a node.
    fn weight_at<'a>(&self, node: &Node<'_, 'a, T>) -> T {
        let weight = if node.is_last() { self.terminal } else { self.weight * node.dt_s };
        weight * self.factor(node.index)
    }

    /// Its factor at a node.
    fn factor(&self, node: usize) -> T {
        self.schedule.get(node).copied().unwrap_or(T::ONE)
    }
}

/// A run of degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dofs {
    /// Index of the first one in v.
    pub first: u16,
    /// How many, or fewer where the robot ends.
    pub count: u16,
}

impl Dofs {
    /// All of them.
    pub const ALL: Self = Self { first: 0, count: u16::MAX };

    /// From `first` on, `count` of them.
    pub const fn new(first: u16, count: u16) -> Self {
        Self { first, count }
    }

    fn contains(self, dof: usize) -> bool {
        dof >= usize::from(self.first) && dof - usize::from(self.first) < usize::from(self.count)
    }
}

/// A point that moves evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving<T> {
    /// Where it is when the task begins, m.
    pub start: Vector3<T>,
    /// Its velocity, m/s.
    pub rate: Vector3<T>,
}

impl<T: Real> Moving<T> {
    /// A point that stays.
    pub fn still(at: Vector3<T>) -> Self {
        Self { start: at, rate: Vector3::zeros() }
    }

    fn at(&self, time_s: T) -> Vector3<T> {
        self.start + self.rate * time_s
    }
}

/// What should be zero. Weights of single axes multiply the term's weight.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Residual<'t, T> {
    /// q ⊖ reference, of some degrees of freedom.
    Posture {
        /// Which.
        dofs: Dofs,
        /// A whole configuration.
        reference: &'t [T],
    },
    /// v − reference, of some degrees of freedom.
    Velocity {
        /// Which.
        dofs: Dofs,
        /// A whole velocity; empty: zero.
        reference: &'t [T],
    },
    /// u − reference.
    Control {
        /// All controls; empty: zero.
        reference: &'t [T],
    },
    /// (u − u before) / Δt, from the control applied when the plan starts on. Its neighbours in time enter the curvature
    /// as a bound, so that no node needs to know another: the optimum is the same, but where this term outweighs the
    /// others by far it takes many iterations to get there.
    ControlRate,
    /// Position of a body or frame in the world.
    Position {
        /// Of what.
        target: Target,
        /// Where it should be.
        reference: Moving<T>,
        /// Weights of x, y, z.
        axes: [T; 3],
    },
    /// Rotation vector from the reference to the orientation of a body or frame, in its own axes.
    Orientation {
        /// Of what.
        target: Target,
        /// (x, y, z, w), in the world.
        reference: Quaternion<T>,
        /// Weights of x, y, z.
        axes: [T; 3],
    },
    /// Velocity of the origin of a body or frame, in world axes.
    PointVelocity {
        /// Of what.
        target: Target,
        /// What it should be, m/s.
        reference: Vector3<T>,
        /// Weights of x, y, z.
        axes: [T; 3],
    },
    /// Centre of mass in the world.
    CenterOfMass {
        /// Where it should be.
        reference: Moving<T>,
        /// Weights of x, y, z.
        axes: [T; 3],
    },
    /// Momentum of all bodies: linear, and angular about the centre of mass, in world axes.
    Momentum {
        /// What it should be, N·s and N·m·s.
        reference: [T; 6],
        /// Weights of each.
        axes: [T; 6],
    },
    /// Horizontal speed of a foot near the ground: s v_xy with s = 1 / (1 + (z / fade)²), z its height over the plane
    /// z = `ground_m`. A foot that stands must not slip; one that swings must be lifted.
    Slip {
        /// The foot's point.
        target: Target,
        /// Height of the ground, m.
        ground_m: T,
        /// Height at which half of the speed counts, m.
        fade_m: T,
    },
    /// Horizontal speed of a foot below a height: (1 − z / height) v_xy below it, zero above.
    Clearance {
        /// The foot's point.
        target: Target,
        /// Height of the ground, m.
        ground_m: T,
        /// Height from which a foot moves freely, m.
        height_m: T,
    },
    /// Normal force on a geometry, from all that it touches, in the step that follows. Zero at the end.
    NormalForce {
        /// Which.
        geometry: GeometryId,
        /// What it should be, N.
        reference_n: T,
    },
    /// A barrier before the position limits of the joints: x − 1 − ln x of the distance x to the limit, over `margin`;
    /// beyond a tenth of the margin and past the limit, its parabola.
    PositionLimits {
        /// Where it begins, m or rad.
        margin: T,
    },
    /// The same before the speed limits of the joints.
    VelocityLimits {
        /// Where it begins, as a share of the limit.
        margin: T,
    },
    /// Anything else.
    Custom(&'t dyn CustomResidual<T>),
}

/// A residual of the user's own.
pub trait CustomResidual<T: Real>: core::fmt::Debug + Sync {
    /// How many rows it has, at most [`MOST_ROWS`].
    fn rows(&self) -> usize;

    /// Writes the residual.
    fn residual(&self, node: &Node<'_, '_, T>, out: &mut [T]);

    /// Writes ∂r/∂(q, v, u), rows × (2nv + nu), which comes in as zero.
    fn jacobian(&self, node: &Node<'_, '_, T>, out: MatMut<'_, T>);
}

/// A state and control of the plan, with all that a step computed there.
#[derive(Debug)]
pub struct Node<'n, 'a, T> {
    /// The robot.
    pub model: Model<'n, T>,
    /// Which node, from zero.
    pub index: usize,
    /// Seconds since the task began.
    pub time_s: T,
    /// Duration of the step that follows; zero at the end.
    pub dt_s: T,
    /// Configuration.
    pub q: &'n [T],
    /// Velocity.
    pub v: &'n [T],
    /// Controls; empty at the end.
    pub u: &'n [T],
    /// Controls before, and after with the duration of their step; those after are empty where there are none.
    pub neighbours: Neighbours<'n, T>,
    /// The step that follows: kinematics and mass matrix at this state, contacts and impulses. At the end there are only
    /// kinematics and mass matrix.
    pub step: &'n Step<'a, T>,
    /// The step's derivatives, when the cost is expanded.
    pub derivatives: Option<&'n Derivatives<'a, T>>,
}

/// The controls of the steps before and after a node's own.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours<'n, T> {
    /// Of the step before; before the first, those applied when the plan starts.
    pub before: &'n [T],
    /// Of the step after; empty at the last one.
    pub after: &'n [T],
    /// Duration of that step.
    pub dt_after_s: T,
}

impl<T: Real> Neighbours<'_, T> {
    /// A node alone.
    pub const NONE: Self = Self { before: &[], after: &[], dt_after_s: T::ZERO };
}

impl<T: Real> Node<'_, '_, T> {
    /// Whether no step follows.
    pub fn is_last(&self) -> bool {
        self.dt_s == T::ZERO
    }
}

/// Checks that the terms fit the robot.
pub(super) fn check<T: Real>(model: Model<'_, T>, terms: &[Term<'_, T>]) -> Result<(), InputError> {
    for term in terms {
        match term.residual {
            Residual::Posture { reference, .. } => check_length("posture reference", model.nq(), reference.len())?,
            Residual::Velocity { reference, .. } if !reference.is_empty() => {
                check_length("velocity reference", model.nv(), reference.len())?;
            }
            Residual::Control { reference } if !reference.is_empty() => {
                check_length("control reference", model.nu(), reference.len())?;
            }
            Residual::Position { target, .. }
            | Residual::Orientation { target, .. }
            | Residual::PointVelocity { target, .. }
            | Residual::Slip { target, .. }
            | Residual::Clearance { target, .. } => {
                frame::Site::of(model, target)?;
            }
            Residual::NormalForce { geometry, .. } if geometry.index() >= model.geometries.len() => {
                return Err(InputError::UnknownIndex { what: "geometry", index: geometry.index() });
            }
            Residual::Custom(custom) if custom.rows() > MOST_ROWS => {
                return Err(InputError::Length { what: "custom residual", expected: MOST_ROWS, got: custom.rows() });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The first term with a weight that is negative or not a finite number.
pub(super) fn bad_weight<T: Real>(terms: &[Term<'_, T>]) -> Option<usize> {
    let is_bad = |weight: &T| !(*weight >= T::ZERO && weight.is_finite());
    terms.iter().position(|term| {
        let axes: &[T] = match &term.residual {
            Residual::Position { axes, .. }
            | Residual::Orientation { axes, .. }
            | Residual::PointVelocity { axes, .. }
            | Residual::CenterOfMass { axes, .. } => axes,
            Residual::Momentum { axes, .. } => axes,
            _ => &[],
        };
        [term.weight, term.terminal].iter().chain(axes).chain(term.schedule).any(is_bad)
    })
}

/// Whether a term depends on the impulses of contacts.
pub(super) fn needs_impulses<T: Real>(terms: &[Term<'_, T>]) -> bool {
    terms.iter().any(|term| matches!(term.residual, Residual::NormalForce { .. }))
}

/// Hands all terms at a node to a sink; the share of each term is added to `parts`.
pub(super) fn visit<T: Real, S: Sink<T>>(
    terms: &[Term<'_, T>],
    node: &Node<'_, '_, T>,
    sink: &mut S,
    parts: &mut [T],
) -> Result<(), InputError> {
    for (term, part) in terms.iter().zip(parts) {
        let weight = term.weight_at(node);
        if weight == T::ZERO {
            continue;
        }
        let before = sink.value();
        if matches!(term.residual, Residual::ControlRate) {
            let after = node.neighbours.dt_after_s * term.weight * term.factor(node.index + 1);
            state::control_rate(node, weight, after, sink);
        } else {
            visit_one(&term.residual, weight, node, sink)?;
        }
        *part += sink.value() - before;
    }
    Ok(())
}

fn visit_one<T: Real, S: Sink<T>>(
    residual: &Residual<'_, T>,
    weight: T,
    node: &Node<'_, '_, T>,
    sink: &mut S,
) -> Result<(), InputError> {
    match *residual {
        Residual::Posture { dofs, reference } => state::posture(node, dofs, reference, weight, sink),
        Residual::Velocity { dofs, reference } => state::velocity(node, dofs, reference, weight, sink),
        Residual::Control { reference } => state::control(node, reference, weight, sink),
        // It concerns two nodes: `visit` has seen to it.
        Residual::ControlRate => Ok(()),
        Residual::Position { target, reference, axes } => {
            frame::position(node, target, reference.at(node.time_s), axes.map(|axis| axis * weight), sink)
        }
        Residual::Orientation { target, reference, axes } => {
            frame::orientation(node, target, reference, axes.map(|axis| axis * weight), sink)
        }
        Residual::PointVelocity { target, reference, axes } => {
            frame::velocity(node, target, reference, axes.map(|axis| axis * weight), sink)
        }
        Residual::CenterOfMass { reference, axes } => {
            center::position(node, reference.at(node.time_s), axes.map(|axis| axis * weight), sink)
        }
        Residual::Momentum { reference, axes } => {
            center::momentum(node, reference, axes.map(|axis| axis * weight), sink)
        }
        Residual::Slip { target, ground_m, fade_m } => {
            frame::low_speed(node, target, ground_m, frame::Fade::Smooth(fade_m), weight, sink)
        }
        Residual::Clearance { target, ground_m, height_m } => {
            frame::low_speed(node, target, ground_m, frame::Fade::Below(height_m), weight, sink)
        }
        Residual::NormalForce { geometry, reference_n } => force::normal(node, geometry, reference_n, weight, sink),
        Residual::PositionLimits { margin } => {
            limits::position(node, margin, weight, sink);
            Ok(())
        }
        Residual::VelocityLimits { margin } => {
            limits::velocity(node, margin, weight, sink);
            Ok(())
        }
        Residual::Custom(custom) => {
            let mut residual = [T::ZERO; MOST_ROWS];
            let rows = custom.rows().min(MOST_ROWS);
            custom.residual(node, run_mut(&mut residual, 0, rows));
            let columns = 2 * node.model.nv() + node.model.nu();
            sink.rows(run(&residual, 0, rows), &[weight; MOST_ROWS], columns, |out| {
                custom.jacobian(node, out);
                Ok(())
            })
        }
    }
}
