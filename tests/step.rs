//! The step against mechanics that is known exactly: friction, impacts, limits, loops, motors.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use saltus::contact::{Mode, SolverStatus};
use saltus::dynamics::{self, Dynamics};
use saltus::memory::{Arena, Block};
use saltus::model::{
    ActuatorSpec, BodySpec, ClosureSpec, GeometrySpec, JointSpec, Model, ModelBuilder, STANDARD_GRAVITY, Shape,
};
use saltus::spatial::{Force, Inertia, Placement, Symmetric3};
use saltus::step::{
    NextState, Part, Simulator, Step, StepDims, StepInput, StepReport, StepSettings, Watch, step, step_watched,
};
use saltus_testkit::{RandomControls, builtin_robot, simulator};

type Sim = Simulator<'static, 'static, f64>;

/// What a solve to a residual of 1e-10 leaves of a velocity near 1 m/s, over some hundred steps.
const SOLVED: f64 = 1e-8;

fn start(scene: &ModelBuilder, dt_s: f64) -> Sim {
    simulator(scene.build().unwrap(), StepSettings::with_dt(dt_s))
}

fn floor(friction: f64) -> GeometrySpec {
    GeometrySpec::new("floor", Shape::HalfSpace).friction(friction)
}

/// A free body with one geometry.
fn free(name: &str, inertia: Inertia<f64>, skin: GeometrySpec) -> BodySpec {
    BodySpec::new(name, JointSpec::free_flyer()).inertia(inertia).geometry(skin)
}

fn brick(name: &str, mass: f64, half_extents: Vector3<f64>, friction: f64) -> BodySpec {
    let skin = GeometrySpec::new(format!("{name} skin"), Shape::Box { half_extents }).friction(friction);
    free(name, Inertia::solid_box(mass, &(half_extents * 2.0)), skin)
}

fn ball(name: &str, mass: f64, radius: f64, friction: f64, restitution: f64) -> BodySpec {
    let skin = GeometrySpec::new(format!("{name} skin"), Shape::Sphere { radius });
    free(name, Inertia::solid_sphere(mass, radius), skin.friction(friction).restitution(restitution))
}

/// Configuration of a free body that does not turn.
fn at(x: f64, y: f64, z: f64) -> [f64; 7] {
    [x, y, z, 0.0, 0.0, 0.0, 1.0]
}

fn rotation(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(q[6], q[3], q[4], q[5]))
}

/// Linear and angular velocity of free body `k` in world axes, when all bodies are free.
fn world_velocity(sim: &Sim, k: usize) -> [Vector3<f64>; 2] {
    let (turn, v) = (rotation(&sim.q()[7 * k..][..7]), &sim.v()[6 * k..][..6]);
    [turn * Vector3::new(v[0], v[1], v[2]), turn * Vector3::new(v[3], v[4], v[5])]
}

fn run(sim: &mut Sim, steps: usize) {
    for _ in 0..steps {
        let report = sim.step(&[]).unwrap();
        assert!(report.is_complete(), "{report:?}");
    }
}

/// Kinetic and potential energy, and the momentum about the center of mass, at the state of a simulator.
fn mechanics(model: Model<'_, f64>, q: &[f64], v: &[f64]) -> (f64, Force<f64>) {
    let mut memory = vec![Block::EMPTY; Dynamics::<f64>::blocks(model.dims())];
    let mut work = Dynamics::carve(&mut Arena::new(&mut memory), model.dims()).unwrap();
    dynamics::update(model, q, v, &mut work).unwrap();
    (dynamics::kinetic_energy(&work) + dynamics::potential_energy(model, &work), dynamics::centroidal_momentum(&work))
}

fn energy(sim: &Sim) -> f64 {
    mechanics(sim.model(), sim.q(), sim.v()).0
}

