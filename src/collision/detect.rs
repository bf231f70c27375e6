//! All pairs of the model.

use super::{Contact, Solid, collide};
use crate::input::{InputError, check_length};
use crate::kinematics::Kinematics;
use crate::memory::carved;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::Placement;

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
        storage: [Contact<T>; d.contacts],
        found: (Detected),
    }
}

/// How a detection went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// Contacts kept.
    pub kept: usize,
    /// Contacts that did not fit: the farthest apart, or the least deep, are left out.
    pub dropped: usize,
}

impl<T: Real> Collision<'_, T> {
    /// The contacts, in the order of pairs and of features within a pair.
    pub fn contacts(&self) -> &[Contact<T>] {
        &self.storage[..self.found.kept]
    }
}

/// Finds all contacts closer than `margin_m` and keeps the deepest that fit. O(pairs).
pub fn detect<T: Real>(
    model: Model<'_, T>,
    kinematics: &Kinematics<'_, T>,
    margin_m: T,
    out: &mut Collision<'_, T>,
) -> Result<Detected, InputError> {
    check_length("workspace geometries", model.geometries.len(), out.placement.len())?;
    check_length("workspace bodies", model.dims().with_world(), kinematics.placement.len())?;
    for (placement, geometry) in out.placement.iter_mut().zip(model.geometries) {
        *placement = kinematics.placement[geometry.body.index()] * geometry.placement;
    }
    out.found = Detected::default();
    for (index, pair) in model.pairs.iter().enumerate() {
        let solid = |id: crate::model::GeometryId| {
            Some(Solid::of(model, model.geometries.get(id.index())?, out.placement.get(id.index())?))
        };
        let (Some(a), Some(b)) = (solid(pair.a), solid(pair.b)) else { continue };
        for point in collide(&a, &b, margin_m).points() {
            keep(Contact { pair: index as u16, at: *point }, out.storage, &mut out.found);
        }
    }
    Ok(out.found)
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
