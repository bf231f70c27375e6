//! MJCF, MuJoCo's format.
//!
//! Coordinates are MuJoCo's: a model read from MJCF has q and v in the order of qpos and qvel, with hinge angles and
//! slide positions equal to MuJoCo's. Two things differ, and keyframes are converted: quaternions are (x, y, z, w) here
//! and (w, x, y, z) there, and the linear velocity of a free joint is along the body's axes here and the world's there.
//!
//! A body with several joints becomes a chain of massless bodies. A body frame has its origin in its joint; where that
//! is not MuJoCo's origin of the body, a frame of the body's name stands there. Sites become frames. Geoms that can
//! touch nothing only give their mass. `<connect>` and `<weld>` become closures, rigid ones. The robot as the file places
//! it is the keyframe `qpos0`.
//!
//! What only concerns pictures, sound and bookkeeping (`visual`, `statistic`, `camera`, `light`, textures, materials,
//! `rgba`, `group`, `user`, `size`, `custom`) is passed over; whatever else is not read is named in the warnings.

mod actuator;
mod compiler;
mod contact;
mod defaults;
mod equality;
mod files;
mod geom;
mod inertia;
mod joint;
mod keyframe;
mod mesh;
mod names;
mod orientation;
mod spring_damper;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use saltus::model::{CollisionFilter, Item, ModelBuilder, ModelError};

use crate::error::{LoadError, LoadProblem};
use crate::warning::Warnings;
use crate::xml::{Element, XmlFile};
use crate::{LoadOptions, Loaded};

use compiler::{Compiler, Physics};
use contact::Contacts;
use defaults::Defaults;
use files::Files;
use mesh::Meshes;
use names::Names;
use tree::{Context, Tree};

/// Top-level elements that are read.
const SECTIONS: [&str; 10] =
    ["compiler", "option", "default", "asset", "worldbody", "contact", "equality", "actuator", "keyframe", "include"];
/// Top-level elements, and assets, that have no bearing on motion.
const COSMETIC: [&str; 10] =
    ["visual", "statistic", "size", "custom", "texture", "material", "skin", "camera", "light", "mesh"];

/// Reads the robot of a `<mujoco>` element.
pub fn load(root: Element<'_>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let texts = files::read_included(root, options)?;
    let mut included = BTreeMap::new();
    for (path, text) in &texts {
        included.insert(path.clone(), XmlFile::parse(path, text, &options.limits)?);
    }
    interpret(Files { root, included: &included, options })
}

fn interpret(files: Files<'_>) -> Result<Loaded, LoadError> {
    let mut warnings = Warnings::default();
    name_unread_sections(files, &mut warnings);
    let compiler = Compiler::read(files, &mut warnings)?;
    let physics = Physics::read(files, &mut warnings)?;
    let defaults = Defaults::read(files)?;
    name_unread_defaults(&defaults, &mut warnings);
    let mut meshes = Meshes::read(files, &defaults, (compiler.mesh_folder, compiler.strip_path), &mut warnings)?;
    let contacts = Contacts::read(files, &defaults, &mut warnings)?;
    let mut names = reserve_names(files);
    let mut context = Context {
        files,
        compiler: &compiler,
        physics: &physics,
        defaults: &defaults,
        meshes: &mut meshes,
        warnings: &mut warnings,
    };
    let mut tree = Tree::read(&mut context, &mut names)?;
    tree.set_total_mass(compiler.total_mass);

    let mut builder = ModelBuilder::new().gravity(physics.gravity);
    for body in &tree.bodies {
        builder = builder.body(body.spec.clone().inertia(body.inertia));
    }
    let (mut builder, sites) = add_sites(builder, &tree, &mut names, &mut warnings);
    let mut surfaces = Vec::new();
    if files.options.geometry {
        (builder, surfaces) = add_geoms(builder, &tree, &contacts, physics.contact, &mut meshes, &mut warnings)?;
        if physics.contact {
            builder = contacts.add_to(builder, &tree.geoms)?;
        }
    }
    for spec in equality::read(files, &defaults, &tree, physics.equality, &mut warnings)? {
        builder = builder.closure(spec);
    }
    for (first, second) in &files.options.exclude {
        builder = builder.exclude(first, second);
    }
    let targets = actuator::Targets { joints: &tree.joints, sites: &sites };
    let actuators = actuator::read(files, &defaults, &compiler, &targets, &mut warnings)?;
    for spec in actuators.iter().filter_map(|(_, spec)| spec.as_ref()) {
        builder = builder.actuator(spec.clone());
    }
    let mut model = builder.build().map_err(|error| positioned(error, files.root, &tree, &actuators))?;
    contacts.combine_surfaces(&mut model, &surfaces);
    spring_damper::apply(&mut model, &tree.joints, &keyframe::initial(&tree.joints))?;
    for (element, key) in keyframe::read(files, &tree.joints, &actuators, &mut warnings)? {
        model = model.with_keyframe(&key).map_err(|error| element.error(LoadProblem::Model(error)))?;
    }
    let (timestep_s, hulls) = (physics.timestep_s, meshes.reports);
    Ok(Loaded { model, warnings: warnings.into_list(), timestep_s, hulls })
}