// ── Friction ────────────────────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_block_sticks_below_the_friction_angle_and_slides_above() {
    const FRICTION: f64 = 0.5;
    // An acceleration of 11 m/s² per radian, for 0.1 s: a millionth of a radian is a hundred times this speed.
    const MOVES: f64 = 1e-8;
    let slides = |angle: f64| {
        let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * STANDARD_GRAVITY;
        let block = brick("block", 1.0, Vector3::new(0.1, 0.1, 0.02), FRICTION);
        let scene = ModelBuilder::new().gravity(gravity).geometry("world", floor(FRICTION)).body(block);
        let mut sim = start(&scene, 0.002);
        sim.set_state(&at(0.0, 0.0, 0.02), &[0.0; 6]).unwrap();
        run(&mut sim, 50);
        sim.v()[0] > MOVES
    };
    let (mut sticking, mut sliding) = (0.0, 1.0);
    while sliding - sticking > 1e-7 {
        let angle = 0.5 * (sticking + sliding);
        *(if slides(angle) { &mut sliding } else { &mut sticking }) = angle;
    }
    assert!((sliding - FRICTION.atan()).abs() < 1e-6, "{sliding} instead of {}", FRICTION.atan());
}

#[test]
fn sliding_friction_is_the_same_in_every_direction() {
    const FRICTION: f64 = 0.4;
    const DIRECTIONS: usize = 16;
    let block = brick("block", 2.0, Vector3::new(0.1, 0.1, 0.02), FRICTION);
    let scene = ModelBuilder::new().geometry("world", floor(FRICTION)).body(block);
    let mut sim = start(&scene, 0.001);
    for k in 0..DIRECTIONS {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / DIRECTIONS as f64).sin_cos();
        sim.set_state(&at(0.0, 0.0, 0.02), &[cos, sin, 0.0, 0.0, 0.0, 0.0]).unwrap();
        run(&mut sim, 200);
        let speed = 1.0 - FRICTION * STANDARD_GRAVITY * 0.2;
        let expected = Vector3::new(cos, sin, 0.0) * speed;
        let [linear, angular] = world_velocity(&sim, 0);
        assert!((linear - expected).norm() < SOLVED && angular.norm() < SOLVED, "direction {k}: {linear:?}");
    }
}

/// A flat body of 1 kg on three points at radius `RING` around its center of mass, which is at their height: whatever
/// friction does, it does not tip, and each point carries a third of the weight.
fn tripod(friction: f64) -> Sim {
    const TIP: f64 = 0.01;
    let mut body = BodySpec::new("tripod", JointSpec::free_flyer()).inertia(Inertia::solid_sphere(1.0, RING));
    for k in 0..3 {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / 3.0).sin_cos();
        let place = Placement::translation(RING * cos, RING * sin, TIP);
        let foot = GeometrySpec::new(format!("foot {k}"), Shape::Sphere { radius: TIP }).placement(place);
        body = body.geometry(foot.friction(friction));
    }
    start(&ModelBuilder::new().geometry("world", floor(friction)).body(body), 0.001)
}

const RING: f64 = 0.1;

#[test]
fn friction_of_a_spinning_slider_opposes_the_slip_of_each_point() {
    const FRICTION: f64 = 0.3;
    let mut sim = tripod(FRICTION);
    sim.set_state(&at(0.0, 0.0, 0.0), &[0.5, 0.2, 0.0, 0.0, 0.0, 8.0]).unwrap();
    for _ in 0..50 {
        let center = Vector3::from_column_slice(&sim.q()[..3]);
        assert!(sim.step(&[]).unwrap().is_complete());
        // The impulses answer the velocity after the step, at the place before it.
        let [linear, angular] = world_velocity(&sim, 0);
        for contact in sim.work().contacts() {
            let slip = linear + angular.cross(&(contact.position_world - center));
            // On the body: the floor is the second of the pair.
            let impulse = -contact.impulse_world;
            assert_eq!(contact.mode, Mode::Slide);
            assert!((impulse.z - STANDARD_GRAVITY * 0.001 / 3.0).abs() < SOLVED, "{impulse:?}");
            let expected = -slip.xy() / slip.xy().norm() * (FRICTION * impulse.z);
            assert!((impulse.xy() - expected).norm() < SOLVED * impulse.z, "{impulse:?} against a slip of {slip:?}");
        }
    }
}

