//! Meshes: STL, OBJ and COLLADA in, convex hulls out.

mod dae;
mod hull;
mod obj;
mod stl;
mod store;

use std::path::{Path, PathBuf};

use nalgebra::Vector3;

use crate::error::{LoadError, LoadProblem};
use crate::{Limits, xml};

pub use hull::{Hull, HullError};
pub use store::HullStore;

/// A triangle mesh as its file has it; an STL file repeats a vertex for each triangle at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners.
    pub vertices: Vec<Vector3<f64>>,
    /// Three indices of vertices each, counterclockwise from outside. Not read from COLLADA.
    pub triangles: Vec<[u32; 3]>,
}

/// What became of a mesh file.
#[derive(Clone, Debug, PartialEq)]
pub struct HullReport {
    /// The mesh.
    pub file: PathBuf,
    /// Vertices of its convex hull.
    pub hull_vertices: usize,
    /// Vertices that the model keeps of these.
    pub kept_vertices: usize,
    /// How far the farthest vertex that was left out stands outside, metres, before any scaling.
    pub deviation_m: f64,
}

impl HullReport {
    /// Of the hull that was made from a file.
    pub fn of(file: PathBuf, hull: &Hull) -> Self {
        Self {
            file,
            hull_vertices: hull.full_vertices,
            kept_vertices: hull.vertices.len(),
            deviation_m: hull.deviation_m,
        }
    }
}

/// Reads a mesh; the file's name says which format it is.
pub fn read(path: &Path, limits: &Limits) -> Result<Mesh, LoadError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    let mesh = match extension.as_str() {
        "stl" => read_with(stl::parse, path, limits)?,
        "obj" => read_with(obj::parse, path, limits)?,
        "dae" => dae::read(path, limits)?,
        _ => {
            let reason =
                format!("meshes of type \".{extension}\"; convert it to STL, OBJ or DAE, or use a primitive shape");
            return Err(LoadError::of_file(path, LoadProblem::Unsupported { reason }));
        }
    };
    if mesh.vertices.is_empty() {
        let reason = "the mesh has no vertices".to_owned();
        return Err(LoadError::of_file(path, LoadProblem::Malformed { reason }));
    }
    Ok(mesh)
}

fn read_with(
    parse: fn(&[u8], &Limits) -> Result<Mesh, MeshError>,
    path: &Path,
    limits: &Limits,
) -> Result<Mesh, LoadError> {
    let bytes = xml::read_bytes(path, limits)?;
    parse(&bytes, limits).map_err(|error| error.of(path, limits))
}

/// What is wrong with the content of a mesh file.
#[derive(Debug)]
struct MeshError {
    line: Option<u32>,
    problem: MeshProblem,
}

#[derive(Debug)]
enum MeshProblem {
    TooManyVertices,
    Malformed(String),
}

impl MeshError {
    fn too_many_vertices() -> Self {
        Self { line: None, problem: MeshProblem::TooManyVertices }
    }

    fn malformed(line: Option<u32>, reason: impl Into<String>) -> Self {
        Self { line, problem: MeshProblem::Malformed(reason.into()) }
    }

    fn of(self, path: &Path, limits: &Limits) -> LoadError {
        let problem = match self.problem {
            MeshProblem::TooManyVertices => {
                LoadProblem::TooLarge { what: "mesh vertices", limit: limits.mesh_vertices as u64 }
            }
            MeshProblem::Malformed(reason) => LoadProblem::Malformed { reason },
        };
        LoadError { line: self.line, ..LoadError::of_file(path, problem) }
    }
}

/// Three finite numbers from the words of a line.
fn vertex<'t>(words: impl Iterator<Item = &'t str>, line: u32) -> Result<Vector3<f64>, MeshError> {
    let mut values = words.map(|word| word.parse().ok().filter(|x: &f64| x.is_finite()));
    let mut next = || values.next().flatten();
    match (next(), next(), next()) {
        (Some(x), Some(y), Some(z)) => Ok(Vector3::new(x, y, z)),
        _ => Err(MeshError::malformed(Some(line), "expected 3 finite numbers after the keyword")),
    }
}
