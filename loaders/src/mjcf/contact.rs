//! `<contact>`: stated pairs and exclusions.

use std::collections::BTreeSet;

use saltus::model::{Material, ModelBuilder, OwnedModel};

use super::defaults::{ClassId, Defaults};
use super::files::Files;
use super::geom::Surface;
use super::tree::GeomPart;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;

const PAIR: [&str; 6] = ["name", "class", "geom1", "geom2", "condim", "friction"];
const EXCLUDE: [&str; 3] = ["name", "body1", "body2"];

/// A pair as stated.
pub(super) struct StatedPair<'d> {
    element: Element<'d>,
    first: &'d str,
    second: &'d str,
    friction: Option<f64>,
    dimensions: Option<f64>,
}

/// All that `<contact>` says.
#[derive(Default)]
pub(super) struct Contacts<'d> {
    pairs: Vec<StatedPair<'d>>,
    excluded: Vec<(&'d str, &'d str)>,
}

impl<'d> Contacts<'d> {
    pub fn read(files: Files<'d>, defaults: &Defaults<'d>, warnings: &mut Warnings) -> Result<Self, LoadError> {
        let mut contacts = Self::default();
        for element in files.section("contact") {
            match element.name() {
                "pair" => {
                    warnings.unknown(element, &PAIR, &[]);
                    let attributes = defaults.of(element, ClassId::default())?;
                    contacts.pairs.push(StatedPair {
                        element,
                        first: element.required("geom1")?,
                        second: element.required("geom2")?,
                        friction: attributes
                            .stating("friction")
                            .floats("friction", 5)?
                            .and_then(|friction| friction.first().copied()),
                        dimensions: attributes.float("condim")?,
                    });
                }
                "exclude" => {
                    warnings.unknown(element, &EXCLUDE, &[]);
                    contacts.excluded.push((element.required("body1")?, element.required("body2")?));
                }
                other => {
                    let message = format!("<{}> in <contact>: this element is ignored", crate::error::excerpt(other));
                    warnings.add(element, message);
                }
            }
        }
        Ok(contacts)
    }

    /// Names of the geoms that must be there whatever their masks say.
    pub fn named(&self) -> BTreeSet<&'d str> {
        self.pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect()
    }

    /// States pairs and exclusions to the builder.
    pub fn add_to(&self, mut builder: ModelBuilder, geoms: &[GeomPart<'d>]) -> Result<ModelBuilder, LoadError> {
        for pair in &self.pairs {
            let surface = |attribute: &str, name: &str| {
                let found = geoms.iter().find(|part| part.geom.name == Some(name)).map(|part| part.geom.surface);
                found.ok_or_else(|| pair.element.unexpected(attribute, "the name of a geom"))
            };
            let (first, second) = (surface("geom1", pair.first)?, surface("geom2", pair.second)?);
            let combined = first.meets(&second);
            let frictionless = pair.dimensions == Some(1.0);
            let friction = if frictionless { 0.0 } else { pair.friction.unwrap_or(combined.friction) };
            builder = builder.pair(pair.first, pair.second, Material::new(friction, 0.0));
        }
        for &(first, second) in &self.excluded {
            builder = builder.exclude(first, second);
        }
        Ok(builder)
    }

    /// Gives each pair that is not stated the friction that MuJoCo would give it.
    pub fn combine_surfaces(&self, model: &mut OwnedModel<f64>, surfaces: &[Surface]) {
        let stated: BTreeSet<(usize, usize)> = self
            .pairs
            .iter()
            .filter_map(|pair| {
                let model = model.model();
                let (a, b) = (model.find_geometry(pair.first)?.index(), model.find_geometry(pair.second)?.index());
                Some((a.min(b), a.max(b)))
            })
            .collect();
        for pair in model.pairs_mut() {
            let both = (pair.a.index(), pair.b.index());
            if let (false, Some(a), Some(b)) = (stated.contains(&both), surfaces.get(both.0), surfaces.get(both.1)) {
                pair.material = a.meets(b);
            }
        }
    }
}
