//! URDF: links and joints of a tree, as ROS writes them.
//!
//! Every joint type is read; a `fixed` one merges its link into the parent, where it lives on as a frame. A link
//! becomes a body of the same name, its joint keeps its own. The root link is fixed to the world and adds no inertia,
//! or flies freely on a joint `root_joint` ([`LoadOptions::free_flyer`]). Children of a link are numbered by the name
//! of their joint, as Pinocchio does, so that configurations of the two agree.
//!
//! A moving body has the inertia of all links welded to it, and that is what must be possible: the placeholders that
//! many files give to massless links do no harm.
//!
//! `visual` and `material` are left out by design; whatever else is not read is named in a warning.

mod assemble;
mod collision;
mod joint;
mod link;
mod rigid;
mod srdf;
mod tree;

use crate::mesh::HullStore;
use crate::xml::Element;
use crate::{LoadError, LoadOptions, Loaded, Warnings};

pub use srdf::disabled_pairs;

/// Reads the robot of a `<robot>` element.
pub fn load(robot: Element<'_>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let mut warnings = Warnings::default();
    let mut hulls = HullStore::new(options);
    warnings.unknown(robot, &["name", "version"], &["link", "joint", "material"]);
    let links = link::read_all(robot, options, &mut hulls, &mut warnings)?;
    let joints = joint::read_all(robot, options, &mut warnings)?;
    let tree = tree::connect(robot, &links, &joints)?;
    let excluded = srdf::excluded_pairs(&links, options)?;
    let model = assemble::build(&tree, &excluded, options, &mut warnings)?;
    Ok(Loaded { model, warnings: warnings.into_list(), timestep_s: None, hulls: hulls.into_reports() })
}
