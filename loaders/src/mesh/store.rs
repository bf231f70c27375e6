//! Finds mesh files, and makes each one's hull once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Hull, HullReport, read};
use crate::error::{LoadError, LoadProblem};
use crate::xml::Element;
use crate::{Limits, LoadOptions};

/// The hulls of one robot's meshes.
pub struct HullStore {
    search_paths: Vec<PathBuf>,
    max_vertices: usize,
    limits: Limits,
    hulls: BTreeMap<PathBuf, Hull>,
}

impl HullStore {
    /// None yet.
    pub fn new(options: &LoadOptions) -> Self {
        Self {
            search_paths: options.search_paths.clone(),
            max_vertices: options.max_hull_vertices,
            limits: options.limits,
            hulls: BTreeMap::new(),
        }
    }

    /// The hull of the mesh that `attribute` of `element` names by `reference`; errors stand at that attribute.
    pub fn load(&mut self, element: Element<'_>, attribute: &str, reference: &str) -> Result<&Hull, LoadError> {
        let here = |problem| LoadError {
            attribute: Some((attribute.to_owned(), crate::error::excerpt(reference))),
            ..element.error(problem)
        };
        let path = self.find(element.file(), reference).map_err(here)?;
        if !self.hulls.contains_key(&path) {
            if self.hulls.len() == self.limits.meshes {
                return Err(here(LoadProblem::TooLarge { what: "meshes", limit: self.limits.meshes as u64 }));
            }
            let hull = self.make(&path).map_err(|error| here(LoadProblem::Referenced(error)))?;
            self.hulls.insert(path.clone(), hull);
        }
        Ok(&self.hulls[&path])
    }

    /// What became of each mesh.
    pub fn into_reports(self) -> Vec<HullReport> {
        self.hulls.into_iter().map(|(file, hull)| HullReport::of(file, &hull)).collect()
    }

    fn make(&self, path: &Path) -> Result<Hull, LoadError> {
        let mesh = read(path, &self.limits)?;
        Hull::of(&mesh.vertices, self.max_vertices)
            .map_err(|error| LoadError::of_file(path, LoadProblem::Malformed { reason: error.to_string() }))
    }

    /// The file that a reference means: `package://name/…` in a folder around the robot's file or in the search paths,
    /// `file://…` as it stands, anything else beside the robot's file or in the search paths.
    fn find(&self, robot: &Path, reference: &str) -> Result<PathBuf, LoadProblem> {
        let reference = reference.trim();
        let folder = robot.parent().unwrap_or(Path::new(""));
        if let Some(path) = reference.strip_prefix("file://") {
            return existing([PathBuf::from(path)], reference);
        }
        let packaged = reference.strip_prefix("package://").or_else(|| reference.strip_prefix("model://"));
        if let Some(path) = packaged {
            // Some exporters write a third slash.
            let path = path.trim_start_matches('/');
            let around = folder.canonicalize().unwrap_or(folder.to_path_buf());
            let around = around.ancestors().map(|ancestor| ancestor.join(path));
            // A search path may be the folder that holds packages, or the package itself.
            let inside = path.split_once('/').map_or(path, |(_, inside)| inside);
            let given = self.search_paths.iter().flat_map(|base| [base.join(path), base.join(inside)]);
            return existing(around.chain(given), reference);
        }
        let given = self.search_paths.iter().map(|base| base.join(reference));
        existing(std::iter::once(folder.join(reference)).chain(given), reference)
    }
}

fn existing(places: impl IntoIterator<Item = PathBuf>, reference: &str) -> Result<PathBuf, LoadProblem> {
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| LoadProblem::Unexpected {
        expected: "a mesh in the robot's folder, in one around it or in a search path".to_owned(),
        found: format!("no file \"{}\"", crate::error::excerpt(reference)),
    })
}