#[test]
fn translation_and_spin_of_a_slider_stop_at_the_same_time() {
    // The slower of the two meets ever less friction: their ratio tends to a fixed one, and both end together.
    for (speed, spin) in [(0.5, 2.0), (0.1, 20.0), (1.0, 1.0)] {
        let mut sim = tripod(0.3);
        sim.set_state(&at(0.0, 0.0, 0.0), &[speed, 0.0, 0.0, 0.0, 0.0, spin]).unwrap();
        let mut last = [speed, RING * spin];
        let stopped = (0..5000).any(|_| {
            assert!(sim.step(&[]).unwrap().is_complete());
            let [linear, angular] = world_velocity(&sim, 0);
            let now = [linear.norm(), RING * angular.norm()];
            let [linear_rests, angular_rests] = now.map(|speed| speed < SOLVED);
            assert_eq!(linear_rests, angular_rests, "{now:?} after {last:?}");
            last = now;
            linear_rests
        });
        assert!(stopped, "still at {last:?}");
    }
}

/// A flat disc of 1 kg and radius `RING`, which stands on four points of its rim. Its center of mass is at the height of
/// the ground, so that friction does not tip it.
fn disc(friction: f64) -> Sim {
    const HALF: f64 = 0.01;
    let (across, axial) = (0.25 * RING * RING, 0.5 * RING * RING);
    let low = Vector3::new(0.0, 0.0, -HALF);
    let rotational = Symmetric3 { xx: across, xy: 0.0, xz: 0.0, yy: across, yz: 0.0, zz: axial };
    let skin = GeometrySpec::new("disc", Shape::Cylinder { radius: RING, half_length: HALF }).friction(friction);
    let body =
        BodySpec::new("disc", JointSpec::free_flyer()).inertia(Inertia::new(1.0, low, rotational)).geometry(skin);
    let mut sim = start(&ModelBuilder::new().geometry("world", floor(friction)).body(body), 0.0005);
    sim.set_state(&at(0.0, 0.0, HALF), &[0.0; 6]).unwrap();
    sim
}

/// Speed and spin of a disc that slides on its rim, by the equations of motion with friction integrated around the rim.
fn rim_motion(mut speed: f64, mut spin: f64, friction: f64, time: f64) -> [f64; 2] {
    const STEPS: usize = 4000;
    const ANGLES: usize = 360;
    let h = time / STEPS as f64;
    for _ in 0..STEPS {
        let (mut force, mut torque) = (0.0, 0.0);
        for k in 0..ANGLES {
            let (sin, cos) = (std::f64::consts::TAU * (k as f64 + 0.5) / ANGLES as f64).sin_cos();
            let (x, y) = (speed - RING * spin * sin, RING * spin * cos);
            force -= x / x.hypot(y) / ANGLES as f64;
            torque -= RING * (y * cos - x * sin) / x.hypot(y) / ANGLES as f64;
        }
        speed += h * friction * STANDARD_GRAVITY * force;
        spin += h * friction * STANDARD_GRAVITY * torque / (0.5 * RING * RING);
    }
    [speed, spin]
}

#[test]
fn a_spinning_disc_slides_on_as_the_friction_around_its_rim_has_it() {
    const FRICTION: f64 = 0.3;
    // However four points share the weight, over a turn each meets the friction of the whole rim; here the velocities
    // change by some percent in a turn.
    const PER_TURN: f64 = 0.01;
    for (speed, spin, time) in [(0.2, 60.0, 0.5), (0.5, 80.0, 0.8), (1.0, 50.0, 0.3)] {
        let mut sim = disc(FRICTION);
        let q = sim.q().to_vec();
        sim.set_state(&q, &[speed, 0.0, 0.0, 0.0, 0.0, spin]).unwrap();
        run(&mut sim, (time / 0.0005_f64).round() as usize);
        // The origin is above the center of mass, and the disc does not tip.
        let [linear, angular] = world_velocity(&sim, 0);
        let expected = rim_motion(speed, spin, FRICTION, time);
        for (now, expected) in [linear.x, angular.z].into_iter().zip(expected) {
            assert!((now / expected - 1.0).abs() < PER_TURN, "{now} instead of {expected} from {speed}, {spin}");
        }
        let contacts: Vec<_> = sim.work().contacts().collect();
        assert!(contacts.len() == 4 && contacts.iter().all(|contact| contact.mode != Mode::Stick), "{contacts:?}");
    }
}

