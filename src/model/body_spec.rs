//! One body and its joint, as the user states them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::{DofParameters, GeometrySpec, Joint, Range};
use crate::spatial::{Inertia, Placement};

/// The joint of a [`BodySpec`]: a moving joint or a rigid one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointSpec {
    /// Welded to the parent: merged into it and kept as a frame.
    Fixed,
    /// Moves.
    Moving(Joint<f64>),
}

impl JointSpec {
    /// Turns about a unit axis.
    pub fn revolute(axis: Vector3<f64>) -> Self {
        Self::Moving(Joint::Revolute { axis })
    }

    /// Turns about a unit axis without end.
    pub fn continuous(axis: Vector3<f64>) -> Self {
        Self::Moving(Joint::Continuous { axis })
    }

    /// Slides along a unit axis.
    pub fn prismatic(axis: Vector3<f64>) -> Self {
        Self::Moving(Joint::Prismatic { axis })
    }

    /// Turns about a point.
    pub fn spherical() -> Self {
        Self::Moving(Joint::Spherical)
    }

    /// Moves in a plane.
    pub fn planar() -> Self {
        Self::Moving(Joint::Planar)
    }

    /// Moves freely.
    pub fn free_flyer() -> Self {
        Self::Moving(Joint::FreeFlyer)
    }

    fn nv(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Moving(joint) => joint.nv(),
        }
    }
}

/// One body and its joint, as the user states them. All figures in SI units and `f64`.
///
/// ```
/// use nalgebra::Vector3;
/// use saltus::model::{BodySpec, JointSpec};
/// use saltus::spatial::{Inertia, Placement};
///
/// let shank = BodySpec::new("shank", JointSpec::revolute(Vector3::y()))
///     .parent("thigh")
///     .placement(Placement::translation(0.0, 0.0, -0.2))
///     .inertia(Inertia::solid_box(0.2, &Vector3::new(0.02, 0.02, 0.2)))
///     .position_limits(-2.8, -0.9)
///     .effort_limit(35.0)
///     .armature(0.01);
/// # let _ = shank;
/// ```
#[derive(Clone, Debug)]
pub struct BodySpec {
    pub(super) name: String,
    pub(super) joint_name: String,
    pub(super) parent: String,
    pub(super) joint: JointSpec,
    pub(super) placement: Placement<f64>,
    pub(super) inertia: Inertia<f64>,
    pub(super) dofs: [DofParameters<f64>; 6],
    pub(super) limits: Option<Range<f64>>,
    pub(super) actuated: bool,
    pub(super) geometries: Vec<GeometrySpec>,
}

impl BodySpec {
    /// A massless body on the world, at its origin. Revolute, continuous and prismatic joints have a motor, others none.
    pub fn new(name: impl Into<String>, joint: JointSpec) -> Self {
        let name = name.into();
        Self {
            joint_name: name.clone(),
            name,
            parent: "world".to_string(),
            joint,
            placement: Placement::IDENTITY,
            inertia: Inertia::ZERO,
            dofs: [DofParameters::default(); 6],
            limits: None,
            actuated: joint.nv() == 1,
            geometries: Vec::new(),
        }
    }

    /// Name of the body that carries this one.
    pub fn parent(mut self, parent: impl Into<String>) -> Self {
        self.parent = parent.into();
        self
    }

    /// Name of the joint, when it differs from that of the body.
    pub fn joint_name(mut self, name: impl Into<String>) -> Self {
        self.joint_name = name.into();
        self
    }

    /// Of the body frame in the parent's frame, at the neutral configuration.
    pub fn placement(mut self, placement: Placement<f64>) -> Self {
        self.placement = placement;
        self
    }

    /// In the body frame.
    pub fn inertia(mut self, inertia: Inertia<f64>) -> Self {
        self.inertia = inertia;
        self
    }

    /// Range of the joint position, rad or m.
    pub fn position_limits(mut self, lower: f64, upper: f64) -> Self {
        self.limits = Some(Range { lower, upper });
        self
    }

    /// Rotor inertia seen at the joint, for each degree of freedom.
    pub fn armature(self, armature: f64) -> Self {
        self.each_dof(|dof| dof.armature = armature)
    }

    /// Viscous damping, for each degree of freedom.
    pub fn damping(self, damping: f64) -> Self {
        self.each_dof(|dof| dof.damping = damping)
    }

    /// Dry friction, for each degree of freedom.
    pub fn dry_friction(self, friction: f64) -> Self {
        self.each_dof(|dof| dof.dry_friction = friction)
    }

    /// A spring that pulls towards `reference`, measured from the neutral configuration, for each degree of freedom.
    pub fn spring(self, stiffness: f64, reference: f64) -> Self {
        self.each_dof(|dof| (dof.stiffness, dof.spring_reference) = (stiffness, reference))
    }

    /// Largest speed, for each degree of freedom.
    pub fn velocity_limit(self, limit: f64) -> Self {
        self.each_dof(|dof| dof.velocity_limit = limit)
    }

    /// Largest motor force, for each degree of freedom.
    pub fn effort_limit(self, limit: f64) -> Self {
        self.each_dof(|dof| dof.effort_limit = limit)
    }

    /// The parameters of degree of freedom `k` of this joint alone.
    pub fn dof(mut self, k: usize, parameters: DofParameters<f64>) -> Self {
        if let Some(dof) = self.dofs.get_mut(k) {
            *dof = parameters;
        }
        self
    }

    /// A shape fixed to this body.
    pub fn geometry(mut self, geometry: GeometrySpec) -> Self {
        self.geometries.push(geometry);
        self
    }

    /// Whether the joint has motors of gear 1 within the effort limit, when the builder is given no actuator.
    pub fn actuated(mut self, actuated: bool) -> Self {
        self.actuated = actuated;
        self
    }

    fn each_dof(mut self, set: impl Fn(&mut DofParameters<f64>)) -> Self {
        self.dofs.iter_mut().for_each(set);
        self
    }
}
