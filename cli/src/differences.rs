//! Exact derivatives of a step beside finite differences of the whole step, collision included.
//!
//! Each column is a central difference of fourth order. When it does not agree with itself, shorter steps are tried and
//! the one that agrees best counts. Where the function has a kink or a jump, no step does: it shows itself by modes that
//! change within the stencil, by slopes to the two sides that stay apart as the step shrinks, or by slopes that agree
//! for no step at all. None of them looks at the derivative under test.

use anyhow::Result;
use saltus::contact::{Mode, Newton, Source};
use saltus::derivatives::{Derivatives, Quality, differentiate};
use saltus::linalg::{MatMut, MatRef};
use saltus::memory::Arena;
use saltus::model::configuration::{self, Argument};
use saltus::model::{BodyId, Model};
use saltus::step::{NextState, Step, StepDims, StepError, StepInput, StepSettings, advance_jacobian, step};

/// Largest difference over the largest entry of a block, up to which two derivatives agree.
pub const TOLERANCE: f64 = 1e-6;
/// Entries below these are not worth their own relative error, and below the noise of a difference: by q and v,
/// which are of the size of 1/Δt and one, and by controls.
const STATE_FLOOR: f64 = 0.1;
const FLOOR: f64 = 1e-3;
/// Difference between slopes over h and over 2h, over the largest entry of a block, from which on they cannot be held to
/// the tolerance: the slope that is extrapolated from the two is rounded by more than they differ.
const MOST_DOUBT: f64 = 0.5 * TOLERANCE;
/// First step of a difference along q and v.
const STEP: f64 = 1e-5;
/// First step along a control, over that along a velocity: a control of 1/Δt changes a velocity by about one.
const CONTROL_STEP_DT: f64 = 0.1;
/// Share of the distance to the edge of the rest band that a step along q takes, and the shortest such step.
const GAP_SHARE: f64 = 0.2;
const SHORTEST_STEP: f64 = 1e-8;
/// Shorter steps are tried in this ratio, this many times.
const SHRINK: f64 = 0.125;
const LEVELS: usize = 4;
/// Slopes over h and over 2h that differ by less are of a smooth function; so are slopes to the two sides.
const SMOOTH: f64 = 1e-6;
const SMOOTH_SIDES: f64 = 1e-3;
/// Slopes to the two sides that differ by more than this, and by more than half of that for a step eight times as long,
/// are those of a kink: of a smooth function the difference shrinks with the step.
const KINK: f64 = 1e-5;
const KINK_SHRINK: f64 = 0.5;
/// Slopes over h and over 2h that differ by more than this for every step are those of no smooth function.
const ROUGH: f64 = 1e-5;
/// Sweeps from which the solver starts to look for another solution, and velocities that are the same.
const OTHER_SWEEPS: [u16; 3] = [0, 10, 100];
const SAME: f64 = 1e-8;
/// Residual above which the solver has found no solution.
const UNSOLVED: f64 = 1e-9;
/// Residual of the contact solver: the noise that differences see.
const SOLVER_TOLERANCE: f64 = 1e-14;

/// What is differentiated by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Of q⁺ instead of v⁺.
    pub of_configuration: bool,
    /// By q, v or u.
    pub by: Input,
}

/// What a column varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The configuration, along tangent vectors in the body frame.
    Configuration,
    /// The velocity.
    Velocity,
    /// The controls.
    Control,
}

impl Block {
    /// All of them.
    pub const ALL: [Self; 6] = {
        const fn block(of_configuration: bool, by: Input) -> Block {
            Block { of_configuration, by }
        }
        [
            block(false, Input::Configuration),
            block(false, Input::Velocity),
            block(false, Input::Control),
            block(true, Input::Configuration),
            block(true, Input::Velocity),
            block(true, Input::Control),
        ]
    };

    /// As in `dv_dq`: the next velocity by the configuration.
    pub fn name(self) -> &'static str {
        match (self.of_configuration, self.by) {
            (false, Input::Configuration) => "dv_dq",
            (false, Input::Velocity) => "dv_dv",
            (false, Input::Control) => "dv_du",
            (true, Input::Configuration) => "dq_dq",
            (true, Input::Velocity) => "dq_dv",
            (true, Input::Control) => "dq_du",
        }
    }
}

