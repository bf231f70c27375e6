//! Balls around geometries, four at a time: which pairs can be near at all.

use nalgebra::Vector3;

use crate::scalar::Real;

/// Centres and radii of four balls, number by number, so that four distances are computed at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balls<T> {
    x: [T; 4],
    y: [T; 4],
    z: [T; 4],
    /// Infinite for a half-space.
    reach: [T; 4],
}

impl<T: Real> Default for Balls<T> {
    fn default() -> Self {
        Self { x: [T::ZERO; 4], y: [T::ZERO; 4], z: [T::ZERO; 4], reach: [T::ZERO; 4] }
    }
}

impl<T: Real> Balls<T> {
    /// Puts ball `k`, which is below four.
    #[inline(always)]
    pub(super) fn set(&mut self, k: usize, center: &Vector3<T>, reach: T) {
        let k = k % 4;
        (self.x[k], self.y[k], self.z[k], self.reach[k]) = (center.x, center.y, center.z, reach);
    }

    /// Positive where a ball meets another one: (r + R)² − d².
    #[inline(always)]
    pub(super) fn room_to_ball(&self, center: &Vector3<T>, reach: T) -> [T; 4] {
        let x = self.x.map(|x| x - center.x);
        let y = self.y.map(|y| y - center.y);
        let z = self.z.map(|z| z - center.z);
        let limit = self.reach.map(|r| r + reach);
        let squares = [0, 1, 2, 3].map(|k| z[k].mul_add(z[k], y[k].mul_add(y[k], x[k] * x[k])));
        [0, 1, 2, 3].map(|k| limit[k].mul_add(limit[k], -squares[k]))
    }

    /// Positive where a ball comes closer than `margin` to the plane through `point` with the unit normal `up`.
    #[inline(always)]
    pub(super) fn room_over_plane(&self, up: &Vector3<T>, point: &Vector3<T>, margin: T) -> [T; 4] {
        let x = self.x.map(|x| x - point.x);
        let y = self.y.map(|y| y - point.y);
        let z = self.z.map(|z| z - point.z);
        let heights = [0, 1, 2, 3].map(|k| z[k].mul_add(up.z, y[k].mul_add(up.y, x[k] * up.x)));
        [0, 1, 2, 3].map(|k| (self.reach[k] + margin) - heights[k])
    }
}
