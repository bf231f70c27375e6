//! A thin layer over the XML parser: typed attributes whose errors say where they stand.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use roxmltree::{Document, Node, ParsingOptions};

use crate::Limits;
use crate::error::{LoadError, LoadProblem, excerpt};

/// The text of a file, within the limit.
pub fn read_text(path: &Path, limits: &Limits) -> Result<String, LoadError> {
    let bytes = read_bytes(path, limits)?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let reason = "the text is not UTF-8 here".to_owned();
        LoadError { line: Some(line as u32), ..LoadError::of_file(path, LoadProblem::Malformed { reason }) }
    })
}

/// The bytes of a file, within the limit.
pub fn read_bytes(path: &Path, limits: &Limits) -> Result<Vec<u8>, LoadError> {
    use std::io::Read;
    let unreadable =
        |error: std::io::Error| LoadError::of_file(path, LoadProblem::Unreadable { reason: error.to_string() });
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // Not the length that the system states: a pipe or a device has none.
    file.take(limits.file_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limits.file_bytes {
        let problem = LoadProblem::TooLarge { what: "bytes", limit: limits.file_bytes };
        return Err(LoadError::of_file(path, problem));
    }
    Ok(bytes)
}

/// A parsed file.
pub struct XmlFile<'t> {
    path: PathBuf,
    document: Document<'t>,
}

impl<'t> XmlFile<'t> {
    /// Parses `text`, which was read from `path`.
    pub fn parse(path: &Path, text: &'t str, limits: &Limits) -> Result<Self, LoadError> {
        check_shape(path, text, limits)?;
        // A document type may define entities; robots have no use for them, and they expand without bound.
        let options = ParsingOptions { allow_dtd: false, nodes_limit: limits.nodes, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options).map_err(|error| {
            let problem = match &error {
                roxmltree::Error::NodesLimitReached => {
                    LoadProblem::TooLarge { what: "XML nodes", limit: limits.nodes.into() }
                }
                _ => LoadProblem::Malformed { reason: format!("not well-formed XML: {}", without_position(&error)) },
            };
            LoadError { line: Some(error.pos().row), ..LoadError::of_file(path, problem) }
        })?;
        Ok(Self { path: path.to_path_buf(), document })
    }

    /// The outermost element.
    pub fn root(&self) -> Element<'_> {
        Element { file: &self.path, node: self.document.root_element() }
    }
}

/// The parser's words; it ends them with the position, which we state in front.
fn without_position(error: &roxmltree::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at ").unwrap_or(text.len());
    excerpt(&text[..end])
}

/// Rejects what would cost the parser more than its length: it may recurse over nested elements, and compares every
/// attribute of an element with every other. Looks at tags only; what is not well-formed is left to the parser.
fn check_shape(path: &Path, text: &str, limits: &Limits) -> Result<(), LoadError> {
    let bytes = text.as_bytes();
    let (mut depth, mut line, mut k) = (0_usize, 1_u32, 0);
    while k < bytes.len() {
        let rest = &bytes[k..];
        let skip = |end: &str| text[k..].find(end).map_or(rest.len(), |at| at + end.len());
        let length = if rest.starts_with(b"<!--") {
            skip("-->")
        } else if rest.starts_with(b"<![CDATA[") {
            skip("]]>")
        } else if rest.starts_with(b"<?") {
            skip("?>")
        } else if rest.starts_with(b"</") {
            depth = depth.saturating_sub(1);
            2
        } else if rest.starts_with(b"<") {
            let (length, attributes) = measure_tag(rest);
            if attributes > limits.attributes {
                let problem =
                    LoadProblem::TooLarge { what: "attributes of an element", limit: limits.attributes as u64 };
                return Err(LoadError { line: Some(line), ..LoadError::of_file(path, problem) });
            }
            if !rest[..length].ends_with(b"/>") {
                depth += 1;
            }
            length
        } else {
            rest.iter().position(|&byte| byte == b'<').unwrap_or(rest.len())
        };
        if depth > limits.depth {
            let problem = LoadProblem::TooLarge { what: "levels of nested elements", limit: limits.depth as u64 };
            return Err(LoadError { line: Some(line), ..LoadError::of_file(path, problem) });
        }
        line += rest[..length].iter().filter(|&&byte| byte == b'\n').count() as u32;
        k += length;
    }
    Ok(())
}

/// Length of the tag that `bytes` starts with, its `>` included, and its attributes; quoted values may contain anything.
fn measure_tag(bytes: &[u8]) -> (usize, usize) {
    let (mut quote, mut attributes) = (None, 0);
    for (k, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return (k + 1, attributes),
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') => attributes += 1,
            (Some(open), _) if byte == open => quote = None,
            _ => {}
        }
    }
    (bytes.len(), attributes)
}

