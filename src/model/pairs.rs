//! Which geometries may meet: worked out once, when the model is built.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Body, BodyId, Geometry, GeometryId, GeometryPair, Material, Problem, Shape};

/// More pairs than this are no robot: a filter is missing. Contacts number them by 15 bits.
pub(super) const MAX_PAIRS: usize = 1 << 15;

/// What the user says about pairs beyond the filters of the geometries.
#[derive(Default)]
pub(super) struct PairRules {
    /// Bodies that never meet, as the user stated them (before merging), the smaller number first.
    pub excluded: BTreeSet<(usize, usize)>,
    /// Pairs that are there whatever the other rules say, the smaller number first.
    pub stated: BTreeMap<(GeometryId, GeometryId), Material<f64>>,
}

/// All pairs in ascending order; `owners` are the stated bodies of the geometries. O(geometries²) once.
pub(super) fn pairs(
    bodies: &[Body<f64>],
    geometries: &[Geometry<f64>],
    owners: &[usize],
    rules: &PairRules,
) -> Result<Vec<GeometryPair<f64>>, Problem> {
    let carriers = collision_parents(bodies, geometries);
    let id = |k: usize| GeometryId::new(k as u16);
    // Those that look for nothing and that nothing looks for (visual ones) would only cost time.
    let candidates: Vec<usize> =
        (0..geometries.len()).filter(|&k| geometries[k].filter.category | geometries[k].filter.mask != 0).collect();
    let mut materials = rules.stated.clone();
    for (n, &i) in candidates.iter().enumerate() {
        for &j in &candidates[n + 1..] {
            let (a, b) = (&geometries[i], &geometries[j]);
            if !may_meet(a, b, &carriers) || rules.excluded.contains(&ordered(owners[i], owners[j])) {
                continue;
            }
            materials.entry((id(i), id(j))).or_insert_with(|| a.material.combine(&b.material));
            if materials.len() > MAX_PAIRS {
                return Err(Problem::TooManyPairs);
            }
        }
    }
    Ok(materials.into_iter().map(|((a, b), material)| GeometryPair { a, b, material }).collect())
}

/// MuJoCo's rules: different bodies, not parent and child unless the parent is the world, masks.
fn may_meet(a: &Geometry<f64>, b: &Geometry<f64>, carriers: &[BodyId]) -> bool {
    let carries = |parent: BodyId, child: BodyId| parent != BodyId::WORLD && carriers[child.index()] == parent;
    let separate = a.body != b.body && !carries(a.body, b.body) && !carries(b.body, a.body);
    let half_spaces = a.shape == Shape::HalfSpace && b.shape == Shape::HalfSpace;
    separate && a.filter.meets(b.filter) && !half_spaces
}

/// For each body (the world first) the nearest ancestor that is more than a step in a chain of joints: one with mass
/// or a shape.
fn collision_parents(bodies: &[Body<f64>], geometries: &[Geometry<f64>]) -> Vec<BodyId> {
    let mut bare: Vec<bool> =
        core::iter::once(false).chain(bodies.iter().map(|body| body.inertia.mass == 0.0)).collect();
    for geometry in geometries {
        bare[geometry.body.index()] = false;
    }
    let mut parents = Vec::with_capacity(bodies.len() + 1);
    parents.push(BodyId::WORLD);
    for body in bodies {
        let above = body.parent;
        parents.push(if bare[above.index()] { parents[above.index()] } else { above });
    }
    parents
}

/// The smaller one first.
pub(super) fn ordered<I: Ord>(a: I, b: I) -> (I, I) {
    if a <= b { (a, b) } else { (b, a) }
}
