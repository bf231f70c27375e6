//! COLLADA: the vertices of all geometries that the scene shows, in metres.
//!
//! `up_axis` is not applied, as ROS has it: coordinates of a robot's mesh are those of its link.

use std::collections::BTreeMap;
use std::path::Path;

use nalgebra::{Matrix4, Rotation3, Unit, Vector3};

use super::Mesh;
use crate::Limits;
use crate::error::{LoadError, LoadProblem, excerpt};
use crate::xml::{Element, XmlFile, read_text};

pub(super) fn read(path: &Path, limits: &Limits) -> Result<Mesh, LoadError> {
    let text = read_text(path, limits)?;
    let file = XmlFile::parse(path, &text, limits)?;
    let root = file.root();
    if root.name() != "COLLADA" {
        let expected = "the root element <COLLADA>".to_owned();
        return Err(root.error(LoadProblem::Unexpected { expected, found: format!("<{}>", excerpt(root.name())) }));
    }
    let mut reader = Reader::new(root, limits);
    for scene in root.children_named("library_visual_scenes").flat_map(|l| l.children_named("visual_scene")) {
        reader.show_children(scene, &Matrix4::new_scaling(unit(root)?), 0)?;
    }
    Ok(Mesh { vertices: reader.vertices, triangles: Vec::new() })
}

/// Metres per unit of length.
fn unit(root: Element<'_>) -> Result<f64, LoadError> {
    let unit = root.children_named("asset").flat_map(|asset| asset.children_named("unit")).next();
    let meter = unit.map(|unit| unit.float("meter")).transpose()?.flatten();
    Ok(meter.unwrap_or(1.0))
}

/// Walks the scene and collects what it shows.
struct Reader<'d> {
    limits: Limits,
    geometries: BTreeMap<&'d str, Element<'d>>,
    nodes: BTreeMap<&'d str, Element<'d>>,
    vertices: Vec<Vector3<f64>>,
    /// Nodes shown so far: a node may be shown in many places, and those places again.
    shown: u32,
}

impl<'d> Reader<'d> {
    fn new(root: Element<'d>, limits: &Limits) -> Self {
        let by_id = |library: &'static str, name: &'static str| {
            let elements = root.children_named(library).flat_map(move |library| library.children_named(name));
            elements.filter_map(|element| Some((element.attribute("id")?, element))).collect()
        };
        Self {
            limits: *limits,
            geometries: by_id("library_geometries", "geometry"),
            nodes: by_id("library_nodes", "node"),
            vertices: Vec::new(),
            shown: 0,
        }
    }

    /// Shows the content of a node or scene that stands at `placement`.
    fn show_children(&mut self, node: Element<'d>, placement: &Matrix4<f64>, depth: usize) -> Result<(), LoadError> {
        self.shown += 1;
        if self.shown > self.limits.nodes || depth > self.limits.depth {
            return Err(node.too_many("nodes shown in the scene", self.limits.nodes as usize));
        }
        for child in node.children() {
            match child.name() {
                "node" => self.show_node(child, placement, depth)?,
                "instance_node" => {
                    let target = target(child, &self.nodes)?;
                    self.show_node(target, placement, depth)?;
                }
                "instance_geometry" => {
                    let target = target(child, &self.geometries)?;
                    self.show_geometry(target, placement)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn show_node(&mut self, node: Element<'d>, parent: &Matrix4<f64>, depth: usize) -> Result<(), LoadError> {
        let mut placement = *parent;
        for child in node.children() {
            placement *= transform(child)?;
        }
        self.show_children(node, &placement, depth + 1)
    }

    fn show_geometry(&mut self, geometry: Element<'d>, placement: &Matrix4<f64>) -> Result<(), LoadError> {
        for mesh in geometry.children_named("mesh") {
            let vertices = mesh.required_child("vertices")?;
            let mut inputs = vertices.children_named("input");
            let positions = inputs.find(|input| input.attribute("semantic") == Some("POSITION"));
            let input = positions.ok_or_else(|| vertices.missing("<input semantic=\"POSITION\">"))?;
            let id = input.required("source")?.trim_start_matches('#');
            let source = mesh.children_named("source").find(|source| source.attribute("id") == Some(id));
            let source = source.ok_or_else(|| input.unexpected("source", "the id of a <source>"))?;
            self.add_points(source.required_child("float_array")?, placement)?;
        }
        Ok(())
    }

    fn add_points(&mut self, array: Element<'d>, placement: &Matrix4<f64>) -> Result<(), LoadError> {
        let mut coordinates = Vec::with_capacity(3);
        for word in array.text().split_whitespace() {
            let number = word.parse().ok().filter(|x: &f64| x.is_finite());
            coordinates.push(number.ok_or_else(|| {
                let found = format!("\"{}\"", excerpt(word));
                array.error(LoadProblem::Unexpected { expected: "finite numbers".to_owned(), found })
            })?);
            if let [x, y, z] = coordinates[..] {
                if self.vertices.len() >= self.limits.mesh_vertices {
                    return Err(array.too_many("mesh vertices", self.limits.mesh_vertices));
                }
                self.vertices.push(placement.transform_point(&[x, y, z].into()).coords);
                coordinates.clear();
            }
        }
        Ok(())
    }
}

/// What `url="#id"` means.
fn target<'d>(instance: Element<'d>, by_id: &BTreeMap<&'d str, Element<'d>>) -> Result<Element<'d>, LoadError> {
    let id = instance.required("url")?.trim_start_matches('#');
    by_id.get(id).copied().ok_or_else(|| instance.unexpected("url", "the id of an element in this file"))
}

/// The transform that an element states; the identity for any other element.
fn transform(element: Element<'_>) -> Result<Matrix4<f64>, LoadError> {
    Ok(match element.name() {
        "matrix" => Matrix4::from_row_slice(&numbers::<16>(element)?),
        "translate" => Matrix4::new_translation(&numbers::<3>(element)?.into()),
        "scale" => Matrix4::new_nonuniform_scaling(&numbers::<3>(element)?.into()),
        "rotate" => {
            let [x, y, z, degrees] = numbers::<4>(element)?;
            let axis = Unit::try_new(Vector3::new(x, y, z), 0.0);
            axis.map_or(Matrix4::identity(), |axis| {
                Rotation3::from_axis_angle(&axis, degrees.to_radians()).to_homogeneous()
            })
        }
        "lookat" | "skew" => return Err(element.unsupported("apply the transform before the mesh is exported")),
        _ => Matrix4::identity(),
    })
}

/// The numbers in the text of an element.
fn numbers<const N: usize>(element: Element<'_>) -> Result<[f64; N], LoadError> {
    let words = element.text().split_whitespace().take(N + 1);
    let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok().filter(|x: &f64| x.is_finite())).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| {
        let found = format!("\"{}\"", excerpt(element.text()));
        element.error(LoadProblem::Unexpected { expected: format!("{N} finite numbers"), found })
    })
}
