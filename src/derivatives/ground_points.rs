//! How the points at which a body touches what stands still move otherwise than the body: D = C − 1, with C the twist of
//! the contact's frame per twist of the body.
//!
//! On a plane with the normal n, below a corner or a ball's center at c = p + h n, the frame does not turn, and follows c
//! along the plane: D (l, ω) = (−n n·l + (1 − n nᵀ)(ω × c), −ω). What follows from that is written out here.

use nalgebra::Vector3;

use super::frame_motion::FrameMotion;
use super::ground_terms::Absorbed;
use crate::scalar::Real;
use crate::spatial::vector::{cross, cross_add, dot, scale_add};
use crate::spatial::{Force, Motion};

/// T by rows: of forces, then of torques; by translations, then by turns.
pub(super) type Turned<T> = [[T; 6]; 6];

/// A point of a body on what stands still.
pub(super) trait GroundPoint<T> {
    /// Adds D ×* W of a force at the point, column by column, to T; only its torques about the point if forces are absorbed.
    fn add_turned(&self, force: &Vector3<T>, absorbed: Absorbed, turned: &mut Turned<T>);

    /// − d · (D × V) at the point, column by column, as a function of d.
    fn carried(&self, velocity: Motion<T>) -> impl Fn(&Vector3<T>) -> [T; 6];

    /// How the gap changes by twists of the body, if not with the velocity along the normal; times `scale`.
    fn own_gap(&self, scale: T) -> Option<[T; 6]>;
}

/// A corner or a ball on a plane.
pub(super) struct PlanePoint<T> {
    position: Vector3<T>,
    normal: Vector3<T>,
    /// h.
    height: T,
    /// p × n.
    arm: Vector3<T>,
}

impl<T: Real> PlanePoint<T> {
    #[inline(always)]
    pub fn new(position: Vector3<T>, normal: Vector3<T>, height: T) -> Self {
        Self { position, normal, height, arm: cross(&position, &normal) }
    }
}

impl<T: Real> GroundPoint<T> for PlanePoint<T> {
    /// With g = n × f: torques −g nᵀ, h (n fᵀ − (n·f) 1) − g (p × n)ᵀ about the point; forces 0, f×, which also turn about the
    /// origin: f pᵀ − (p·f) 1.
    #[inline(always)]
    fn add_turned(&self, force: &Vector3<T>, absorbed: Absorbed, turned: &mut Turned<T>) {
        let (f, p, o) = (force, &self.position, T::ZERO);
        let (tilt, level) = (cross(&self.normal, f), self.height * dot(&self.normal, f));
        for i in 0..3 {
            let row = &mut turned[3 + i];
            for k in 0..3 {
                let [by_translation, by_turn] = [k, 3 + k];
                row[by_translation] = (-tilt[i]).mul_add(self.normal[k], row[by_translation]);
                let turn = (-tilt[i]).mul_add(self.arm[k], row[by_turn]);
                row[by_turn] = (self.height * self.normal[i]).mul_add(f[k], turn);
            }
            row[3 + i] -= level;
        }
        if absorbed != Absorbed::Nothing {
            return;
        }
        let (skew, along) = ([[o, -f.z, f.y], [f.z, o, -f.x], [-f.y, f.x, o]], dot(p, f));
        for i in 0..3 {
            for k in 0..3 {
                turned[i][3 + k] += skew[i][k];
                turned[3 + i][3 + k] = f[i].mul_add(p[k], turned[3 + i][3 + k]);
            }
            turned[3 + i][3 + i] -= along;
        }
    }

    /// With u the velocity at the point and β = d · (n × ω): β n and u × d + h ((n·ω) d − (n·d) ω) + β p × n.
    #[inline(always)]
    fn carried(&self, velocity: Motion<T>) -> impl Fn(&Vector3<T>) -> [T; 6] {
        let (at_point, spin) = (velocity.velocity_at(&self.position), velocity.angular);
        let (swept, rolled) = (cross(&self.normal, &spin), self.height * dot(&self.normal, &spin));
        move |d| {
            let left = dot(d, &swept);
            let turned = scale_add(d, rolled, &(spin * -(self.height * dot(&self.normal, d))));
            let angular = cross_add(&at_point, d, &scale_add(&self.arm, left, &turned));
            Motion { linear: self.normal * left, angular }.to_array()
        }
    }

    #[inline(always)]
    fn own_gap(&self, _: T) -> Option<[T; 6]> {
        None
    }
}

/// Any point: the columns of D one by one.
pub(super) struct AnyPoint<T> {
    position: Vector3<T>,
    columns: [Motion<T>; 6],
    gap: Option<[T; 6]>,
}

impl<T: Real<Plain = T>> AnyPoint<T> {
    /// Of the moving side: the second if `sign` is above zero.
    pub fn new(position: Vector3<T>, motion: &FrameMotion<T>, sign: T) -> Self {
        let columns = core::array::from_fn(|k| {
            let relative = motion.of_second(&unit(k));
            if sign > T::ZERO { relative - unit(k) } else { -relative }
        });
        let gap = if let FrameMotion::Curved { gap, .. } = motion { *gap } else { None };
        Self { position, columns, gap }
    }
}

impl<T: Real> GroundPoint<T> for AnyPoint<T> {
    fn add_turned(&self, force: &Vector3<T>, absorbed: Absorbed, turned: &mut Turned<T>) {
        let wrench = Force::at_point(*force, &self.position);
        for (k, column) in self.columns.iter().enumerate() {
            let mut change = column.cross_force(&wrench);
            if absorbed != Absorbed::Nothing {
                change -= Force::at_point(change.linear, &self.position);
            }
            for (row, change) in turned.iter_mut().zip(change.to_array()) {
                row[k] += change;
            }
        }
    }

    fn carried(&self, velocity: Motion<T>) -> impl Fn(&Vector3<T>) -> [T; 6] {
        let changes = self.columns.map(|column| velocity.cross(&column).velocity_at(&self.position));
        move |d| changes.map(|change| dot(d, &change))
    }

    fn own_gap(&self, scale: T) -> Option<[T; 6]> {
        self.gap.map(|gap| gap.map(|x| x * scale))
    }
}

/// The motion whose component `i` is one.
#[inline(always)]
fn unit<T: Real>(i: usize) -> Motion<T> {
    Motion::from_array(core::array::from_fn(|k| if k == i { T::ONE } else { T::ZERO }))
}
