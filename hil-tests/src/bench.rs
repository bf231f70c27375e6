//! The image `bench`: what a step and its derivatives cost, in instructions.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::golden::Figures;
use crate::image::Image;
use crate::target::Qemu;

/// Nanoseconds of a tick of the image's counter.
pub const COUNTER_NS: u64 = 40;

/// 64 ns an instruction: every one of them shows on a counter of 40 ns.
const SHIFT: u32 = 6;

/// The emulator needs a second; a machine busy with a build, some more.
const LIMIT: Duration = Duration::from_secs(120);

/// Figures that are not counter ticks.
const PLAIN: [&str; 3] = ["contacts", "main_stack_bytes", "handler_stack_bytes"];

/// Runs the image: instructions by `robot/stage`, and its sizes.
pub fn run(image: &Image) -> Result<Figures> {
    let finished = Qemu::run(image, SHIFT, LIMIT)?;
    ensure!(finished.code == 0, "{} ended with exit code {}:\n{}", image.name, finished.code, finished.text);
    let mut figures = parse(&finished.text)?;
    ensure!(!figures.is_empty(), "{} printed no figures", image.name);
    let elf = image.elf()?;
    ensure!(elf.heap_symbols.is_empty(), "the image has a heap: {:?}", elf.heap_symbols);
    figures.insert("flash_bytes".into(), elf.flash_bytes);
    figures.insert("ram_bytes".into(), elf.ram_bytes);
    figures.insert("panic_sites".into(), elf.panic_count() as u64);
    Ok(figures)
}

/// Lines of `robot stage ticks`.
fn parse(text: &str) -> Result<Figures> {
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let &[robot, stage, ticks] = words.as_slice() else { anyhow::bail!("not a figure: {line:?}") };
            let ticks: u64 = ticks.parse().with_context(|| format!("not a number in {line:?}"))?;
            let value = if PLAIN.contains(&stage) { ticks } else { instructions(ticks, SHIFT) };
            Ok((format!("{robot}/{stage}"), value))
        })
        .collect()
}

/// Instructions in so many ticks of the counter, at 2^`shift` ns each.
pub fn instructions(ticks: u64, shift: u32) -> u64 {
    (ticks * COUNTER_NS) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_instructions_and_plain_figures_stay() {
        let figures = parse("go1 step 1600\ngo1 contacts 4\n").unwrap();
        assert_eq!((figures["go1/step"], figures["go1/contacts"]), (1000, 4));
        assert!(parse("go1 step\n").is_err());
    }
}
