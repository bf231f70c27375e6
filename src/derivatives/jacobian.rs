//! The memory and the result of a differentiation.

use super::ground_terms::Absorbed;
use super::limbs::{self, Limb};
use super::system::REDUNDANT;
use crate::contact::reduced::Linear;
use crate::input::{InputError, check_length};
use crate::linalg::tree::Link;
use crate::linalg::{MatMut, MatRef, padded};
use crate::memory::{Values, carved, clear, run_mut, split_mut};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Force, Motion};
use crate::step::{Step, StepDims, row_stride};

carved! {
    /// ∂v⁺/∂(q, v, u) and the memory to find it. Written by [`differentiate`](super::differentiate).
    pub struct Derivatives<'a, T>(d: StepDims) {
        /// nv × (2nv + nu), rows of [`stride`](Self::stride).
        pub(super) velocity: [T; d.robot.nv * d.columns()],
        /// R, in the order of the pivots, then the change of the impulses: rank × (2nv + nu).
        pub(super) rows: [T; d.problem().rows * d.columns()],
        /// E and F of the reduced system: rank × nv each. Written by [`response`](super::response).
        pub(super) left: [T; d.problem().rows * padded(d.robot.nv)],
        pub(super) right: [T; d.problem().rows * padded(d.robot.nv)],
        /// u and w of friction that grows with the load, where constraints are springs: nv × contacts each.
        pub(super) held_by: [T; d.robot.nv * padded(d.problem().rows)],
        /// Equations in the order of the pivots, and the place of each in it.
        pub(super) order: [u16; d.problem().rows],
        pub(super) place: [u16; d.problem().rows],
        /// What each equation keeps while others are eliminated.
        pub(super) pivots: [T; 2 * d.problem().rows],
        /// What each constraint is taken to do.
        pub(super) linear: [Linear<T>; d.problem().constraints],
        /// What it takes up of other wrenches.
        pub(super) absorbed: [Absorbed; d.problem().constraints],
        /// Δσ + E Δλ = 0 where a constraint gives way: E.
        pub(super) softness: [Softness<T>; d.problem().constraints],
        /// Where all constraints give way: E⁻¹.
        pub(super) springs: [Softness<T>; d.problem().constraints],
        /// 1/D of the mass matrix with springs or with joints that follow.
        pub(super) inverse_pivots: [T; d.robot.nv],
        /// nv × nv: ∂(q ⊕ Δt v⁺) of products, or the factor of the mass matrix with springs or with joints that follow.
        pub(super) integration: [T; d.robot.square()],
        /// Vectors of the products, one per degree of freedom and one per row. The Jacobian weighs the sides by the first, and
        /// keeps −Δt/D in it.
        pub(super) along: [T; d.robot.nv],
        pub(super) multiplier: [T; d.problem().rows],
        /// ∂ℓ/∂ half-solved columns, kept for the parameters; before that, weights of the right side.
        pub(super) half_along: [T; d.robot.nv],
        /// Of one parameter: ∂(M a + b − τ), ∂λ with the others held, R; and memory to find them.
        pub(super) term_force: [T; d.robot.nv],
        pub(super) term_impulse: [T; d.problem().rows],
        pub(super) term_rows: [T; d.problem().rows],
        pub(super) term_scratch: [T; d.robot.nv],
        /// Of each body after the step.
        pub(super) velocity_after: [Motion<T>; d.robot.with_world()],
        /// The axes of one chain and their drifts after the step, four degrees of freedom at a time. Written by
        /// [`chain_rows`](super::chain_rows).
        pub(super) axes: [T; 12 * padded(d.robot.nv)],
        /// V_λ × S of each axis after the step.
        pub(super) drift_after: [Motion<T>; d.robot.nv],
        /// The degrees of freedom that move the two sides of a constraint against each other.
        pub(super) entries: [Entry<T>; d.robot.nv],
        /// Bodies that stick to what stands still, and the joints that follow from that. Written by [`limbs`](super::limbs).
        pub(super) limbs: [Limb<T>; d.contacts],
        /// How many constraints hang on each degree of freedom; then whether it carries joints that follow.
        pub(super) touched: [u16; d.robot.nv],
        /// The tree with joints that follow as leaves.
        pub(super) links: [Link; d.robot.nv],
        /// The row of a joint that follows, among those of limbs, or [`REDUNDANT`].
        pub(super) follows: [u16; d.robot.nv],
        /// What carries the joints that follow, limb by limb, and a column of H / Δt for each.
        pub(super) carriers: [u16; 2 * d.robot.nv],
        pub(super) lags: [limbs::Column<T>; 2 * d.robot.nv],
        /// Whether the change of the impulses is asked for as well.
        pub(crate) impulses_wanted: (bool),
        pub(super) unknowns: (usize),
        /// Pivots of the reduced system.
        pub(super) rank: (usize),
        /// How many limbs there are, and the rows of those with joints that follow: they come after the others in R.
        pub(super) standing: (usize),
        pub(super) limb_rows: (usize),
        /// One past the last degree of freedom that rows hang on that are left over where limbs stand.
        pub(super) reach: (usize),
        pub(super) symmetric: (bool),
        /// Whether the constraints alone determine v⁺: Z is zero then.
        pub(super) held: (bool),
        /// Whether constraints are springs in the mass matrix.
        pub(super) yields: (bool),
        /// Whether a constraint bounces: R then has columns of v.
        pub(super) bounces: (bool),
        columns: (usize),
        controls: (usize),
    }
}

