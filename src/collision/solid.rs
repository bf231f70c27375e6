//! A shape where it is.

use nalgebra::Vector3;

use crate::model::{Geometry, Model, Shape};
use crate::scalar::Real;
use crate::spatial::Placement;

/// A shape with its placement, and its corners if it is a hull.
#[derive(Clone, Copy, Debug)]
pub struct Solid<'m, T> {
    /// The solid in its own frame.
    pub shape: Shape<T>,
    /// Corners of a convex hull in its own frame; empty for other shapes.
    pub hull: &'m [Vector3<T>],
    /// Of its frame.
    pub placement: Placement<T>,
}

impl<'m, T: Real> Solid<'m, T> {
    /// A geometry of the model, placed by [`detect`](super::detect).
    #[inline(always)]
    pub fn of(model: Model<'m, T>, geometry: &Geometry<T>, placement: &Placement<T>) -> Self {
        Self { shape: geometry.shape, hull: model.hull(&geometry.shape), placement: *placement }
    }
}
