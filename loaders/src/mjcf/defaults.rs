//! Default classes: what an element does not state, the nearest class that states it does.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::files::Files;
use crate::error::LoadError;
use crate::xml::Element;

/// Most elements of one kind in one class: several files may each add to the main class.
const MAX_REPEATS: usize = 16;
/// Elements that state the parameters of one and the same kind.
const ACTUATORS: [&str; 4] = ["general", "motor", "position", "velocity"];
/// Elements whose defaults are stated as `<equality>`.
const EQUALITIES: [&str; 2] = ["connect", "weld"];

#[derive(Default)]
struct Class<'d> {
    parent: Option<usize>,
    elements: BTreeMap<&'d str, Vec<Element<'d>>>,
}

/// All classes; the first is the main one, which everything inherits from.
pub(super) struct Defaults<'d> {
    classes: Vec<Class<'d>>,
    names: BTreeMap<&'d str, usize>,
}

/// Index of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassId(usize);

fn kind(tag: &str) -> &str {
    match tag {
        _ if ACTUATORS.contains(&tag) => "actuator",
        _ if EQUALITIES.contains(&tag) => "equality",
        _ => tag,
    }
}

impl<'d> Defaults<'d> {
    /// Reads all `<default>` sections; nesting is bounded by that of the files.
    pub fn read(files: Files<'d>) -> Result<Self, LoadError> {
        let mut defaults = Self { classes: vec![Class::default()], names: BTreeMap::from([("main", 0)]) };
        let mut stack: Vec<(Element<'d>, Option<usize>)> =
            files.sections("default").into_iter().rev().map(|section| (section, None)).collect();
        while let Some((section, parent)) = stack.pop() {
            let class = defaults.class_of(section, parent)?;
            let nested_from = stack.len();
            for child in files.children(section) {
                if child.name() == "default" {
                    stack.push((child, Some(class)));
                } else {
                    defaults.add(class, child)?;
                }
            }
            stack[nested_from..].reverse();
        }
        Ok(defaults)
    }

    fn class_of(&mut self, section: Element<'d>, parent: Option<usize>) -> Result<usize, LoadError> {
        let Some(parent) = parent else {
            // The outermost class may have a name of its own.
            self.names.insert(section.attribute("class").unwrap_or("main"), 0);
            return Ok(0);
        };
        let name = section.required("class")?;
        let class = self.classes.len();
        self.classes.push(Class { parent: Some(parent), ..Class::default() });
        match self.names.insert(name, class) {
            None => Ok(class),
            Some(_) => Err(section.unexpected("class", "a class that is not defined elsewhere")),
        }
    }

    fn add(&mut self, class: usize, element: Element<'d>) -> Result<(), LoadError> {
        let same = self.classes[class].elements.entry(kind_of(element)).or_default();
        if same.len() >= MAX_REPEATS {
            return Err(element.inconsistent(format!("more than {MAX_REPEATS} <{}> in one class", element.name())));
        }
        same.push(element);
        Ok(())
    }

    /// The class that an attribute (`class` or `childclass`) of an element names, if it has one.
    pub fn named_by(&self, element: Element<'d>, attribute: &str) -> Result<Option<ClassId>, LoadError> {
        let Some(name) = element.attribute(attribute) else { return Ok(None) };
        match self.names.get(name) {
            Some(&class) => Ok(Some(ClassId(class))),
            None => Err(element.unexpected(attribute, "the class of a <default> element")),
        }
    }

    /// An element with its defaults, of its own class or else of the one around it.
    pub fn of(&self, element: Element<'d>, around: ClassId) -> Result<Attributes<'d>, LoadError> {
        let ClassId(class) = self.named_by(element, "class")?.unwrap_or(around);
        let mut chain = vec![element];
        let mut next = Some(class);
        while let Some(class) = next {
            let elements = self.classes[class].elements.get(kind_of(element));
            chain.extend(elements.into_iter().flatten().rev());
            next = self.classes[class].parent;
        }
        Ok(Attributes { chain })
    }

    /// Every element of every class, to look for what is not supported.
    pub fn elements(&self) -> impl Iterator<Item = Element<'d>> {
        self.classes.iter().flat_map(|class| class.elements.values().flatten().copied())
    }
}

fn kind_of(element: Element<'_>) -> &str {
    kind(element.name())
}

/// An element and, after it, its defaults from the nearest to the outermost.
#[derive(Clone, Debug)]
pub(super) struct Attributes<'d> {
    chain: Vec<Element<'d>>,
}

