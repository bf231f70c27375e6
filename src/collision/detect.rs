//! All pairs of the model.

use nalgebra::Vector3;

use super::{Contact, Manifold, Solid, collide};
use crate::input::{InputError, check_length};
use crate::kinematics::Kinematics;
use crate::memory::carved;
use crate::model::{GeometryPair, Model};
use crate::scalar::Real;
use crate::spatial::Placement;
use crate::spatial::vector::{column, dot};

/// What the collision workspace is sized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollisionDims {
    /// Geometries of the model.
    pub geometries: usize,
    /// Contacts that fit.
    pub contacts: usize,
}

carved! {
    /// Placed geometries and the contacts between them. Written by [`detect`].
    pub struct Collision<'a, T>(d: CollisionDims) {
        /// Of each geometry, in the working frame.
        pub placement: [Placement<T>; d.geometries],
        bound: [Bound<T>; d.geometries],
        storage: [Contact<T>; d.contacts],
        found: (Detected),
    }
}

/// A ball that holds a geometry.
#[derive(Clone, Copy, Debug)]
struct Bound<T> {
    center: Vector3<T>,
    /// Infinite for a half-space.
    reach: T,
}

impl<T: Real> Default for Bound<T> {
    fn default() -> Self {
        Self { center: Vector3::repeat(T::ZERO), reach: T::ZERO }
    }
}

/// How a detection went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// Contacts kept.
    pub kept: usize,
    /// Contacts that did not fit: the farthest apart, or the least deep, are left out.
    pub dropped: usize,
    /// Pairs whose search ended at its bound, with the best answer it had.
    pub bounded: usize,
}

impl<T: Real> Collision<'_, T> {
    /// The contacts, in the order of pairs and of features within a pair.
    pub fn contacts(&self) -> &[Contact<T>] {
        &self.storage[..self.found.kept]
    }
}

/// Finds all contacts closer than `margin_m` and keeps the deepest that fit. O(pairs): some nanoseconds for each pair
/// that is far apart.
pub fn detect<T: Real>(
    model: Model<'_, T>,
    kinematics: &Kinematics<'_, T>,
    margin_m: T,
    out: &mut Collision<'_, T>,
) -> Result<Detected, InputError> {
    check_length("workspace geometries", model.geometries.len(), out.placement.len())?;
    check_length("workspace bodies", model.dims().with_world(), kinematics.placement.len())?;
    if model.pairs.len() > usize::from(Contact::<T>::TERRAIN) {
        let expected = usize::from(Contact::<T>::TERRAIN);
        return Err(InputError::Length { what: "pairs", expected, got: model.pairs.len() });
    }
    place(model, kinematics, out);
    let mut index = 0;
    // Pairs come in the order of their first geometry, whose bound serves many.
    while let Some(first) = model.pairs.get(index) {
        let a = out.bound.get(first.a.index()).copied().unwrap_or_default();
        let a = Bound { reach: a.reach + margin_m, ..a };
        while let Some(pair) = model.pairs.get(index).filter(|pair| pair.a == first.a) {
            let b = out.bound.get(pair.b.index());
            if b.is_some_and(|b| are_near(&a, b) && is_over_planes(pair, &a, b, out.placement, margin_m)) {
                let manifold = meet(model, pair, out.placement, margin_m);
                out.keep(index as u16, &manifold);
            }
            index += 1;
        }
    }
    Ok(out.found)
}

/// Places the geometries and forgets the contacts of the last call.
fn place<T: Real>(model: Model<'_, T>, kinematics: &Kinematics<'_, T>, out: &mut Collision<'_, T>) {
    out.found = Detected::default();
    for ((placement, bound), geometry) in out.placement.iter_mut().zip(out.bound.iter_mut()).zip(model.geometries) {
        let body = kinematics.placement.get(geometry.body.index()).copied().unwrap_or_default();
        *placement = body * geometry.placement;
        *bound = Bound { center: placement.translation, reach: geometry.reach };
    }
}

/// Whether the balls around two geometries meet.
#[inline(always)]
fn are_near<T: Real>(a: &Bound<T>, b: &Bound<T>) -> bool {
    let (between, limit) = (b.center - a.center, a.reach + b.reach);
    // Written so that a number that is none rejects the pair.
    limit > T::ZERO && dot(&between, &between) <= limit * limit
}

/// Of half-spaces, whether the other's ball comes closer to the plane than `margin`, which is in the reach of `a`.
#[inline(always)]
fn is_over_planes<T: Real>(
    pair: &GeometryPair<T>,
    a: &Bound<T>,
    b: &Bound<T>,
    placements: &[Placement<T>],
    margin: T,
) -> bool {
    let between = b.center - a.center;
    (a.reach.plain().is_finite() || over_plane(placements.get(pair.a.index()), &between, b.reach + margin))
        && (b.reach.plain().is_finite() || over_plane(placements.get(pair.b.index()), &-between, a.reach))
}

/// Whether a centre, `between` away from a half-space's origin, is less than `limit` above its plane.
#[inline(never)]
fn over_plane<T: Real>(ground: Option<&Placement<T>>, between: &Vector3<T>, limit: T) -> bool {
    ground.is_some_and(|ground| dot(&column(&ground.rotation, 2), between) < limit)
}

#[inline(never)]
fn meet<T: Real>(model: Model<'_, T>, pair: &GeometryPair<T>, placements: &[Placement<T>], margin: T) -> Manifold<T> {
    let solid = |index: usize| Some(Solid::of(model, model.geometries.get(index)?, placements.get(index)?));
    match (solid(pair.a.index()), solid(pair.b.index())) {
        (Some(a), Some(b)) => collide(&a, &b, margin),
        _ => Manifold::new(),
    }
}

impl<T: Real> Collision<'_, T> {
    /// Appends the points of a pair, which must not come before those that are there.
    pub(super) fn keep(&mut self, pair: u16, manifold: &Manifold<T>) {
        self.found.bounded += usize::from(!manifold.converged());
        for point in manifold.points() {
            keep(Contact { pair, at: *point }, self.storage, &mut self.found);
        }
    }

    /// Appends points of one geometry and a terrain.
    #[cfg(feature = "parry")]
    pub(super) fn keep_points(&mut self, pair: u16, points: &[super::ManifoldPoint<T>], bounded: bool) {
        self.found.bounded += usize::from(bounded);
        for point in points {
            keep(Contact { pair, at: *point }, self.storage, &mut self.found);
        }
    }

    /// How the detection has gone so far.
    pub fn detected(&self) -> Detected {
        self.found
    }
}

/// Appends a contact; when all places are taken, the shallowest gives way.
fn keep<T: Real>(contact: Contact<T>, storage: &mut [Contact<T>], found: &mut Detected) {
    if let Some(place) = storage.get_mut(found.kept) {
        *place = contact;
        found.kept += 1;
        return;
    }
    found.dropped += 1;
    let Some((first, rest)) = storage.split_first() else { return };
    let start = (0, first.at.distance);
    let deeper = |least: (usize, T), (k, other): (usize, &Contact<T>)| {
        if other.at.distance > least.1 { (k + 1, other.at.distance) } else { least }
    };
    let (shallowest, distance) = rest.iter().enumerate().fold(start, deeper);
    if contact.at.distance < distance {
        storage.copy_within(shallowest + 1.., shallowest);
        storage[found.kept - 1] = contact;
    }
}
