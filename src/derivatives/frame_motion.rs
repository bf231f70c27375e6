//! How a contact's frame moves with the bodies (Simple 2025, App. C).

use nalgebra::Vector3;

use crate::collision::{Contact, ManifoldPoint, Solid, collide};
use crate::linalg::{MatMut, MatRef, cholesky, cholesky_solve};
use crate::model::{Geometry, Model, Shape};
use crate::scalar::{Dual, Real};
use crate::spatial::lie::{exp_quaternion, quaternion_to_matrix};
use crate::spatial::vector::{compose, cross, cross_add, dot, multiply, scale_add, skew};
use crate::spatial::{Motion, Placement};
use crate::step::{Gradient, StepSettings};

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
    Curved {
        columns: [Motion<T>; 6],
        /// ∂distance; none where it is the velocity along the normal. The points of tilted faces slide along edges, and
        /// the distance with them.
        gap: Option<[T; 6]>,
    },
}

impl<T: Real<Plain = T>> FrameMotion<T> {
    /// Of a frame that nothing moves.
    const STILL: Self = Self::Curved { columns: [Motion::ZERO; 6], gap: None };

    /// Of a contact between geometries at the given placements.
    pub fn of<S>(
        model: Model<'_, T>,
        contact: &Contact<T>,
        placements: &[Placement<T>],
        settings: &StepSettings<T, S>,
    ) -> Self {
        let at = &contact.at;
        if let Some(OnPlane { height, second }) = OnPlane::of(model, contact) {
            return Self::OnPlane { center: scale_add(&at.normal, height, &at.position), normal: at.normal, second };
        }
        let geometry = |index: usize| Some((model.geometries.get(index)?, placements.get(index)?));
        let pair = model.pairs.get(usize::from(contact.pair));
        let sides = pair.and_then(|pair| Some((geometry(pair.a.index())?, geometry(pair.b.index())?)));
        let Some((a, b)) = sides else { return Self::STILL };
        match settings.gradient {
            Gradient::Smoothed { samples, radius_m, seed } => {
                let displacements = &mut Displacements::new(samples, radius_m, seed);
                Self::smoothed(model, contact, a, b, displacements, settings.contact_margin_m)
            }
            _ => Self::curved(model, contact, a, b, settings.contact_margin_m),
        }
    }

    /// By six dual directions: twists of the second body about the contact point.
    fn curved(
        model: Model<'_, T>,
        contact: &Contact<T>,
        (a, place_a): (&Geometry<T>, &Placement<T>),
        (b, place_b): (&Geometry<T>, &Placement<T>),
        margin: T,
    ) -> Self {
        let at = &contact.at;
        let constant =
            |x: &Placement<T>| Placement::new(x.rotation.map(Dual::constant), x.translation.map(Dual::constant));
        let solid_a = Solid::varied(model, a, &constant(place_a));
        let solid_b = Solid::varied(model, b, &vary(place_b, &at.position));
        // That of the step, so that the same points are found; a little more, so that rounding loses none.
        let margin = margin + margin * T::EPSILON.sqrt();
        let manifold = collide::<Dual<T, 6>>(&solid_a, &solid_b, Dual::constant(margin));
        let same = manifold.points().iter().find(|point| point.feature == at.feature);
        let Some(point) = same.or(manifold.points().first()) else {
            return Self::STILL;
        };
        let column = |k: usize| {
            let normal_rate = point.normal.map(|x| x.tangent[k]);
            let angular = cross(&at.normal, &normal_rate);
            let linear = point.position.map(|x| x.tangent[k]) - cross(&angular, &at.position);
            Motion { linear, angular }
        };
        let gap = Some(core::array::from_fn(|k| point.distance.tangent[k]));
        Self::Curved { columns: core::array::from_fn(column), gap }.about(&at.position)
    }

