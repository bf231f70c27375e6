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

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use nalgebra::Matrix6;

    use super::*;
    use crate::collision::ManifoldPoint;
    use crate::contact::{Law, Source};

    /// Of the distances between points: some roundings.
    const FLATNESS: f64 = 1e-12;
    /// Of rows of length one or so: the smallest singular value of six that are far from repeating each other.
    const INDEPENDENT: f64 = 0.01;

    /// Contacts at points of a plane with this normal, and their constraints.
    fn patch(normal: Vector3<f64>, points: &[[f64; 3]]) -> (Vec<Constraint<f64>>, Vec<Contact<f64>>) {
        let [x, y] = tangents(&normal);
        let contact = |at: &[f64; 3]| {
            let position = x * at[0] + y * at[1] + normal * (at[2] + 0.3);
            Contact { pair: 0, at: ManifoldPoint { position, normal, ..ManifoldPoint::default() } }
        };
        let constraint = |k: usize| Constraint {
            law: Law::Contact { friction: 0.8 },
            first_row: 6 + 3 * k as u16,
            source: Source::Contact { pair: 0, feature: k as u16 },
        };
        ((0..points.len()).map(constraint).collect(), points.iter().map(contact).collect())
    }

    /// The velocity that a row measures, per twist about the world's origin.
    fn row_of(contacts: &[Contact<f64>], row: u16) -> [f64; 6] {
        let (point, axis) = (usize::from(row - 6) / 3, usize::from(row - 6) % 3);
        let at = &contacts[point].at;
        let [x, y] = tangents(&at.normal);
        let d = [x, y, at.normal][axis];
        let turn = at.position.cross(&d);
        [d.x, d.y, d.z, turn.x, turn.y, turn.z]
    }

    const CORNERS: [[f64; 3]; 4] = [[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.15, 0.05, 0.0], [-0.15, -0.05, 0.0]];

    #[test]
    fn six_rows_of_a_sole_are_independent() {
        for normal in [Vector3::z(), -Vector3::z(), Vector3::new(0.6, 0.0, 0.8), Vector3::new(0.48, -0.64, 0.6)] {
            for count in [3, 4] {
                let (constraints, contacts) = patch(normal, &CORNERS[..count]);
                let rows = independent_rows(&constraints, &contacts, FLATNESS).expect("a plane");
                let matrix = Matrix6::from_fn(|i, k| row_of(&contacts, rows[i])[k]);
                let smallest = matrix.singular_values().min();
                assert!(smallest > INDEPENDENT, "normal {normal:?}, {count} points: {rows:?}, {smallest}");
            }
        }
    }

    #[test]
    fn what_is_no_plane_is_left_to_the_pivots() {
        let rows = |points: &[[f64; 3]]| {
            let (constraints, contacts) = patch(Vector3::z(), points);
            independent_rows(&constraints, &contacts, FLATNESS)
        };
        let raised = [CORNERS[0], CORNERS[1], CORNERS[2], [-0.15, -0.05, 1e-6]];
        assert!(rows(&raised).is_none(), "a corner that stands out");
        assert!(rows(&[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]]).is_none(), "points on a line");
        assert!(rows(&CORNERS[..2]).is_none(), "two points");
        assert!(rows(&[CORNERS[0]; 4]).is_none(), "one point four times over");
    }
}
