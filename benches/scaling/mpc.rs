//! One iteration of the optimizer against its horizon and against the degrees of freedom.

use nalgebra::Vector3;
use saltus::memory::{Arena, Block};
use saltus::model::{ActuatorSpec, BodySpec, JointSpec, Model, ModelBuilder, OwnedModel};
use saltus::mpc::{
    Budget, Dofs, Measured, Mpc, MpcDims, MpcSettings, Nanos, Residual, Spacing, Start, Stopped, Task, Term,
};
use saltus::scalar::Real;
use saltus::spatial::{Inertia, Placement};
use saltus::step::StepDims;
use saltus_loaders::{LoadOptions, load};

use crate::fastest_us;
use crate::plot::{Plot, Series};

const HORIZONS: [usize; 5] = [5, 10, 20, 50, 100];
const FREEDOMS: [usize; 6] = [2, 5, 10, 20, 30, 40];
const HORIZON: usize = 20;
const CONTACTS: usize = 8;
/// Until the plan has come to rest.
const SETTLE_SOLVES: usize = 30;

/// Both plots.
pub fn measure() -> [Plot; 2] {
    let go1 = load("go1", &LoadOptions::default()).expect("a built-in robot").model;
    let horizon = Plot {
        file: "mpc-horizon.svg",
        title: "one iteration against the horizon, Go1 standing",
        x: "steps",
        series: vec![
            over_horizon::<f64>("Go1 on four feet, f64", &go1),
            over_horizon::<f32>("Go1 on four feet, f32", &go1.cast()),
        ],
    };
    let freedoms = Plot {
        file: "mpc-nv.svg",
        title: "one iteration of 20 steps against the degrees of freedom",
        x: "nv",
        series: vec![over_freedoms::<f64>("chain, f64"), over_freedoms::<f32>("chain, f32")],
    };
    [horizon, freedoms]
}

fn over_horizon<T: Real<Plain = T>>(name: &'static str, robot: &OwnedModel<T>) -> Series {
    let model = robot.model();
    let rest = model.find_keyframe("rest").expect("every built-in robot has one");
    let point = |&horizon: &usize| (horizon, iteration_us(model, (rest.q, rest.u), horizon));
    Series { name, points: HORIZONS.iter().map(point).collect() }
}

fn over_freedoms<T: Real<Plain = T>>(name: &'static str) -> Series {
    let point = |&nv: &usize| {
        let robot = chain(nv).build::<T>().expect("the chain is valid");
        let (q, u) = (vec![T::ZERO; nv], vec![T::ZERO; nv]);
        (nv, iteration_us(robot.model(), (&q, &u), HORIZON))
    };
    Series { name, points: FREEDOMS.iter().map(point).collect() }
}

/// Microseconds of an iteration that keeps the robot where it is.
fn iteration_us<T: Real<Plain = T>>(model: Model<'_, T>, (q, u): (&[T], &[T]), horizon: usize) -> f64 {
    let real = T::from_f64;
    let dims = MpcDims::new(StepDims::of(model, CONTACTS), horizon, 3);
    let mut memory = vec![Block::EMPTY; Mpc::<T>::blocks(dims)];
    // One trial, however little there is to gain.
    let settings = MpcSettings {
        spacing: Spacing::even(real(0.02)),
        start: Start::Gaps,
        max_iterations: 1,
        trials: 1,
        tolerance: T::ZERO,
        ..MpcSettings::default()
    };
    let mut mpc = Mpc::new(model, settings, dims, &mut Arena::new(&mut memory)).expect("sized for it");
    mpc.reset(u).expect("fits");
    let terms = [
        Term::new(Residual::Posture { dofs: Dofs::ALL, reference: q }, real(50.0)).at_end(real(1.0)),
        Term::new(Residual::Velocity { dofs: Dofs::ALL, reference: &[] }, real(50.0)).at_end(real(1.0)),
        Term::new(Residual::Control { reference: u }, real(0.05)),
    ];
    let (task, v) = (Task::new(&terms), vec![T::ZERO; model.nv()]);
    let budget = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };
    let mut solve = || mpc.solve(&task, Measured { time: Nanos(0), q, v: &v }, budget).expect("it fits");
    for _ in 0..SETTLE_SOLVES {
        solve();
    }
    fastest_us(solve)
}

/// A chain of hinges that hangs, each with a motor, one metre long.
fn chain(nv: usize) -> ModelBuilder {
    let length = 1.0 / nv as f64;
    let inertia = Inertia::solid_box(2.0 * length, &Vector3::new(0.05, 0.05, length));
    let mut builder = ModelBuilder::new();
    for k in 0..nv {
        let axis = if k % 2 == 0 { Vector3::y() } else { Vector3::x() };
        let parent = if k == 0 { "world".to_string() } else { format!("link{}", k - 1) };
        let link = BodySpec::new(format!("link{k}"), JointSpec::revolute(axis))
            .parent(parent)
            .placement(Placement::translation(0.0, 0.0, -length))
            .inertia(inertia.moved_by(&Placement::translation(0.0, 0.0, -0.5 * length)))
            .damping(0.1);
        builder = builder.body(link).actuator(ActuatorSpec::joint(format!("motor{k}"), format!("link{k}")));
    }
    builder
}
