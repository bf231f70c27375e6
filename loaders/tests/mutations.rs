//! Damaged files are refused or loaded, and nothing else happens.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use saltus_loaders::mesh::{self, Hull};
use saltus_loaders::{Limits, LoadOptions, load_text};
use saltus_testkit::Random;

/// Damaged copies of each file: some seconds in all.
const COPIES: usize = 400;

fn robots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/robots")
}

fn below(random: &mut Random, bound: usize) -> usize {
    ((random.uniform() * bound as f64) as usize).min(bound.saturating_sub(1))
}

/// A copy with a few bytes changed, cut out, or doubled.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const LIKELY: &[u8] = b"<>/\"'=.-e019 \n&\0\xff";
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + below(random, 4) {
        let at = below(random, bytes.len());
        let end = (at + 1 + below(random, 40)).min(bytes.len());
        match below(random, 4) {
            0 => bytes[at] = LIKELY[below(random, LIKELY.len())],
            1 => bytes[at] ^= 1 << below(random, 8),
            2 => drop(bytes.drain(at..end)),
            _ => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn a_damaged_robot_is_an_error_or_a_robot() {
    let path = robots().join("every_joint.urdf");
    let bytes = std::fs::read(&path).unwrap();
    let mut random = Random::new(11);
    let (mut loaded, mut refused) = (0, 0);
    for _ in 0..COPIES {
        let copy = damaged(&bytes, &mut random);
        let text = String::from_utf8_lossy(&copy);
        let options = LoadOptions { free_flyer: random.uniform() < 0.5, ..LoadOptions::default() };
        match load_text(&path, &text, &options) {
            Ok(_) => loaded += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    assert!(loaded > 0 && refused > 0, "{loaded} loaded, {refused} refused: the damage is too little or too much");
}

#[test]
fn a_damaged_mesh_is_an_error_or_a_mesh() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutations");
    std::fs::create_dir_all(&folder).unwrap();
    let mut random = Random::new(12);
    for name in ["brick.stl", "brick_text.stl", "brick.obj", "brick.dae"] {
        let bytes = std::fs::read(robots().join("meshes").join(name)).unwrap();
        let path = folder.join(name);
        for _ in 0..COPIES {
            std::fs::write(&path, damaged(&bytes, &mut random)).unwrap();
            if let Ok(mesh) = mesh::read(&path, &Limits::default()) {
                let _ = Hull::of(&mesh.vertices, 64);
            }
        }
    }
}

#[test]
fn crowded_points_have_a_hull() {
    let mut random = Random::new(13);
    let (mut found, mut tried) = (0, 0);
    for round in 0..300 {
        let count = 8 + below(&mut random, 600);
        // Points on a grid: many in one plane, on one line, and some a rounding error beside it.
        let cells = 2 + round % 7;
        let mut coordinate = || {
            let grid = (random.uniform() * f64::from(cells)).floor();
            grid + if random.uniform() < 0.2 { 1e-7 * random.signed() } else { 0.0 }
        };
        let points: Vec<_> = (0..count).map(|_| Vector3::from_fn(|_, _| coordinate())).collect();
        tried += 1;
        found += usize::from(Hull::of(&points, 64).is_ok());
    }
    assert_eq!(found, tried);
}
