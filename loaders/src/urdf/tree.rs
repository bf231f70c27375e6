//! Which link hangs on which: one root, no loops, every joint between two links.

use std::collections::BTreeMap;

use super::joint::{Joint, Joints};
use super::link::{Link, Links};
use crate::LoadError;
use crate::xml::Element;

/// The links depth first, each after its parent, children by the name of their joint.
pub(super) struct Tree<'a, 'd> {
    pub root: &'a Link<'d>,
    /// Every other link, with the joint that carries it.
    pub branches: Vec<(&'a Joint<'d>, &'a Link<'d>)>,
}

pub(super) fn connect<'a, 'd>(
    robot: Element<'d>,
    links: &'a Links<'d>,
    joints: &'a Joints<'d>,
) -> Result<Tree<'a, 'd>, LoadError> {
    let carriers = carriers(links, joints)?;
    let root = find_root(robot, links, &carriers)?;
    let mut children: BTreeMap<&str, Vec<&Joint<'d>>> = BTreeMap::new();
    for joint in joints.values() {
        children.entry(joint.parent_link()).or_default().push(joint);
    }
    let mut branches = Vec::new();
    let mut stack = vec![root.name];
    while let Some(name) = stack.pop() {
        if let Some(joint) = carriers.get(name) {
            branches.push((*joint, &links[name]));
        }
        let below = children.get(name).into_iter().flatten();
        // Reversed, so that the first child is visited first.
        stack.extend(below.rev().map(|joint| joint.child_link()));
    }
    if branches.len() + 1 < links.len() {
        return Err(loop_error(links, &carriers, &branches));
    }
    Ok(Tree { root, branches })
}

/// The joint that carries each link.
fn carriers<'a, 'd>(links: &Links<'d>, joints: &'a Joints<'d>) -> Result<BTreeMap<&'d str, &'a Joint<'d>>, LoadError> {
    let mut carriers: BTreeMap<&str, &Joint<'_>> = BTreeMap::new();
    for joint in joints.values() {
        for end in [joint.parent, joint.child] {
            if !links.contains_key(end.attribute("link").unwrap_or("")) {
                return Err(end.unexpected("link", "the name of a link"));
            }
        }
        if let Some(other) = carriers.insert(joint.child_link(), joint) {
            let reason = format!(
                "link \"{}\" hangs on joint \"{}\" already (line {}); a loop needs a loop constraint",
                joint.child_link(),
                other.name,
                other.element.line()
            );
            return Err(joint.element.inconsistent(reason));
        }
    }
    Ok(carriers)
}

fn find_root<'a, 'd>(
    robot: Element<'d>,
    links: &'a Links<'d>,
    carriers: &BTreeMap<&str, &Joint<'d>>,
) -> Result<&'a Link<'d>, LoadError> {
    let mut roots = links.values().filter(|link| !carriers.contains_key(link.name));
    match (roots.next(), roots.next()) {
        (Some(root), None) => Ok(root),
        (Some(root), Some(second)) => Err(second.element.inconsistent(format!(
            "nothing carries this link, nor link \"{}\" (line {}): a robot has one root",
            root.name,
            root.element.line()
        ))),
        (None, _) if links.is_empty() => Err(robot.missing("<link>")),
        (None, _) => Err(loop_error(links, carriers, &[])),
    }
}

/// Names a joint on the loop itself: following the parents of a link that the root does not reach ends up there.
fn loop_error(
    links: &Links<'_>,
    carriers: &BTreeMap<&str, &Joint<'_>>,
    reached: &[(&Joint<'_>, &Link<'_>)],
) -> LoadError {
    let reached: std::collections::BTreeSet<&str> = reached.iter().map(|(joint, _)| joint.name).collect();
    let start = carriers.values().find(|joint| !reached.contains(joint.name));
    let mut joint = start.expect("a link that the root does not reach has a joint");
    for _ in 0..links.len() {
        joint = carriers.get(joint.parent_link()).unwrap_or(joint);
    }
    joint.element.inconsistent(format!("link \"{}\" is its own ancestor", joint.child_link()))
}