impl<'d> Attributes<'d> {
    /// An element that has no defaults.
    pub fn bare(element: Element<'d>) -> Self {
        Self { chain: vec![element] }
    }

    /// The element itself.
    pub fn element(&self) -> Element<'d> {
        self.chain[0]
    }

    /// Defaults first, the element last: each overrides what came before.
    pub fn outermost_first(&self) -> impl Iterator<Item = Element<'d>> + '_ {
        self.chain.iter().rev().copied()
    }

    /// The nearest element that states an attribute; itself when none does.
    pub fn stating(&self, name: &str) -> Element<'d> {
        let found = self.chain.iter().find(|element| element.attribute(name).is_some());
        found.copied().unwrap_or(self.element())
    }

    /// The nearest element that states one of several attributes.
    pub fn stating_any(&self, names: &[&str]) -> Element<'d> {
        let states = |element: &&Element<'d>| names.iter().any(|name| element.attribute(name).is_some());
        self.chain.iter().find(states).copied().unwrap_or(self.element())
    }

    pub fn text(&self, name: &str) -> Option<&'d str> {
        self.stating(name).attribute(name)
    }

    pub fn float(&self, name: &str) -> Result<Option<f64>, LoadError> {
        self.stating(name).float(name)
    }

    pub fn float_or(&self, name: &str, default: f64) -> Result<f64, LoadError> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    pub fn vector(&self, name: &str) -> Result<Option<Vector3<f64>>, LoadError> {
        self.stating(name).vector(name)
    }

    pub fn array<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, LoadError> {
        self.stating(name).array(name)
    }

    pub fn choice<V: Copy>(&self, name: &str, values: &[(&str, V)]) -> Result<Option<V>, LoadError> {
        self.stating(name).choice(name, values)
    }

    /// Up to N numbers; fewer leave the rest as the defaults have it.
    pub fn partial<const N: usize>(&self, name: &str, initial: [f64; N]) -> Result<[f64; N], LoadError> {
        let mut values = initial;
        for element in self.outermost_first() {
            for (value, stated) in values.iter_mut().zip(element.floats(name, N)?.unwrap_or_default()) {
                *value = stated;
            }
        }
        Ok(values)
    }

    /// A 32-bit mask.
    pub fn mask(&self, name: &str) -> Result<u32, LoadError> {
        let value = self.float_or(name, 1.0)?;
        let bits = value as i64;
        let whole = bits as f64 == value;
        // MuJoCo's masks are signed: −1 has all bits set.
        match (u32::try_from(bits), i32::try_from(bits)) {
            (Ok(mask), _) if whole => Ok(mask),
            (_, Ok(mask)) if whole => Ok(mask as u32),
            _ => Err(self.stating(name).unexpected(name, "a whole number of 32 bits")),
        }
    }

    /// Whether a range holds: `limited` says, or with autolimits that a range is stated at all.
    pub fn range(&self, name: &str, limited: &str, autolimits: bool) -> Result<Option<[f64; 2]>, LoadError> {
        let range: Option<[f64; 2]> = self.array(name)?.filter(|range| *range != [0.0, 0.0]);
        let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        match (self.choice(limited, &words)?.flatten(), range) {
            (Some(false), _) | (None, None) => Ok(None),
            (Some(true), None) => Err(self.element().missing(format!("attribute {name} (because of {limited})"))),
            (Some(true), range) => Ok(range),
            (None, range) => Ok(range.filter(|_| autolimits)),
        }
    }
}
