//! The problem of a state: which constraints act, G by half-solves along the tree, and g.

use super::rows::{Columns, closure_gap};
use super::{Constraint, Law, Problem, ProblemDims, Source, delassus};
use crate::collision::Contact;
use crate::dynamics::Dynamics;
use crate::linalg::{MatMut, MatRef, padded, partial_dot, tree};
use crate::memory::{Values, carved, copy, run, run_mut, split};
use crate::model::{Body, Joint, Model};
use crate::scalar::Real;

/// How constraints are held where they are, and what bounces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stabilization<T> {
    /// Share of a penetration, or of a loop's gap, that one step takes back: 1 − K_p of Simple 2025, Eq. 41.
    pub recovery: T,
    /// Gaps and penetrations within this are at rest and are left alone, m or rad.
    ///
    /// Without it the last nanometres of many touching points contradict each other, and friction fights itself to move
    /// them: a solution, but one that nobody wants to differentiate.
    pub rest_band: T,
    /// The speed of that at most, m/s or rad/s.
    pub max_recovery_speed: T,
    /// Impacts slower than this do not bounce, m/s.
    pub bounce_threshold_m_s: T,
    /// A joint is watched when it may come this close to its limit within the step, m or rad.
    pub limit_margin: T,
    /// Displacement of a contact or a limit per force, m/N; zero is rigid.
    pub compliance_m_n: T,
}

impl<T: Real> Default for Stabilization<T> {
    fn default() -> Self {
        Self {
            recovery: T::from_f64(0.2),
            rest_band: T::from_f64(1e-5),
            max_recovery_speed: T::ONE,
            bounce_threshold_m_s: T::from_f64(0.01),
            limit_margin: T::from_f64(0.02),
            compliance_m_n: T::ZERO,
        }
    }
}

/// What the memory of the assembly is sized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblyDims {
    /// Degrees of freedom.
    pub nv: usize,
    /// Constraints and rows.
    pub problem: ProblemDims,
}

impl AssemblyDims {
    const fn columns(self) -> usize {
        self.nv * padded(self.problem.rows)
    }
}

carved! {
    /// The problem and what it was made from. Written by [`assemble`].
    pub struct Assembly<'a, T>(d: AssemblyDims) {
        constraints: [Constraint<T>; d.problem.constraints],
        /// Jᵀ, nv × rows.
        jacobian: [T; d.columns()],
        /// D^(−½) L^(−ᵀ) Jᵀ, nv × rows: G is its Gram matrix.
        half_solved: [T; d.columns()],
        /// G, rows × rows.
        delassus: [T; d.problem.square()],
        /// g.
        free_velocity: [T; d.problem.rows],
        /// J v: velocities before the step.
        velocity_before: [T; d.problem.rows],
        /// What stabilization and restitution add to J v_f.
        offset: [T; d.problem.rows],
        /// ∂offset/∂gap, where the gap is that of a limit, of a contact's normal or of a closure.
        offset_by_gap: [T; d.problem.rows],
        /// ∂offset/∂(J v): the restitution of a bounce.
        offset_by_velocity: [T; d.problem.rows],
        /// √(1/D).
        root_pivots: [T; d.nv],
        /// Constraints in use.
        count: (usize),
        /// Rows in use.
        rows: (usize),
        /// The constraint of the first contact.
        first_contact: (usize),
        /// Constraints that did not fit.
        dropped: (usize),
        /// Of the nearest gap to the edge of the rest band.
        gap_margin: (T),
    }
}

/// The state that the problem is about.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'s, T> {
    /// Configuration.
    pub q: &'s [T],
    /// Velocity before the step.
    pub v: &'s [T],
    /// Velocity after the step if nothing held.
    pub free: &'s [T],
    /// Contacts to take in.
    pub contacts: &'s [Contact<T>],
    /// Time step.
    pub dt_s: T,
}

