//! A thrown cube hits the floor and slides. It is seen four times on its way: with which velocity was it
//! thrown? Gauss–Newton through the whole flight: the Jacobians of its steps, multiplied, beside finite differences of the
//! flight.
//!
//! `cargo run --release --example 04_thrown_cube`

mod inverse;

use inverse::Gradient;
use inverse::plot::{Curve, convergence};
use inverse::throw::Throw;
use saltus_loaders::{LoadOptions, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cube = load("cube", &LoadOptions::default())?.model;
    let model = cube.model();
    let throw = Throw { model, q: model.find_keyframe("drop").ok_or("a keyframe")?.q.to_vec() };
    let target = throw.fly(&inverse::throw::THROWN, false)?;
    println!("{:<12} {:>10} {:>12} {:>14} {:>8}", "gradient", "iterations", "miss m, rad", "velocity error", "ms");
    let mut curves = Vec::new();
    for gradient in [Gradient::Exact, Gradient::Differences] {
        let search = throw.aim(&target, &inverse::throw::GUESS, gradient)?;
        let kind = format!("{gradient:?}").to_lowercase();
        let error = inverse::throw::velocity_error(&search);
        let (iterations, miss, ms) = (search.iterations(), search.residual(), search.seconds * 1e3);
        println!("{kind:<12} {iterations:>10} {miss:>12.1e} {error:>14.1e} {ms:>8.1}");
        curves.push(Curve { name: kind, residuals: search.residuals });
    }
    std::fs::write("docs/thrown_cube.svg", convergence("Distance from where the cube was seen, m and rad", &curves))?;
    println!("\nwrote docs/thrown_cube.svg");
    Ok(())
}
