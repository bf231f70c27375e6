//! Which rows of a patch say something new.
//!
//! Where three or more points between two bodies stick in one plane, all of them say that the bodies do not move against each
//! other: six rows do. The normal velocities of three points and the tangential ones of two are those six; the points are
//! chosen far apart. Anything else is left to the pivots of the factor, which find out what repeats at a higher price.

use nalgebra::Vector3;

use crate::collision::Contact;
use crate::contact::{Constraint, tangents};
use crate::memory::Values;
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::vector::{cross, dot};

/// How thin a triangle of points may be, height over length, to stand for a plane.
const THINNEST: f64 = 0.05;

/// How many of the contacts, from the first one on, are between the same bodies and along the same normal.
pub(super) fn patch_length<T: Real>(model: Model<'_, T>, contacts: &[Contact<T>]) -> usize {
    let Some(first) = contacts.first() else { return 0 };
    let bodies = first.bodies(model);
    let alike = |contact: &&Contact<T>| contact.at.normal == first.at.normal && contact.bodies(model) == bodies;
    1 + contacts.iter().skip(1).take_while(alike).count()
}

/// Six rows from which those of all contacts of a patch follow, if its points lie in a plane, but for `flatness` of their
/// distances, and not on a line. O(contacts).
pub(super) fn independent_rows<T: Real>(
    constraints: &[Constraint<T>],
    contacts: &[Contact<T>],
    flatness: T,
) -> Option<[u16; 6]> {
    let first = contacts.first().filter(|_| contacts.len() > 2)?.at;
    let largest = |size: &dyn Fn(Vector3<T>) -> T| {
        contacts.iter().enumerate().fold((0, T::ZERO), |largest, (k, contact)| {
            let size = size(contact.at.position - first.position);
            if size > largest.1 { (k, size) } else { largest }
        })
    };
    let (second, length_squared) = largest(&|offset| dot(&offset, &offset));
    let across = cross(&first.normal, &(contacts.get(second)?.at.position - first.position));
    let (third, area) = largest(&|offset| dot(&across, &offset).abs());
    let (_, height) = largest(&|offset| dot(&first.normal, &offset).abs());
    let thick = area > T::from_f64(THINNEST) * length_squared;
    let flat = height * height <= flatness * flatness * length_squared;
    if !(thick && flat) {
        return None;
    }
    // Of the tangents of the second point the one that a turn of the patch moves more.
    let [x, y] = tangents(&first.normal).map(|tangent| dot(&tangent, &across).abs());
    let row = |point: usize, axis: u16| constraints.at(point).first_row + axis;
    Some([row(0, 0), row(0, 1), row(0, 2), row(second, 2), row(third, 2), row(second, u16::from(y > x))])
}