/// An element and the file it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    file: &'d Path,
    node: Node<'d, 'd>,
}

impl<'d> Element<'d> {
    /// Name of the tag, with its prefix dropped.
    pub fn name(self) -> &'d str {
        self.node.tag_name().name()
    }

    /// The file it stands in.
    pub fn file(self) -> &'d Path {
        self.file
    }

    /// Line on which it starts, from 1. O(size of the file): for messages only.
    pub fn line(self) -> u32 {
        self.node.document().text_pos_at(self.node.range().start).row
    }

    /// The element around it.
    pub fn parent(self) -> Option<Self> {
        self.node.parent_element().map(|node| Self { node, ..self })
    }

    /// The elements in it, in order.
    pub fn children(self) -> impl Iterator<Item = Self> + 'd {
        self.node.children().filter(Node::is_element).map(move |node| Self { node, ..self })
    }

    /// The elements of this name in it.
    pub fn children_named(self, name: &'d str) -> impl Iterator<Item = Self> + 'd {
        self.children().filter(move |child| child.name() == name)
    }

    /// The only element of this name in it; a second one is an error.
    pub fn child(self, name: &'d str) -> Result<Option<Self>, LoadError> {
        let mut found = self.children_named(name);
        let first = found.next();
        match found.next() {
            Some(second) => Err(second.inconsistent(format!("a second <{name}>, where one is expected"))),
            None => Ok(first),
        }
    }

    /// The same, and an error when it is not there.
    pub fn required_child(self, name: &'d str) -> Result<Self, LoadError> {
        self.child(name)?.ok_or_else(|| self.missing(format!("<{name}>")))
    }

    /// The text directly in it.
    pub fn text(self) -> &'d str {
        self.node.text().unwrap_or("")
    }

    /// Names of the attributes, in order.
    pub fn attribute_names(self) -> impl Iterator<Item = &'d str> + 'd {
        self.node.attributes().map(|attribute| attribute.name())
    }

    /// An attribute as written.
    pub fn attribute(self, name: &str) -> Option<&'d str> {
        self.node.attributes().find(|attribute| attribute.name() == name).map(|attribute| attribute.value())
    }

    /// The same, and an error when it is not there.
    pub fn required(self, name: &str) -> Result<&'d str, LoadError> {
        self.attribute(name).ok_or_else(|| self.missing(format!("attribute {name}")))
    }

    /// A finite number.
    pub fn float(self, name: &str) -> Result<Option<f64>, LoadError> {
        let expected = "a finite number";
        let parse = |text: &str| finite(text).ok_or_else(|| self.unexpected(name, expected));
        self.attribute(name).map(|text| parse(text.trim())).transpose()
    }

    /// A finite number that must be there.
    pub fn required_float(self, name: &str) -> Result<f64, LoadError> {
        self.float(name)?.ok_or_else(|| self.missing(format!("attribute {name}")))
    }

    /// A finite number above zero that must be there.
    pub fn required_positive(self, name: &str) -> Result<f64, LoadError> {
        let value = self.required_float(name)?;
        if value > 0.0 { Ok(value) } else { Err(self.unexpected(name, "a number above zero")) }
    }

    /// Exactly N finite numbers.
    pub fn array<const N: usize>(self, name: &str) -> Result<Option<[f64; N]>, LoadError> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        let mut values = [0.0; N];
        let mut words = text.split_whitespace();
        let complete = values.iter_mut().all(|value| match words.next().and_then(finite) {
            Some(number) => {
                *value = number;
                true
            }
            None => false,
        });
        if complete && words.next().is_none() {
            return Ok(Some(values));
        }
        Err(self.unexpected(name, format!("{N} finite numbers")))
    }

    /// Three finite numbers.
    pub fn vector(self, name: &str) -> Result<Option<Vector3<f64>>, LoadError> {
        Ok(self.array::<3>(name)?.map(Vector3::from))
    }

    /// Any number of finite numbers up to `max`.
    pub fn floats(self, name: &str, max: usize) -> Result<Option<Vec<f64>>, LoadError> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        let values: Option<Vec<f64>> = text.split_whitespace().take(max + 1).map(finite).collect();
        match values {
            Some(values) if values.len() <= max => Ok(Some(values)),
            _ => Err(self.unexpected(name, format!("at most {max} finite numbers"))),
        }
    }

    /// `true` or `false` (also `1` or `0`).
    pub fn boolean(self, name: &str) -> Result<Option<bool>, LoadError> {
        self.choice(name, &[("true", true), ("false", false), ("1", true), ("0", false)])
    }

    /// One of several words.
    pub fn choice<V: Copy>(self, name: &str, values: &[(&str, V)]) -> Result<Option<V>, LoadError> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        match values.iter().find(|(word, _)| *word == text.trim()) {
            Some(&(_, value)) => Ok(Some(value)),
            None => {
                let words: Vec<&str> = values.iter().map(|&(word, _)| word).collect();
                Err(self.unexpected(name, format!("one of {}", words.join(", "))))
            }
        }
    }

    /// How errors call it: the tag with its name, after the closest named element around it.
    pub fn label(self) -> String {
        let tag = |element: Self| match element.attribute("name") {
            Some(name) => format!("<{} name=\"{}\">", element.name(), excerpt(name)),
            None => format!("<{}>", excerpt(element.name())),
        };
        let root = self.node.document().root_element();
        let around = std::iter::successors(self.parent(), |element| element.parent());
        let named = around.take_while(|e| e.node != root).find(|e| e.attribute("name").is_some());
        match (self.attribute("name"), named) {
            (None, Some(named)) => format!("{} {}", tag(named), tag(self)),
            _ => tag(self),
        }
    }

    /// The error that says `problem` of this element.
    pub fn error(self, problem: LoadProblem) -> LoadError {
        LoadError {
            file: self.file.to_path_buf(),
            line: Some(self.line()),
            element: Some(self.label()),
            attribute: None,
            problem: Box::new(problem),
        }
    }

    /// An attribute with another value than `expected`, which reads on after "expected".
    pub fn unexpected(self, attribute: &str, expected: impl Into<String>) -> LoadError {
        let value = excerpt(self.attribute(attribute).unwrap_or(""));
        let problem = LoadProblem::Unexpected { expected: expected.into(), found: format!("\"{value}\"") };
        LoadError { attribute: Some((attribute.to_owned(), value)), ..self.error(problem) }
    }

    /// An attribute (`attribute name`) or a child (`<name>`) that is not there.
    pub fn missing(self, what: impl Into<String>) -> LoadError {
        self.error(LoadProblem::Missing { what: what.into() })
    }

    /// Correct, but nothing that saltus can represent.
    pub fn unsupported(self, reason: impl Into<String>) -> LoadError {
        self.error(LoadProblem::Unsupported { reason: reason.into() })
    }

    /// More of something than a limit allows.
    pub fn too_many(self, what: &'static str, limit: usize) -> LoadError {
        self.error(LoadProblem::TooLarge { what, limit: limit as u64 })
    }

    /// At odds with another element.
    pub fn inconsistent(self, reason: impl Into<String>) -> LoadError {
        self.error(LoadProblem::Inconsistent { reason: reason.into() })
    }
}