#[test]
fn a_sphere_that_starts_sliding_ends_rolling_at_five_sevenths() {
    const RADIUS: f64 = 0.1;
    // Friction acts at the ground, about which m v R + I ω stays: v = v₀ / (1 + 2/5).
    for friction in [0.1, 0.6] {
        let scene =
            ModelBuilder::new().geometry("world", floor(friction)).body(ball("ball", 1.0, RADIUS, friction, 0.0));
        let mut sim = start(&scene, 0.001);
        sim.set_state(&at(0.0, 0.0, RADIUS), &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        run(&mut sim, 1500);
        let [linear, angular] = world_velocity(&sim, 0);
        assert!((linear.x - 2.0 * 5.0 / 7.0).abs() < 1e-6, "{linear:?}");
        assert!((linear.x - RADIUS * angular.y).abs() < SOLVED, "{linear:?} and {angular:?}");
    }
}

// ── Impacts and free flight ─────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_spinning_body_in_free_flight_keeps_its_momentum() {
    let body = brick("body", 1.5, Vector3::new(0.1, 0.2, 0.3), 0.0);
    let mut sim = start(&ModelBuilder::new().gravity(Vector3::zeros()).body(body), 0.002);
    sim.set_state(&at(0.0, 0.0, 0.0), &[1.0, 2.0, 0.0, 0.0, 3.0, 10.0]).unwrap();
    let before = mechanics(sim.model(), sim.q(), sim.v()).1;
    run(&mut sim, 500);
    let after = mechanics(sim.model(), sim.q(), sim.v()).1;
    assert!((after.linear - before.linear).norm() < 1e-9, "{before:?} became {after:?}");
}

#[test]
fn an_external_force_accelerates_a_free_body_by_force_over_mass() {
    let body = brick("body", 2.0, Vector3::new(0.1, 0.2, 0.3), 0.0);
    let mut sim = start(&ModelBuilder::new().gravity(Vector3::zeros()).body(body), 0.002);
    let turned = UnitQuaternion::from_euler_angles(0.3, -0.5, 1.2);
    let [x, y, z, w] = [turned.i, turned.j, turned.k, turned.w];
    sim.set_state(&[0.0, 0.0, 0.0, x, y, z, w], &[0.0; 6]).unwrap();
    let force_world = Vector3::new(1.0, -2.0, 3.0);
    let force = Force { linear: turned.inverse() * force_world, angular: Vector3::zeros() };
    for _ in 0..100 {
        sim.step_with(&[], &[], &[force]).unwrap();
    }
    let [linear, angular] = world_velocity(&sim, 0);
    assert!((linear - force_world * (0.2 / 2.0)).norm() < 1e-12 && angular.norm() < 1e-12);
}

#[test]
fn a_bouncing_ball_keeps_the_square_of_its_restitution_per_bounce() {
    const DT: f64 = 1e-4;
    for restitution in [0.5, 0.8, 0.95] {
        let scene = ModelBuilder::new().geometry("world", floor(0.0)).body(ball("ball", 1.0, 0.1, 0.0, restitution));
        let mut sim = start(&scene, DT);
        sim.set_state(&at(0.0, 0.0, 1.1), &[0.0; 6]).unwrap();
        let height = |sim: &Sim| energy(sim) / STANDARD_GRAVITY - 0.1;
        let (mut before, mut bounces) = (height(&sim), 0);
        while bounces < 3 {
            let falling = sim.v()[2] < 0.0;
            run(&mut sim, 1);
            if falling && sim.v()[2] > 0.0 {
                let after = height(&sim);
                // The step of the impact starts up to v Δt above the floor, and goes the way down or up with one speed.
                let tolerance = 3.0 * (2.0 * STANDARD_GRAVITY * before).sqrt() * DT;
                let expected = restitution * restitution * before;
                assert!((after - expected).abs() < tolerance, "{before} became {after}, not {expected}");
                (before, bounces) = (after, bounces + 1);
            }
        }
    }
}

