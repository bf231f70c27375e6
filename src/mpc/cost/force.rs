//! Residuals of contact forces.

use super::Node;
use super::sink::Sink;
use crate::contact::Source;
use crate::input::InputError;
use crate::memory::Values;
use crate::model::GeometryId;
use crate::scalar::Real;

/// Normal force on a geometry over the step that follows, minus what it should be.
pub(super) fn normal<T: Real, S: Sink<T>>(
    node: &Node<'_, '_, T>,
    geometry: GeometryId,
    reference_n: T,
    weight: T,
    sink: &mut S,
) -> Result<(), InputError> {
    if node.is_last() {
        return Ok(());
    }
    let mut force = -reference_n;
    for_each_contact(node, geometry, |_, first_row| force += node.step.impulses.at(first_row + 2) / node.dt_s);
    let columns = 2 * node.model.nv() + node.model.nu();
    sink.rows(&[force], &[weight], columns, |mut out| {
        if let Some(derivatives) = node.derivatives {
            for_each_contact(node, geometry, |constraint, _| {
                derivatives.add_normal_impulse(node.step, constraint, T::ONE / node.dt_s, out.row_mut(0));
            });
        }
        Ok(())
    })
}

/// Calls `visit` with index and first row of each contact constraint of a geometry.
fn for_each_contact<T: Real>(node: &Node<'_, '_, T>, geometry: GeometryId, mut visit: impl FnMut(usize, usize)) {
    for (index, constraint) in node.step.constraints().iter().enumerate() {
        let Source::Contact { pair, .. } = constraint.source else { continue };
        let Some(pair) = node.model.pairs.get(usize::from(pair)) else { continue };
        if pair.a == geometry || pair.b == geometry {
            visit(index, usize::from(constraint.first_row));
        }
    }
}
