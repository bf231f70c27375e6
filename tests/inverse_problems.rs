//! Gauss–Newton through the step solves inverse problems of contact.

#[path = "../examples/inverse/mod.rs"]
mod inverse;

use inverse::Gradient;
use inverse::throw::{GUESS, THROWN, Throw, velocity_error};
use saltus_loaders::{LoadOptions, load};

#[test]
fn torques_that_hold_a_robot_still_are_found_in_ten_iterations() {
    for pose in inverse::poses::poses().unwrap() {
        let search = inverse::hold_still(pose.robot.model(), &pose.q, Gradient::Exact).unwrap();
        let few = search.residuals.iter().take(11).any(|residual| *residual <= 1e-8);
        println!("{}: {:?}", pose.name, search.residuals);
        assert!(few, "{}: {:?}", pose.name, search.residuals);
    }
}

#[test]
fn the_velocity_of_a_thrown_cube_is_found_from_where_it_was_seen() {
    let cube = load("cube", &LoadOptions::default()).unwrap().model;
    let model = cube.model();
    let throw = Throw { model, q: model.find_keyframe("drop").unwrap().q.to_vec() };
    let target = throw.fly(&THROWN, false).unwrap();
    let search = throw.aim(&target, &GUESS, Gradient::Exact).unwrap();
    println!("{:?}, error {:e}", search.residuals, velocity_error(&search));
    assert!(velocity_error(&search) <= 1e-6 && search.iterations() <= 10, "{:?}", search.residuals);
}
