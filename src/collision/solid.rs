//! A shape where it is.

use nalgebra::Vector3;

use crate::model::{Geometry, Model, Shape};
use crate::scalar::Real;
use crate::spatial::Placement;

/// A shape with its placement, and its corners if it is a hull.
///
/// The shape itself does not vary: its sizes are plain numbers even when the placement carries derivatives, so dual
/// numbers run on the very vertices of the model.
#[derive(Clone, Copy, Debug)]
pub struct Solid<'m, T: Real> {
    /// The solid in its own frame.
    pub shape: Shape<T::Plain>,
    /// Corners of a convex hull in its own frame; empty for other shapes.
    pub hull: Corners<'m, T>,
    /// Of its frame.
    pub placement: Placement<T>,
}

impl<'m, T: Real> Solid<'m, T> {
    /// A geometry of the model, placed by [`detect`](super::detect).
    #[inline(always)]
    pub fn of(model: Model<'m, T>, geometry: &Geometry<T>, placement: &Placement<T>) -> Self {
        let shape = geometry.shape.map(|x| x.plain());
        Self { shape, hull: Corners::Own(model.hull(&geometry.shape)), placement: *placement }
    }

    /// A geometry of a model in plain numbers, with a placement that may carry derivatives.
    #[inline(always)]
    pub fn varied(model: Model<'m, T::Plain>, geometry: &Geometry<T::Plain>, placement: &Placement<T>) -> Self {
        Self { shape: geometry.shape, hull: Corners::Plain(model.hull(&geometry.shape)), placement: *placement }
    }

    /// A shape that is not a hull.
    pub fn primitive(shape: Shape<T::Plain>, placement: Placement<T>) -> Self {
        Self { shape, hull: Corners::Plain(&[]), placement }
    }

    /// The convex hull of some points.
    pub fn convex(corners: &'m [Vector3<T::Plain>], placement: Placement<T>) -> Self {
        let shape = Shape::Convex { first_vertex: 0, vertices: corners.len() as u32 };
        Self { shape, hull: Corners::Plain(corners), placement }
    }
}

/// Points that span a convex hull, in plain numbers or in those of the placement; their own derivatives do not count.
#[derive(Clone, Copy, Debug)]
pub enum Corners<'m, T: Real> {
    /// From a model in the same numbers as the placement.
    Own(&'m [Vector3<T>]),
    /// From a model in plain numbers.
    Plain(&'m [Vector3<T::Plain>]),
}

impl<T: Real> Corners<'_, T> {
    /// How many.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Self::Own(corners) => corners.len(),
            Self::Plain(corners) => corners.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Corner `k`; the origin if there is no such corner.
    #[inline(always)]
    pub fn get(&self, k: usize) -> Vector3<T::Plain> {
        let found = match self {
            Self::Own(corners) => corners.get(k).map(|corner| corner.map(|x| x.plain())),
            Self::Plain(corners) => corners.get(k).copied(),
        };
        found.unwrap_or(Vector3::repeat(T::Plain::ZERO))
    }
}
