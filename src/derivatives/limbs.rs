//! Limbs that stand: which joints follow the rest of the robot, because what they end in sticks to the ground.
//!
//! The rows of a contact, J x = −r, say how the last joints l of its limb move, as soon as it is known how the degrees of
//! freedom A move that carry them: x_l = −J_l⁻¹ (r + J_A x_A). Elimination finds out for how many joints that goes, from the
//! last one up. [`following`](super::following) says what becomes of them.

use core::ops::Range;

use super::Derivatives;
use super::ground_terms::moving_side;
use super::system::REDUNDANT;
use crate::contact::reduced::Linear;
use crate::contact::{Constraint, Problem, Source};
use crate::linalg::MatRef;
use crate::linalg::tree::Tree;
use crate::memory::{Values, run, within_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::step::Step;

/// Rows of a limb, at most: those of a patch, and of two joints at their limits.
pub(super) const ROWS: usize = 8;

/// A number for each of them.
pub(super) type Column<T> = [T; ROWS];

/// What must be left of a joint's column, over what it was, when deeper joints follow already: T magnifies rounding by the inverse.
fn least_pivot<T: Real>() -> T {
    T::from_f64(1.0 / 32.0)
}

/// How much a joint must move the contact, over how much the whole robot does, by the same force.
fn least_share<T: Real>() -> T {
    T::from_f64(1e-4)
}

/// A body that sticks to what stands still, and the joints that follow from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limb<T> {
    /// The last degree of freedom that moves the body.
    last: u16,
    /// How many follow: that one, and those before it.
    following: u16,
    /// Independent rows of its contacts and joints, and their number; more than fit if it is too large.
    rows: [u16; ROWS],
    count: u16,
    /// Where its rows of R start, and what it has of `out.carriers`.
    pub first_row: usize,
    pub carriers: (usize, usize),
    /// The degree of freedom that each combined row determines, or [`REDUNDANT`].
    pub follower: [u16; ROWS],
    /// Where the combined rows go that determine none; [`REDUNDANT`] if they repeat others.
    pub place: [u16; ROWS],
    /// C by columns: each row of C J has one at its follower, and zero at the others.
    pub combination: [Column<T>; ROWS],
}

impl<T: Real> Default for Limb<T> {
    fn default() -> Self {
        Self {
            last: 0,
            following: 0,
            rows: [0; ROWS],
            count: 0,
            first_row: 0,
            carriers: (0, 0),
            follower: [REDUNDANT; ROWS],
            place: [REDUNDANT; ROWS],
            combination: identity(),
        }
    }
}

#[inline(always)]
fn identity<T: Real>() -> [Column<T>; ROWS] {
    core::array::from_fn(|k| core::array::from_fn(|i| if i == k { T::ONE } else { T::ZERO }))
}

impl<T: Real> Limb<T> {
    /// The degrees of freedom that follow.
    #[inline(always)]
    pub fn following(&self) -> Range<usize> {
        let end = usize::from(self.last) + 1;
        end - usize::from(self.following)..end
    }

    /// Its rows, if any joint follows from them.
    #[inline(always)]
    pub fn rows(&self) -> &[u16] {
        run(&self.rows, 0, if self.following == 0 { 0 } else { usize::from(self.count).min(ROWS) })
    }

    /// The combined rows that determine a degree of freedom, and which.
    #[inline(always)]
    pub fn followers(&self) -> impl Iterator<Item = (usize, usize)> {
        let determined = self.follower.iter().enumerate().filter(|(_, dof)| **dof != REDUNDANT);
        determined.map(|(k, dof)| (k, usize::from(*dof)))
    }

    /// Becomes that of a body, without rows.
    fn start(&mut self, last: u16) {
        (self.last, self.following, self.count, self.carriers) = (last, 0, 0, (0, 0));
        (self.follower, self.place) = ([REDUNDANT; ROWS], [REDUNDANT; ROWS]);
        self.combination = identity();
    }

    /// Takes a row, as long as there is room.
    fn push(&mut self, row: usize) {
        if let Some(place) = self.rows.get_mut(usize::from(self.count)) {
            *place = row as u16;
        }
        self.count = (self.count + 1).min(ROWS as u16 + 1);
    }

    /// C times what a degree of freedom does to the rows.
    #[inline(always)]
    pub fn combined(&self, jacobian: MatRef<'_, T>, dof: usize) -> Column<T> {
        let line = jacobian.row(dof);
        let mut sum = [T::ZERO; ROWS];
        for (row, column) in self.rows.iter().zip(&self.combination).take(usize::from(self.count)) {
            let Some(entry) = line.get(usize::from(*row)) else { return sum };
            sum = core::array::from_fn(|k| entry.mul_add(column[k], sum[k]));
        }
        sum
    }

