//! Shapes and placements to collide.

use nalgebra::{Matrix3, Unit, UnitQuaternion, Vector3};
use saltus::collision::Solid;
use saltus::model::Shape;
use saltus::scalar::Real;
use saltus::spatial::Placement;

use crate::Random;

/// A shape of its own, with the corners if it is a hull.
#[derive(Clone, Debug)]
pub struct SampleShape {
    /// What tests call it.
    pub name: &'static str,
    /// The shape.
    pub shape: Shape<f64>,
    /// Corners of a hull.
    pub corners: Vec<Vector3<f64>>,
}

impl SampleShape {
    /// One of each kind, of a few decimetres, and a second hull; not the half-space.
    pub fn all() -> Vec<Self> {
        let primitive = |name, shape| Self { name, shape, corners: Vec::new() };
        let mut random = Random::new(5);
        let rock: Vec<_> = (0..24).map(|_| random.direction() * 0.25).collect();
        let wedge = [
            [-0.2, -0.1, -0.1],
            [0.3, -0.1, -0.1],
            [0.3, 0.1, -0.1],
            [-0.2, 0.1, -0.1],
            [-0.2, -0.1, 0.2],
            [-0.2, 0.1, 0.2],
        ];
        let hull = |name, corners: Vec<Vector3<f64>>| {
            let shape = Shape::Convex { first_vertex: 0, vertices: corners.len() as u32 };
            Self { name, shape, corners }
        };
        vec![
            primitive("sphere", Shape::Sphere { radius: 0.2 }),
            primitive("capsule", Shape::Capsule { radius: 0.1, half_length: 0.25 }),
            primitive("box", Shape::Box { half_extents: Vector3::new(0.15, 0.2, 0.25) }),
            primitive("cylinder", Shape::Cylinder { radius: 0.15, half_length: 0.2 }),
            primitive("ellipsoid", Shape::Ellipsoid { radii: Vector3::new(0.1, 0.2, 0.3) }),
            hull("rock", rock),
            hull("wedge", wedge.map(Vector3::from).to_vec()),
        ]
    }

    /// The shape at a placement.
    pub fn solid(&self, placement: &Placement<f64>) -> Solid<'_, f64> {
        self.at(*placement)
    }

    /// The shape at a placement in numbers over `f64`.
    pub fn at<T: Real<Plain = f64>>(&self, placement: Placement<T>) -> Solid<'_, T> {
        match self.shape {
            Shape::Convex { .. } => Solid::convex(&self.corners, placement),
            shape => Solid::primitive(shape, placement),
        }
    }

    /// The farthest point along a direction, in the shape's own frame: written apart from the library.
    pub fn support(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let round = direction.normalize();
        match self.shape {
            Shape::HalfSpace => Vector3::zeros(),
            Shape::Sphere { radius } => round * radius,
            Shape::Capsule { radius, half_length } => Vector3::z() * half_length * round.z.signum() + round * radius,
            Shape::Box { half_extents } => half_extents.component_mul(&round.map(f64::signum)),
            Shape::Cylinder { radius, half_length } => {
                let side = Vector3::new(round.x, round.y, 0.0);
                let side = side.try_normalize(1e-300).unwrap_or_default();
                side * radius + Vector3::z() * half_length * round.z.signum()
            }
            Shape::Ellipsoid { radii } => {
                let scaled = round.component_mul(&radii);
                radii.component_mul(&scaled) / scaled.norm()
            }
            Shape::Convex { .. } => {
                let height = |corner: &Vector3<f64>| corner.dot(&round);
                self.corners.iter().copied().max_by(|a, b| height(a).total_cmp(&height(b))).unwrap_or_default()
            }
        }
    }
}

impl Random {
    /// A unit vector, evenly.
    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = Vector3::from_fn(|_, _| self.signed());
            if (1e-3..=1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    /// A rotation, about an even axis.
    pub fn rotation(&mut self) -> Matrix3<f64> {
        let (axis, angle) = (Unit::new_normalize(self.direction()), self.signed() * core::f64::consts::PI);
        UnitQuaternion::from_axis_angle(&axis, angle).to_rotation_matrix().into_inner()
    }

    /// Anywhere within `reach` of the origin, turned any way.
    pub fn placement(&mut self, reach: f64) -> Placement<f64> {
        let rotation = self.rotation();
        Placement::new(rotation, self.direction() * (self.uniform() * reach))
    }
}