/// Which modes occur in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// A contact sticks.
    pub stick: bool,
    /// A contact slides.
    pub slide: bool,
    /// A contact within the margin breaks.
    pub breaks: bool,
    /// A joint is held by its limit.
    pub limit: bool,
    /// A joint is held, or held back, by dry friction.
    pub friction: bool,
    /// A loop is closed.
    pub closure: bool,
}

impl Modes {
    /// Name and presence of each; `free` when nothing holds at all.
    pub fn named(&self) -> [(&'static str, bool); 7] {
        let held = self.stick || self.slide || self.limit || self.friction || self.closure;
        [
            ("stick", self.stick),
            ("slide", self.slide),
            ("break", self.breaks),
            ("limit", self.limit),
            ("friction", self.friction),
            ("loop", self.closure),
            ("free", !held),
        ]
    }

    fn of(held: &[(Source, Mode)], work: &Step<'_, f64>) -> Self {
        let mut modes = Self { breaks: false, ..Self::default() };
        for (source, mode) in held {
            match source {
                Source::Contact { .. } if *mode == Mode::Stick => modes.stick = true,
                Source::Contact { .. } => modes.slide = true,
                Source::LowerLimit { .. } | Source::UpperLimit { .. } => modes.limit = true,
                Source::DryFriction { .. } => modes.friction = true,
                Source::Closure { .. } => modes.closure = true,
            }
        }
        let mut contacts = work.constraints().iter().zip(work.modes());
        modes.breaks = contacts.any(|(c, m)| matches!(c.source, Source::Contact { .. }) && *m == Mode::Break);
        modes
    }
}

/// The entry that differs most.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Of which block.
    pub block: Block,
    /// Degree of freedom of the result.
    pub row: usize,
    /// Degree of freedom or motor that varies.
    pub column: usize,
    /// As differentiated.
    pub exact: f64,
    /// As a finite difference.
    pub difference: f64,
}

/// What came of one state.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What occurs in it.
    pub modes: Modes,
    /// Largest difference of each block over its largest entry; infinite if an entry is not a number.
    pub errors: [f64; 6],
    /// The entry that differs most.
    pub worst: Entry,
    /// They differ where the step has no derivative: the worst column of each block has a kink within its stencil, the
    /// contact problem has several solutions, or none was found.
    pub boundary: bool,
    /// Residual of the contact solver over the largest impulse.
    pub residual: f64,
    /// Whether the step has a derivative here, as far as steps alone tell: every column smooth, one solution, and room
    /// for a difference. Says nothing about the derivative under test.
    pub smooth: bool,
    /// What the derivative says about itself.
    pub quality: Quality<f64>,
}

impl Comparison {
    /// Of the worst block.
    pub fn error(&self) -> f64 {
        self.errors.iter().fold(0.0, |worst, &error| if error <= worst { worst } else { error })
    }

    /// Whether the two agree.
    pub fn agrees(&self) -> bool {
        self.error() <= TOLERANCE
    }

    /// Whether they agree, or need not.
    pub fn passes(&self) -> bool {
        self.agrees() || self.boundary && self.error().is_finite()
    }
}

/// A model and the memory to compare derivatives of its steps in.
#[derive(Debug)]
pub struct Checker<'m, 'a> {
    model: Model<'m, f64>,
    settings: StepSettings<f64>,
    work: Step<'a, f64>,
    jacobian: Derivatives<'a, f64>,
}

/// A finite difference.
struct Column {
    /// Of v⁺, then of q⁺.
    slope: Vec<f64>,
    /// Of each of them: between slopes over h and over 2h.
    doubt: Vec<f64>,
    /// No slope, or one that may be that of another mode.
    kink: bool,
    /// The slopes over two steps agree, and those to the two sides.
    smooth: bool,
}

/// The stencil of a step length.
struct Stencil {
    slope: Vec<f64>,
    doubt: Vec<f64>,
    /// Between slopes over h and over 2h, relative.
    disagreement: f64,
    /// Between slopes to the two sides, relative.
    sides: f64,
    /// The modes are not those at the state.
    modes_change: bool,
}

impl Stencil {
    /// Steps that stay inside the mode come first, then those that agree best with themselves.
    fn is_better_than(&self, other: &Self) -> bool {
        match (self.modes_change, other.modes_change) {
            (false, true) => true,
            (true, false) => false,
            _ => self.disagreement < other.disagreement,
        }
    }
}

