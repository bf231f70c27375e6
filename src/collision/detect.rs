//! All pairs of the model.

use core::ops::Range;

use nalgebra::Vector3;

use super::balls::Balls;
use super::{Contact, Manifold, Solid, collide};
use crate::input::{InputError, check_length};
use crate::kinematics::Kinematics;
use crate::memory::{Values, carved, run};
use crate::model::{GeometryId, GeometryPair, Model, Shape};
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
        /// Balls around them, in fours.
        balls: [Balls<T>; d.geometries.div_ceil(4)],
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
    /// Pairs whose search ended at its bound, with the best answer it had.
    pub bounded: usize,
}

impl<T: Real> Collision<'_, T> {
    /// The contacts, in the order of pairs and of features within a pair.
    pub fn contacts(&self) -> &[Contact<T>] {
        run(self.storage, 0, self.found.kept)
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
    // Pairs come in ascending order: those of one geometry stand together.
    while let Some(first) = model.pairs.get(index) {
        let group = index..group_end(model, index, first.a);
        detect_group(model, first.a, group.clone(), margin_m, out);
        index = group.end;
    }
    Ok(out.found)
}

/// One past the last pair whose first geometry is that of pair `index`, from where it is if none is left out.
#[inline(always)]
fn group_end<T: Real>(model: Model<'_, T>, index: usize, a: GeometryId) -> usize {
    let others = model.geometries.len().saturating_sub(a.index() + 1);
    let mut end = model.pairs.len().min(index + others).max(index + 1);
    while end > index + 1 && model.pairs.get(end - 1).is_some_and(|pair| pair.a != a) {
        end -= 1;
    }
    end
}

/// Shows the pairs `group`, which have geometry `a` in common, to the narrow phase where their balls are near.
#[inline(always)]
fn detect_group<T: Real>(
    model: Model<'_, T>,
    a: GeometryId,
    group: Range<usize>,
    margin: T,
    out: &mut Collision<'_, T>,
) {
    let (mut next, end) = (group.start, group.end);
    let (Some(from), Some(to)) = (model.pairs.get(next), model.pairs.get(end - 1)) else { return };
    let (from, to) = (from.b.index(), to.b.index());
    let (Some(place), Some(of_a)) = (out.placement.get(a.index()), model.geometries.get(a.index())) else { return };
    let (up, center) = (column(&place.rotation, 2), place.translation);
    for four in from / 4..to / 4 + 1 {
        let Some(balls) = out.balls.get(four) else { return };
        let room = if of_a.shape == Shape::HalfSpace {
            balls.room_over_plane(&up, &center, margin)
        } else {
            balls.room_to_ball(&center, of_a.reach + margin)
        };
        // Written so that a number that is none rejects the pair.
        if !room.iter().any(|room| *room > T::ZERO) {
            continue;
        }
        for (b, _) in (4 * four..).zip(room).filter(|(_, room)| *room > T::ZERO) {
            // So many pairs at most stand after that of `b`.
            next = next.max((end - 1).saturating_sub(to.saturating_sub(b)));
            while next < end && model.pairs.get(next).is_some_and(|pair| pair.b.index() < b) {
                next += 1;
            }
            if let Some(pair) = model.pairs.get(next).filter(|pair| next < end && pair.a == a && pair.b.index() == b)
                && is_over_plane(model, pair, &center, of_a.reach + margin, out.placement)
            {
                let manifold = meet(model, pair, out.placement, margin);
                out.keep(next as u16, &manifold);
            }
        }
    }
}

/// Places the geometries and forgets the contacts of the last call.
fn place<T: Real>(model: Model<'_, T>, kinematics: &Kinematics<'_, T>, out: &mut Collision<'_, T>) {
    out.found = Detected::default();
    for (index, (placement, geometry)) in out.placement.iter_mut().zip(model.geometries).enumerate() {
        let body = kinematics.placement.get(geometry.body.index()).copied().unwrap_or_default();
        *placement = body * geometry.placement;
        if let Some(balls) = out.balls.get_mut(index / 4) {
            balls.set(index % 4, &placement.translation, geometry.reach);
        }
    }
}

/// Of a half-space that comes second, whether the first geometry's ball comes closer than the margin to its plane.
#[inline(always)]
fn is_over_plane<T: Real>(
    model: Model<'_, T>,
    pair: &GeometryPair<T>,
    center: &Vector3<T>,
    limit: T,
    placements: &[Placement<T>],
) -> bool {
    let b = pair.b.index();
    match (model.geometries.get(b), placements.get(b)) {
        (Some(geometry), Some(ground)) if geometry.shape == Shape::HalfSpace => {
            dot(&column(&ground.rotation, 2), &(center - ground.translation)) < limit
        }
        _ => true,
    }
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
        for k in shallowest + 1..storage.len() {
            let next = storage.at(k);
            storage.set(k - 1, next);
        }
        storage.set(found.kept - 1, contact);
    }
}
