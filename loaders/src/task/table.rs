//! TOML tables, with the place of every value.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::excerpt;
use crate::{LoadError, LoadProblem};

/// Reads TOML.
pub fn parse<'t>(path: &Path, text: &'t str) -> Result<Spanned<DeTable<'t>>, LoadError> {
    DeTable::parse(text).map_err(|error| LoadError {
        line: error.span().map(|span| line(text, span.start)),
        ..LoadError::of_file(path, LoadProblem::Malformed { reason: format!("not TOML: {}", error.message()) })
    })
}

/// A condition on a number, and how it is said after "expected".
pub type Condition = fn(f64) -> Result<(), &'static str>;

/// Above zero.
pub fn positive(x: f64) -> Result<(), &'static str> {
    if x > 0.0 { Ok(()) } else { Err("a number above zero") }
}

/// Not negative.
pub fn at_least_zero(x: f64) -> Result<(), &'static str> {
    if x >= 0.0 { Ok(()) } else { Err("a number of at least zero") }
}

/// From zero to one.
pub fn share(x: f64) -> Result<(), &'static str> {
    if (0.0..=1.0).contains(&x) { Ok(()) } else { Err("a number from 0 to 1") }
}

/// Any.
pub fn any(_: f64) -> Result<(), &'static str> {
    Ok(())
}

/// A table, and where it stands.
pub struct Table<'t> {
    path: &'t Path,
    text: &'t str,
    /// `plan`, `term 2`; empty for the root.
    what: String,
    span: Range<usize>,
    entries: &'t DeTable<'t>,
}

type Value<'t> = &'t Spanned<DeValue<'t>>;

impl<'t> Table<'t> {
    /// The whole document.
    pub fn root(path: &'t Path, text: &'t str, document: &'t Spanned<DeTable<'t>>) -> Self {
        Self { path, text, what: String::new(), span: 0..0, entries: document.get_ref() }
    }

    /// Refuses keys that are not among these.
    pub fn only(&self, keys: &[&str]) -> Result<(), LoadError> {
        let unknown = self.entries.keys().filter(|key| !keys.contains(&key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => {
                let expected = format!("one of the keys {}", keys.join(", "));
                let found = excerpt(key.get_ref());
                Err(self.error(None, key.span(), LoadProblem::Unexpected { expected, found }))
            }
        }
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Another value was expected here.
    pub fn unexpected(&self, key: &str, expected: impl Into<String>) -> LoadError {
        match self.entries.get(key) {
            Some(value) => self.refusal(key, value, expected),
            None => self.missing(key),
        }
    }

    /// A key that must be there is not.
    pub fn missing(&self, key: &str) -> LoadError {
        self.error(None, self.span.clone(), LoadProblem::Missing { what: key.to_owned() })
    }

    /// A table within this one.
    pub fn table(&self, key: &str) -> Result<Option<Table<'t>>, LoadError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let DeValue::Table(entries) = value.get_ref() else {
            return Err(self.refusal(key, value, format!("a table [{key}]")));
        };
        Ok(Some(Table { what: key.to_owned(), span: value.span(), entries, ..*self }))
    }