#[test]
fn colliding_free_bodies_keep_their_momentum() {
    let bodies =
        [ball("a", 1.0, 0.1, 0.5, 0.7), ball("b", 3.0, 0.15, 0.5, 0.7), brick("c", 2.0, Vector3::repeat(0.1), 0.5)];
    let scene = bodies.into_iter().fold(ModelBuilder::new().gravity(Vector3::zeros()), ModelBuilder::body);
    let mut sim = start(&scene, 0.001);
    let q = [at(-0.5, 0.02, 0.03), at(0.0, 0.0, 0.0), at(0.5, 0.1, 0.05)].concat();
    let v = [[2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0; 6], [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]].concat();
    sim.set_state(&q, &v).unwrap();
    let momentum = |sim: &Sim| mechanics(sim.model(), sim.q(), sim.v()).1;
    let (before, mut touched) = (momentum(&sim), 0);
    for _ in 0..600 {
        let report = sim.step(&[]).unwrap();
        assert!(report.is_complete());
        touched += usize::from(sim.work().contacts().any(|contact| contact.impulse_world.norm() > 0.0));
    }
    let after = momentum(&sim);
    assert!(touched >= 2, "they missed each other");
    assert!((after.linear - before.linear).norm() < 1e-9, "{before:?} became {after:?}");
    // The bodies turn by up to 1e-2 rad in a step, with the inertia of its start: first order in Δt.
    assert!((after.angular - before.angular).norm() < 1e-3 * before.angular.norm(), "{before:?} became {after:?}");
}

