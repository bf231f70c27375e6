//! STL, binary and as text. Normals and colours are not read.

use nalgebra::Vector3;

use super::{Mesh, MeshError, vertex};
use crate::Limits;

/// Comment of a binary file, before the number of triangles.
const HEADER: usize = 80;
/// Normal, three corners and a flag word.
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Mesh, MeshError> {
    // Binary files may start with "solid" as well; the stated count decides.
    match stated_triangles(bytes) {
        Some(count) if bytes.len() == HEADER + 4 + count * TRIANGLE => binary(bytes, count, limits),
        _ if starts_as_text(bytes) => text(bytes, limits),
        Some(count) if bytes.len() > HEADER + 4 + count * TRIANGLE => binary(bytes, count, limits),
        Some(count) => {
            let held = (bytes.len() - HEADER - 4) / TRIANGLE;
            Err(MeshError::malformed(None, format!("expected {count} triangles as the STL header says, found {held}")))
        }
        None => Err(MeshError::malformed(None, "expected an STL file: \"solid\" or a header of 84 bytes")),
    }
}

fn stated_triangles(bytes: &[u8]) -> Option<usize> {
    let count: [u8; 4] = bytes.get(HEADER..HEADER + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(count) as usize)
}

fn starts_as_text(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"solid")
}

fn binary(bytes: &[u8], count: usize, limits: &Limits) -> Result<Mesh, MeshError> {
    if 3 * count > limits.mesh_vertices {
        return Err(MeshError::too_many_vertices());
    }
    let mut mesh = Mesh::default();
    for (k, triangle) in bytes[HEADER + 4..].as_chunks::<TRIANGLE>().0.iter().take(count).enumerate() {
        for corner in triangle[12..48].as_chunks::<12>().0 {
            let [x, y, z] =
                [0, 4, 8].map(|at| f32::from_le_bytes([corner[at], corner[at + 1], corner[at + 2], corner[at + 3]]));
            if !(x.is_finite() && y.is_finite() && z.is_finite()) {
                let reason = format!("triangle {}: expected finite coordinates, found {x} {y} {z}", k + 1);
                return Err(MeshError::malformed(None, reason));
            }
            mesh.vertices.push(Vector3::new(x.into(), y.into(), z.into()));
        }
        add_triangle(&mut mesh);
    }
    Ok(mesh)
}

fn text(bytes: &[u8], limits: &Limits) -> Result<Mesh, MeshError> {
    let mut mesh = Mesh::default();
    let mut in_facet = 0;
    for (k, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let number = k as u32 + 1;
        let Ok(line) = std::str::from_utf8(line) else {
            return Err(MeshError::malformed(Some(number), "expected an STL file as text, found other bytes"));
        };
        let mut words = line.split_whitespace();
        match words.next() {
            Some("vertex") => {
                if mesh.vertices.len() >= limits.mesh_vertices {
                    return Err(MeshError::too_many_vertices());
                }
                mesh.vertices.push(vertex(words, number)?);
                in_facet += 1;
            }
            Some("endloop") if in_facet == 3 => {
                add_triangle(&mut mesh);
                in_facet = 0;
            }
            Some("endloop") => {
                let reason = format!("expected 3 vertices in a facet, found {in_facet}");
                return Err(MeshError::malformed(Some(number), reason));
            }
            Some("solid" | "facet" | "outer" | "endfacet" | "endsolid") | None => {}
            Some(other) => {
                let reason = format!("expected a keyword of STL, found \"{}\"", crate::error::excerpt(other));
                return Err(MeshError::malformed(Some(number), reason));
            }
        }
    }
    Ok(mesh)
}

/// Of the last three vertices.
fn add_triangle(mesh: &mut Mesh) {
    let end = mesh.vertices.len() as u32;
    mesh.triangles.push([end - 3, end - 2, end - 1]);
}