    /// A table that must be there.
    pub fn required_table(&self, key: &str) -> Result<Table<'t>, LoadError> {
        self.table(key)?.ok_or_else(|| self.missing(&format!("[{key}]")))
    }

    /// All tables `[[key]]`, in their order.
    pub fn tables(&self, key: &str) -> Result<Vec<Table<'t>>, LoadError> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let refuse = |value: Value<'t>| self.refusal(key, value, format!("tables [[{key}]]"));
        let DeValue::Array(tables) = value.get_ref() else { return Err(refuse(value)) };
        let read = |(k, value): (usize, Value<'t>)| match value.get_ref() {
            DeValue::Table(entries) => {
                Ok(Table { what: format!("{key} {}", k + 1), span: value.span(), entries, ..*self })
            }
            _ => Err(refuse(value)),
        };
        tables.iter().enumerate().map(read).collect()
    }

    /// A text.
    pub fn text_of(&self, key: &str) -> Result<Option<&'t str>, LoadError> {
        self.read(key, "a text in quotes", |value| match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        })
    }

    /// A text that must be there.
    pub fn required_text(&self, key: &str) -> Result<&'t str, LoadError> {
        self.text_of(key)?.ok_or_else(|| self.missing(key))
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, LoadError> {
        self.read(key, "true or false", |value| value.get_ref().as_bool())
    }

    /// A finite number that meets a condition.
    pub fn number(&self, key: &str, condition: Condition) -> Result<Option<f64>, LoadError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let number = number(value).ok_or_else(|| self.refusal(key, value, "a number"))?;
        condition(number).map_err(|expected| self.refusal(key, value, expected))?;
        Ok(Some(number))
    }

    /// A number that must be there.
    pub fn required_number(&self, key: &str, condition: Condition) -> Result<f64, LoadError> {
        self.number(key, condition)?.ok_or_else(|| self.missing(key))
    }

    /// A whole number from one to `most`.
    pub fn count(&self, key: &str, most: usize) -> Result<Option<usize>, LoadError> {
        self.read(key, &format!("a whole number from 1 to {most}"), |value| {
            integer(value).filter(|count| (1..=most).contains(count))
        })
    }

    /// A whole number that must be there.
    pub fn required_count(&self, key: &str, most: usize) -> Result<usize, LoadError> {
        self.count(key, most)?.ok_or_else(|| self.missing(key))
    }

    /// A list of `N` finite numbers.
    pub fn array<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, LoadError> {
        let list = self.list(key, N, &format!("a list of {N} numbers"))?;
        Ok(list.and_then(|list| <[f64; N]>::try_from(list).ok()))
    }

    /// A list of `N` numbers that are not negative; ones without it.
    pub fn weights<const N: usize>(&self, key: &str) -> Result<[f64; N], LoadError> {
        let fit = |list: &Vec<f64>| list.len() == N && list.iter().all(|x| *x >= 0.0);
        let expected = format!("a list of {N} numbers of at least zero");
        let list = self.read(key, &expected, |value| numbers(value).filter(fit))?;
        Ok(list.and_then(|list| <[f64; N]>::try_from(list).ok()).unwrap_or([1.0; N]))
    }

    /// A list of `len` finite numbers, described after "expected".
    pub fn list(&self, key: &str, len: usize, expected: &str) -> Result<Option<Vec<f64>>, LoadError> {
        self.read(key, expected, |value| numbers(value).filter(|list| list.len() == len))
    }

    /// A list of numbers that are not negative, however many.
    pub fn factors(&self, key: &str) -> Result<Option<Vec<f64>>, LoadError> {
        let fit = |list: &Vec<f64>| list.iter().all(|x| *x >= 0.0);
        self.read(key, "a list of numbers of at least zero", |value| numbers(value).filter(fit))
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&'t str>>, LoadError> {
        self.read(key, "a list of names", |value| {
            let names = value.get_ref().as_array()?;
            names.iter().map(|name| name.get_ref().as_str()).collect()
        })
    }

    /// One text, or a list of two.
    pub fn one_or_two(&self, key: &str) -> Result<Option<[&'t str; 2]>, LoadError> {
        self.read(key, "a name, or the first and the last of a list", |value| match value.get_ref() {
            DeValue::String(name) => Some([name.as_ref(), name.as_ref()]),
            DeValue::Array(names) => match [names.first()?.get_ref(), names.get(1)?.get_ref()] {
                [DeValue::String(first), DeValue::String(last)] if names.len() == 2 => {
                    Some([first.as_ref(), last.as_ref()])
                }
                _ => None,
            },
            _ => None,
        })
    }

    fn read<X>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(Value<'t>) -> Option<X>,
    ) -> Result<Option<X>, LoadError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.refusal(key, value, expected))
    }

    fn refusal(&self, key: &str, value: Value<'t>, expected: impl Into<String>) -> LoadError {
        let span = value.span();
        // As it is written; a table only by its first line.
        let written = self.text.get(span.clone()).unwrap_or_default().trim();
        let found = if value.get_ref().is_table() { written.lines().next().unwrap_or_default() } else { written };
        let problem = LoadProblem::Unexpected { expected: expected.into(), found: excerpt(found) };
        self.error(Some(key), span, problem)
    }

    fn error(&self, key: Option<&str>, span: Range<usize>, problem: LoadProblem) -> LoadError {
        let words = [self.what.as_str(), key.unwrap_or_default()];
        let element = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        LoadError {
            line: Some(line(self.text, span.start)),
            element: Some(element).filter(|element| !element.is_empty()),
            ..LoadError::of_file(self.path, problem)
        }
    }
}

fn number(value: Value<'_>) -> Option<f64> {
    let number = match value.get_ref() {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}

fn numbers(value: Value<'_>) -> Option<Vec<f64>> {
    value.get_ref().as_array()?.iter().map(number).collect()
}

fn integer(value: Value<'_>) -> Option<usize> {
    let integer = value.get_ref().as_integer()?;
    usize::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// Line of a byte, from 1.
fn line(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().iter().take(byte);
    before.filter(|byte| **byte == b'\n').count() as u32 + 1
}