#[test]
fn a_row_of_balls_that_collide_gains_no_energy() {
    for restitution in [0.0, 0.5, 1.0] {
        let gravity = Vector3::zeros();
        let scene = (0..5).fold(ModelBuilder::new().gravity(gravity), |scene, k| {
            scene.body(ball(&format!("ball {k}"), 1.0, 0.1, 0.0, restitution))
        });
        let mut sim = start(&scene, 0.001);
        let q: Vec<f64> = (0..5).flat_map(|k| at(0.2 * k as f64 - if k == 0 { 0.1 } else { 0.0 }, 0.0, 0.0)).collect();
        let mut v = [0.0; 30];
        v[0] = 1.0;
        sim.set_state(&q, &v).unwrap();
        let mut last = energy(&sim);
        for _ in 0..500 {
            run(&mut sim, 1);
            let now = energy(&sim);
            // The rounding of one solve.
            assert!(now < last + 1e-9, "restitution {restitution}: {last} became {now}");
            last = now;
        }
        let momentum: f64 = (0..5).map(|k| world_velocity(&sim, k)[0].x).sum();
        assert!((momentum - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_dropped_stack_gains_no_energy() {
    let scene = (0..4).fold(ModelBuilder::new().geometry("world", floor(0.6)), |scene, k| {
        scene.body(brick(&format!("box {k}"), 1.0, Vector3::repeat(0.1), 0.6))
    });
    let mut sim = start(&scene, 0.002);
    let q: Vec<f64> = (0..4).flat_map(|k| at(0.01 * k as f64, 0.0, 0.2 + 0.25 * k as f64)).collect();
    sim.set_state(&q, &[0.0; 24]).unwrap();
    let mut last = energy(&sim);
    for step in 0..1000 {
        let report = sim.step(&[]).unwrap();
        let now = energy(&sim);
        // What the recovery of a penetration may lift a box of 1 kg by in one step, for each of four.
        let lift = 4.0 * STANDARD_GRAVITY * 0.2 * report.penetration_m.max(1e-9);
        assert!(now < last + lift, "step {step}: {last} became {now}, penetration {}", report.penetration_m);
        last = now;
    }
}

// ── Rest ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/// How far what rests may move in ten seconds.
const DRIFT: f64 = 1e-4;

fn assert_stays(sim: &mut Sim, q: &[f64], steps: usize) {
    sim.set_state(q, &vec![0.0; sim.model().nv()]).unwrap();
    for step in 0..steps {
        sim.step(&[]).unwrap();
        let worst = sim.q().iter().zip(q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < DRIFT, "moved by {worst} after {step} steps");
    }
}

#[test]
fn a_stack_of_ten_boxes_stays_still_for_ten_seconds() {
    let scene = (0..10).fold(ModelBuilder::new().geometry("world", floor(0.6)), |scene, k| {
        scene.body(brick(&format!("box {k}"), 1.0, Vector3::repeat(0.1), 0.6))
    });
    let q: Vec<f64> = (0..10).flat_map(|k| at(0.0, 0.0, 0.1 + 0.2 * k as f64)).collect();
    assert_stays(&mut start(&scene, 0.002), &q, 5000);
}

#[test]
fn a_box_on_four_feet_stays_still_for_ten_seconds() {
    let mut body =
        BodySpec::new("table", JointSpec::free_flyer()).inertia(Inertia::solid_box(5.0, &Vector3::new(0.6, 0.4, 0.05)));
    for (k, (x, y)) in [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)].into_iter().enumerate() {
        let foot = GeometrySpec::new(format!("foot {k}"), Shape::Box { half_extents: Vector3::new(0.02, 0.02, 0.1) });
        body = body.geometry(foot.placement(Placement::translation(x, y, -0.1)).friction(0.7));
    }
    let scene = ModelBuilder::new().geometry("world", floor(0.7)).body(body);
    assert_stays(&mut start(&scene, 0.002), &at(0.0, 0.0, 0.2), 5000);
}

// ── Joints ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/// A ball of 1 kg on a rod of half a metre that turns about y; hangs at zero.
fn rod() -> BodySpec {
    let bob = Inertia::solid_sphere(1.0, 0.05).moved_by(&Placement::translation(0.0, 0.0, -0.5));
    BodySpec::new("rod", JointSpec::revolute(Vector3::y())).inertia(bob)
}

#[test]
fn a_pendulum_comes_to_rest_on_its_limit() {
    const LIMIT: f64 = 0.5;
    let mut sim = start(&ModelBuilder::new().body(rod().position_limits(LIMIT, 3.0)), 0.002);
    sim.set_state(&[1.5], &[0.0]).unwrap();
    for step in 0..2000 {
        run(&mut sim, 1);
        assert!(sim.q()[0] > LIMIT - 1e-5, "step {step}: beyond the limit by {:e}", LIMIT - sim.q()[0]);
    }
    for _ in 0..100 {
        run(&mut sim, 1);
        assert!(sim.v()[0].abs() < 1e-12, "jitters at {}", sim.v()[0]);
    }
    assert!((sim.q()[0] - LIMIT).abs() < 1e-5);
}

fn slider(mass: f64) -> BodySpec {
    BodySpec::new("slider", JointSpec::prismatic(Vector3::x())).inertia(Inertia::solid_sphere(mass, 0.1))
}

#[test]
fn dry_friction_holds_below_its_bound_and_brakes_with_it() {
    let mut sim = start(&ModelBuilder::new().body(slider(2.0).dry_friction(3.0)), 0.002);
    for _ in 0..100 {
        sim.step(&[2.999]).unwrap();
        assert!(sim.v()[0].abs() < 1e-12);
    }
    for k in 1..=100 {
        sim.step(&[5.0]).unwrap();
        assert!((sim.v()[0] - (5.0 - 3.0) / 2.0 * 0.002 * f64::from(k)).abs() < 1e-12);
    }
    sim.set_state(&[0.0], &[0.3]).unwrap();
    for k in 1..=150 {
        sim.step(&[]).unwrap();
        let expected = (0.3 - 3.0 / 2.0 * 0.002 * f64::from(k)).max(0.0);
        assert!((sim.v()[0] - expected).abs() < 1e-12, "step {k}: {}", sim.v()[0]);
    }
}

#[test]
fn damping_makes_energy_decay_at_any_time_step() {
    for damping in [0.1, 10.0, 1e4] {
        let mut sim = start(&ModelBuilder::new().gravity(Vector3::zeros()).body(rod().damping(damping)), 0.01);
        sim.set_state(&[0.3], &[5.0]).unwrap();
        let mut last = energy(&sim);
        for _ in 0..200 {
            run(&mut sim, 1);
            let now = energy(&sim);
            assert!(now < last || now == 0.0, "{last} became {now}");
            last = now;
        }
    }
}

#[test]
fn a_very_stiff_servo_settles_at_a_time_step_of_ten_milliseconds() {
    for (stiffness, damping) in [(1e6, 1e3), (1e9, 0.0), (1e4, 1e6)] {
        let servo = ActuatorSpec::joint("servo", "rod").position_servo(stiffness, damping);
        let mut sim = start(&ModelBuilder::new().body(rod()).actuator(servo), 0.01);
        for _ in 0..1000 {
            sim.step(&[0.7]).unwrap();
            assert!(sim.q()[0].abs() < 1.5 && sim.v()[0].abs() < 100.0);
        }
        // The weight of the bob bends the spring by m g l sin θ / k.
        let bend = STANDARD_GRAVITY * 0.5 / stiffness;
        let settles = if damping > 1e5 { 10.0 } else { 1e-6 };
        assert!((sim.q()[0] - 0.7).abs() < bend + settles, "{stiffness}, {damping}: {}", sim.q()[0]);
    }
}

#[test]
fn a_motor_keeps_to_its_effort_and_its_speed() {
    let mut sim = start(&ModelBuilder::new().body(slider(1.0).effort_limit(5.0)), 0.002);
    for k in 1..=100 {
        sim.step(&[100.0]).unwrap();
        assert!((sim.v()[0] - 5.0 * 0.002 * f64::from(k)).abs() < 1e-12);
    }
    let mut sim = start(&ModelBuilder::new().body(slider(1.0).effort_limit(5.0).velocity_limit(0.5)), 0.002);
    for _ in 0..2000 {
        sim.step(&[100.0]).unwrap();
        assert!(sim.v()[0] <= 0.5, "{}", sim.v()[0]);
    }
    assert!(sim.v()[0] > 0.499);
}

// ── Loops ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/// A parallelogram: two cranks of 0.3 m, a coupler of 0.5 m on the first, closed at the tip of the second; `times` over.
fn four_bar(times: usize) -> ModelBuilder {
    let bar = |length: f64| {
        let middle = Placement::translation(length / 2.0, 0.0, 0.0);
        Inertia::solid_box(1.0, &Vector3::new(length, 0.02, 0.02)).moved_by(&middle)
    };
    let hinge = || JointSpec::revolute(Vector3::y());
    let scene = ModelBuilder::new()
        .body(BodySpec::new("crank", hinge()).inertia(bar(0.3)))
        .body(
            BodySpec::new("coupler", hinge())
                .parent("crank")
                .placement(Placement::translation(0.3, 0.0, 0.0))
                .inertia(bar(0.5)),
        )
        .body(BodySpec::new("rocker", hinge()).placement(Placement::translation(0.5, 0.0, 0.0)).inertia(bar(0.3)));
    let tip = ClosureSpec::point("coupler", "rocker")
        .at(Placement::translation(0.5, 0.0, 0.0), Placement::translation(0.3, 0.0, 0.0));
    (0..times).fold(scene, |scene, _| scene.closure(tip.clone()))
}

/// How far the loop of [`four_bar`] is open: angles about y turn x towards −z.
fn opening(q: &[f64]) -> f64 {
    let along = |angle: f64, length: f64| [length * angle.cos(), -length * angle.sin()];
    let (a, b, c) = (along(q[0], 0.3), along(q[0] + q[1], 0.5), along(q[2], 0.3));
    (a[0] + b[0] - c[0] - 0.5).hypot(a[1] + b[1] - c[1])
}

#[test]
fn a_four_bar_linkage_stays_closed_even_when_closed_twice() {
    for times in [1, 2] {
        let mut sim = start(&four_bar(times), 0.002);
        sim.set_state(&[0.4, -0.4, 0.4], &[0.0; 3]).unwrap();
        assert!(opening(sim.q()) < 1e-15);
        let mut widest: f64 = 0.0;
        for step in 0..2500 {
            run(&mut sim, 1);
            widest = widest.max(opening(sim.q()));
            assert!(widest < 1e-5, "open by {widest:e} after {step} steps");
        }
        assert!(sim.q()[0] != 0.4, "it does not move");
    }
}

#[test]
fn a_weld_holds_a_body_to_the_world_and_to_another() {
    let scene = ModelBuilder::new()
        .body(brick("a", 1.0, Vector3::repeat(0.1), 0.5))
        .body(brick("b", 2.0, Vector3::repeat(0.1), 0.5))
        .closure(ClosureSpec::weld("a", "world"))
        .closure(ClosureSpec::weld("a", "b").at(Placement::translation(0.5, 0.0, 0.0), Placement::IDENTITY));
    let mut sim = start(&scene, 0.002);
    let q = [at(0.0, 0.0, 0.0), at(0.5, 0.0, 0.0)].concat();
    assert_stays(&mut sim, &q, 2500);
    let worst = sim.q().iter().zip(&q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-5, "gave way by {worst}");
}

// ── Bits ────────────────────────────────────────────────────────────────────────────────────────────────────────────

fn bits(sim: &Sim) -> Vec<u64> {
    sim.q().iter().chain(sim.v()).map(|x| x.to_bits()).collect()
}

/// A dog that stumbles: contacts, limits, dry friction.
fn stumble(dt_s: f64, substeps: u16, calls: usize) -> Sim {
    let mut sim = simulator(builtin_robot("go1"), StepSettings { substeps, ..StepSettings::with_dt(dt_s) });
    let mut controls = RandomControls::new(sim.model(), 0.5, 7);
    let control = controls.draw().0.to_vec();
    for _ in 0..calls {
        sim.step(&control).unwrap();
    }
    sim
}

#[test]
fn a_step_in_parts_equals_as_many_short_steps() {
    for parts in [2, 3, 5] {
        let dt_s = 0.01;
        let (whole, short) = (stumble(dt_s, parts, 40), stumble(dt_s / f64::from(parts), 1, 40 * usize::from(parts)));
        assert_eq!(bits(&whole), bits(&short), "{parts} parts");
    }
}

#[test]
fn the_same_input_gives_the_same_bits() {
    assert_eq!(bits(&stumble(0.002, 1, 300)), bits(&stumble(0.002, 1, 300)));
    let mut used = stumble(0.002, 1, 300);
    let (q, v) = (used.q().to_vec(), used.v().to_vec());
    let mut fresh = simulator(builtin_robot("go1"), StepSettings::with_dt(0.002));
    fresh.set_state(&q, &v).unwrap();
    used.work_mut().forget();
    for _ in 0..100 {
        used.step(&[]).unwrap();
        fresh.step(&[]).unwrap();
        assert_eq!(bits(&used), bits(&fresh));
    }
}

// ── A watch ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/// Stops the solver at its question number `most`, counted from zero.
struct Patience {
    most: u16,
    asked: u16,
}

impl Watch for Patience {
    fn passed(&mut self, _: Part) {}

    fn time_is_up(&mut self) -> bool {
        self.asked += 1;
        self.asked > self.most
    }
}

#[test]
fn a_watch_ends_the_solve_and_what_it_left_starts_no_other() {
    let robot = builtin_robot("go1");
    let (model, settings) = (robot.model(), StepSettings::default());
    let dims = StepDims::of(model, 32);
    let [mut memory, mut other] = [(); 2].map(|()| vec![Block::EMPTY; Step::<f64>::blocks(dims)]);
    let mut work = Step::carve(&mut Arena::new(&mut memory), dims).unwrap();
    let mut cold = Step::carve(&mut Arena::new(&mut other), dims).unwrap();
    let rest = model.find_keyframe("rest").unwrap();
    let mut controls = RandomControls::new(model, 0.3, 7);
    let (mut q, mut v, mut stopped) = (rest.q.to_vec(), rest.v.to_vec(), 0);
    for k in 0..300 {
        let (q0, v0, (control, force)) = (q.clone(), v.clone(), controls.draw());
        let input = StepInput { force, ..StepInput::new(&q0, &v0, control) };
        let mut patience = Patience { most: k % 4, asked: 0 };
        let next = NextState { q: &mut q, v: &mut v };
        let report = step_watched(model, (&input, &settings), next, &mut work, &mut patience).unwrap();
        assert!(patience.asked <= patience.most + 1 && report.outcome.iterations <= patience.most);
        assert_eq!(report.outcome.status == SolverStatus::Stopped, patience.asked > patience.most);
        if report.outcome.status == SolverStatus::Stopped {
            stopped += 1;
            assert!(!report.is_complete() && q.iter().chain(&v).all(|x| x.is_finite()));
            let mut again = |work: &mut Step<'_, f64>| -> StepReport<f64> {
                step(model, &input, &settings, NextState { q: &mut q, v: &mut v }, work).unwrap()
            };
            cold.forget();
            assert_eq!(again(&mut work), again(&mut cold));
        }
    }
    assert!(stopped > 50, "stopped {stopped} times");
}