/// Writes the problem of a situation; the mass matrix must be factored in `dynamics`. O(nv · depth · rows + nv · rows²).
pub fn assemble<T: Real>(
    model: Model<'_, T>,
    situation: &Situation<'_, T>,
    settings: &Stabilization<T>,
    dynamics: &Dynamics<'_, T>,
    out: &mut Assembly<'_, T>,
) {
    (out.count, out.rows, out.dropped) = (0, 0, 0);
    out.gap_margin = T::from_f64(f64::INFINITY);
    for (root, inverse) in out.root_pivots.iter_mut().zip(&*dynamics.inverse_pivots) {
        *root = inverse.sqrt();
    }
    out.collect(model, situation, settings);
    if out.is_empty() {
        return;
    }
    out.write_jacobian(model, situation.contacts, dynamics);
    out.write_velocities(model, situation, settings, dynamics);
    out.write_delassus(model, situation.contacts, dynamics);
    out.add_compliance(situation, settings);
}

impl<T: Real> Assembly<'_, T> {
    /// The problem.
    pub fn problem(&self) -> Problem<'_, T> {
        Problem {
            constraints: run(self.constraints, 0, self.count),
            delassus: MatRef::with_stride(self.delassus, self.rows, self.rows, padded(self.rows)),
            free_velocity: run(self.free_velocity, 0, self.rows),
        }
    }

    /// Jᵀ, nv × rows.
    pub fn jacobian_transposed(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.jacobian, self.root_pivots.len(), self.rows, padded(self.rows))
    }

    /// D^(−½) L^(−ᵀ) Jᵀ, nv × rows.
    pub(crate) fn half_solved(&self) -> MatRef<'_, T> {
        MatRef::with_stride(self.half_solved, self.root_pivots.len(), self.rows, padded(self.rows))
    }

    /// √(1/D) of the factored mass matrix.
    pub(crate) fn root_pivots(&self) -> &[T] {
        self.root_pivots
    }

    /// ∂offset/∂gap and ∂offset/∂(J v) of each row.
    pub(crate) fn offset_slopes(&self) -> [&[T]; 2] {
        [run(self.offset_by_gap, 0, self.rows), run(self.offset_by_velocity, 0, self.rows)]
    }

    /// Rows in use.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Constraints in use.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing holds.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Constraints that did not fit in the memory and were left out; contacts, which come last, go first.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Distance of the nearest gap to a kink of what stabilization does with it, m or rad.
    pub(crate) fn gap_margin(&self) -> T {
        self.gap_margin
    }

    /// The constraint of the first contact; contacts stand in the order in which they were given.
    pub fn first_contact(&self) -> usize {
        self.first_contact
    }

    /// M⁻¹ Jᵀ λ. O(nv · rows).
    pub(crate) fn velocity_change(
        &self,
        model: Model<'_, T>,
        dynamics: &Dynamics<'_, T>,
        impulses: &[T],
        change: &mut [T],
    ) {
        let half = self.half_solved();
        multiply_rows(half, impulses, change);
        for (change, root) in change.iter_mut().zip(&*self.root_pivots) {
            *change *= *root;
        }
        tree::half_solve_vector(model.tree, dynamics.factor_view(model.dims()), change);
    }

    /// Finds what acts, in the order of [`Source`].
    fn collect(&mut self, model: Model<'_, T>, situation: &Situation<'_, T>, settings: &Stabilization<T>) {
        for (index, closure) in model.closures.iter().enumerate() {
            for row in 0..closure.kind.rows() {
                self.push(Law::Bilateral, Source::Closure { index: index as u16, row: row as u16 });
            }
        }
        let near = |body: &Body<T>, upper: bool| {
            let (dof, gap, rate) = limit_gap(model, body, situation, upper)?;
            let reach = settings.limit_margin + situation.dt_s * (-rate - rate).max(T::ZERO);
            (gap < reach).then_some(dof as u16)
        };
        // Mostly none is near, and one look at all joints tells.
        if model.bodies.iter().any(|body| near(body, false).or(near(body, true)).is_some()) {
            for dof in model.bodies.iter().filter_map(|body| near(body, false)) {
                self.push(Law::Unilateral, Source::LowerLimit { dof });
            }
            for dof in model.bodies.iter().filter_map(|body| near(body, true)) {
                self.push(Law::Unilateral, Source::UpperLimit { dof });
            }
        }
        for (dof, parameters) in model.dofs.iter().enumerate() {
            if parameters.dry_friction > T::ZERO {
                let bound = parameters.dry_friction * situation.dt_s;
                self.push(Law::DryFriction { bound }, Source::DryFriction { dof: dof as u16 });
            }
        }
        self.first_contact = self.count;
        for contact in situation.contacts {
            let (pair, feature) = contact.key();
            let friction = contact.material(model).friction;
            self.push(Law::Contact { friction }, Source::Contact { pair, feature });
        }
    }

    fn push(&mut self, law: Law<T>, source: Source) {
        let rows = law.rows();
        if let Some(place) = self.constraints.get_mut(self.count).filter(|_| self.rows + rows <= self.offset.len()) {
            *place = Constraint { law, first_row: self.rows as u16, source };
            self.count += 1;
            self.rows += rows;
        } else {
            self.dropped += 1;
        }
    }

    fn write_jacobian(&mut self, model: Model<'_, T>, contacts: &[Contact<T>], dynamics: &Dynamics<'_, T>) {
        let stride = padded(self.rows);
        run_mut(self.jacobian, 0, model.nv() * stride).fill(T::ZERO);
        let kinematics = &dynamics.kinematics;
        for constraint in run(self.constraints, 0, self.count) {
            let first = usize::from(constraint.first_row);
            let mut columns = Columns { jacobian: self.jacobian, stride, first };
            match constraint.source {
                Source::LowerLimit { dof } | Source::DryFriction { dof } => columns.write_unit(dof, T::ONE),
                Source::UpperLimit { dof } => columns.write_unit(dof, -T::ONE),
                // Contacts come last, and all at once.
                Source::Contact { .. } => {
                    let mut taken = contacts.get(..self.count - self.first_contact).unwrap_or(contacts);
                    while let Some(first) = taken.first() {
                        let bodies = first.bodies(model);
                        let count = taken.iter().take_while(|contact| contact.bodies(model) == bodies).count();
                        let (same, rest) = split(taken, count);
                        columns.write_contacts(model, kinematics, same);
                        taken = rest;
                    }
                    break;
                }
                Source::Closure { index, row: 0 } => {
                    let Some(closure) = model.closures.get(usize::from(index)) else { continue };
                    columns.write_closure(model, kinematics, closure);
                }
                Source::Closure { .. } => {}
            }
        }
    }

    /// g = J v_f + offset.
    fn write_velocities(
        &mut self,
        model: Model<'_, T>,
        situation: &Situation<'_, T>,
        settings: &Stabilization<T>,
        dynamics: &Dynamics<'_, T>,
    ) {
        let (rows, stride) = (self.rows, padded(self.rows));
        let jacobian = run(self.jacobian, 0, model.nv() * stride);
        let (free, before) = (run_mut(self.free_velocity, 0, rows), run_mut(self.velocity_before, 0, rows));
        multiply(jacobian, stride, [situation.free, situation.v], [free, before]);
        let mut contacts = situation.contacts.iter();
        for offsets in [&mut *self.offset, &mut *self.offset_by_gap, &mut *self.offset_by_velocity] {
            run_mut(offsets, 0, rows).fill(T::ZERO);
        }
        for constraint in run(self.constraints, 0, self.count) {
            let row = usize::from(constraint.first_row);
            match constraint.source {
                Source::LowerLimit { dof } | Source::UpperLimit { dof } => {
                    let upper = matches!(constraint.source, Source::UpperLimit { .. });
                    let body = model.bodies.iter().find(|body| body.first_v == dof);
                    let gap = body.and_then(|body| limit_gap(model, body, situation, upper)).map(|(_, gap, _)| gap);
                    let gap = gap.unwrap_or(T::ZERO);
                    let [offset, slope] = gap_velocity(gap, situation.dt_s, settings);
                    self.offset.set(row, offset);
                    self.offset_by_gap.set(row, slope);
                    self.gap_margin = self.gap_margin.min(kink_distance(gap, settings));
                }
                Source::Contact { .. } => {
                    let Some(contact) = contacts.next() else { continue };
                    let restitution = contact.material(model).restitution;
                    let normal = row + 2;
                    self.gap_margin = self.gap_margin.min(kink_distance(contact.at.distance, settings));
                    let [gap, slope] = gap_velocity(contact.at.distance, situation.dt_s, settings);
                    let (before, free) = (self.velocity_before.at(normal), self.free_velocity.at(normal));
                    let meets = contact.at.distance + situation.dt_s * free < T::ZERO;
                    let bounces = restitution > T::ZERO && before < -settings.bounce_threshold_m_s && meets;
                    if bounces && restitution * before < gap {
                        self.offset.set(normal, restitution * before);
                        self.offset_by_velocity.set(normal, restitution);
                    } else {
                        self.offset.set(normal, gap);
                        self.offset_by_gap.set(normal, slope);
                    }
                }
                Source::Closure { index, row: 0 } => {
                    let Some(closure) = model.closures.get(usize::from(index)) else { continue };
                    let gaps = closure_gap(&dynamics.kinematics, closure);
                    let most = settings.max_recovery_speed;
                    let slope = settings.recovery / situation.dt_s;
                    for (k, gap) in gaps.into_iter().enumerate().take(closure.kind.rows()) {
                        self.offset.set(row + k, (slope * gap).max(-most).min(most));
                        self.offset_by_gap.set(row + k, if (slope * gap).abs() < most { slope } else { T::ZERO });
                    }
                }
                Source::DryFriction { .. } | Source::Closure { .. } => {}
            }
        }
        for (g, offset) in self.free_velocity.iter_mut().zip(&*self.offset).take(rows) {
            *g += *offset;
        }
    }

    /// G = Wᵀ W, W = D^(−½) L^(−ᵀ) Jᵀ.
    fn write_delassus(&mut self, model: Model<'_, T>, contacts: &[Contact<T>], dynamics: &Dynamics<'_, T>) {
        let (nv, rows, stride) = (model.nv(), self.rows, padded(self.rows));
        let half = run_mut(self.half_solved, 0, nv * stride);
        copy(half, run(self.jacobian, 0, nv * stride));
        let half = MatMut::with_stride(half, nv, rows, stride);
        let delassus = MatMut::with_stride(run_mut(self.delassus, 0, rows * stride), rows, rows, stride);
        let factor = (dynamics.factor_view(model.dims()), &*self.root_pivots);
        delassus::write(model, (run(self.constraints, 0, self.count), contacts), factor, half, delassus);
    }

    /// A spring of compliance c gives σ = … + (c / Δt²) λ.
    fn add_compliance(&mut self, situation: &Situation<'_, T>, settings: &Stabilization<T>) {
        let compliance = settings.compliance_m_n / (situation.dt_s * situation.dt_s);
        if compliance <= T::ZERO {
            return;
        }
        let stride = padded(self.rows);
        for constraint in run(self.constraints, 0, self.count) {
            if matches!(constraint.law, Law::Contact { .. } | Law::Unilateral) {
                for row in constraint.rows() {
                    self.delassus.change(row * stride + row, |x| *x += compliance);
                }
            }
        }
    }
}

