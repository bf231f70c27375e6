//! What the tests of this module share.

extern crate std;
use std::vec;

use super::Derivatives;
use crate::memory::{Arena, Block};
use crate::model::Model;
use crate::step::{Step, StepDims};

/// Calls `body` with the memory of a step and of its Jacobian, with room for two soles.
pub(super) fn with_memory<R>(
    model: Model<'_, f64>,
    body: impl FnOnce(&mut Step<'_, f64>, &mut Derivatives<'_, f64>) -> R,
) -> R {
    let dims = StepDims::of(model, 8);
    let mut memory = vec![Block::EMPTY; Step::<f64>::blocks(dims) + Derivatives::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let (mut work, mut out) = (Step::carve(&mut arena, dims).unwrap(), Derivatives::carve(&mut arena, dims).unwrap());
    body(&mut work, &mut out)
}