impl<'m, 'a> Checker<'m, 'a> {
    /// Arena blocks that it takes.
    pub fn blocks(dims: StepDims) -> usize {
        Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)
    }

    /// For steps with these settings, but for the solver, which goes to the last digit.
    pub fn new(
        model: Model<'m, f64>,
        settings: StepSettings<f64>,
        dims: StepDims,
        arena: &mut Arena<'a>,
    ) -> Result<Self> {
        let solver = Newton { tolerance: SOLVER_TOLERANCE, ..settings.solver };
        let settings = StepSettings { solver, ..settings };
        Ok(Self { model, settings, work: Step::carve(arena, dims)?, jacobian: Derivatives::carve(arena, dims)? })
    }

    /// Differentiates one step both ways. O(nv + nu) steps, each without warm start.
    pub fn compare(&mut self, input: &StepInput<'_, f64>) -> Result<Comparison, StepError> {
        let (nv, nu) = (self.model.nv(), self.model.nu());
        let control = if input.control.is_empty() { &vec![0.0; nu] } else { input.control };
        let input = &StepInput { control, ..*input };
        let here = self.evaluate(input)?;
        let residual = here.residual;
        let modes = Modes::of(&here.held, &self.work);
        let quality = differentiate(self.model, input, &self.settings, &mut self.work, &mut self.jacobian)?;
        let exact = self.exact(&here)?;
        let columns = (0..2 * nv + nu)
            .map(|column| self.difference(input, &here, column, &quality))
            .collect::<Result<Vec<_>, _>>()?;
        let unique = self.is_unique(input, &here)?;
        Ok(assess(nv, &exact, &columns, Assessed { modes, residual, quality, unique }))
    }

    /// Whether the solver comes to the same velocity from elsewhere. Points that share a load in more than one way, and
    /// slide along different lines, leave the step open (Coulomb's law has several solutions), and its slope with it.
    fn is_unique(&mut self, input: &StepInput<'_, f64>, here: &Outcome) -> Result<bool, StepError> {
        let solver = self.settings.solver;
        let mut largest = 0.0_f64;
        for sweeps in OTHER_SWEEPS {
            self.settings.solver.sweeps = sweeps;
            let there = self.evaluate(input);
            self.settings.solver = solver;
            largest = there?.v.iter().zip(&here.v).fold(largest, |largest, (a, b)| largest.max((a - b).abs()));
        }
        Ok(largest <= SAME)
    }

    /// ∂(v⁺, q⁺)/∂(q, v, u), 2nv rows: q⁺ = q ⊕ Δt v⁺.
    fn exact(&self, here: &Outcome) -> Result<Vec<f64>, StepError> {
        let (model, dt_s) = (self.model, self.settings.dt_s);
        let (nv, columns) = (model.nv(), self.jacobian.all().cols());
        let by_velocity = self.jacobian.all();
        let (mut from, mut along) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
        advance_jacobian(model, dt_s, &here.v, Argument::From, MatMut::new(&mut from, nv, nv))?;
        advance_jacobian(model, dt_s, &here.v, Argument::To, MatMut::new(&mut along, nv, nv))?;
        let (from, along) = (MatRef::new(&from, nv, nv), MatRef::new(&along, nv, nv));
        let mut exact = vec![0.0; 2 * nv * columns];
        for row in 0..nv {
            for column in 0..columns {
                exact[row * columns + column] = by_velocity[(row, column)];
                let carried: f64 = (0..nv).map(|k| along[(row, k)] * by_velocity[(k, column)]).sum();
                let start = if column < nv { from[(row, column)] } else { 0.0 };
                exact[(nv + row) * columns + column] = carried + start;
            }
        }
        Ok(exact)
    }

    /// One column, from the step length that agrees best with itself.
    fn difference(
        &mut self,
        input: &StepInput<'_, f64>,
        here: &Outcome,
        column: usize,
        quality: &Quality<f64>,
    ) -> Result<Column, StepError> {
        let nv = self.model.nv();
        let mut h = match column {
            k if k < nv => STEP.min(GAP_SHARE * quality.gap_margin).max(SHORTEST_STEP),
            k if k < 2 * nv => STEP,
            _ => STEP * CONTROL_STEP_DT / self.settings.dt_s,
        };
        let mut best: Option<Stencil> = None;
        let (mut sides, mut kink) = (f64::INFINITY, false);
        for _ in 0..LEVELS {
            let stencil = self.stencil(input, here, column, h)?;
            kink = stencil.sides > KINK && stencil.sides > KINK_SHRINK * sides;
            sides = stencil.sides;
            let smooth = stencil.disagreement <= SMOOTH && stencil.sides <= SMOOTH_SIDES && !stencil.modes_change;
            if best.as_ref().is_none_or(|best| stencil.is_better_than(best)) {
                best = Some(stencil);
            }
            if smooth {
                break;
            }
            h *= SHRINK;
        }
        let best = best.expect("there is one level at least");
        let smooth = !kink && best.disagreement <= ROUGH;
        Ok(Column { kink: !smooth || best.modes_change, smooth, slope: best.slope, doubt: best.doubt })
    }

    fn stencil(
        &mut self,
        input: &StepInput<'_, f64>,
        here: &Outcome,
        column: usize,
        h: f64,
    ) -> Result<Stencil, StepError> {
        let mut modes_change = false;
        let mut at = |times: f64| -> Result<Vec<f64>, StepError> {
            let there = self.vary(input, column, times * h)?;
            modes_change |= there.held != here.held;
            let mut change: Vec<f64> = there.v.iter().zip(&here.v).map(|(there, here)| there - here).collect();
            let mut moved = vec![0.0; change.len()];
            configuration::difference(self.model, &here.q, &there.q, &mut moved)?;
            change.extend(moved);
            Ok(change)
        };
        let [ahead, behind, far_ahead, far_behind] = [at(1.0)?, at(-1.0)?, at(2.0)?, at(-2.0)?];
        let (mut slope, mut doubt) = (Vec::with_capacity(ahead.len()), Vec::with_capacity(ahead.len()));
        let (mut disagreement, mut sides) = (0.0_f64, 0.0_f64);
        for k in 0..ahead.len() {
            let (near, far) = ((ahead[k] - behind[k]) / (2.0 * h), (far_ahead[k] - far_behind[k]) / (4.0 * h));
            slope.push((4.0 * near - far) / 3.0);
            doubt.push((near - far).abs());
            disagreement = disagreement.max((near - far).abs());
            sides = sides.max((ahead[k] + behind[k]).abs() / h);
        }
        let scale = slope.iter().fold(FLOOR, |largest, x| largest.max(x.abs()));
        Ok(Stencil { slope, doubt, disagreement: disagreement / scale, sides: sides / scale, modes_change })
    }

    /// The step with one number varied.
    fn vary(&mut self, input: &StepInput<'_, f64>, column: usize, by: f64) -> Result<Outcome, StepError> {
        let (nq, nv) = (self.model.nq(), self.model.nv());
        let (mut q, mut v, mut u) = (input.q.to_vec(), input.v.to_vec(), input.control.to_vec());
        if column < nv {
            let (mut along, mut moved) = (vec![0.0; nv], vec![0.0; nq]);
            along[column] = by;
            configuration::integrate(self.model, &q, &along, &mut moved)?;
            q = moved;
        } else if column < 2 * nv {
            v[column - nv] += by;
        } else {
            u[column - 2 * nv] += by;
        }
        self.evaluate(&StepInput { q: &q, v: &v, control: &u, ..*input })
    }

    fn evaluate(&mut self, input: &StepInput<'_, f64>) -> Result<Outcome, StepError> {
        let (mut q, mut v) = (vec![0.0; self.model.nq()], vec![0.0; self.model.nv()]);
        self.work.forget();
        let next = NextState { q: &mut q, v: &mut v };
        let report = step(self.model, input, &self.settings, next, &mut self.work)?;
        let modes = self.work.constraints().iter().map(|constraint| constraint.source).zip(self.work.modes().to_vec());
        let held = modes.filter(|(_, mode)| *mode != Mode::Break).collect();
        Ok(Outcome { q, v, held, residual: report.outcome.residuals.natural })
    }
}