/// out = A x, four rows at a time: they share the numbers of x. Each is summed in the order of [`partial_dot`].
fn multiply_rows<T: Real>(a: MatRef<'_, T>, x: &[T], out: &mut [T]) {
    let (fours, rest) = out.as_chunks_mut::<4>();
    let done = 4 * fours.len();
    for (k, out) in fours.iter_mut().enumerate() {
        let rows = [0, 1, 2, 3].map(|i| a.row(4 * k + i).as_chunks::<4>());
        let [(p, _), (q, _), (r, _), (s, _)] = rows;
        let (x_fours, x_rest) = x.as_chunks::<4>();
        let mut sums = [[T::ZERO; 4]; 4];
        for ((((x, p), q), r), s) in x_fours.iter().zip(p).zip(q).zip(r).zip(s) {
            for (sum, row) in sums.iter_mut().zip([p, q, r, s]) {
                *sum = [0, 1, 2, 3].map(|k| row[k].mul_add(x[k], sum[k]));
            }
        }
        for ((out, sum), (_, row)) in out.iter_mut().zip(sums).zip(rows) {
            let sum = (sum[0] + sum[2]) + (sum[1] + sum[3]);
            *out = row.iter().zip(x_rest).fold(sum, |sum, (a, x)| a.mul_add(*x, sum));
        }
    }
    for (i, out) in rest.iter_mut().enumerate() {
        *out = partial_dot(a.row(done + i), x);
    }
}

