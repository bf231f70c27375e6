//! Reads robots from files: URDF and MJCF in, a checked [`OwnedModel`] out, or an error that says what to mend.
//!
//! ```text
//! load ─► xml (positions, limits) ─► urdf │ mjcf ─► saltus::model::ModelBuilder ─► Loaded { model, warnings, … }
//!                                         └─► mesh (STL, OBJ ─► convex hull)
//! ```
//!
//! What a file says and the model cannot hold is named in [`Loaded::warnings`], never dropped in silence; what would
//! make the model wrong is a [`LoadError`]. [`task`] reads what the robot should do. No input makes a loader panic, hang or allocate without bound: [`Limits`].
//!
//! ```no_run
//! use saltus_loaders::{LoadOptions, load};
//!
//! let options = LoadOptions { free_flyer: true, ..LoadOptions::default() };
//! let robot = load("go1.urdf", &options)?;
//! println!("{} degrees of freedom", robot.model.model().nv());
//! for warning in &robot.warnings {
//!     eprintln!("{warning}");
//! }
//! # Ok::<(), saltus_loaders::LoadError>(())
//! ```

mod bake;
mod builtin;
mod error;
mod inertia;
pub mod mesh;
pub mod mjcf;
pub mod task;
pub mod urdf;
mod warning;
pub mod xml;

use std::path::{Path, PathBuf};

use saltus::model::OwnedModel;

pub use bake::bake;
pub use builtin::{BUILTIN, Builtin, builtin};
pub use error::{LoadError, LoadProblem};
pub use inertia::balanced;
pub use warning::{Warning, Warnings};

use xml::{Element, XmlFile};

/// A robot read from a file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The robot.
    pub model: OwnedModel<f64>,
    /// What the file says that the model does not.
    pub warnings: Vec<Warning>,
    /// Duration of a simulation step, seconds, when the file states one.
    pub timestep_s: Option<f64>,
    /// The meshes that became convex hulls, and how many vertices each kept.
    pub hulls: Vec<mesh::HullReport>,
}

/// How to read a file. `LoadOptions::default()` is strict, and fixed to the world.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Lets the root link of a URDF fly freely instead of fixing it to the world. MJCF states this itself.
    pub free_flyer: bool,
    /// Folders in which `package://name/…` and relative mesh paths are looked for, after those around the file itself.
    pub search_paths: Vec<PathBuf>,
    /// Most vertices that a convex hull may keep.
    pub max_hull_vertices: usize,
    /// SRDF file whose `<disable_collisions link1= link2=>` pairs do not collide.
    pub srdf: Option<PathBuf>,
    /// More pairs of bodies, by name, that do not collide.
    pub exclude: Vec<(String, String)>,
    /// Whether collision geometry is read at all; without it no mesh is opened.
    pub geometry: bool,
    /// Mends inertias that belong to no body instead of refusing them, with a warning for each; see [`balanced`].
    pub balance_inertia: bool,
    /// Reads a joint with `<mimic>` as one that moves on its own, with a warning, instead of refusing it.
    pub free_mimic: bool,
    /// How much a file may ask for.
    pub limits: Limits,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            free_flyer: false,
            search_paths: Vec::new(),
            max_hull_vertices: 64,
            srdf: None,
            exclude: Vec::new(),
            geometry: true,
            balance_inertia: false,
            free_mimic: false,
            limits: Limits::default(),
        }
    }
}

/// Bounds on what a file may ask for; beyond them it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of one file.
    pub file_bytes: u64,
    /// Elements within elements.
    pub depth: usize,
    /// Attributes of one element.
    pub attributes: usize,
    /// Elements, texts and comments of one file.
    pub nodes: u32,
    /// Vertices of one mesh.
    pub mesh_vertices: usize,
    /// Mesh files that one robot may name.
    pub meshes: usize,
    /// Links, and joints, of one robot.
    pub bodies: usize,
    /// Collision shapes of one robot; those that may meet are found in pairs.
    pub geometries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            depth: 256,
            attributes: 256,
            nodes: 1_000_000,
            mesh_vertices: 2_000_000,
            meshes: 1000,
            bodies: 10_000,
            geometries: 10_000,
        }
    }
}

/// Reads a robot; the root element says which format it is: `<robot>` URDF, `<mujoco>` MJCF.
///
/// The name of a built-in robot ([`BUILTIN`]) stands for its file, unless there is a file of that name.
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let path = path.as_ref();
    if !path.exists() {
        if let Some(robot) = path.to_str().and_then(builtin) {
            return load_text(&path.with_extension("xml"), robot.text, options);
        }
        let is_name = path.extension().is_none() && path.components().count() == 1;
        if is_name {
            return Err(LoadError::of_file(path, unknown_name()));
        }
    }
    let text = xml::read_text(path, &options.limits)?;
    load_text(path, &text, options)
}

/// Reads a robot from text; relative paths in it are looked for beside `path`, which need not exist.
///
/// ```
/// use std::path::Path;
/// use saltus_loaders::{LoadOptions, load_text};
///
/// let pendulum = r#"<robot name="pendulum">
///     <link name="base"/>
///     <link name="rod"><inertial>
///         <mass value="1"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/>
///     </inertial></link>
///     <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
/// </robot>"#;
/// let robot = load_text(Path::new("pendulum.urdf"), pendulum, &LoadOptions::default())?;
/// assert_eq!(robot.model.model().nv(), 1);
/// # Ok::<(), saltus_loaders::LoadError>(())
/// ```
pub fn load_text(path: &Path, text: &str, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let file = XmlFile::parse(path, text, &options.limits)?;
    match file.root().name() {
        "robot" => urdf::load(file.root(), options),
        "mujoco" => mjcf::load(file.root(), options),
        _ => Err(unknown_root(file.root())),
    }
}

fn unknown_name() -> LoadProblem {
    let known: Vec<&str> = BUILTIN.iter().map(|robot| robot.name).collect();
    LoadProblem::Unreadable { reason: format!("no such file, nor a built-in robot; those are {}", known.join(", ")) }
}

fn unknown_root(root: Element<'_>) -> LoadError {
    root.error(LoadProblem::Unexpected {
        expected: "the root element <robot> (URDF) or <mujoco> (MJCF)".to_owned(),
        found: format!("<{}>", root.name()),
    })
}