/// Which columns of Z and R are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Those that a Jacobian needs; in R those of v only where a constraint bounces.
    State,
    /// All, so that products can be taken with them.
    All,
}

/// E of a constraint, 3 × 3 at most.
pub(super) type Softness<T> = [[T; 3]; 3];

/// A degree of freedom that moves one side of a constraint and not the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<T> {
    pub dof: usize,
    /// One past the last degree of freedom of its joint.
    pub joint_end: usize,
    /// +1 on the second side, −1 on the first.
    pub sign: T,
    /// Change of the constraint's wrench with its frame.
    pub turned: Force<T>,
    /// Change of the wrench if it moved with this joint.
    pub carried: Force<T>,
}

impl<T: Real> Default for Entry<T> {
    fn default() -> Self {
        Self { dof: 0, joint_end: 0, sign: T::ZERO, turned: Force::ZERO, carried: Force::ZERO }
    }
}

impl<T: Real> Derivatives<'_, T> {
    /// ∂v⁺/∂q, nv × nv, by tangent vectors.
    pub fn by_configuration(&self) -> MatRef<'_, T> {
        self.all().columns(0, self.nv())
    }

    /// ∂v⁺/∂v, nv × nv.
    pub fn by_velocity(&self) -> MatRef<'_, T> {
        self.all().columns(self.nv(), self.nv())
    }

    /// ∂v⁺/∂u, nv × nu.
    pub fn by_control(&self) -> MatRef<'_, T> {
        self.all().columns(2 * self.nv(), self.controls)
    }

    /// ∂v⁺/∂(q, v, u), nv × (2nv + nu).
    pub fn all(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.velocity, self.nv(), self.columns, self.stride())
    }

    /// Columns of (q, v, u).
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Numbers from one row to the next.
    pub(super) fn stride(&self) -> usize {
        row_stride(self.columns).max(1)
    }

    pub(super) fn nv(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn check(&self, model: Model<'_, T>, work: &Step<'_, T>) -> Result<(), InputError> {
        check_length("derivatives' degrees of freedom", model.nv(), self.entries.len())?;
        let columns = row_stride(2 * model.nv() + model.nu());
        check_length("derivatives' columns", model.nv() * columns, self.velocity.len())?;
        check_length("derivatives' rows", work.impulses.len() * columns, self.rows.len())
    }

    /// Takes the columns of a model.
    pub(super) fn fit(&mut self, model: Model<'_, T>) {
        self.controls = model.nu();
        self.columns = 2 * model.nv() + model.nu();
    }

    /// Clears what is summed into.
    pub(super) fn start(&mut self, model: Model<'_, T>, work: &Step<'_, T>, part: Part) {
        self.bounces = work.assembly.offset_slopes()[1].iter().any(|slope| *slope != T::ZERO);
        let stride = self.stride();
        let written = match part {
            // There J stands in the columns of v already.
            _ if self.yields || self.limb_rows > 0 => model.nv(),
            Part::State if self.held && self.bounces => padded(2 * model.nv()),
            Part::State if self.held => padded(model.nv()),
            _ => stride,
        };
        for row in self.rows.chunks_exact_mut(stride).take(self.rank) {
            clear(run_mut(row, 0, written));
        }
        if self.limb_rows > 0 {
            let (rows, limb_rows) = split_mut(self.rows, self.rank * stride);
            for row in rows.chunks_exact_mut(stride) {
                clear(run_mut(row, 2 * model.nv(), stride - 2 * model.nv()));
            }
            clear(run_mut(limb_rows, 0, self.limb_rows * stride));
        }
        // The derivatives of the dynamics clear the columns of q and v.
        let first = if self.held { 0 } else { 2 * model.nv() };
        for row in self.velocity.chunks_exact_mut(stride) {
            clear(run_mut(row, first, stride - first));
        }
    }

    /// Where the row of R of equation `k` of a constraint starts, unless it repeats others.
    #[inline(always)]
    pub(super) fn row_start(&self, linear: &Linear<T>, k: usize) -> Option<usize> {
        let place = self.place.at(usize::from(linear.first) + k);
        (place != REDUNDANT).then(|| usize::from(place) * self.stride())
    }

    /// The row of R of equation `k` of a constraint, unless it repeats others.
    #[inline(always)]
    pub(super) fn row_of(&mut self, linear: &Linear<T>, k: usize) -> Option<&mut [T]> {
        row_of(self.rows, self.place, row_stride(self.columns), linear, k)
    }

    /// The result, while it is being made.
    pub(super) fn matrix(&mut self) -> MatMut<'_, T> {
        let (nv, columns, stride) = (self.nv(), self.columns, self.stride());
        MatMut::with_stride(self.velocity, nv, columns, stride)
    }

    /// Adds dv to what else changes v⁺.
    pub(super) fn add_velocity(&mut self) {
        let (nv, stride) = (self.nv(), self.stride());
        for (dof, row) in self.velocity.chunks_exact_mut(stride).enumerate() {
            if let Some(x) = row.get_mut(nv + dof) {
                *x += T::ONE;
            }
        }
    }

    /// The numbers that [`matrix`](Self::matrix) has, and R.
    pub(super) fn terms(&self) -> [MatRef<'_, T>; 2] {
        let (nv, columns, stride) = (self.nv(), self.columns, self.stride());
        [
            MatRef::with_stride(self.velocity, nv, columns, stride),
            MatRef::with_stride(self.rows, self.rank, columns, stride),
        ]
    }

    /// E and F.
    pub(super) fn sides(&self) -> [MatRef<'_, T>; 2] {
        [&*self.left, &*self.right].map(|side| MatRef::with_stride(side, self.rank, self.nv(), padded(self.nv())))
    }
}

/// The row of R of equation `k` of a constraint, unless it repeats others.
#[inline(always)]
pub(super) fn row_of<'r, T>(
    rows: &'r mut [T],
    place: &[u16],
    stride: usize,
    linear: &Linear<T>,
    k: usize,
) -> Option<&'r mut [T]> {
    let place = place.at(usize::from(linear.first) + k);
    if place == REDUNDANT { None } else { rows.get_mut(usize::from(place) * stride..)?.get_mut(..stride) }
}