    /// Lets joints follow, from the last one on, as long as the rows determine them and nothing else hangs on them. Returns
    /// the smallest pivot, squared. O(rows³).
    fn determine(
        &mut self,
        tree: Tree<'_>,
        problem: &Problem<'_, T>,
        touched: &[u16],
        (jacobian, inverse_pivots): (MatRef<'_, T>, &[T]),
    ) -> T {
        let (end, mut smallest) = (usize::from(self.last) + 1, T::ONE);
        let mut weight = T::ZERO;
        for row in run(&self.rows, 0, usize::from(self.count).min(ROWS)) {
            let row = usize::from(*row);
            weight = weight.max(problem.delassus[(row, row)]);
        }
        for dof in (0..end).rev().take(if usize::from(self.count) > ROWS { 0 } else { usize::from(self.count) }) {
            // What follows carries nothing but what follows, so this is also the parent of the one before.
            if touched.at(dof) != 1 || tree.descendants(dof) != (dof + 1..end) {
                break;
            }
            let column = self.combined(jacobian, dof);
            let least = (least_share::<T>() * weight, inverse_pivots.at(dof));
            let Some((pivot, ratio)) = self.pivot(&column, jacobian.row(dof), least) else { break };
            smallest = smallest.min(ratio * ratio);
            self.eliminate(pivot, &column);
            self.follower.set(pivot, dof as u16);
            self.following += 1;
        }
        smallest
    }

    /// The row that says most of a joint, and how much of the joint's column it has; none if that is too little.
    #[inline(always)]
    fn pivot(&self, column: &Column<T>, line: &[T], (least, inverse_pivot): (T, T)) -> Option<(usize, T)> {
        let mut size = T::ZERO;
        for row in run(&self.rows, 0, usize::from(self.count)) {
            size = size.max(line.at(usize::from(*row)).abs());
        }
        let mut best = (0, T::ZERO);
        for (k, (x, follower)) in column.iter().zip(&self.follower).enumerate().take(usize::from(self.count)) {
            if *follower == REDUNDANT && x.abs() > best.1 {
                best = (k, x.abs());
            }
        }
        (best.1 > size * least_pivot() && size * size * inverse_pivot > least).then(|| (best.0, best.1 / size))
    }

    /// C ← the same with one in row `pivot` of the column, and zero in the others.
    #[inline(always)]
    fn eliminate(&mut self, pivot: usize, column: &Column<T>) {
        let inverse = T::ONE / column.at(pivot);
        let factors: Column<T> =
            core::array::from_fn(|k| if k == pivot { inverse - T::ONE } else { -(column[k] * inverse) });
        for own in self.combination.iter_mut().take(usize::from(self.count)) {
            let of_pivot = own.at(pivot);
            *own = core::array::from_fn(|k| factors[k].mul_add(of_pivot, own[k]));
        }
    }
}

/// Finds the joints that follow, into `out.limbs`. Rows that hold are those with a place. Returns how many follow, and the
/// smallest pivot of the eliminations, squared. O(constraints · depth).
pub(super) fn find<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) -> (usize, T) {
    gather(model, work, out);
    let (mut following, mut smallest, mut carriers) = (0, T::ONE, 0);
    let own = (work.assembly.jacobian_transposed(), &*work.dynamics.inverse_pivots);
    for limb in out.limbs.iter_mut().take(out.standing) {
        smallest = smallest.min(limb.determine(model.tree, &work.assembly.problem(), out.touched, own));
        let first = carriers;
        for run in model.tree.ancestor_runs(limb.following().start) {
            for dof in run.rev() {
                if let Some(carrier) = out.carriers.get_mut(carriers) {
                    *carrier = dof as u16;
                }
                carriers += 1;
            }
        }
        limb.carriers = (first, carriers - first);
        if limb.following == 0 || carriers > out.carriers.len() {
            (limb.following, limb.carriers, carriers) = (0, (0, 0), first);
        }
        following += usize::from(limb.following);
    }
    (following, smallest)
}