/// Warns of sections and assets that nobody reads.
fn name_unread_sections(files: Files<'_>, warnings: &mut Warnings) {
    let mut note = |element: Element<'_>, around: &str, read: &[&str]| {
        let name = element.name();
        if !read.contains(&name) && !COSMETIC.contains(&name) {
            warnings.add(element, format!("<{}> in <{around}>: this element is ignored", crate::error::excerpt(name)));
        }
    };
    for section in files.children(files.root) {
        note(section, "mujoco", &SECTIONS);
    }
    for asset in files.section("asset") {
        note(asset, "asset", &[]);
    }
}

/// Warns of attributes in default classes that nobody reads; elements that nobody reads are harmless there.
fn name_unread_defaults(defaults: &Defaults<'_>, warnings: &mut Warnings) {
    for element in defaults.elements() {
        match element.name() {
            "geom" => warnings.unknown(element, &geom::KNOWN, &[]),
            "joint" => warnings.unknown(element, &joint::KNOWN, &[]),
            "site" => warnings.unknown(element, &tree::SITE, &[]),
            "equality" => warnings.unknown(element, &equality::DEFAULT, &[]),
            "general" | "motor" | "position" | "velocity" => warnings.unknown(element, &actuator::KNOWN, &[]),
            _ => {}
        }
    }
}

/// All names that the files state, so that none that is made up clashes with them.
fn reserve_names(files: Files<'_>) -> Names {
    let (mut bodies, mut joints, mut frames) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    bodies.insert("world".to_owned());
    let mut stack = files.sections("worldbody");
    while let Some(element) = stack.pop() {
        let set = match element.name() {
            "body" => Some(&mut bodies),
            "joint" | "freejoint" => Some(&mut joints),
            "site" => Some(&mut frames),
            _ => None,
        };
        if let (Some(set), Some(name)) = (set, element.attribute("name")) {
            set.insert(name.to_owned());
        }
        stack.extend(files.children(element));
    }
    Names::reserve(bodies, joints, frames)
}

/// Adds the sites as frames, and says how they are called there: MuJoCo lets a site and a body share a name.
fn add_sites<'d>(
    mut builder: ModelBuilder,
    tree: &Tree<'d>,
    names: &mut Names,
    warnings: &mut Warnings,
) -> (ModelBuilder, Vec<(&'d str, String)>) {
    let mut sites = Vec::new();
    let mut taken = tree.fixed.clone();
    for site in &tree.sites {
        let mut name = site.name.clone();
        if !taken.insert(name.clone()) {
            name = names.like(&name);
            warnings.add(site.element, format!("{}: its frame is called \"{name}\"", site.element.label()));
        }
        if let ("site", Some(stated)) = (site.element.name(), site.element.attribute("name")) {
            sites.push((stated, name.clone()));
        }
        builder = builder.frame(name, &site.body, site.placement);
    }
    (builder, sites)
}

/// Adds the geoms that can touch something; the surfaces are in the order of the model's geometries.
fn add_geoms<'d>(
    mut builder: ModelBuilder,
    tree: &Tree<'d>,
    contacts: &Contacts<'d>,
    contact: bool,
    meshes: &mut Meshes<'d>,
    warnings: &mut Warnings,
) -> Result<(ModelBuilder, Vec<geom::Surface>), LoadError> {
    let mut surfaces = Vec::new();
    let named = contacts.named();
    for part in &tree.geoms {
        let geom = &part.geom;
        let stated = geom.name.is_some_and(|name| named.contains(name));
        if !contact || (geom.filter == CollisionFilter::NONE && !stated) {
            warnings.add(geom.element, "<geom>: what can touch nothing is left out, but for its mass");
            continue;
        }
        let spec = geom.spec(geom.name.unwrap_or("").to_owned(), &part.origin, meshes)?;
        builder = builder.geometry(&part.body, spec);
        surfaces.push(geom.surface);
    }
    Ok((builder, surfaces))
}

/// The error of the builder, at the element that it is about.
fn positioned(error: ModelError, root: Element<'_>, tree: &Tree<'_>, actuators: &actuator::Actuators<'_>) -> LoadError {
    let name = error.name.as_str();
    let found = match error.item {
        Item::Body => tree.bodies.iter().find(|body| body.name == name).map(|body| body.element),
        Item::Joint => tree.joints.iter().find(|part| part.name == name).map(|part| part.joint.element),
        Item::Geometry | Item::Pair => {
            tree.geoms.iter().find(|part| part.geom.name == Some(name)).map(|part| part.geom.element)
        }
        Item::Frame => tree.sites.iter().find(|site| site.name == name).map(|site| site.element),
        Item::Actuator => actuators.iter().map(|&(element, _)| element).find(|e| e.attribute("name") == Some(name)),
        _ => None,
    };
    match found {
        Some(element) => element.error(LoadProblem::Model(error)),
        None => LoadError::of_file(root.file(), LoadProblem::Model(error)),
    }
}
