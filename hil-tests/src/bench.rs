//! The image `bench`: what a step and its derivatives cost, in instructions.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use saltus::derivatives::{Derivatives, differentiate};
use saltus::memory::{Arena, Block};
use saltus::step::{NextState, Step, StepInput, StepSettings, step};
use saltus_control::bits_of;
use saltus_control::robots::{self, Robot, SETTLE_STEPS};

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
const PLAIN: [&str; 4] = ["contacts", "main_stack_bytes", "handler_stack_bytes", BITS];

/// A hash of the Jacobian, which the host computes too.
const BITS: &str = "jacobian_bits";

/// Runs the image: instructions by `robot/stage`, and its sizes. An error if a Jacobian has other bits than on the host.
pub fn run(image: &Image) -> Result<Figures> {
    let finished = Qemu::run(image, SHIFT, LIMIT)?;
    ensure!(finished.code == 0, "{} ended with exit code {}:\n{}", image.name, finished.code, finished.text);
    let mut figures = parse(&finished.text)?;
    ensure!(!figures.is_empty(), "{} printed no figures", image.name);
    for robot in robots::ALL {
        let (found, expected) = (figures.remove(&format!("{}/{BITS}", robot.name)), bits_on_host(&robot)?);
        ensure!(
            found == Some(expected.into()),
            "the Jacobian of {} has the hash {found:x?} on the target and {expected:x} on the host",
            robot.name,
        );
    }
    let elf = image.elf()?;
    ensure!(elf.heap_symbols.is_empty(), "the image has a heap: {:?}", elf.heap_symbols);
    figures.insert("flash_bytes".into(), elf.flash_bytes);
    figures.insert("ram_bytes".into(), elf.ram_bytes);
    figures.insert("panic_sites".into(), elf.panic_count() as u64);
    Ok(figures)
}

/// The same steps as in the image, and the hash of the Jacobian of the last one.
fn bits_on_host(robot: &Robot) -> Result<u32> {
    let (model, settings) = (*robot.model, StepSettings::<f32>::default());
    let mut memory = vec![Block::EMPTY; Step::<f32>::blocks(robot.dims) + Derivatives::<f32>::blocks(robot.dims)];
    let mut arena = Arena::new(&mut memory);
    let (mut work, mut jacobian) = (Step::carve(&mut arena, robot.dims)?, Derivatives::carve(&mut arena, robot.dims)?);
    let rest = model.keyframe(0).context("a robot without a keyframe")?;
    let (mut q, mut v) = (rest.q.to_vec(), rest.v.to_vec());
    let (mut next_q, mut next_v) = (q.clone(), v.clone());
    for k in 0..SETTLE_STEPS + 2 {
        // The image times a cold step, and then that step again.
        if k <= SETTLE_STEPS {
            (q, v) = (next_q.clone(), next_v.clone());
        }
        if k == SETTLE_STEPS {
            work.forget();
        }
        let next = NextState { q: &mut next_q, v: &mut next_v };
        step(model, &StepInput::new(&q, &v, rest.u), &settings, next, &mut work)?;
    }
    differentiate(model, &StepInput::new(&q, &v, rest.u), &settings, &mut work, &mut jacobian)?;
    Ok(bits_of(jacobian.all()))
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