/// The bodies that stick to what stands still, with their rows, and how many of those and of other constraints hang on each
/// degree of freedom. What holds a joint of one of these limbs counts among the limb's own.
fn gather<T: Real>(model: Model<'_, T>, work: &Step<'_, T>, out: &mut Derivatives<'_, T>) {
    let mut contacts = work.collision.contacts().iter();
    let Derivatives { limbs, touched, place, linear, standing, .. } = out;
    touched.fill(0);
    *standing = 0;
    let mut touch = |dofs: Range<usize>| {
        for count in within_mut(touched, dofs) {
            *count = count.saturating_add(1);
        }
    };
    let last_of = |body| model.body(body).and_then(|body| body.v_range().last());
    let chain = |body| last_of(body).into_iter().flat_map(|last| model.tree.runs(last));
    let held = |linear: &Linear<T>, constraint: &Constraint<T>| linear.unknowns(&constraint.law) > 0;
    let constraints = work.assembly.problem().constraints;
    let mut lone = 0;
    for (constraint, linear) in constraints.iter().zip(&**linear) {
        let contact = if matches!(constraint.source, Source::Contact { .. }) { contacts.next() } else { None };
        if !held(linear, constraint) {
            continue;
        }
        match constraint.source {
            Source::Contact { .. } => {
                let Some(contact) = contact else { continue };
                let Some((body, _)) = moving_side(model, contact) else {
                    let (a, b) = contact.bodies(model);
                    chain(a).chain(chain(b)).for_each(&mut touch);
                    continue;
                };
                let last = last_of(body).unwrap_or_default() as u16;
                if standing.checked_sub(1).and_then(|k| limbs.get(k)).is_none_or(|limb| limb.last != last) {
                    chain(body).for_each(&mut touch);
                    limbs.change(*standing, |limb| limb.start(last));
                    *standing += 1;
                }
                let Some(limb) = limbs.get_mut(*standing - 1) else { return };
                for row in constraint.rows().filter(|row| place.at(*row) != REDUNDANT) {
                    limb.push(row);
                }
            }
            Source::Closure { index, .. } => {
                let Some(closure) = model.closures.get(usize::from(index)) else { continue };
                chain(closure.a.body).chain(chain(closure.b.body)).for_each(&mut touch);
            }
            Source::LowerLimit { .. } | Source::UpperLimit { .. } | Source::DryFriction { .. } => lone += 1,
        }
    }
    if lone == 0 {
        return;
    }
    for (constraint, _) in constraints.iter().zip(&**linear).filter(|(c, l)| held(l, c)) {
        if let Source::LowerLimit { dof } | Source::UpperLimit { dof } | Source::DryFriction { dof } = constraint.source
        {
            let dof = usize::from(dof);
            let carries = |limb: &&mut Limb<T>| {
                let end = model.tree.descendants(dof).end;
                (dof..end).contains(&usize::from(limb.last))
            };
            let mut own = limbs.iter_mut().take(*standing).filter(carries);
            match (own.next(), touched.at(dof)) {
                (Some(limb), 1) => limb.push(usize::from(constraint.first_row)),
                _ => touched.change(dof, |count| *count = count.saturating_add(1)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;
    use std::vec::Vec;
    use std::{format, vec};

    use nalgebra::Vector3;

    use super::*;
    use crate::derivatives::{differentiate, push_forward};
    use crate::memory::{Arena, Block};
    use crate::model::{BodySpec, GeometrySpec, JointSpec, ModelBuilder, OwnedModel, Shape};
    use crate::spatial::{Inertia, Placement};
    use crate::step::{NextState, Step, StepDims, StepInput, StepSettings, step};

    /// Of entries up to one or so, after some hundred operations.
    const TOLERANCE: f64 = 1e-11;
    const SOLE: [f64; 3] = [0.1, 0.05, 0.02];
    const LENGTH: f64 = 0.4;
    /// Joints of the tail: enough for legs of five joints to be worth it.
    const TAIL: usize = 4;

    /// A trunk on two legs with so many joints each and flat soles, under a tail.
    fn biped(joints: usize, dry_friction: f64) -> OwnedModel<f64> {
        let down = |z: f64| Placement::translation(0.0, 0.0, -z);
        let mut builder = ModelBuilder::new()
            .gravity(Vector3::new(0.0, 0.0, -9.81))
            .geometry("world", GeometrySpec::new("floor", Shape::HalfSpace).friction(1.0))
            .body(
                BodySpec::new("trunk", JointSpec::free_flyer())
                    .inertia(Inertia::solid_box(10.0, &Vector3::new(0.2, 0.3, 0.4))),
            );
        for (side, y) in [("left", 0.15), ("right", -0.15)] {
            let mut parent = String::from("trunk");
            // From the ankle up: roll, pitch; knee; pitch, roll and yaw of the hip.
            let axes = [Vector3::x(), Vector3::y(), Vector3::y(), Vector3::y(), Vector3::x(), Vector3::z()];
            for (k, axis) in axes[..joints].iter().enumerate().rev() {
                let name = format!("{side}-{k}");
                let place = match k {
                    _ if parent == "trunk" => Placement::translation(0.0, y, -0.2),
                    1 | 2 => down(LENGTH),
                    _ => down(0.01),
                };
                let mass = Inertia::solid_sphere(0.8, 0.06).moved_by(&down(0.1));
                let mut body =
                    BodySpec::new(&name, JointSpec::revolute(*axis)).parent(&parent).placement(place).inertia(mass);
                if k == 2 {
                    body = body.dry_friction(dry_friction);
                }
                if k == 0 {
                    let sole = GeometrySpec::new(&format!("{side}-sole"), Shape::Box { half_extents: SOLE.into() });
                    body = body.geometry(sole.placement(down(0.05)).friction(1.0));
                }
                builder = builder.body(body);
                parent = name;
            }
        }
        let mut parent = String::from("trunk");
        for k in 0..TAIL {
            let (name, piece) = (format!("tail-{k}"), Inertia::solid_sphere(0.5, 0.1).moved_by(&down(0.3)));
            let joint = BodySpec::new(&name, JointSpec::revolute(Vector3::y())).parent(&parent).inertia(piece);
            builder = builder.body(joint.placement(Placement::translation(-0.1, 0.0, 0.0)));
            parent = name;
        }
        builder.build().expect("a robot")
    }

    /// On its soles, with bent knees and spread legs, one foot before the other: legs of five joints would else say one thing twice.
    fn pose(joints: usize) -> Vec<f64> {
        let bends: [[f64; 2]; 2] = [[0.4, 0.4], [0.2, (2.0 * 0.4_f64.cos() - 0.2_f64.cos()).acos()]];
        let leg = (0.01 + 2.0 * LENGTH * 0.4_f64.cos() + 0.01) * 0.2_f64.cos();
        let height = 0.2 + 0.01 * (joints - 5) as f64 + leg + 0.05 + SOLE[2];
        let mut q = vec![0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0];
        for ([thigh, shank], roll) in bends.into_iter().zip([0.2, -0.2]) {
            q.extend(vec![0.0; joints - 5]);
            q.extend([roll, -thigh, thigh + shank, -shank, -roll]);
        }
        q.extend([0.1; TAIL]);
        q
    }

    /// Steps a biped and differentiates: how many joints follow, how many rows are left over, and how far columns of the
    /// Jacobian are from products, which know nothing of limbs.
    fn stand(joints: usize, dry_friction: f64) -> (usize, usize, f64) {
        let robot = biped(joints, dry_friction);
        let (model, settings) = (robot.model(), StepSettings::<f64>::default());
        let dims = StepDims::of(model, 8);
        let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
        let mut arena = Arena::new(&mut memory);
        let mut work = Step::carve(&mut arena, dims).unwrap();
        let mut out = Derivatives::carve(&mut arena, dims).unwrap();
        let (mut q, mut v, control) = (pose(joints), vec![0.0; model.nv()], vec![0.0; model.nu()]);
        let (mut next_q, mut next_v) = (q.clone(), v.clone());
        for _ in 0..3 {
            (q, v) = (next_q.clone(), next_v.clone());
            let next = NextState { q: &mut next_q, v: &mut next_v };
            step(model, &StepInput::new(&q, &v, &control), &settings, next, &mut work).unwrap();
        }
        let input = StepInput::new(&q, &v, &control);
        differentiate(model, &input, &settings, &mut work, &mut out).unwrap();
        let following = if out.limb_rows == 0 { 0 } else { out.limbs.iter().map(|limb| limb.following().len()).sum() };
        let (rank, jacobian) = (out.rank, out.all().to_nalgebra().into_owned());
        let (mut change, mut worst) = (vec![0.0; model.nv()], 0.0_f64);
        for column in 0..jacobian.ncols() {
            let mut along = vec![0.0; jacobian.ncols()];
            along[column] = 1.0;
            push_forward(model, (&input, &settings), &along, &mut change, (&mut work, &mut out)).unwrap();
            let expected = jacobian.column(column);
            worst = change.iter().zip(expected.iter()).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
        }
        (following, rank, worst / jacobian.amax())
    }

    #[test]
    fn legs_of_six_joints_follow_and_nothing_is_left_over() {
        let (following, left_over, apart) = stand(6, 0.0);
        assert_eq!((following, left_over), (12, 0));
        assert!(apart < TOLERANCE, "{apart:.1e}");
    }

    #[test]
    fn legs_of_five_joints_leave_a_row_over_each() {
        let (following, left_over, apart) = stand(5, 0.0);
        assert_eq!((following, left_over), (10, 2));
        assert!(apart < TOLERANCE, "{apart:.1e}");
    }

    #[test]
    fn a_knee_that_is_held_counts_among_the_rows_of_its_leg() {
        let (following, left_over, apart) = stand(6, 1e3);
        assert_eq!((following, left_over), (12, 2));
        assert!(apart < TOLERANCE, "{apart:.1e}");
    }
}
