//! How the optimizer works.

use crate::contact::Newton;
use crate::scalar::Real;
use crate::step::{Gradient, StepSettings};

/// Settings of the optimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpcSettings<T, S = Newton<T>> {
    /// How the steps of the plan are taken; their duration is that of the [`Spacing`], in one part.
    pub step: StepSettings<T, S>,
    /// How long the steps of the plan are.
    pub spacing: Spacing<T>,
    /// Where a solve starts.
    pub start: Start,
    /// Iterations of a solve; one for a controller that solves at every tick.
    pub max_iterations: u16,
    /// Step lengths tried in an iteration: 1, ½, ¼, … . With none the full step is taken as the derivatives predict it, and
    /// the report has the cost before it: with [`Start::Rollout`] the next solve follows that plan first, which is its trial.
    pub trials: u16,
    /// Share of the promised decrease that a step must keep.
    pub keep: T,
    /// Converged when the promised decrease, over the cost, and all gaps are below it.
    pub tolerance: T,
    /// What is added to the curvature along the controls.
    pub regularization: Regularization<T>,
    /// Iterations on the bounds of the controls of one node.
    pub bound_iterations: u16,
}

/// How long the steps of a plan are: the first lasts `first_s`, each one `growth` times the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing<T> {
    /// Of the first step.
    pub first_s: T,
    /// From step to step.
    pub growth: T,
}

impl<T: Real> Spacing<T> {
    /// Steps of one length.
    pub const fn even(dt_s: T) -> Self {
        Self { first_s: dt_s, growth: T::ONE }
    }
}

/// Where a solve starts from the plan before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The old policy is followed from the measured state: a plan without gaps. One more step per node.
    #[default]
    Rollout,
    /// The old plan is shifted in time; where its states do not follow from each other, or from the measured state, gaps
    /// remain, which the first full step closes.
    Gaps,
}

/// A schedule for what is added to the curvature along the controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularization<T> {
    /// At the start of each solve.
    pub initial: T,
    /// Never below this one, unless zero.
    pub least: T,
    /// A solve ends when it would have to be larger.
    pub most: T,
    /// By how much it grows after a step that was turned down, and shrinks after a full one.
    pub factor: T,
}

impl<T: Real> Default for MpcSettings<T> {
    fn default() -> Self {
        let real = T::from_f64;
        Self {
            step: StepSettings { gradient: Gradient::Relaxed { kappa: real(1e-3) }, ..StepSettings::default() },
            spacing: Spacing::even(real(0.02)),
            start: Start::Rollout,
            max_iterations: 1,
            trials: 5,
            keep: real(1e-2),
            tolerance: T::EPSILON.sqrt() * real(1e-1),
            regularization: Regularization {
                initial: real(1e-6),
                least: real(1e-8),
                most: real(1e6),
                factor: real(10.0),
            },
            bound_iterations: 20,
        }
    }
}

impl<T, S> MpcSettings<T, S> {
    /// The same settings with another solver of contact problems.
    ///
    /// ```
    /// use saltus::contact::Admm;
    /// use saltus::mpc::MpcSettings;
    ///
    /// let settings = MpcSettings::<f64>::default().with_solver(Admm::<f64>::default());
    /// assert_eq!(settings.step.solver, Admm::default());
    /// ```
    pub fn with_solver<R>(self, solver: R) -> MpcSettings<T, R> {
        MpcSettings {
            step: self.step.with_solver(solver),
            spacing: self.spacing,
            start: self.start,
            max_iterations: self.max_iterations,
            trials: self.trials,
            keep: self.keep,
            tolerance: self.tolerance,
            regularization: self.regularization,
            bound_iterations: self.bound_iterations,
        }
    }
}
