//! The inertia of each moving body: its own link and all that are welded to it.

use std::collections::BTreeMap;

use saltus::spatial::{Inertia, Placement};

use super::joint::Kind;
use super::tree::Tree;
use crate::inertia::balanced;
use crate::{LoadOptions, Warnings};

/// By the name of the link that moves; in its frame. What is welded to the ground counts for nothing.
pub(super) fn inertias<'d>(
    tree: &Tree<'_, 'd>,
    options: &LoadOptions,
    warnings: &mut Warnings,
) -> BTreeMap<&'d str, Inertia<f64>> {
    // Which moving link carries each link, and where it stands there.
    let mut carriers: BTreeMap<&str, (Option<&str>, Placement<f64>)> = BTreeMap::new();
    let mut inertias: BTreeMap<&str, Inertia<f64>> = BTreeMap::new();
    let root = options.free_flyer.then_some(tree.root.name);
    carriers.insert(tree.root.name, (root, Placement::IDENTITY));
    if let Some(root) = root {
        inertias.insert(root, tree.root.inertia);
    }
    for (joint, link) in &tree.branches {
        if joint.kind != Kind::Fixed {
            carriers.insert(link.name, (Some(link.name), Placement::IDENTITY));
            inertias.insert(link.name, link.inertia);
            continue;
        }
        let (carrier, above) = carriers[joint.parent_link()];
        let placement = above * joint.origin;
        carriers.insert(link.name, (carrier, placement));
        if let Some(sum) = carrier.and_then(|carrier| inertias.get_mut(carrier)) {
            *sum = *sum + link.inertia.moved_by(&placement);
        }
    }
    if options.balance_inertia {
        mend(tree, &mut inertias, warnings);
    }
    inertias
}

/// Raises the moments of bodies that cannot be, and says so.
fn mend(tree: &Tree<'_, '_>, inertias: &mut BTreeMap<&str, Inertia<f64>>, warnings: &mut Warnings) {
    let links = std::iter::once(tree.root).chain(tree.branches.iter().map(|&(_, link)| link));
    for link in links {
        let Some(inertia) = inertias.get_mut(link.name) else { continue };
        if let Some(mended) = balanced(inertia) {
            *inertia = mended;
            let message = format!("{}: its moments of inertia belong to no body; mended", link.element.label());
            warnings.add(link.element, message);
        }
    }
}
