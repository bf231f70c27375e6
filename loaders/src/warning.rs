//! What a file says that the model does not.

use std::fmt;
use std::path::PathBuf;

use crate::error::excerpt;
use crate::xml::Element;

/// Something in the file that was ignored, mended or approximated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// Line of the first occurrence, from 1.
    pub line: u32,
    /// What it is and what became of it.
    pub message: String,
    /// How often it occurs.
    pub count: usize,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

/// Most distinct messages that are kept; the rest is only counted.
const MAX_WARNINGS: usize = 200;

/// Collects warnings; the same message twice counts up instead of repeating.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    list: Vec<Warning>,
    left_out: usize,
}

impl Warnings {
    /// Notes `message` at the line of `element`.
    pub fn add(&mut self, element: Element<'_>, message: impl Into<String>) {
        let message = message.into();
        if let Some(known) = self.list.iter_mut().find(|w| w.message == message && w.file == element.file()) {
            known.count += 1;
        } else if self.list.len() < MAX_WARNINGS {
            let file = element.file().to_path_buf();
            self.list.push(Warning { file, line: element.line(), message, count: 1 });
        } else {
            self.left_out += 1;
        }
    }

    /// Names every attribute and child element that is in neither list, so that nothing is dropped in silence.
    pub fn unknown(&mut self, element: Element<'_>, attributes: &[&str], children: &[&str]) {
        let tag = element.name();
        for name in element.attribute_names().filter(|name| !attributes.contains(name)) {
            self.add(element, format!("<{tag}> {}: this attribute is ignored", excerpt(name)));
        }
        for child in element.children().filter(|child| !children.contains(&child.name())) {
            self.add(child, format!("<{}> in <{tag}>: this element is ignored", excerpt(child.name())));
        }
    }

    /// All of them, in the order of their first occurrence.
    pub fn into_list(mut self) -> Vec<Warning> {
        if let (Some(last), true) = (self.list.last(), self.left_out > 0) {
            let message = format!("{} more warnings are left out", self.left_out);
            let summary = Warning { message, count: 1, ..last.clone() };
            self.list.push(summary);
        }
        self.list
    }
}
