//! URDF.

use crate::xml::Element;
use crate::{LoadError, LoadOptions, Loaded};

/// Reads the robot of a `<robot>` element.
pub fn load(robot: Element<'_>, _options: &LoadOptions) -> Result<Loaded, LoadError> {
    Err(robot.unsupported("URDF is not read yet"))
}