/// Degree of freedom, distance to a limit and its rate, for a joint that has one.
#[inline(always)]
fn limit_gap<T: Real>(
    model: Model<'_, T>,
    body: &Body<T>,
    situation: &Situation<'_, T>,
    upper: bool,
) -> Option<(usize, T, T)> {
    if !matches!(body.joint, Joint::Revolute { .. } | Joint::Prismatic { .. }) {
        return None;
    }
    let (q, dof) = (usize::from(body.first_q), usize::from(body.first_v));
    let (range, position, rate) = (model.position_limits.get(q)?, *situation.q.get(q)?, *situation.v.get(dof)?);
    let (gap, rate) = if upper { (range.upper - position, -rate) } else { (position - range.lower, rate) };
    gap.is_finite().then_some((dof, gap, rate))
}

/// Penetrations up to this many rest bands are taken back in one step.
const WHOLE_BANDS: f64 = 4.0;

/// What a gap φ adds to the velocity that must not be negative, and its derivative: φ/Δt, or a share of it to leave a
/// penetration; nothing within the rest band.
///
/// A penetration of a few bands is taken back whole, so that what comes to rest does so in the middle of the band.
#[inline(always)]
fn gap_velocity<T: Real>(gap: T, dt_s: T, settings: &Stabilization<T>) -> [T; 2] {
    let (band, depth) = (settings.rest_band, -gap);
    if gap.abs() <= band {
        return [T::ZERO; 2];
    }
    let whole = T::from_f64(WHOLE_BANDS) * band;
    let (share, slope) = if gap > T::ZERO || depth <= whole {
        (gap, T::ONE)
    } else if settings.recovery * depth > whole {
        (settings.recovery * gap, settings.recovery)
    } else {
        (-whole, T::ZERO)
    };
    let slowest = -settings.max_recovery_speed;
    if share / dt_s < slowest { [slowest, T::ZERO] } else { [share / dt_s, slope / dt_s] }
}

