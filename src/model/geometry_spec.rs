//! A geometry, as the user states it.

use alloc::string::String;
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::{CollisionFilter, Material, Shape};
use crate::spatial::Placement;

/// The convex hull of some points, in the geometry's frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexSpec {
    pub(super) vertices: Vec<Vector3<f64>>,
}

impl ConvexSpec {
    /// From its corners; points inside are allowed, but cost time in every step.
    pub fn new(vertices: impl Into<Vec<Vector3<f64>>>) -> Self {
        Self { vertices: vertices.into() }
    }
}

/// A primitive or a convex hull with its vertices.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeSpec {
    /// Any shape but [`Shape::Convex`], which has no vertices here.
    Primitive(Shape<f64>),
    /// A hull.
    Convex(ConvexSpec),
}

impl From<Shape<f64>> for ShapeSpec {
    fn from(shape: Shape<f64>) -> Self {
        Self::Primitive(shape)
    }
}

impl From<ConvexSpec> for ShapeSpec {
    fn from(hull: ConvexSpec) -> Self {
        Self::Convex(hull)
    }
}

/// A shape fixed to a body, with friction 1 and no bounce unless stated.
///
/// ```
/// use saltus::model::{GeometrySpec, Shape};
/// use saltus::spatial::Placement;
///
/// let foot = GeometrySpec::new("foot", Shape::Sphere { radius: 0.02 })
///     .placement(Placement::translation(0.0, 0.0, -0.2))
///     .friction(0.8);
/// # let _ = foot;
/// ```
#[derive(Clone, Debug)]
pub struct GeometrySpec {
    pub(super) name: String,
    pub(super) placement: Placement<f64>,
    pub(super) shape: ShapeSpec,
    pub(super) material: Material<f64>,
    pub(super) filter: CollisionFilter,
}

impl GeometrySpec {
    /// At the origin of the body. The name may be empty; if not, no other geometry may have it.
    pub fn new(name: impl Into<String>, shape: impl Into<ShapeSpec>) -> Self {
        Self {
            name: name.into(),
            placement: Placement::IDENTITY,
            shape: shape.into(),
            material: Material::default(),
            filter: CollisionFilter::default(),
        }
    }

    /// In the body's frame.
    pub fn placement(mut self, placement: Placement<f64>) -> Self {
        self.placement = placement;
        self
    }

    /// Coulomb's coefficient.
    pub fn friction(mut self, friction: f64) -> Self {
        self.material.friction = friction;
        self
    }

    /// Speed after an impact over speed before it, between 0 and 1.
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.material.restitution = restitution;
        self
    }

    /// What it may meet.
    pub fn filter(mut self, filter: CollisionFilter) -> Self {
        self.filter = filter;
        self
    }
}
