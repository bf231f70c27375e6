//! What a plan must answer to be followed.

use crate::input::InputError;
use crate::model::Model;
use crate::mpc::Nanos;
use crate::scalar::Real;

/// A law from state and time to controls, good for a while.
pub trait Policy<T: Real> {
    /// When it begins; its age is counted from here.
    fn start(&self) -> Nanos;

    /// When its last state is.
    fn end(&self) -> Nanos;

    /// Controls at a time and a state: u = u* + K (x ⊖ x*). Past the end it is the law of the last state.
    fn control(&mut self, model: Model<'_, T>, at: Nanos, state: (&[T], &[T]), u: &mut [T]) -> Result<(), InputError>;
}