    /// By least squares over random displacements of the second body: what the frame does on the average, corners and
    /// edges included.
    fn smoothed(
        model: Model<'_, T>,
        contact: &Contact<T>,
        (a, place_a): (&Geometry<T>, &Placement<T>),
        (b, place_b): (&Geometry<T>, &Placement<T>),
        displacements: &mut Displacements<T>,
        step_margin: T,
    ) -> Self {
        let at = &contact.at;
        let arm = place_b.translation - at.position;
        let size = dot(&arm, &arm).sqrt().max(displacements.radius);
        let first = Solid::of(model, a, place_a);
        let margin = at.distance.abs() + displacements.radius * T::from_f64(8.0);
        let (mut covariance, mut slopes) = ([T::ZERO; 36], [T::ZERO; 36]);
        while let Some(xi) = displacements.next(size) {
            // Antithetic pairs: the mean of the two cancels what is even in the displacement.
            let place = |sign: T| moved(place_b, &at.position, &(xi * sign));
            let point = |sign: T| {
                let manifold = collide(&first, &Solid::of(model, b, &place(sign)), margin);
                let deepest =
                    |best: ManifoldPoint<T>, p: &ManifoldPoint<T>| if p.distance < best.distance { *p } else { best };
                let (head, rest) = manifold.points().split_first()?;
                let same = manifold.points().iter().find(|point| point.feature == at.feature);
                Some(same.copied().unwrap_or_else(|| rest.iter().fold(*head, deepest)))
            };
            let (Some(plus), Some(minus)) = (point(T::ONE), point(-T::ONE)) else { continue };
            let half = T::from_f64(0.5);
            let angular = cross(&at.normal, &((plus.normal - minus.normal) * half));
            let linear = (plus.position - minus.position) * half - cross(&angular, &at.position);
            let (x, twist) = (xi.to_array(), Motion { linear, angular }.to_array());
            for k in 0..36 {
                covariance[k] = x[k / 6].mul_add(x[k % 6], covariance[k]);
                slopes[k] = x[k / 6].mul_add(twist[k % 6], slopes[k]);
            }
        }
        // Too few displacements that touch leave directions open: then the exact derivative is all there is.
        if cholesky(MatMut::new(&mut covariance, 6, 6)).is_err() {
            return Self::curved(model, contact, (a, place_a), (b, place_b), step_margin);
        }
        cholesky_solve(MatRef::new(&covariance, 6, 6), MatMut::new(&mut slopes, 6, 6));
        let columns = core::array::from_fn(|k| Motion::from_array(core::array::from_fn(|i| slopes[6 * k + i])));
        Self::Curved { columns, gap: None }.about(&at.position)
    }

    /// Columns of twists about `point`, as columns of twists about the origin.
    fn about(self, point: &Vector3<T>) -> Self {
        let Self::Curved { columns, mut gap } = self else { return self };
        // A twist (l, ω) about the origin moves the point by l + ω × p: angular columns gain the linear ones.
        let shift = skew(point);
        let mut shifted = columns;
        for k in 0..3 {
            let entry = |i: usize| -shift[(i, k)];
            for i in 0..3 {
                shifted[3 + k] += columns[i] * entry(i);
                if let Some(gap) = &mut gap {
                    gap[3 + k] = gap[i].mul_add(entry(i), gap[3 + k]);
                }
            }
        }
        Self::Curved { columns: shifted, gap }
    }

    /// Twist of the frame when the second body moves by `twist` and the first one stays.
    #[inline(always)]
    pub fn of_second(&self, twist: &Motion<T>) -> Motion<T> {
        match self {
            Self::OnPlane { second: true, .. } => *twist - self.on_plane(twist),
            Self::OnPlane { second: false, .. } => self.on_plane(twist),
            Self::Curved { columns, .. } => {
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

/// A corner or a ball on a plane.
pub(super) struct OnPlane<T> {
    /// Of the corner, or of the ball's center, over the contact along its normal.
    pub height: T,
    /// Whether the plane is that of the second body.
    pub second: bool,
}

impl<T: Real> OnPlane<T> {
    /// A contact, if it is one.
    #[inline(always)]
    pub fn of(model: Model<'_, T>, contact: &Contact<T>) -> Option<Self> {
        let distance = contact.at.distance;
        let Some(pair) = model.pairs.get(usize::from(contact.pair)) else {
            // A terrain is outside of the model: it is taken as a plane at the contact.
            return Some(Self { height: distance, second: false });
        };
        let (a, b) = (model.geometries.get(pair.a.index())?, model.geometries.get(pair.b.index())?);
        if is_corner_on_plane(a, b) {
            Some(Self { height: distance + round(&b.shape), second: false })
        } else if is_corner_on_plane(b, a) {
            Some(Self { height: -(distance + round(&a.shape)), second: true })
        } else {
            None
        }
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

/// Random displacements, the same for the same seed.
struct Displacements<T> {
    radius: T,
    left: u16,
    state: u64,
}

impl<T: Real> Displacements<T> {
    fn new(samples: u16, radius: T, seed: u32) -> Self {
        Self { radius, left: samples, state: u64::from(seed) }
    }

    /// The next one: uniform in a box of ± radius, angles over `size`.
    fn next(&mut self, size: T) -> Option<Motion<T>> {
        self.left = self.left.checked_sub(1)?;
        let mut uniform = || {
            // SplitMix64 (Steele 2014).
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = self.state;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            T::from_f64(((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
        };
        let linear = Vector3::from_fn(|_, _| uniform()) * self.radius;
        let angular = Vector3::from_fn(|_, _| uniform()) * (self.radius / size);
        Some(Motion { linear, angular })
    }
}

/// A placement moved by a twist about `point`.
fn moved<T: Real>(placement: &Placement<T>, point: &Vector3<T>, twist: &Motion<T>) -> Placement<T> {
    let turn = quaternion_to_matrix(&exp_quaternion(&twist.angular));
    let arm = multiply(&turn, &(placement.translation - point));
    Placement::new(compose(&turn, &placement.rotation), point + arm + twist.linear)
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
