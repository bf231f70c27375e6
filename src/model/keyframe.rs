//! States worth remembering: rest, crouch, upright.

/// A named state with its controls, borrowed from [`Model::keyframes`](super::Model::keyframes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe<'m, T> {
    /// Configuration, nq numbers.
    pub q: &'m [T],
    /// Velocity, nv numbers.
    pub v: &'m [T],
    /// Controls, nu numbers.
    pub u: &'m [T],
}

impl<'m, T> Keyframe<'m, T> {
    /// State `k` of `numbers`, which holds (q, v, u) of each, one after the other.
    pub(super) fn of(numbers: &'m [T], k: usize, nq: usize, nv: usize, nu: usize) -> Option<Self> {
        let length = nq + nv + nu;
        let start = k.checked_mul(length)?;
        let one = numbers.get(start..start.checked_add(length)?)?;
        if one.is_empty() {
            return None;
        }
        let (q, rest) = one.split_at_checked(nq)?;
        let (v, u) = rest.split_at_checked(nv)?;
        Some(Self { q, v, u })
    }
}
