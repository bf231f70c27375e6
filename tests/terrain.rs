//! A terrain of triangles holds a robot as the half-space or the solid would that it stands for.

use nalgebra::Vector3;
use saltus::collision::parry::{Terrain, TerrainError};
use saltus::collision::{Collision, CollisionDims, Contact, detect};
use saltus::kinematics::{self, Kinematics};
use saltus::memory::{Arena, Block};
use saltus::model::{
    BodyId, BodySpec, ConvexSpec, GeometrySpec, JointSpec, ModelBuilder, OwnedModel, Shape, ShapeSpec,
};
use saltus::spatial::Inertia;

const MARGIN: f64 = 0.01;

/// A plane of 20 × 20 cells over 2 m × 2 m, tilted by `slope` along x.
fn ramp(slope: f64) -> Terrain {
    let heights: Vec<f64> = (0..21 * 21).map(|k| slope * (f64::from(k % 21) / 10.0 - 1.0)).collect();
    Terrain::height_field(&heights, 21, [2.0, 2.0]).unwrap()
}

fn body(shape: impl Into<ShapeSpec>) -> OwnedModel<f64> {
    let inertia = Inertia::solid_sphere(1.0, 0.1);
    let body = BodySpec::new("body", JointSpec::free_flyer()).inertia(inertia);
    ModelBuilder::new().body(body.geometry(GeometrySpec::new("shape", shape).friction(0.3))).build().unwrap()
}

fn contacts(owned: &OwnedModel<f64>, terrain: &Terrain, at: Vector3<f64>) -> Vec<Contact<f64>> {
    let model = owned.model();
    let dims = CollisionDims { geometries: model.geometries.len(), contacts: 16 };
    let mut memory = vec![Block::EMPTY; Kinematics::<f64>::blocks(model.dims()) + Collision::<f64>::blocks(dims)];
    let mut arena = Arena::new(&mut memory);
    let mut work = Kinematics::carve(&mut arena, model.dims()).unwrap();
    let mut out = Collision::carve(&mut arena, dims).unwrap();
    let q = [at.x, at.y, at.z, 0.0, 0.0, 0.0, 1.0];
    kinematics::forward(model, &q, &[0.0; 6], &mut work).unwrap();
    detect(model, &work, MARGIN, &mut out).unwrap();
    let found = terrain.detect(model, &work, MARGIN, &mut out).unwrap();
    assert_eq!((found.kept, found.bounded), (out.contacts().len(), 0));
    assert!(out.contacts().is_sorted_by_key(|contact| contact.key()));
    out.contacts().to_vec()
}

fn wedge() -> ConvexSpec {
    let corners = [[-0.1, -0.1, -0.1], [0.1, -0.1, -0.1], [0.1, 0.1, -0.1], [-0.1, 0.1, -0.1], [0.0, 0.0, 0.2]];
    ConvexSpec::new(corners.map(Vector3::from).to_vec())
}

#[test]
fn a_flat_terrain_is_a_half_space() {
    let shapes: [(ShapeSpec, f64); 5] = [
        (Shape::Sphere { radius: 0.1 }.into(), 0.1),
        (Shape::Capsule { radius: 0.05, half_length: 0.1 }.into(), 0.15),
        (Shape::Box { half_extents: Vector3::new(0.15, 0.12, 0.1) }.into(), 0.1),
        (Shape::Cylinder { radius: 0.1, half_length: 0.1 }.into(), 0.1),
        (wedge().into(), 0.1),
    ];
    for (shape, height) in shapes {
        let owned = body(shape.clone());
        for (x, y) in [(0.0, 0.0), (0.031, 0.017), (0.1, -0.3), (0.05, 0.05), (0.4999999, 0.2)] {
            for gap in [-0.004, 0.0, 0.004] {
                let found = contacts(&owned, &ramp(0.0), Vector3::new(x, y, height + gap));
                let what = format!("{shape:?} at {x}, {y}, {gap}");
                assert!(!found.is_empty(), "{what}");
                for contact in &found {
                    assert!((contact.at.distance - gap).abs() < 1e-9, "{what}: {contact:?}");
                    assert!((contact.at.normal - Vector3::z()).norm() < 1e-9, "{what}: {contact:?}");
                    assert_eq!(contact.bodies(owned.model()), (BodyId::WORLD, BodyId::new(1)), "{what}");
                    assert_eq!(contact.material(owned.model()).friction, 0.3, "{what}");
                    assert_eq!(contact.terrain_geometry(), Some(0), "{what}");
                }
            }
            assert!(contacts(&owned, &ramp(0.0), Vector3::new(x, y, height + 0.02)).is_empty());
        }
    }
}

#[test]
fn a_ball_rolls_down_a_ramp_without_catching_on_edges() {
    let (owned, terrain) = (body(Shape::Sphere { radius: 0.1 }), ramp(0.3));
    let normal = Vector3::new(-0.3, 0.0, 1.0).normalize();
    for k in 0..200 {
        let x = -0.8 + 0.008 * f64::from(k);
        let at = Vector3::new(x, 0.3 * x, 0.3 * x) + normal * 0.099;
        let found = contacts(&owned, &terrain, at);
        assert_eq!(found.len(), 1, "at {x}: {found:?}");
        assert!((found[0].at.normal - normal).norm() < 1e-6, "at {x}: {found:?}");
        assert!((found[0].at.distance + 0.001).abs() < 1e-9, "at {x}: {found:?}");
    }
}

#[test]
fn a_ridge_and_a_rim_hold_a_ball_by_their_edges() {
    let ridge = [0.0, 0.2, 0.0, 0.0, 0.2, 0.0];
    let terrain = Terrain::height_field(&ridge, 3, [2.0, 2.0]).unwrap();
    let owned = body(Shape::Sphere { radius: 0.1 });
    let found = contacts(&owned, &terrain, Vector3::new(0.001, 0.03, 0.295));
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = Vector3::new(0.001, 0.0, 0.095);
    assert!((found[0].at.normal - expected.normalize()).norm() < 1e-6, "{found:?}");
    assert!((found[0].at.distance - (expected.norm() - 0.1)).abs() < 1e-9, "{found:?}");
    let rim = contacts(&owned, &ramp(0.0), Vector3::new(1.05, 0.0, 0.05));
    assert_eq!(rim.len(), 1, "{rim:?}");
    assert!((rim[0].at.distance - (0.05_f64.hypot(0.05) - 0.1)).abs() < 1e-9, "{rim:?}");
}

#[test]
fn bad_terrains_are_refused() {
    let v = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    assert_eq!(Terrain::mesh(&v, &[]).unwrap_err(), TerrainError::Empty);
    assert_eq!(Terrain::mesh(&v, &[[0, 1, 3]]).unwrap_err(), TerrainError::UnknownVertex { triangle: 0 });
    assert_eq!(Terrain::mesh(&v, &[[0, 1, 1]]).unwrap_err(), TerrainError::Empty);
    let hole = [Vector3::zeros(), Vector3::x() * f64::NAN, Vector3::y()];
    assert_eq!(Terrain::mesh(&hole, &[[0, 1, 2]]).unwrap_err(), TerrainError::NotFinite { vertex: 1 });
    for (count, columns) in [(4, 0), (4, 3), (3, 3), (4, 1)] {
        assert_eq!(Terrain::height_field(&vec![0.0; count], columns, [1.0, 1.0]).unwrap_err(), TerrainError::Grid);
    }
}