/// How far a gap is from where [`gap_velocity`] has a kink or a jump.
#[inline(always)]
fn kink_distance<T: Real>(gap: T, settings: &Stabilization<T>) -> T {
    let edge = (gap.abs() - settings.rest_band).abs();
    if gap < T::ZERO {
        let whole = T::from_f64(WHOLE_BANDS) * settings.rest_band;
        edge.min((gap + whole).abs()).min((gap + whole / settings.recovery).abs())
    } else {
        edge
    }
}

/// out = J v for two velocities at once, with Jᵀ row by row; some rows of J stay in registers. O(nv · rows).
#[allow(clippy::int_plus_one)] // The last of the widths is one.
fn multiply<T: Real>(jacobian_transposed: &[T], stride: usize, v: [&[T]; 2], out: [&mut [T]; 2]) {
    let [a, b] = v;
    let [out_a, out_b] = out;
    let velocities = || a.iter().copied().zip(b.iter().copied());
    let mut first = 0;
    macro_rules! chunks {
        ($($width:expr),*) => {$(
            while first + $width <= out_a.len() {
                let mut sums = [[T::ZERO; $width]; 2];
                let mut rest = jacobian_transposed.get(first..).unwrap_or(&[]);
                for (a, b) in velocities() {
                    let Some(row) = rest.first_chunk::<{ $width }>() else { break };
                    rest = rest.get(stride..).unwrap_or(&[]);
                    for k in 0..$width {
                        sums[0][k] = row[k].mul_add(a, sums[0][k]);
                        sums[1][k] = row[k].mul_add(b, sums[1][k]);
                    }
                }
                for (out, sums) in [&mut *out_a, &mut *out_b].into_iter().zip(sums) {
                    if let Some(out) = out.get_mut(first..).and_then(|out| out.first_chunk_mut()) {
                        *out = sums;
                    }
                }
                first += $width;
            }
        )*};
    }
    chunks!(12, 4, 1);
}
