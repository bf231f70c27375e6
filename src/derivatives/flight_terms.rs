//! What the turning axes of free bodies add: the step takes u = v + Δt (a + ω × v), and gives v⁺ = exp(Δt ω⁺)ᵀ u.

use nalgebra::Matrix3;

use super::Derivatives;
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
        for k in 0..flyer.linear {
            acceleration[flyer.first_v + k] -= change[k];
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
        let (by_linear, by_angular) = (skew(&motion.angular), -skew(&motion.linear));
        for k in 0..flyer.dofs() {
            let column = nv + flyer.first_v + k;
            for i in 0..flyer.linear {
                let at = flyer.spatial(k);
                let slope = if at < 3 { by_linear[(i, at)] } else { by_angular[(i, at - 3)] };
                let dof = flyer.first_v + i;
                z[(dof, column)] -= (mass[(dof, dof)] + work.implicit_inertia[dof]) * slope;
                for row in model.tree.descendants(dof) {
                    z[(row, column)] -= mass[(row, dof)] * slope;
                }
                for row in model.tree.ancestor_runs(dof).flatten() {
                    z[(row, column)] -= mass[(dof, row)] * slope;
                }
            }
        }
    }
}

/// ∂v⁺ = Eᵀ ∂u + (v⁺ ×) Δt J_r ∂ω, E = exp(Δt ω) and J_r its right Jacobian.
pub(super) fn turn_axes<T: Real>(model: Model<'_, T>, dt_s: T, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let mut z = out.matrix();
    for flyer in Flyer::all(model) {
        let [rotation, by_angular] = slopes(&flyer, dt_s, work);
        for column in 0..z.cols() {
            let mut six = [T::ZERO; 6];
            for k in 0..flyer.dofs() {
                six[flyer.spatial(k)] = z[(flyer.first_v + k, column)];
            }
            let change = Motion::from_array(six);
            let linear = multiply_transposed(&rotation, &change.linear) + multiply(&by_angular, &change.angular);
            for k in 0..flyer.linear {
                z[(flyer.first_v + k, column)] = linear[k];
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
