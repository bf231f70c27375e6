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

/// Joints of a limb that follow, at most.
pub(super) const FOLLOWING: usize = 6;

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
    /// Where the combined rows go that determine no joint; [`REDUNDANT`] if they repeat others.
    pub place: [u16; ROWS],
    /// C by columns. The first rows of C J determine the joints that follow, in their order: each has one at its own and zero
    /// at the others.
    pub combination: [Column<T>; ROWS],
    /// The row that each combined one is made of.
    pub origin: [u16; ROWS],
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
            place: [REDUNDANT; ROWS],
            combination: identity(),
            origin: [0; ROWS],
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

    /// Becomes that of a body, without rows.
    fn start(&mut self, last: u16) {
        (self.last, self.following, self.count, self.carriers) = (last, 0, 0, (0, 0));
        (self.place, self.combination) = ([REDUNDANT; ROWS], identity());
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
        let (end, mut smallest, mut determined) = (usize::from(self.last) + 1, T::ONE, [REDUNDANT; ROWS]);
        let mut weight = T::ZERO;
        for row in run(&self.rows, 0, usize::from(self.count).min(ROWS)) {
            let row = usize::from(*row);
            weight = weight.max(problem.delassus[(row, row)]);
        }
        let most = if usize::from(self.count) > ROWS { 0 } else { usize::from(self.count).min(FOLLOWING) };
        for dof in (0..end).rev().take(most) {
            // What follows carries nothing but what follows, so this is also the parent of the one before.
            if touched.at(dof) != 1 || tree.descendants(dof) != (dof + 1..end) {
                break;
            }
            let column = self.combined(jacobian, dof);
            let least = (least_share::<T>() * weight, inverse_pivots.at(dof));
            let Some((pivot, ratio)) = self.pivot(&column, &determined, jacobian.row(dof), least) else {
                break;
            };
            smallest = smallest.min(ratio * ratio);
            self.eliminate(pivot, &column);
            determined.set(pivot, dof as u16);
            self.following += 1;
        }
        self.arrange(&determined);
        smallest
    }

    /// Puts the combined rows in the order of the degrees of freedom that they determine, and those that determine none after
    /// them.
    #[inline(always)]
    fn arrange(&mut self, determined: &[u16; ROWS]) {
        let (first, mut next) = (self.following().start, usize::from(self.following));
        let mut order = [0; ROWS];
        for (row, dof) in determined.iter().enumerate() {
            let mut place = usize::from(*dof).wrapping_sub(first);
            if *dof == REDUNDANT {
                (place, next) = (next, next + 1);
            }
            order.set(place, row);
            self.origin.set(place, self.rows.at(row));
        }
        for column in self.combination.iter_mut().take(usize::from(self.count)) {
            let before = *column;
            for (number, row) in column.iter_mut().zip(order) {
                *number = before.at(row);
            }
        }
    }

    /// The row that says most of a joint, and how much of the joint's column it has; none if that is too little.
    #[inline(always)]
    fn pivot(
        &self,
        column: &Column<T>,
        determined: &[u16; ROWS],
        line: &[T],
        (least, inverse_pivot): (T, T),
    ) -> Option<(usize, T)> {
        let mut size = T::ZERO;
        for row in run(&self.rows, 0, usize::from(self.count)) {
            size = size.max(line.at(usize::from(*row)).abs());
        }
        let mut best = (0, T::ZERO);
        for (k, (x, dof)) in column.iter().zip(determined).enumerate().take(usize::from(self.count)) {
            if *dof == REDUNDANT && x.abs() > best.1 {
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
mod tests;