/// A step.
struct Outcome {
    q: Vec<f64>,
    v: Vec<f64>,
    /// What does not break.
    held: Vec<(Source, Mode)>,
    residual: f64,
}

/// What a comparison takes from the step itself.
struct Assessed {
    modes: Modes,
    residual: f64,
    quality: Quality<f64>,
    /// No other solution was found.
    unique: bool,
}

/// Distance to another mode, over the largest impulse, that rounding alone can cross.
const ON_MODE_BOUNDARY: f64 = 1e-9;
/// Distance of a gap to the edge of the rest band that leaves finite differences no digits.
const NO_ROOM_M: f64 = 1e-7;

fn assess(nv: usize, exact: &[f64], columns: &[Column], step: Assessed) -> Comparison {
    let count = columns.len();
    let (mut errors, mut boundary, mut doubted) = ([0.0_f64; 6], true, false);
    let worst = Entry { block: Block::ALL[0], row: 0, column: 0, exact: 0.0, difference: 0.0 };
    let (mut worst, mut largest) = (worst, -1.0);
    for (index, block) in Block::ALL.into_iter().enumerate() {
        let range = match block.by {
            Input::Configuration => 0..nv,
            Input::Velocity => nv..2 * nv,
            Input::Control => 2 * nv..count,
        };
        let first_row = if block.of_configuration { nv } else { 0 };
        let slopes = |column: usize| &columns[column].slope[first_row..][..nv];
        let floor = if block.by == Input::Control { FLOOR } else { STATE_FLOOR };
        let scale = range.clone().flat_map(slopes).fold(floor, |largest, x| largest.max(x.abs()));
        // Differences must agree with themselves to tell whether others do.
        let doubts = range.clone().flat_map(|column| &columns[column].doubt[first_row..][..nv]);
        doubted |= doubts.into_iter().any(|doubt| *doubt > MOST_DOUBT * scale);
        let mut at_kink = false;
        for column in range.clone() {
            for (row, &difference) in slopes(column).iter().enumerate() {
                let exact = exact[(first_row + row) * count + column];
                let error = (exact - difference).abs() / scale;
                let error = if error.is_finite() { error } else { f64::INFINITY };
                if error > largest {
                    largest = error;
                    worst = Entry { block, row, column: column - range.start, exact, difference };
                }
                if error > errors[index] {
                    (errors[index], at_kink) = (error, columns[column].kink);
                }
            }
        }
        boundary &= errors[index] <= TOLERANCE || at_kink;
    }
    let Assessed { modes, residual, quality, unique } = step;
    // The derivative says itself when it is that of one side, or when there is no room for a difference.
    let no_room = quality.gap_margin <= NO_ROOM_M;
    let on_edge = quality.mode_margin.abs() <= ON_MODE_BOUNDARY || no_room;
    let boundary = largest > TOLERANCE && (boundary || on_edge || !unique || residual > UNSOLVED);
    let smooth = columns.iter().all(|column| column.smooth) && unique && residual <= UNSOLVED;
    // Doubt takes a state out of the count, but excuses no error.
    let smooth = smooth && !no_room && !doubted;
    Comparison { modes, errors, worst, boundary, residual, smooth, quality }
}

