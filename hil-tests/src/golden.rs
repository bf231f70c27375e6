//! Figures that may not change unnoticed: instructions and sizes, by image and compiler.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::image::{Image, workspace};

/// Change of a figure that needs no attention.
pub const TOLERANCE: f64 = 0.02;

/// Figures that may only fall: the number is a promise.
const ONLY_FALLING: &str = "panic_sites";

/// Figures of one image, by name.
pub type Figures = BTreeMap<String, u64>;

/// What became of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All within tolerance.
    Same,
    /// This compiler has no stored figures; `--bless` stores them.
    Unknown,
    /// One line per figure that changed.
    Changed(Vec<String>),
}

/// Compares figures with the stored ones.
pub fn compare(image: &Image, figures: &Figures) -> Result<Verdict> {
    let stored = read(&path(&image.name))?;
    Ok(match stored.get(&image.compiler) {
        None => Verdict::Unknown,
        Some(stored) => {
            let lines = differences(stored, figures);
            if lines.is_empty() { Verdict::Same } else { Verdict::Changed(lines) }
        }
    })
}

/// Stores figures in the place of the old ones.
pub fn bless(image: &Image, figures: &Figures) -> Result<()> {
    let path = path(&image.name);
    let mut stored = read(&path)?;
    stored.insert(image.compiler.clone(), figures.clone());
    let text = serde_json::to_string_pretty(&stored)? + "\n";
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn path(name: &str) -> PathBuf {
    workspace().join("hil-tests/expected").join(name).with_extension("json")
}

fn read(path: &PathBuf) -> Result<BTreeMap<String, Figures>> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("{} is not a list of figures", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// One line per figure that is new, gone, or further off than it may be.
fn differences(stored: &Figures, figures: &Figures) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, &now) in figures {
        match stored.get(name) {
            None => lines.push(format!("{name:<28} {:>12} → {now:>12}  new", "–")),
            Some(&before) if changed(name, before, now) => {
                let percent = 100.0 * (now as f64 / (before as f64).max(1.0) - 1.0);
                lines.push(format!("{name:<28} {before:>12} → {now:>12}  {percent:+.1} %"));
            }
            Some(_) => {}
        }
    }
    let gone = stored.iter().filter(|(name, _)| !figures.contains_key(*name));
    lines.extend(gone.map(|(name, before)| format!("{name:<28} {before:>12} → {:>12}  gone", "–")));
    lines
}

fn changed(name: &str, before: u64, now: u64) -> bool {
    if name.ends_with(ONLY_FALLING) {
        return now > before;
    }
    (now as f64 - before as f64).abs() > TOLERANCE * before as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(list: &[(&str, u64)]) -> Figures {
        list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn two_per_cent_pass_and_more_does_not() {
        let stored = figures(&[("tick", 10_000), ("solve", 500)]);
        assert!(differences(&stored, &figures(&[("tick", 10_200), ("solve", 490)])).is_empty());
        let lines = differences(&stored, &figures(&[("tick", 10_201), ("solve", 500)]));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("tick ") && lines[0].ends_with("+2.0 %"), "{}", lines[0]);
    }

    #[test]
    fn a_figure_that_came_or_went_is_a_change() {
        let lines = differences(&figures(&[("a", 1)]), &figures(&[("b", 1)]));
        assert!(lines[0].ends_with("new") && lines[1].ends_with("gone"));
    }

    #[test]
    fn one_more_panic_is_a_change_and_one_less_is_not() {
        let stored = figures(&[("panic_sites", 300)]);
        assert_eq!(differences(&stored, &figures(&[("panic_sites", 301)])).len(), 1);
        assert!(differences(&stored, &figures(&[("panic_sites", 100)])).is_empty());
    }
}
