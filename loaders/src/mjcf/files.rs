//! The main file and everything that it includes, read before anything is interpreted.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::error::{LoadError, LoadProblem};
use crate::xml::{self, Element, XmlFile};
use crate::{Limits, LoadOptions};

/// Most files that one robot may include.
const MAX_INCLUDES: usize = 100;

/// Texts of all included files, by path, each read once.
pub(super) fn read_included(root: Element<'_>, options: &LoadOptions) -> Result<Vec<(PathBuf, String)>, LoadError> {
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    let mut wanted = VecDeque::from(includes_of(root, root.file(), options)?);
    let mut bytes = 0;
    while let Some(path) = wanted.pop_front() {
        if texts.iter().any(|(known, _)| *known == path) || path == root.file() {
            let reason = format!("{} is included twice; a file may be included once", path.display());
            return Err(LoadError::of_file(root.file(), LoadProblem::Inconsistent { reason }));
        }
        let text = xml::read_text(&path, &options.limits)?;
        bytes += text.len() as u64;
        check_total(root, texts.len() + 1, bytes, &options.limits)?;
        let file = XmlFile::parse(&path, &text, &options.limits)?;
        wanted.extend(includes_of(file.root(), root.file(), options)?);
        drop(file);
        texts.push((path, text));
    }
    Ok(texts)
}

fn check_total(root: Element<'_>, files: usize, bytes: u64, limits: &Limits) -> Result<(), LoadError> {
    let too_large = |what, limit| Err(LoadError::of_file(root.file(), LoadProblem::TooLarge { what, limit }));
    if files > MAX_INCLUDES {
        return too_large("included files", MAX_INCLUDES as u64);
    }
    if bytes > limits.file_bytes { too_large("bytes in included files", limits.file_bytes) } else { Ok(()) }
}

/// Paths of the files that an element and those in it include. Not recursive: the nesting of a file is bounded, but its
/// elements are walked with a stack all the same.
fn includes_of(root: Element<'_>, main: &Path, options: &LoadOptions) -> Result<Vec<PathBuf>, LoadError> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(element) = stack.pop() {
        if element.name() == "include" {
            found.push(include_path(element, main, options)?);
        }
        stack.extend(element.children());
    }
    found.reverse();
    Ok(found)
}

/// Relative to the main file, as MuJoCo has it; then to the including one; then to the search path.
fn include_path(element: Element<'_>, main: &Path, options: &LoadOptions) -> Result<PathBuf, LoadError> {
    let name = element.required("file")?;
    Ok(find_file(name, "", element, main, options).unwrap_or_else(|| beside(main).join(name)))
}

/// The first place where a file exists.
pub(super) fn find_file(
    name: &str,
    folder: &str,
    element: Element<'_>,
    main: &Path,
    options: &LoadOptions,
) -> Option<PathBuf> {
    let folders = [beside(main), beside(element.file())];
    let around = folders.iter().map(|around| around.join(folder));
    let searched = options.search_paths.iter().cloned();
    around.chain(searched).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The folder of a file.
pub(super) fn beside(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_path_buf()
}

/// All parsed files.
#[derive(Clone, Copy)]
pub(super) struct Files<'d> {
    pub root: Element<'d>,
    pub included: &'d BTreeMap<PathBuf, XmlFile<'d>>,
    pub options: &'d LoadOptions,
}

impl<'d> Files<'d> {
    /// The elements in an element, those of included files in the place of each `<include>`.
    pub fn children(&self, element: Element<'d>) -> Vec<Element<'d>> {
        let mut found = Vec::new();
        let mut stack: Vec<Element<'d>> = reversed(element);
        while let Some(child) = stack.pop() {
            if child.name() != "include" {
                found.push(child);
                continue;
            }
            let path = include_path(child, self.root.file(), self.options).ok();
            if let Some(file) = path.and_then(|path| self.included.get(&path)) {
                stack.extend(reversed(file.root()));
            }
        }
        found
    }

    /// The children of all top-level elements of this name: `<worldbody>` and its like may occur several times.
    pub fn section(&self, name: &str) -> Vec<Element<'d>> {
        let sections = self.children(self.root).into_iter().filter(|child| child.name() == name);
        sections.flat_map(|section| self.children(section)).collect()
    }

    /// The top-level elements of this name.
    pub fn sections(&self, name: &str) -> Vec<Element<'d>> {
        self.children(self.root).into_iter().filter(|child| child.name() == name).collect()
    }
}

fn reversed(element: Element<'_>) -> Vec<Element<'_>> {
    let mut children: Vec<_> = element.children().collect();
    children.reverse();
    children
}
