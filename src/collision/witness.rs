//! The nearest points of two features, and the normal between them.

use nalgebra::Vector3;

use super::ManifoldPoint;
use super::feature::{Feature, Side, across, constant, tangents, unit};
use crate::scalar::Real;
use crate::spatial::vector::{cross, dot, scale_add};

/// Newton steps on plain values before the one that carries derivatives.
const POLISH_STEPS: usize = 24;
/// Largest turn of the normal in one Newton step, rad.
const MAX_TURN: f64 = 0.3;
/// Least curvature, over the depth, that an uphill step reckons with.
const FLATTEST: f64 = 1e-3;
/// Lines whose directions differ by less (rad) count as parallel.
const PARALLEL: f64 = 1e-6;

/// Distance, middle and normal of two features, as point number `feature`.
///
/// `hint` is the normal from a to b that the search ended with; it settles the sign, is what a curved feature starts
/// from, and remains the normal where the features leave none (coincident centres).
pub(super) fn witness<T: Real>(a: &Side<T>, b: &Side<T>, hint: &Vector3<T::Plain>, feature: u16) -> ManifoldPoint<T> {
    let (near_a, near_b, normal) = nearest(a, b, hint);
    let gap = dot(&normal, &(near_b - near_a));
    let half = T::from_f64(0.5);
    let middle = scale_add(&normal, (a.radius - b.radius) * half, &((near_a + near_b) * half));
    ManifoldPoint { feature, distance: gap - a.radius - b.radius, position: middle, normal }
}

/// The nearest points of the two cores, and the normal from a to b.
fn nearest<T: Real>(a: &Side<T>, b: &Side<T>, hint: &Vector3<T::Plain>) -> (Vector3<T>, Vector3<T>, Vector3<T>) {
    match (&a.feature, &b.feature) {
        (Feature::Plane { point, normal }, other) => {
            let near_b = other.support(&-normal);
            let near_a = scale_add(normal, -dot(normal, &(near_b - point)), &near_b);
            (near_a, near_b, *normal)
        }
        (_, Feature::Plane { .. }) => flipped(nearest(b, a, &-hint)),
        (one, other) if one.is_curved() || other.is_curved() => curved(a, b, hint),
        (Feature::Line { point: p, direction: u }, Feature::Line { point: q, direction: v }) => {
            lines((p, u), (q, v), hint)
        }
        (Feature::Line { point, direction }, other) => {
            let near_b = other.support(direction);
            let near_a = scale_add(direction, dot(direction, &(near_b - point)), point);
            (near_a, near_b, toward(&(near_b - near_a), hint))
        }
        (_, Feature::Line { .. }) => flipped(nearest(b, a, &-hint)),
        (one, other) => {
            let (near_a, near_b) = (one.support(&constant(hint)), other.support(&constant(hint)));
            (near_a, near_b, toward(&(near_b - near_a), hint))
        }
    }
}

fn flipped<T: Real>((a, b, n): (Vector3<T>, Vector3<T>, Vector3<T>)) -> (Vector3<T>, Vector3<T>, Vector3<T>) {
    (b, a, -n)
}

/// The unit vector along `v` or against it, on the side of `hint`; `hint` itself if `v` vanishes.
fn toward<T: Real>(v: &Vector3<T>, hint: &Vector3<T::Plain>) -> Vector3<T> {
    match unit(v) {
        Some(n) if dot(&n, &constant(hint)) < T::ZERO => -n,
        Some(n) => n,
        None => constant(hint),
    }
}

/// Two lines: the normal is across both, even where they touch.
fn lines<T: Real>(
    (p, u): (&Vector3<T>, &Vector3<T>),
    (q, v): (&Vector3<T>, &Vector3<T>),
    hint: &Vector3<T::Plain>,
) -> (Vector3<T>, Vector3<T>, Vector3<T>) {
    let common = cross(u, v);
    let square = dot(&common, &common);
    if square <= T::from_f64(PARALLEL * PARALLEL) {
        let near_a = scale_add(u, dot(u, &(q - p)), p);
        return (near_a, *q, toward(&(q - near_a), hint));
    }
    let normal = toward(&common, hint);
    let along = dot(&cross(&(q - p), v), &common) / square;
    let near_a = scale_add(u, along, p);
    (near_a, scale_add(&normal, dot(&normal, &(q - p)), &near_a), normal)
}

/// At least one curved feature: Newton's method on the normal.
///
/// The plain steps go to rounding; the last one runs in the numbers of the features and carries the derivatives of the
/// solution, as the implicit function theorem has them.
fn curved<T: Real>(a: &Side<T>, b: &Side<T>, hint: &Vector3<T::Plain>) -> (Vector3<T>, Vector3<T>, Vector3<T>) {
    let normal = polished(&a.plain().feature, &b.plain().feature, *hint);
    let normal = newton_step(&a.feature, &b.feature, &constant(&normal));
    let (mut near_a, mut near_b) = (a.feature.support(&normal), b.feature.support(&-normal));
    if let Feature::Line { direction, .. } = &a.feature {
        near_a = scale_add(direction, dot(direction, &(near_b - near_a)), &near_a);
    }
    if let Feature::Line { direction, .. } = &b.feature {
        near_b = scale_add(direction, dot(direction, &(near_a - near_b)), &near_b);
    }
    (near_a, near_b, normal)
}

