//! How a contact's frame moves with the bodies (Simple 2025, App. C).

use nalgebra::Vector3;

use crate::collision::{Contact, Solid, collide};
use crate::model::{Geometry, Model, Shape};
use crate::scalar::{Dual, Real};
use crate::spatial::vector::{cross, cross_add, dot, scale_add, skew};
use crate::spatial::{Motion, Placement};

/// The twist of a contact's frame per twist of the second body, while the first one stays.
///
/// The frame turns with the normal and does not spin about it: Coulomb's cone is round, so the spin has no effect.
pub(super) enum FrameMotion<T> {
    /// On a plane: the point below `center` follows it along the plane.
    OnPlane {
        /// Of the ball, or the corner.
        center: Vector3<T>,
        normal: Vector3<T>,
        /// Whether the plane is that of the second body.
        second: bool,
    },
    /// From the collision function in dual numbers: the columns are twists.
    Curved { columns: [Motion<T>; 6] },
}

impl<T: Real<Plain = T>> FrameMotion<T> {
    /// Of a contact between geometries at the given placements.
    pub fn of(model: Model<'_, T>, contact: &Contact<T>, placements: &[Placement<T>]) -> Self {
        let at = &contact.at;
        let geometry = |index: usize| Some((model.geometries.get(index)?, placements.get(index)?));
        let pair = model.pairs.get(usize::from(contact.pair));
        let sides = pair.and_then(|pair| Some([geometry(pair.a.index())?, geometry(pair.b.index())?]));
        match sides {
            Some([(a, _), (b, _)]) if is_corner_on_plane(a, b) => {
                let height = at.distance + round(&b.shape);
                let center = scale_add(&at.normal, height, &at.position);
                Self::OnPlane { center, normal: at.normal, second: false }
            }
            Some([(a, _), (b, _)]) if is_corner_on_plane(b, a) => {
                let height = at.distance + round(&a.shape);
                let center = scale_add(&at.normal, -height, &at.position);
                Self::OnPlane { center, normal: at.normal, second: true }
            }
            Some([a, b]) => Self::curved(model, contact, a, b),
            // A terrain is outside of the model: it is taken as a plane at the contact.
            None => Self::OnPlane {
                center: scale_add(&at.normal, at.distance, &at.position),
                normal: at.normal,
                second: false,
            },
        }
    }

    /// By six dual directions: twists of the second body about the contact point.
    fn curved(
        model: Model<'_, T>,
        contact: &Contact<T>,
        (a, place_a): (&Geometry<T>, &Placement<T>),
        (b, place_b): (&Geometry<T>, &Placement<T>),
    ) -> Self {
        let at = &contact.at;
        let constant =
            |x: &Placement<T>| Placement::new(x.rotation.map(Dual::constant), x.translation.map(Dual::constant));
        let solid_a = Solid::varied(model, a, &constant(place_a));
        let solid_b = Solid::varied(model, b, &vary(place_b, &at.position));
        // Wide enough that rounding does not lose the point.
        let margin = at.distance.abs() + at.distance.abs() + T::from_f64(1e-3);
        let manifold = collide::<Dual<T, 6>>(&solid_a, &solid_b, Dual::constant(margin));
        let same = manifold.points().iter().find(|point| point.feature == at.feature);
        let Some(point) = same.or(manifold.points().first()) else {
            return Self::Curved { columns: [Motion::ZERO; 6] };
        };
        let column = |k: usize| {
            let normal_rate = point.normal.map(|x| x.tangent[k]);
            let angular = cross(&at.normal, &normal_rate);
            let linear = point.position.map(|x| x.tangent[k]) - cross(&angular, &at.position);
            Motion { linear, angular }
        };
        Self::Curved { columns: core::array::from_fn(column) }.about(&at.position)
    }

    /// Columns of twists about `point`, as columns of twists about the origin.
    fn about(self, point: &Vector3<T>) -> Self {
        let Self::Curved { columns } = self else { return self };
        // A twist (l, ω) about the origin moves the point by l + ω × p: angular columns gain the linear ones.
        let shift = skew(point);
        let mut shifted = columns;
        for k in 0..3 {
            let entry = |i: usize| -shift[(i, k)];
            for i in 0..3 {
                shifted[3 + k] += columns[i] * entry(i);
            }
        }
        Self::Curved { columns: shifted }
    }

    /// Twist of the frame when the second body moves by `twist` and the first one stays.
    #[inline(always)]
    pub fn of_second(&self, twist: &Motion<T>) -> Motion<T> {
        match self {
            Self::OnPlane { second: true, .. } => *twist - self.on_plane(twist),
            Self::OnPlane { second: false, .. } => self.on_plane(twist),
            Self::Curved { columns } => {
                let xi = twist.to_array();
                let mut sum = Motion::ZERO;
                for (column, x) in columns.iter().zip(xi) {
                    sum += *column * x;
                }
                sum
            }
        }
    }

    /// Of the frame, when what stands on the plane moves.
    #[inline(always)]
    fn on_plane(&self, twist: &Motion<T>) -> Motion<T> {
        let Self::OnPlane { center, normal, .. } = self else { return *twist };
        let velocity = cross_add(&twist.angular, center, &twist.linear);
        Motion { linear: scale_add(normal, -dot(normal, &velocity), &velocity), angular: Vector3::repeat(T::ZERO) }
    }
}

/// Whether `solid` meets the half-space `ground` by corners or balls that do not roll along its surface.
fn is_corner_on_plane<T>(ground: &Geometry<T>, solid: &Geometry<T>) -> bool {
    let cornered =
        matches!(solid.shape, Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Box { .. } | Shape::Convex { .. });
    matches!(ground.shape, Shape::HalfSpace) && cornered
}

/// Radius around a corner.
fn round<T: Real>(shape: &Shape<T>) -> T {
    match shape {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
        _ => T::ZERO,
    }
}

/// A placement moved by six small twists about `point`.
fn vary<T: Real>(placement: &Placement<T>, point: &Vector3<T>) -> Placement<Dual<T, 6>> {
    let arm = placement.translation - point;
    let unit = |k: usize, i: usize| if k == i { T::ONE } else { T::ZERO };
    let translation = Vector3::from_fn(|i, _| {
        let tangent = core::array::from_fn(|k| if k < 3 { unit(k, i) } else { turned(&arm, k - 3)[i] });
        Dual::seeded(placement.translation[i], tangent)
    });
    let rotation = placement.rotation.map_with_location(|i, j, value| {
        let column = placement.rotation.column(j).into_owned();
        let tangent = core::array::from_fn(|k| if k < 3 { T::ZERO } else { turned(&column, k - 3)[i] });
        Dual::seeded(value, tangent)
    });
    Placement::new(rotation, translation)
}

/// eₖ × v.
fn turned<T: Real>(v: &Vector3<T>, k: usize) -> Vector3<T> {
    let mut axis = Vector3::repeat(T::ZERO);
    axis[k] = T::ONE;
    cross(&axis, v)
}
