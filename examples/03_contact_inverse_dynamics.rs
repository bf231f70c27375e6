//! Contact inverse dynamics: the motor torques that hold a robot still, found by Gauss–Newton on the step itself, through
//! contact and friction. The exact gradient stands beside finite differences.
//!
//! `cargo run --release --example 03_contact_inverse_dynamics`

mod inverse;

use inverse::Gradient;
use inverse::plot::{Curve, convergence};
use inverse::poses::poses;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut curves = Vec::new();
    println!("{:<24} {:<12} {:>10} {:>12} {:>10}", "pose", "gradient", "iterations", "residual m/s", "ms");
    for pose in poses()? {
        for gradient in [Gradient::Exact, Gradient::Differences] {
            let search = inverse::hold_still(pose.robot.model(), &pose.q, gradient)?;
            let (kind, ms) = (format!("{gradient:?}").to_lowercase(), search.seconds * 1e3);
            let (iterations, residual) = (search.iterations(), search.residual());
            println!("{:<24} {kind:<12} {iterations:>10} {residual:>12.1e} {ms:>10.2}", pose.name);
            curves.push(Curve { name: format!("{}, {kind}", pose.name), residuals: search.residuals });
        }
    }
    std::fs::write("docs/contact_inverse_dynamics.svg", convergence("Velocity left after a step, m/s", &curves))?;
    println!("\nwrote docs/contact_inverse_dynamics.svg");
    Ok(())
}
