//! Hopping on the spot: a height that comes and goes.

use saltus::linalg::MatMut;
use saltus::mpc::{CustomResidual, Node};
use saltus::scalar::Real;

/// A configuration with bent hip, knee and ankle, from which a leg can push.
pub static CROUCH: [f32; 6] = [0.0, 1.17, 0.0, 0.0, -0.4, 0.4];

/// The hopper's height above what its task wants.
#[derive(Clone, Copy, Debug)]
pub struct Height {
    /// While it stands, m.
    pub low_m: f32,
    /// Above that at the top of a hop, m.
    pub rise_m: f32,
    /// From one hop to the next, s.
    pub period_s: f32,
}

/// One hop in 0.8 s, half of it in the air.
pub static HEIGHT: Height = Height { low_m: 1.14, rise_m: 0.35, period_s: 0.8 };

/// Which degree of freedom is the height of the torso.
const HEIGHT_DOF: usize = 1;

impl Height {
    /// Where the torso should be at a time.
    pub fn at(&self, time_s: f32) -> f32 {
        let turns = time_s / self.period_s;
        let phase = (turns - turns as u32 as f32) * core::f32::consts::TAU;
        // Not `f32::sin`, whose bits are not the same everywhere.
        self.low_m + self.rise_m * Real::max(Real::sin_cos(phase).0, 0.0)
    }
}

impl CustomResidual<f32> for Height {
    fn rows(&self) -> usize {
        1
    }

    fn residual(&self, node: &Node<'_, '_, f32>, out: &mut [f32]) {
        if let (Some(out), Some(height)) = (out.first_mut(), node.q.get(HEIGHT_DOF)) {
            *out = *height - self.at(node.time_s);
        }
    }

    fn jacobian(&self, _: &Node<'_, '_, f32>, mut out: MatMut<'_, f32>) {
        if let Some(slope) = out.row_mut(0).get_mut(HEIGHT_DOF) {
            *slope = 1.0;
        }
    }
}
