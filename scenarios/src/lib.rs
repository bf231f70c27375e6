//! Tasks for the built-in robots: what they should do, from where, and when it counts as done.
//!
//! One registry serves the workstation and the microcontroller. What a controller needs, [`Scenario::settings`] and
//! [`Scenario::terms`], is `no_std` and generic over the scalar; the plant, random starts, pushes and the judge of success
//! are the host's (feature `host`).

#![no_std]

#[cfg(feature = "host")]
extern crate std;

mod cartpole;
mod go1;
mod h1;
mod hopper;
#[cfg(feature = "host")]
mod host;
mod quadrotor;
mod ur5;

use saltus::kinematics::Target;
use saltus::model::{Keyframe, Model};
use saltus::mpc::{MpcDims, MpcSettings, Term};
use saltus::scalar::Real;
use saltus::step::StepDims;

#[cfg(feature = "host")]
pub use host::{Judge, Push, Sample, Verdict, plant, prediction, pushes, start};

/// Room for the terms of a scenario's cost.
pub const MOST_TERMS: usize = 24;

/// The terms of a cost, borrowing references from the model.
pub type Terms<'m, T> = heapless::Vec<Term<'m, T>, MOST_TERMS>;

/// What a robot should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// A cart swings its pole up and keeps it there.
    CartpoleSwingup,
    /// The same with two poles, one on the other.
    DoubleCartpoleSwingup,
    /// A quadrotor rises from the ground and hovers at one metre.
    QuadrotorTakeoff,
    /// An arm brings its tool to a point.
    Ur5Reach,
    /// An arm presses on the table with ten newtons.
    Ur5Press,
    /// A one-legged robot hops forward.
    HopperHop,
    /// A quadruped stands up from a crouch.
    Go1Stand,
    /// A standing quadruped is pushed.
    Go1Push,
    /// A quadruped walks; nobody gives it a gait.
    Go1Walk,
    /// A humanoid stands and is pushed.
    H1Balance,
}

/// The plain figures of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// As on the command line.
    pub name: &'static str,
    /// In a line.
    pub about: &'static str,
    /// A built-in robot.
    pub robot: &'static str,
    /// How long it lasts.
    pub seconds: f64,
    /// Steps of the plan.
    pub horizon: usize,
    /// Contact points that the plan has room for.
    pub contacts: usize,
    /// Time from one solve to the next.
    pub period_s: f64,
    /// Share of the model's error that an observer takes into account at every solve; zero for none.
    pub observer_gain: f64,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::CartpoleSwingup,
        Self::DoubleCartpoleSwingup,
        Self::QuadrotorTakeoff,
        Self::Ur5Reach,
        Self::Ur5Press,
        Self::HopperHop,
        Self::Go1Stand,
        Self::Go1Push,
        Self::Go1Walk,
        Self::H1Balance,
    ];

    /// The scenario with this name.
    ///
    /// ```
    /// use saltus_scenarios::Scenario;
    ///
    /// assert_eq!(Scenario::named("go1-push"), Some(Scenario::Go1Push));
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scenario| scenario.facts().name == name)
    }

    /// Its figures.
    pub const fn facts(self) -> &'static Facts {
        match self {
            Self::CartpoleSwingup => &cartpole::SINGLE,
            Self::DoubleCartpoleSwingup => &cartpole::DOUBLE,
            Self::QuadrotorTakeoff => &quadrotor::TAKEOFF,
            Self::Ur5Reach => &ur5::REACH,
            Self::Ur5Press => &ur5::PRESS,
            Self::HopperHop => &hopper::HOP,
            Self::Go1Stand => &go1::STAND,
            Self::Go1Push => &go1::PUSH,
            Self::Go1Walk => &go1::WALK,
            Self::H1Balance => &h1::BALANCE,
        }
    }

    /// How its optimizer works.
    pub fn settings<T: Real>(self) -> MpcSettings<T> {
        match self {
            Self::CartpoleSwingup | Self::DoubleCartpoleSwingup => cartpole::settings(self),
            Self::QuadrotorTakeoff => quadrotor::settings(),
            Self::Ur5Reach | Self::Ur5Press => ur5::settings(self),
            Self::HopperHop => hopper::settings(),
            Self::Go1Stand | Self::Go1Push | Self::Go1Walk => go1::settings(self),
            Self::H1Balance => h1::settings(),
        }
    }

    /// What it asks of the robot.
    pub fn terms<'m, T: Real>(self, model: Model<'m, T>) -> Result<Terms<'m, T>, Missing> {
        match self {
            Self::CartpoleSwingup | Self::DoubleCartpoleSwingup => cartpole::terms(self, model),
            Self::QuadrotorTakeoff => quadrotor::terms(model),
            Self::Ur5Reach => ur5::reach(model),
            Self::Ur5Press => ur5::press(model),
            Self::HopperHop => hopper::terms(model),
            Self::Go1Stand | Self::Go1Push | Self::Go1Walk => go1::terms(self, model),
            Self::H1Balance => h1::terms(model),
        }
    }

    /// Controls that the first plan starts with.
    pub fn idle<'m, T: Real>(self, model: Model<'m, T>) -> Result<&'m [T], Missing> {
        let name = if matches!(self, Self::QuadrotorTakeoff) { "hover" } else { "rest" };
        Ok(keyframe(model, name)?.u)
    }

    /// Sizes of its optimizer.
    pub fn dims<T: Real>(self, model: Model<'_, T>) -> MpcDims {
        let facts = self.facts();
        MpcDims::new(StepDims::of(model, facts.contacts), facts.horizon, MOST_TERMS)
    }
}

/// The robot lacks something that the scenario names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// A body, frame, geometry or keyframe.
    pub what: &'static str,
    /// Its name.
    pub name: &'static str,
}

impl core::fmt::Display for Missing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the robot has no {} called {}", self.what, self.name)
    }
}

impl core::error::Error for Missing {}

fn keyframe<'m, T: Real>(model: Model<'m, T>, name: &'static str) -> Result<Keyframe<'m, T>, Missing> {
    model.find_keyframe(name).ok_or(Missing { what: "keyframe", name })
}

fn frame<T: Real>(model: Model<'_, T>, name: &'static str) -> Result<Target, Missing> {
    model.find_frame(name).map(Target::Frame).ok_or(Missing { what: "frame", name })
}

fn body<T: Real>(model: Model<'_, T>, name: &'static str) -> Result<Target, Missing> {
    model.find_body(name).map(Target::Body).ok_or(Missing { what: "body", name })
}

/// Collects terms; none of the scenarios has more than fit.
fn collect<'m, T: Real>(terms: &[Term<'m, T>]) -> Terms<'m, T> {
    terms.iter().copied().take(MOST_TERMS).collect()
}
