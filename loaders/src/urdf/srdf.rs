//! SRDF: the pairs of links that never collide, or always touch. All else in it is planning's business.

use std::path::Path;

use super::link::Links;
use crate::xml::{self, XmlFile};
use crate::{Limits, LoadError, LoadOptions, LoadProblem};

/// The pairs of `<disable_collisions link1= link2=>` in an SRDF file.
pub fn disabled_pairs(path: &Path, limits: &Limits) -> Result<Vec<(String, String)>, LoadError> {
    let text = xml::read_text(path, limits)?;
    let file = XmlFile::parse(path, &text, limits)?;
    let root = file.root();
    if root.name() != "robot" {
        let expected = "the root element <robot> of an SRDF file".to_owned();
        return Err(root.error(LoadProblem::Unexpected { expected, found: format!("<{}>", root.name()) }));
    }
    let pairs = root.children_named("disable_collisions");
    pairs.map(|pair| Ok((pair.required("link1")?.to_owned(), pair.required("link2")?.to_owned()))).collect()
}

/// All pairs that the options exclude. An SRDF file may know more links than the robot has; a caller should not.
pub(super) fn excluded_pairs(links: &Links<'_>, options: &LoadOptions) -> Result<Vec<(String, String)>, LoadError> {
    let mut pairs = match &options.srdf {
        Some(path) => disabled_pairs(path, &options.limits)?,
        None => Vec::new(),
    };
    pairs.retain(|(a, b)| links.contains_key(a.as_str()) && links.contains_key(b.as_str()));
    pairs.extend(options.exclude.iter().cloned());
    Ok(pairs)
}