/// Climbs to the normal along which the two features are farthest apart, by Newton's method with shorter steps where a
/// whole one would lead down.
fn polished<P: Real>(a: &Feature<P>, b: &Feature<P>, hint: Vector3<P>) -> Vector3<P> {
    let height = |n: &Vector3<P>| dot(n, &(b.support(&-n) - a.support(n)));
    let (mut normal, mut best) = (hint, height(&hint));
    for _ in 0..POLISH_STEPS {
        let Some(turn) = newton_turn(a, b, &normal, true) else { break };
        if dot(&turn, &turn) <= P::EPSILON * P::EPSILON {
            break;
        }
        let trials = [1.0, 0.5, 0.25, 0.1, 0.01].map(P::from_f64);
        let next = trials.into_iter().find_map(|share| {
            let next = unit(&(normal + turn * share))?;
            (height(&next) > best).then_some(next)
        });
        // Near the top the height no longer tells; the whole step still does.
        let step = unit(&(normal + turn)).filter(|_| dot(&turn, &turn) <= P::EPSILON.sqrt());
        let Some(next) = next.or(step) else { break };
        (normal, best) = (next, height(&next));
    }
    normal
}

/// Turns the normal to where the farthest points of both features lie on one line along it.
///
/// With w(n) = s_b(−n) − s_a(n), that is t·w = 0 for all t ⟂ n; its slope is −(H_a + H_b + (n·w) I), with H the rate of
/// the farthest point. A line allows only turns about itself.
fn newton_step<T: Real>(a: &Feature<T>, b: &Feature<T>, n: &Vector3<T>) -> Vector3<T> {
    let n = axis(a, b).and_then(|axis| unit(&across(axis, n))).unwrap_or(*n);
    match newton_turn(a, b, &n, false) {
        Some(turn) => unit(&(n + turn)).unwrap_or(n),
        None => n,
    }
}

/// The line that the normal must stay across.
fn axis<'f, T>(a: &'f Feature<T>, b: &'f Feature<T>) -> Option<&'f Vector3<T>> {
    match (a, b) {
        (Feature::Line { direction, .. }, _) | (_, Feature::Line { direction, .. }) => Some(direction),
        _ => None,
    }
}

/// The turn of one Newton step; `uphill` bends it where the distance is not concave. `None` without a slope.
fn newton_turn<T: Real>(a: &Feature<T>, b: &Feature<T>, n: &Vector3<T>, uphill: bool) -> Option<Vector3<T>> {
    let axis = axis(a, b);
    let n = axis.and_then(|axis| unit(&across(axis, n))).unwrap_or(*n);
    let w = b.support(&-n) - a.support(&n);
    let gap = dot(&n, &w);
    let slope = |t: &Vector3<T>| a.support_rate(&n, t) + b.support_rate(&-n, t) + t * gap;
    let turn = match axis {
        Some(axis) => {
            let t = cross(axis, &n);
            let tt = dot(&t, &slope(&t));
            let tt = if uphill { tt.abs() } else { tt };
            divide(dot(&t, &w), tt).map(|angle| t * angle)?
        }
        None => {
            let (t, s) = tangents(&n);
            let (along_t, along_s) = (slope(&t), slope(&s));
            let (mut tt, ts, mut ss) = (dot(&t, &along_t), dot(&t, &along_s), dot(&s, &along_s));
            if uphill {
                let middle = (tt + ss) * T::from_f64(0.5);
                let half = (tt - ss) * T::from_f64(0.5);
                let least = middle - (half * half + ts * ts).sqrt();
                let lift = (T::from_f64(FLATTEST) * gap.abs() - least).max(T::ZERO);
                (tt, ss) = (tt + lift, ss + lift);
            }
            let (wt, ws) = (dot(&t, &w), dot(&s, &w));
            let det = tt * ss - ts * ts;
            divide(ss * wt - ts * ws, det).zip(divide(tt * ws - ts * wt, det)).map(|(x, y)| t * x + s * y)?
        }
    };
    let square = dot(&turn, &turn);
    let longest = T::from_f64(MAX_TURN);
    Some(if square > longest * longest { turn * (longest / square.sqrt()) } else { turn })
}

/// a / b, unless that is not a number.
fn divide<T: Real>(a: T, b: T) -> Option<T> {
    let quotient = a / b;
    quotient.is_finite().then_some(quotient)
}
