//! Wavefront OBJ: vertices and faces; all else (normals, textures, groups, materials) has no bearing on a hull.

use super::{Mesh, MeshError, vertex};
use crate::Limits;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Mesh, MeshError> {
    let mut mesh = Mesh::default();
    for (k, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let number = k as u32 + 1;
        // Comments and names may be in any encoding.
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                if mesh.vertices.len() >= limits.mesh_vertices {
                    return Err(MeshError::too_many_vertices());
                }
                mesh.vertices.push(vertex(words, number)?);
            }
            Some("f") => add_face(&mut mesh, words, number)?,
            _ => {}
        }
    }
    Ok(mesh)
}

/// A polygon as a fan of triangles.
fn add_face<'t>(mesh: &mut Mesh, words: impl Iterator<Item = &'t str>, line: u32) -> Result<(), MeshError> {
    let mut corners = 0;
    let (mut first, mut previous) = (0, 0);
    for word in words {
        let corner = index(word, mesh.vertices.len()).ok_or_else(|| {
            MeshError::malformed(
                Some(line),
                format!(
                    "expected the index of one of the {} vertices so far, found \"{}\"",
                    mesh.vertices.len(),
                    crate::error::excerpt(word)
                ),
            )
        })?;
        match corners {
            0 => first = corner,
            1 => {}
            _ => mesh.triangles.push([first, previous, corner]),
        }
        previous = corner;
        corners += 1;
    }
    if corners < 3 {
        return Err(MeshError::malformed(
            Some(line),
            format!("expected a face of 3 or more vertices, found {corners}"),
        ));
    }
    Ok(())
}

/// `7`, `7/1`, `7//3` or `7/1/3`, from 1; negative ones count from the end.
fn index(word: &str, vertices: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let at = if number < 0 { vertices as i64 + number } else { number - 1 };
    u32::try_from(at).ok().filter(|&at| (at as usize) < vertices)
}
