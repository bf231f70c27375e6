//! Shapes that bodies touch with, what they are made of, and which of them may meet.

use nalgebra::Vector3;

use super::BodyId;
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::dot;

/// A geometry of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GeometryId(u16);

impl GeometryId {
    /// The geometry at `index` in [`Model::geometries`](super::Model::geometries).
    pub const fn new(index: u16) -> Self {
        Self(index)
    }

    /// Where it stands there.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A solid, centred on its own frame. Lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape<T> {
    /// Everything below z = 0.
    HalfSpace,
    /// A ball.
    Sphere {
        /// Of the ball.
        radius: T,
    },
    /// Everything within `radius` of a segment along z.
    Capsule {
        /// Of the round.
        radius: T,
        /// Of the segment, without the caps.
        half_length: T,
    },
    /// A cuboid.
    Box {
        /// Half the edges.
        half_extents: Vector3<T>,
    },
    /// A cylinder along z.
    Cylinder {
        /// Of the round.
        radius: T,
        /// From the middle to each end.
        half_length: T,
    },
    /// An ellipsoid along the axes.
    Ellipsoid {
        /// Half the axes.
        radii: Vector3<T>,
    },
    /// The convex hull of some of [`Model::vertices`](super::Model::vertices), which are in the geometry's frame.
    Convex {
        /// Where they start.
        first_vertex: u32,
        /// How many.
        vertices: u32,
    },
}

impl<T: Real> Shape<T> {
    /// The same shape in another scalar type.
    pub fn cast<U: Real>(&self) -> Shape<U> {
        self.map(|x| U::from_f64(x.to_f64()))
    }

    /// Radius of a ball about the origin that holds the shape; `hull` are its corners if it is one. Rounded up by a
    /// millionth, so that it holds in `f32` too.
    pub fn reach(&self, hull: &[Vector3<T>]) -> T {
        let norm = |v: &Vector3<T>| dot(v, v).sqrt();
        let reach = match self {
            Self::HalfSpace => return T::from_f64(f64::INFINITY),
            Self::Sphere { radius } => *radius,
            Self::Capsule { radius, half_length } => *radius + *half_length,
            Self::Box { half_extents } => norm(half_extents),
            Self::Cylinder { radius, half_length } => norm(&Vector3::new(*radius, T::ZERO, *half_length)),
            Self::Ellipsoid { radii } => radii.x.max(radii.y).max(radii.z),
            Self::Convex { .. } => hull.iter().map(norm).fold(T::ZERO, T::max),
        };
        reach * T::from_f64(1.0 + 1e-6)
    }

    /// The same shape with each of its lengths mapped.
    #[inline(always)]
    pub fn map<U: Real>(&self, number: impl Fn(T) -> U) -> Shape<U> {
        let vector = |x: &Vector3<T>| Vector3::new(number(x.x), number(x.y), number(x.z));
        match *self {
            Self::HalfSpace => Shape::HalfSpace,
            Self::Sphere { radius } => Shape::Sphere { radius: number(radius) },
            Self::Capsule { radius, half_length } => {
                Shape::Capsule { radius: number(radius), half_length: number(half_length) }
            }
            Self::Box { ref half_extents } => Shape::Box { half_extents: vector(half_extents) },
            Self::Cylinder { radius, half_length } => {
                Shape::Cylinder { radius: number(radius), half_length: number(half_length) }
            }
            Self::Ellipsoid { ref radii } => Shape::Ellipsoid { radii: vector(radii) },
            Self::Convex { first_vertex, vertices } => Shape::Convex { first_vertex, vertices },
        }
    }
}

/// How a surface answers touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material<T> {
    /// Coulomb's coefficient: tangential force over normal force when sliding.
    pub friction: T,
    /// Speed after an impact over speed before it, along the normal.
    pub restitution: T,
}

impl<T: Real> Material<T> {
    /// From its two numbers.
    pub const fn new(friction: T, restitution: T) -> Self {
        Self { friction, restitution }
    }

    /// What two surfaces make together: the rougher and the bouncier one decides.
    pub fn combine(&self, other: &Self) -> Self {
        Self { friction: self.friction.max(other.friction), restitution: self.restitution.max(other.restitution) }
    }

    /// The same material in another scalar type.
    pub fn cast<U: Real>(&self) -> Material<U> {
        Material { friction: U::from_f64(self.friction.to_f64()), restitution: U::from_f64(self.restitution.to_f64()) }
    }
}

impl<T: Real> Default for Material<T> {
    /// Friction 1, no bounce.
    fn default() -> Self {
        Self::new(T::ONE, T::ZERO)
    }
}

/// Which geometries a geometry may meet.
///
/// ```
/// use saltus::model::CollisionFilter;
///
/// let (floor, foot) = (CollisionFilter { category: 1, mask: 2 }, CollisionFilter { category: 2, mask: 0 });
/// assert!(floor.meets(foot) && !foot.meets(foot));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollisionFilter {
    /// Bits of what it is.
    pub category: u32,
    /// Bits of what it looks for.
    pub mask: u32,
}

impl CollisionFilter {
    /// Meets nothing, unless a pair is stated.
    pub const NONE: Self = Self { category: 0, mask: 0 };

    /// Whether either looks for the other, as MuJoCo has it.
    pub const fn meets(self, other: Self) -> bool {
        self.category & other.mask != 0 || other.category & self.mask != 0
    }
}

impl Default for CollisionFilter {
    /// Meets everything that is so too.
    fn default() -> Self {
        Self { category: 1, mask: 1 }
    }
}

/// A shape fixed to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry<T> {
    /// Carries it; may be the world.
    pub body: BodyId,
    /// In the frame of that body.
    pub placement: Placement<T>,
    /// The solid.
    pub shape: Shape<T>,
    /// Radius, about the placement's origin, of a ball that holds all of it; infinite for a half-space.
    pub reach: T,
    /// Its surface.
    pub material: Material<T>,
    /// What it may meet.
    pub filter: CollisionFilter,
}

impl<T: Real> Geometry<T> {
    /// The same geometry in another scalar type.
    pub fn cast<U: Real>(&self) -> Geometry<U> {
        Geometry {
            body: self.body,
            placement: self.placement.cast(),
            shape: self.shape.cast(),
            reach: U::from_f64(self.reach.to_f64()),
            material: self.material.cast(),
            filter: self.filter,
        }
    }
}

/// Two geometries that may meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometryPair<T> {
    /// The one with the smaller number.
    pub a: GeometryId,
    /// The other.
    pub b: GeometryId,
    /// What their surfaces make together.
    pub material: Material<T>,
}

impl<T: Real> GeometryPair<T> {
    /// The same pair in another scalar type.
    pub fn cast<U: Real>(&self) -> GeometryPair<U> {
        GeometryPair { a: self.a, b: self.b, material: self.material.cast() }
    }
}
