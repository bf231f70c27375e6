//! Model-predictive control in forty lines: a cart swings its pole up, planning anew every 20 ms.
//!
//! `cargo run --release --example 05_mpc`

use saltus::memory::{Arena, Block};
use saltus::mpc::{
    Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, PolicyScratch, Residual, Spacing, Stopped, Task, Term,
};
use saltus::step::{Simulator, StepDims, StepSettings};
use saltus_loaders::{LoadOptions, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cartpole = load("cartpole", &LoadOptions::default())?.model;
    let model = cartpole.model();
    let upright = [0.0, 0.0]; // cart in the middle, pole up
    let terms = [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: &upright }, 1.0).at_end(10.0),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, 0.05).at_end(1.0),
        Term::new(Residual::Control { reference: &[] }, 1e-3),
        Term::new(Residual::PositionLimits { margin: 0.3 }, 1.0),
    ];

    let step = StepDims::of(model, 1);
    let dims = MpcDims::new(step, 40, terms.len());
    let blocks = Mpc::<f64>::blocks(dims) + PolicyScratch::<f64>::blocks(model.dims()) + Simulator::<f64>::blocks(step);
    let mut memory = vec![Block::EMPTY; blocks]; // all the memory there is
    let mut arena = Arena::new(&mut memory);
    let settings = MpcSettings { spacing: Spacing { first_s: 0.02, growth: 1.03 }, ..MpcSettings::default() };
    let mut mpc = Mpc::new(model, settings, dims, &mut arena)?;
    let mut policy = PolicyScratch::carve(&mut arena, model.dims())?;
    let mut plant = Simulator::new(model, StepSettings::with_dt(0.002), step, &mut arena)?;
    plant.set_state(&[0.0, 3.1], &[0.0, 0.0])?; // the pole hangs
    mpc.reset(&[0.0])?;

    let mut force = [0.0];
    for tick in 0..2500_u64 {
        let now = Nanos(tick * 2_000_000);
        if tick % 10 == 0 {
            let measured = Measured { time: now, q: plant.q(), v: plant.v() };
            // A clock that stands still: no deadline. With one, a plan is there when the time is up.
            let budget = Budget { clock: &Stopped(now), deadline: Nanos::NEVER };
            let report = mpc.solve(&Task::new(&terms), measured, budget)?;
            if tick % 250 == 0 {
                println!("{:.1} s: {:6.3?}, cost {:.4}, {}", plant.time_s(), plant.q(), report.cost, report.status);
            }
        }
        mpc.plan().control(model, now, (plant.q(), plant.v()), &mut force, &mut policy)?;
        plant.step(&force)?;
    }
    println!("cart at {:.3} m, pole {:.4} rad from upright", plant.q()[0], plant.q()[1]);
    Ok(())
}