/// A number, unless it is infinite, NaN, or none.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_error(text: &str) -> String {
        let limits = Limits { depth: 3, nodes: 50, ..Limits::default() };
        XmlFile::parse(Path::new("f.xml"), text, &limits).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn errors_name_the_closest_named_element() {
        let text = "<robot name='r'>\n<joint name='hip'>\n<axis xyz='0 0'/></joint></robot>";
        let file = XmlFile::parse(Path::new("f.urdf"), text, &Limits::default()).unwrap();
        let joint = file.root().children().next().unwrap();
        let axis = joint.required_child("axis").unwrap();
        assert_eq!(
            axis.vector("xyz").unwrap_err().to_string(),
            "f.urdf:3: <joint name=\"hip\"> <axis> xyz=\"0 0\": expected 3 finite numbers, found \"0 0\""
        );
        assert_eq!(
            joint.required("type").unwrap_err().to_string(),
            "f.urdf:2: <joint name=\"hip\">: attribute type is missing"
        );
    }

    #[test]
    fn nesting_and_node_count_are_bounded() {
        assert_eq!(parse_error("<a>\n<b>\n<c>\n<d/></c></b></a>"), "");
        assert_eq!(parse_error("<a>\n<b>\n<c>\n<d></d></c></b></a>"), "f.xml:4: more than 3 levels of nested elements");
        assert_eq!(parse_error("<a x='>'><!-- <b><b><b> --><c/></a>"), "");
        let many = format!("<a>{}</a>", "<b/>".repeat(60));
        assert_eq!(parse_error(&many), "f.xml:1: more than 50 XML nodes");
    }

    #[test]
    fn attributes_are_bounded() {
        let many: String = (0..300).map(|k| format!(" a{k}='='")).collect();
        assert_eq!(parse_error(&format!("<a>\n<b{many}/></a>")), "f.xml:2: more than 256 attributes of an element");
    }

    #[test]
    fn entities_are_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>";
        assert!(parse_error(bomb).contains("DTD"), "{}", parse_error(bomb));
    }
}
