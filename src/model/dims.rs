//! Plain sizes, known before the program runs.

use crate::linalg::padded;

/// How large a robot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Moving bodies.
    pub bodies: usize,
    /// Length of a configuration.
    pub nq: usize,
    /// Length of a velocity.
    pub nv: usize,
}

impl Dims {
    /// From numbers that a model prints or a firmware knows.
    pub const fn new(bodies: usize, nq: usize, nv: usize) -> Self {
        Self { bodies, nq, nv }
    }

    /// Moving bodies and the world.
    pub const fn with_world(self) -> usize {
        self.bodies + 1
    }

    /// Row stride of an nv-column matrix.
    pub const fn stride(self) -> usize {
        padded(self.nv)
    }

    /// Numbers in an nv × nv matrix, padding included.
    pub const fn square(self) -> usize {
        self.nv * self.stride()
    }
}
