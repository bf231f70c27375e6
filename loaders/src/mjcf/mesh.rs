//! Mesh assets: opened when a geom first needs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nalgebra::{Matrix3, Vector3};
use saltus::spatial::{Inertia, Symmetric3};

use super::defaults::{ClassId, Defaults};
use super::files::{Files, beside, find_file};
use crate::Limits;
use crate::error::{LoadError, LoadProblem};
use crate::mesh::{self, Hull, HullReport, Mesh};
use crate::warning::Warnings;
use crate::xml::Element;

/// An asset that is not opened yet.
struct Asset<'d> {
    element: Element<'d>,
    scale: Vector3<f64>,
}

/// All assets, and those that are open.
pub(super) struct Meshes<'d> {
    files: Files<'d>,
    assets: BTreeMap<String, Asset<'d>>,
    open: BTreeMap<String, Rc<Mesh>>,
    hulls: BTreeMap<String, Rc<Hull>>,
    pub reports: Vec<HullReport>,
    folder: &'d str,
    strip_path: bool,
}

/// Attributes that are read.
const KNOWN: [&str; 7] = ["name", "class", "file", "scale", "inertia", "vertex", "face"];

impl<'d> Meshes<'d> {
    pub fn read(
        files: Files<'d>,
        defaults: &Defaults<'d>,
        (folder, strip_path): (&'d str, bool),
        warnings: &mut Warnings,
    ) -> Result<Self, LoadError> {
        let mut assets = BTreeMap::new();
        for element in files.section("asset").into_iter().filter(|element| element.name() == "mesh") {
            warnings.unknown(element, &KNOWN, &[]);
            let attributes = defaults.of(element, ClassId::default())?;
            let scale = attributes.vector("scale")?.unwrap_or(Vector3::repeat(1.0));
            let name = match (element.attribute("name"), element.attribute("file")) {
                (Some(name), _) => name.to_owned(),
                (None, Some(file)) => {
                    Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
                }
                (None, None) => return Err(element.missing("attribute name or file")),
            };
            if assets.insert(name, Asset { element, scale }).is_some() {
                return Err(element.inconsistent("a second mesh of this name"));
            }
        }
        let (open, hulls, reports) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Ok(Self { files, assets, open, hulls, reports, folder, strip_path })
    }

    /// The triangles of a mesh that a geom names, scaled.
    pub fn mesh(&mut self, geom: Element<'d>, name: &str) -> Result<Rc<Mesh>, LoadError> {
        if let Some(mesh) = self.open.get(name) {
            return Ok(mesh.clone());
        }
        let Some(asset) = self.assets.get(name) else {
            let reason = format!("the mesh \"{}\" is not among the assets", crate::error::excerpt(name));
            return Err(geom.inconsistent(reason));
        };
        let limits = &self.files.options.limits;
        if self.open.len() >= limits.meshes {
            return Err(geom.error(LoadProblem::TooLarge { what: "meshes", limit: limits.meshes as u64 }));
        }
        let mut mesh = match asset.element.attribute("vertex") {
            Some(_) => written_out(asset.element, limits)?,
            None => mesh::read(&self.path(asset)?, limits)?,
        };
        mesh.vertices.iter_mut().for_each(|vertex| vertex.component_mul_assign(&asset.scale));
        if asset.scale.product() < 0.0 {
            mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        let mesh = Rc::new(mesh);
        self.open.insert(name.to_owned(), mesh.clone());
        Ok(mesh)
    }

    /// Its convex hull, with as many vertices as the options allow.
    pub fn hull(&mut self, geom: Element<'d>, name: &str) -> Result<Rc<Hull>, LoadError> {
        if let Some(hull) = self.hulls.get(name) {
            return Ok(hull.clone());
        }
        let mesh = self.mesh(geom, name)?;
        let hull = Hull::of(&mesh.vertices, self.files.options.max_hull_vertices)
            .map_err(|error| geom.error(LoadProblem::Malformed { reason: format!("mesh \"{name}\": {error}") }))?;
        let asset = self.assets.get(name).filter(|asset| asset.element.attribute("vertex").is_none());
        let file = asset.map(|asset| self.path(asset)).transpose()?.unwrap_or_else(|| PathBuf::from(name));
        self.reports.push(HullReport::of(file, &hull));
        let hull = Rc::new(hull);
        self.hulls.insert(name.to_owned(), hull.clone());
        Ok(hull)
    }

    /// How the mass of a mesh is spread, as its asset says.
    pub fn inertia(&mut self, geom: Element<'d>, name: &str) -> Result<Inertia<f64>, LoadError> {
        let mesh = self.mesh(geom, name)?;
        let words = [
            ("legacy", Volumes::Absolute),
            ("exact", Volumes::Signed),
            ("convex", Volumes::OfHull),
            ("shell", Volumes::Shell),
        ];
        let asset = self.assets.get(name).map(|asset| asset.element.choice("inertia", &words)).transpose()?.flatten();
        let inertia = match asset.unwrap_or(Volumes::Absolute) {
            Volumes::Absolute => volume_inertia(&mesh.vertices, &mesh.triangles, f64::abs),
            Volumes::Signed => volume_inertia(&mesh.vertices, &mesh.triangles, |volume| volume),
            Volumes::OfHull => {
                let hull = Hull::of(&mesh.vertices, usize::MAX)
                    .map_err(|error| geom.error(LoadProblem::Malformed { reason: error.to_string() }))?;
                volume_inertia(&hull.vertices, &hull.triangles, |volume| volume)
            }
            Volumes::Shell => return Err(geom.unsupported("inertia=\"shell\" of a mesh; state an <inertial>")),
        };
        if inertia.mass > 0.0 && inertia.mass.is_finite() {
            return Ok(inertia);
        }
        let reason =
            format!("mesh \"{}\" encloses no volume; state a mass or an <inertial>", crate::error::excerpt(name));
        Err(geom.error(LoadProblem::Malformed { reason }))
    }

    fn path(&self, asset: &Asset<'d>) -> Result<PathBuf, LoadError> {
        let name = match asset.element.attribute("file") {
            Some(name) => name,
            None => return Err(asset.element.missing("attribute file or vertex")),
        };
        let name = if self.strip_path { name.rsplit(['/', '\\']).next().unwrap_or(name) } else { name };
        let main = self.files.root.file();
        let found = find_file(name, self.folder, asset.element, main, self.files.options);
        Ok(found.unwrap_or_else(|| beside(main).join(self.folder).join(name)))
    }
}

/// A mesh whose vertices stand in the file itself; without faces it is their convex hull.
fn written_out(element: Element<'_>, limits: &Limits) -> Result<Mesh, LoadError> {
    let numbers = element.floats("vertex", 3 * limits.mesh_vertices)?.unwrap_or_default();
    let (vertices, []) = numbers.as_chunks::<3>() else {
        return Err(element.unexpected("vertex", "three numbers for each vertex"));
    };
    let vertices: Vec<Vector3<f64>> = vertices.iter().map(|&vertex| vertex.into()).collect();
    let Some(faces) = element.floats("face", 6 * limits.mesh_vertices)? else {
        let hull = Hull::of(&vertices, usize::MAX)
            .map_err(|error| element.error(LoadProblem::Malformed { reason: error.to_string() }))?;
        return Ok(Mesh { vertices: hull.vertices, triangles: hull.triangles });
    };
    let index = |x: f64| Some(x as u32).filter(|&k| f64::from(k) == x && (k as usize) < vertices.len());
    let corners: Option<Vec<u32>> = faces.into_iter().map(index).collect();
    match corners.as_deref().map(<[u32]>::as_chunks::<3>) {
        Some((triangles, [])) => Ok(Mesh { triangles: triangles.to_vec(), vertices }),
        _ => Err(element.unexpected("face", "three indices of vertices for each triangle, from 0")),
    }
}

#[derive(Clone, Copy)]
enum Volumes {
    /// Each tetrahedron counts as filled: what MuJoCo calls legacy, and its default.
    Absolute,
    Signed,
    OfHull,
    Shell,
}

/// Mass distribution of density 1 within triangles: tetrahedra from the centroid of the surface, then from the centre of
/// mass, as MuJoCo has it.
fn volume_inertia(vertices: &[Vector3<f64>], triangles: &[[u32; 3]], count: fn(f64) -> f64) -> Inertia<f64> {
    let corners = |triangle: &[u32; 3]| triangle.map(|k| vertices[k as usize]);
    let (mut area, mut surface) = (0.0, Vector3::zeros());
    for [a, b, c] in triangles.iter().map(corners) {
        let share = 0.5 * (b - a).cross(&(c - a)).norm();
        area += share;
        surface += share * (a + b + c) / 3.0;
    }
    let apex = if area > 0.0 { surface / area } else { Vector3::zeros() };
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    for [a, b, c] in triangles.iter().map(corners) {
        let volume = count((a - apex).dot(&(b - apex).cross(&(c - apex))) / 6.0);
        mass += volume;
        moment += volume * (0.25 * (a + b + c + apex));
    }
    if mass == 0.0 {
        return Inertia::ZERO;
    }
    let com = moment / mass;
    let (mut volume_sum, mut second) = (0.0, Matrix3::zeros());
    for [a, b, c] in triangles.iter().map(|triangle| corners(triangle).map(|corner| corner - com)) {
        let volume = count(a.dot(&b.cross(&c)) / 6.0);
        let sum = a + b + c;
        volume_sum += volume;
        second += volume / 20.0 * (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
    }
    let rotational = Matrix3::identity() * second.trace() - second;
    Inertia::new(volume_sum, com, Symmetric3::from_matrix(&rotational))
}
