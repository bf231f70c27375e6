//! `<equality>`: points and frames of two bodies that stay together.

use nalgebra::{Matrix3, Vector3};
use saltus::model::ClosureSpec;
use saltus::spatial::Placement;

use super::defaults::{ClassId, Defaults};
use super::files::Files;
use super::orientation::unit_quaternion;
use super::tree::{Place, Tree};
use crate::error::{LoadError, excerpt};
use crate::warning::Warnings;
use crate::xml::Element;

/// Attributes of `<equality>` in a default class that are read.
pub(super) const DEFAULT: [&str; 1] = ["active"];
/// Attributes that are read, or have no bearing on motion.
const CONNECT: [&str; 8] = ["name", "class", "active", "body1", "body2", "anchor", "site1", "site2"];
const WELD: [&str; 9] = ["name", "class", "active", "body1", "body2", "anchor", "relpose", "site1", "site2"];

/// One end of a closure: a placement in a body of the model.
struct End<'t> {
    place: &'t Place,
    placement: Placement<f64>,
}

/// The closures of the file; none when the options disable them.
pub(super) fn read<'d>(
    files: Files<'d>,
    defaults: &Defaults<'d>,
    tree: &Tree<'d>,
    enabled: bool,
    warnings: &mut Warnings,
) -> Result<Vec<ClosureSpec>, LoadError> {
    let mut found = Vec::new();
    for element in files.section("equality") {
        let tag = element.name();
        let known: &[&str] = match tag {
            "connect" => &CONNECT,
            "weld" => &WELD,
            _ => {
                warnings.add(element, format!("<{}> in <equality>: this element is ignored", excerpt(tag)));
                continue;
            }
        };
        warnings.unknown(element, known, &[]);
        let [a, b] = ends(element, tree)?;
        let active = defaults.of(element, ClassId::default())?.stating("active").boolean("active")?.unwrap_or(true);
        let mut left_out = |why: &str| warnings.add(element, format!("<{tag}>: {why}; this constraint is left out"));
        if !enabled || !active {
            left_out("it is not active");
        } else if a.place.moves_with == b.place.moves_with {
            left_out("its two bodies move as one");
        } else {
            let (first, second) = (&a.place.name, &b.place.name);
            let spec = if tag == "weld" { ClosureSpec::weld(first, second) } else { ClosureSpec::point(first, second) };
            found.push(spec.at(a.placement, b.placement));
        }
    }
    Ok(found)
}

fn ends<'t>(element: Element<'_>, tree: &'t Tree<'_>) -> Result<[End<'t>; 2], LoadError> {
    let states = |names: &[&'static str]| names.iter().copied().find(|name| element.attribute(name).is_some());
    match (states(&["site1", "site2"]), states(&["body1", "body2", "anchor", "relpose"])) {
        (Some(site), Some(body)) => {
            Err(element.inconsistent(format!("states both {site} and {body}; sites or bodies are expected")))
        }
        (Some(_), None) => Ok([site(element, "site1", tree)?, site(element, "site2", tree)?]),
        _ => bodies(element, tree),
    }
}

/// The end at a site.
fn site<'t>(element: Element<'_>, attribute: &str, tree: &'t Tree<'_>) -> Result<End<'t>, LoadError> {
    let name = element.required(attribute)?;
    let stated = |part: Element<'_>| part.name() == "site" && part.attribute("name") == Some(name);
    let part = tree.sites.iter().find(|part| stated(part.element));
    let end = part.and_then(|part| Some(End { place: tree.places.get(&part.body)?, placement: part.placement }));
    end.ok_or_else(|| element.unexpected(attribute, "the name of a site"))
}

/// The ends at two bodies. What one end leaves open is such that the closure holds where the file places the bodies.
fn bodies<'t>(element: Element<'_>, tree: &'t Tree<'_>) -> Result<[End<'t>; 2], LoadError> {
    let body = |attribute: &str, name: &str| {
        tree.places.get(name).ok_or_else(|| element.unexpected(attribute, "the name of a body"))
    };
    let first = body("body1", element.required("body1")?)?;
    let second = body("body2", element.attribute("body2").unwrap_or("world"))?;
    let anchor = element.vector("anchor")?;
    let first_in_second = second.in_world.inverse() * first.in_world;
    let (in_first, in_second) = if element.name() == "connect" {
        // The anchor is in the first body here, but in the second one of a weld.
        let anchor = at(anchor.ok_or_else(|| element.missing("attribute anchor"))?);
        (anchor, first_in_second * anchor)
    } else {
        let anchor = at(anchor.unwrap_or_default());
        (relative_pose(element)?.unwrap_or_else(|| first_in_second.inverse() * anchor), anchor)
    };
    Ok([
        End { place: first, placement: first.origin * in_first },
        End { place: second, placement: second.origin * in_second },
    ])
}

/// `relpose`: where the anchor and the axes of the second body are in the first. A zero quaternion leaves it open.
fn relative_pose(element: Element<'_>) -> Result<Option<Placement<f64>>, LoadError> {
    let Some([x, y, z, wxyz @ ..]) = element.array::<7>("relpose")? else { return Ok(None) };
    if wxyz == [0.0; 4] {
        return Ok(None);
    }
    let turn = unit_quaternion(wxyz).ok_or_else(|| element.unexpected("relpose", "a quaternion of length one"))?;
    Ok(Some(Placement::new(turn.to_rotation_matrix().into_inner(), Vector3::new(x, y, z))))
}

fn at(point: Vector3<f64>) -> Placement<f64> {
    Placement::new(Matrix3::identity(), point)
}
