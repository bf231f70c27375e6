//! Time, as it comes in from outside.

use core::ops::Add;

use crate::scalar::Real;
use crate::step::{Part, Watch};

/// A point in time: nanoseconds since some moment that the caller chose.
///
/// ```
/// use saltus::mpc::Nanos;
///
/// let start = Nanos(2_000_000);
/// let later = start.after_s(0.5_f64);
/// assert_eq!(later, Nanos(502_000_000));
/// assert_eq!(later.seconds_since::<f64>(start), 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Later than everything.
    pub const NEVER: Self = Self(u64::MAX);

    /// Seconds from `earlier` to here; negative if it is later.
    pub fn seconds_since<T: Real>(self, earlier: Self) -> T {
        let (sign, apart) = if self.0 >= earlier.0 { (1e-9, self.0 - earlier.0) } else { (-1e-9, earlier.0 - self.0) };
        T::from_f64(apart as f64 * sign)
    }

    /// This many seconds later; the same time for a negative or unreasonable number.
    pub fn after_s<T: Real>(self, seconds: T) -> Self {
        // A cast from float to integer saturates; NaN gives zero.
        Self(self.0.saturating_add((seconds.to_f64() * 1e9) as u64))
    }

    /// Nanoseconds from `earlier` to here; zero if it is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Nanos {
    type Output = Self;
    fn add(self, nanoseconds: u64) -> Self {
        Self(self.0.saturating_add(nanoseconds))
    }
}

/// What tells the optimizer how late it is. The core has no clock of its own.
pub trait Clock {
    /// Now.
    fn now(&self) -> Nanos;
}

/// A clock that stands still: budgets never end, and the same input gives the same plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stopped(pub Nanos);

impl Clock for Stopped {
    fn now(&self) -> Nanos {
        self.0
    }
}

/// Adds up what the parts of steps take, and ends the search for impulses when the time is up.
pub(super) struct Stopwatch<'c, C> {
    clock: &'c C,
    deadline: Nanos,
    since: Nanos,
    pub collision: u64,
    pub contact: u64,
}

impl<'c, C: Clock> Stopwatch<'c, C> {
    /// From now on.
    pub fn start(clock: &'c C, deadline: Nanos) -> Self {
        Self { clock, deadline, since: clock.now(), collision: 0, contact: 0 }
    }
}

impl<C: Clock> Watch for Stopwatch<'_, C> {
    fn passed(&mut self, part: Part) {
        let now = self.clock.now();
        let passed = now.since(self.since);
        match part {
            Part::Dynamics => {}
            Part::Collision => self.collision += passed,
            Part::Contact => self.contact += passed,
        }
        self.since = now;
    }

    fn time_is_up(&mut self) -> bool {
        self.deadline != Nanos::NEVER && self.clock.now() >= self.deadline
    }
}

impl<F: Fn() -> Nanos> Clock for F {
    fn now(&self) -> Nanos {
        self()
    }
}
