//! What the turning axes of free bodies add: the step takes u = v + Δt (a + ω × v), and gives v⁺ = exp(Δt ω⁺)ᵀ u.

use nalgebra::{Matrix3, Vector3};

use super::Derivatives;
use crate::memory::{Values, run, run_mut, split_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::Motion;
use crate::spatial::lie::right_jacobian_rotation;
use crate::spatial::vector::{compose, cross, multiply, multiply_transposed, skew};
use crate::step::Step;
use crate::step::flight::{Flyer, turn};

/// a ← a − ω × v: the acceleration along turning axes.
pub(super) fn turn_acceleration<T: Real>(model: Model<'_, T>, v: &[T], acceleration: &mut [T]) {
    for flyer in Flyer::all(model) {
        let motion = flyer.motion(v);
        let change = cross(&motion.angular, &motion.linear);
        for (k, change) in change.iter().enumerate().take(flyer.linear) {
            acceleration.change(flyer.first_v + k, |x| *x -= *change);
        }
    }
}

/// Z ← Z − M ∂(ω × v)/∂v, M with what acts at the end of the step: −Δt M⁻¹ Z then has Δt ∂(ω × v)/∂v.
pub(super) fn subtract<T: Real>(model: Model<'_, T>, v: &[T], work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let mass = work.dynamics.mass_matrix_view(model.dims());
    let nv = model.nv();
    let mut z = out.matrix();
    for flyer in Flyer::all(model) {
        let motion = flyer.motion(v);
        let (first, dofs) = (flyer.first_v, flyer.dofs());
        let mut subtract = |row: usize, inertia: Vector3<T>| {
            // mᵀ ∂(ω × v) = (m × ω, v × m).
            let (linear, angular) = (cross(&inertia, &motion.angular), cross(&motion.linear, &inertia));
            let six = Motion { linear, angular }.to_array();
            let z = run_mut(z.row_mut(row), nv + first, dofs);
            if let Some(z) = z.first_chunk_mut::<6>() {
                *z = core::array::from_fn(|k| z[k] - six[k]);
            } else {
                for (k, z) in z.iter_mut().enumerate() {
                    *z -= six[flyer.spatial(k)];
                }
            }
        };
        for row in model.tree.ancestor_runs(first).flatten() {
            subtract(row, linear_part(&flyer, |dof| mass[(dof, row)]));
        }
        for row in first..first + dofs {
            let own = |dof: usize| if dof == row { work.implicit_inertia.at(dof) } else { T::ZERO };
            subtract(row, linear_part(&flyer, |dof| mass[(row.max(dof), row.min(dof))] + own(dof)));
        }
        for row in model.tree.descendants(first + dofs - 1) {
            let inertia = mass.row(row);
            subtract(row, linear_part(&flyer, |dof| inertia.at(dof)));
        }
    }
}

/// What `entry` gives for the degrees of freedom that move the origin.
#[inline(always)]
fn linear_part<T: Real>(flyer: &Flyer, entry: impl Fn(usize) -> T) -> Vector3<T> {
    let [x, y] = [entry(flyer.first_v), entry(flyer.first_v + 1)];
    Vector3::new(x, y, if flyer.linear > 2 { entry(flyer.first_v + 2) } else { T::ZERO })
}

/// ∂v⁺ = Eᵀ ∂u + (v⁺ ×) Δt J_r ∂ω, E = exp(Δt ω) and J_r its right Jacobian.
pub(super) fn turn_axes<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let stride = out.stride();
    for flyer in Flyer::all(model) {
        let [rotation, by_angular] = slopes(&flyer, dt_s, work);
        let block = run_mut(out.velocity, flyer.first_v * stride, flyer.dofs() * stride);
        let (linear, angular) = split_mut(block, flyer.linear * stride);
        let mut rows = linear.chunks_exact_mut(stride.max(1));
        if let (Some(x), Some(y), Some(z)) = (rows.next(), rows.next(), rows.next()) {
            let [a, b, c] = core::array::from_fn(|k| run(angular, k * stride, stride).iter());
            for (((x, y), z), ((a, b), c)) in x.iter_mut().zip(y).zip(z).zip(a.zip(b).zip(c)) {
                let (change, turn) = (Vector3::new(*x, *y, *z), Vector3::new(*a, *b, *c));
                let linear = multiply_transposed(&rotation, &change) + multiply(&by_angular, &turn);
                (*x, *y, *z) = (linear.x, linear.y, linear.z);
            }
        } else {
            let (x, y) = split_mut(linear, stride);
            for ((x, y), angular) in x.iter_mut().zip(y).zip(&*angular) {
                let o = T::ZERO;
                let (change, turn) = (Vector3::new(*x, *y, o), Vector3::new(o, o, *angular));
                let linear = multiply_transposed(&rotation, &change) + multiply(&by_angular, &turn);
                (*x, *y) = (linear.x, linear.y);
            }
        }
    }
}

/// The same for one change of velocity.
pub(super) fn turn_change<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, change: &mut [T]) {
    for flyer in Flyer::all(model) {
        let [rotation, by_angular] = slopes(&flyer, dt_s, work);
        let motion = flyer.motion(change);
        let linear = multiply_transposed(&rotation, &motion.linear) + multiply(&by_angular, &motion.angular);
        change[flyer.first_v..][..flyer.linear].copy_from_slice(&linear.as_slice()[..flyer.linear]);
    }
}

/// The transpose of [`turn_change`], for ∂ℓ/∂v⁺.
pub(super) fn turn_back<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, cotangent: &mut [T]) {
    for flyer in Flyer::all(model) {
        let [rotation, by_angular] = slopes(&flyer, dt_s, work);
        let motion = flyer.motion(cotangent);
        let turned = Motion {
            linear: multiply(&rotation, &motion.linear),
            angular: motion.angular + multiply_transposed(&by_angular, &motion.linear),
        };
        let six = turned.to_array();
        for k in 0..flyer.dofs() {
            cotangent[flyer.first_v + k] = six[flyer.spatial(k)];
        }
    }
}

/// E, and (v⁺ ×) Δt J_r.
fn slopes<T: Real>(flyer: &Flyer, dt_s: T, work: &Step<'_, T>) -> [Matrix3<T>; 2] {
    let motion = flyer.motion(work.next_v);
    let rotation = turn(&motion.angular, dt_s);
    let after = multiply_transposed(&rotation, &motion.linear);
    [rotation, compose(&skew(&after), &right_jacobian_rotation(&(motion.angular * dt_s))) * dt_s]
}