impl Entry {
    /// Names and figures, as in `∂v⁺[hip]/∂q[knee]: 1.0 exact, 1.1 by differences`.
    pub fn describe(&self, model: Model<'_, f64>) -> String {
        let of = if self.block.of_configuration { "q⁺" } else { "v⁺" };
        let (by, column) = match self.block.by {
            Input::Configuration => ("q", dof_name(model, self.column)),
            Input::Velocity => ("v", dof_name(model, self.column)),
            Input::Control => ("u", motor_name(model, self.column)),
        };
        let row = dof_name(model, self.row);
        format!("∂{of}[{row}]/∂{by}[{column}] is {:.9} exact, {:.9} by differences", self.exact, self.difference)
    }
}

/// Name of the joint, with the place within it when it has several degrees of freedom.
fn dof_name(model: Model<'_, f64>, dof: usize) -> String {
    let Some((index, body)) = model.indexed_bodies().find(|(_, body)| body.v_range().contains(&dof)) else {
        return dof.to_string();
    };
    let (name, range) = (model.joint_name(BodyId::new(index as u16)), body.v_range());
    if range.len() == 1 { name.to_string() } else { format!("{name}.{}", dof - range.start) }
}

fn motor_name(model: Model<'_, f64>, motor: usize) -> String {
    match model.actuator_name(motor) {
        "" => motor.to_string(),
        name => name.to_string(),
    }
}
