//! Axes of a contact.

use nalgebra::Vector3;

use crate::scalar::Real;

/// Two unit vectors that make a right-handed frame with the unit vector `normal` as its third axis.
///
/// The same normal gives the same tangents, so impulses can be carried from one step to the next.
///
/// ```
/// use nalgebra::Vector3;
///
/// let [x, y] = saltus::contact::tangents(&Vector3::new(0.0, 0.6, 0.8));
/// assert!((x.cross(&y) - Vector3::new(0.0, 0.6, 0.8)).norm() < 1e-15);
/// ```
#[inline]
pub fn tangents<T: Real>(normal: &Vector3<T>) -> [Vector3<T>; 2] {
    let (x, y, z) = (normal.x, normal.y, normal.z);
    let sign = if z < T::ZERO { -T::ONE } else { T::ONE };
    let a = -T::ONE / (sign + z);
    let b = x * y * a;
    [Vector3::new(T::ONE + sign * x * x * a, sign * b, -sign * x), Vector3::new(b, sign + y * y * a, -y)]
}
