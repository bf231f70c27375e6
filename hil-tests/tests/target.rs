//! The images on the emulated board. `cargo xtask test --only hil` runs these.

use std::time::Duration;

use saltus_control::{ALL, CARTPOLE_SWINGUP, GO1_STAND, QUADROTOR_TAKEOFF, STACK_ROOM_BYTES, Scenario};
use saltus_hil_tests::faults::Rates;
use saltus_hil_tests::image::Image;
use saltus_hil_tests::run::{Outcome, RunOptions, run};
use saltus_hil_tests::target::Qemu;

/// 2 ns an instruction.
const SHIFT: u32 = 1;
/// Wall time of an image that ends by itself.
const LIMIT: Duration = Duration::from_secs(120);
/// Memory of the real part.
const RAM_BYTES: u64 = 512 * 1024;
const FLASH_BYTES: u64 = 2048 * 1024;

fn run_on_target(scenario: &Scenario, options: &RunOptions) -> Outcome {
    let image = Image::build(scenario.name()).unwrap();
    let mut qemu = Qemu::start(&image, SHIFT).unwrap();
    run(scenario, options, &mut qemu, |_| ()).unwrap()
}

fn faults(text: &str) -> RunOptions {
    RunOptions { faults: text.parse().unwrap(), ..RunOptions::default() }
}

#[test]
fn every_image_fits_the_part_and_has_no_heap() {
    for scenario in ALL {
        let elf = Image::build(scenario.name()).unwrap().elf().unwrap();
        println!("{:<20} {} B flash, {} B RAM", scenario.name(), elf.flash_bytes, elf.ram_bytes);
        assert!(elf.flash_bytes <= FLASH_BYTES && elf.ram_bytes <= RAM_BYTES, "{}", scenario.name());
        assert!(elf.heap_symbols.is_empty(), "{:?}", elf.heap_symbols);
    }
}

#[test]
fn the_memory_of_an_image_is_known_to_two_per_cent_before_it_is_built() {
    for scenario in ALL {
        let elf = Image::build(scenario.name()).unwrap().elf().unwrap();
        assert_eq!(elf.stack_room_bytes, STACK_ROOM_BYTES as u64);
        let predicted = scenario.image_ram_bytes();
        let error = (predicted as f64 / elf.ram_bytes as f64 - 1.0).abs();
        println!("{:<20} predicted {predicted}, is {}", scenario.name(), elf.ram_bytes);
        assert!(error < 0.02, "{}: predicted {predicted}, is {}", scenario.name(), elf.ram_bytes);
    }
}

#[test]
fn two_runs_give_the_same_counts_to_the_instruction() {
    let options = RunOptions { ticks: Some(300), ..RunOptions::default() };
    let [first, second] = [(); 2].map(|()| run_on_target(&CARTPOLE_SWINGUP, &options));
    assert!(first.solves > 50 && first.instructions_max > 0);
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

#[test]
fn a_solve_that_takes_longer_than_it_may_is_a_miss() {
    let options = RunOptions { ticks: Some(100), deadline_us: Some(100), ..RunOptions::default() };
    let outcome = run_on_target(&CARTPOLE_SWINGUP, &options);
    assert_eq!(outcome.misses, outcome.solves);
    assert!(outcome.solves > 0);
}

#[test]
fn a_quadruped_stands_for_20_s_with_5_per_cent_lost_and_1_per_cent_corrupt_frames() {
    let options = RunOptions { ticks: Some(10_000), ..faults("lost=0.05,corrupt=0.01") };
    let outcome = run_on_target(&GO1_STAND, &options);
    println!("{outcome:#?}");
    assert_eq!(outcome.missed_goal, None);
    assert!(outcome.bit_exact && outcome.faults.all_counted, "{:?}", outcome.faults);
    assert!(outcome.faults.to_target.injected.lost > 400 && outcome.faults.to_target.injected.corrupt > 50);
    assert_eq!(outcome.misses, 0);
}

#[test]
fn late_repeated_and_impossible_states_are_counted_and_survived() {
    let options = faults("duplicated=0.05,late=0.03,nan=0.02");
    let outcome = run_on_target(&QUADROTOR_TAKEOFF, &options);
    assert!(outcome.bit_exact && outcome.faults.all_counted, "{:?}", outcome.faults);
    let injected = outcome.faults.to_target.injected;
    assert!(injected.duplicated > 0 && injected.late > 0 && injected.nan > 0);
    assert_eq!(outcome.missed_goal, None);
}

#[test]
fn a_plant_that_stalls_is_answered_by_damping_within_the_time_that_a_state_may_be_held() {
    let stall = 200;
    let options = RunOptions {
        ticks: Some(600),
        faults: Rates { stall: Some(stall), ..Rates::default() },
        ..RunOptions::default()
    };
    let outcome = run_on_target(&GO1_STAND, &options);
    let settings = GO1_STAND.controller_settings();
    let limit = u64::from(settings.held_state_us + GO1_STAND.tick_us);
    assert!(outcome.damping_after_us.is_some_and(|us| us <= limit), "{:?}", outcome.damping_after_us);
    assert!(outcome.bit_exact);
    assert!(outcome.modes["damping"] > 300, "{:?}", outcome.modes);
}

#[test]
fn a_panic_ends_with_the_motors_off() {
    let finished = Qemu::run(&Image::build("panic-test").unwrap(), SHIFT, LIMIT).unwrap();
    assert_eq!(finished.code, 101, "{}", finished.text);
}

#[test]
fn a_stack_that_runs_over_faults_with_the_motors_off() {
    let finished = Qemu::run(&Image::build("stack-test").unwrap(), SHIFT, LIMIT).unwrap();
    assert_eq!(finished.code, 102, "{}", finished.text);
}
