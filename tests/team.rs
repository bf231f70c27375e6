//! Nodes linearized side by side: the same plans, bit for bit.

use saltus::memory::{Arena, Block};
use saltus::mpc::{
    Budget, Clock, Fork, InTurn, MOST_MEMBERS, Measured, Mpc, MpcDims, MpcError, Nanos, Report, Status, Stopped, Task,
    Team, Times,
};
use saltus::step::StepDims;
use saltus_loaders::{LoadOptions, load};
use saltus_scenarios::{Scenario, prediction};

const FOREVER: Budget<'static, Stopped> = Budget { clock: &Stopped(Nanos(0)), deadline: Nanos::NEVER };
/// Solves of one run, and the time from one to the next.
const SOLVES: usize = 6;
const PERIOD_S: f64 = 0.013;

/// Plans of a robot that follows them, as bits, and what the optimizer said; `solve` may use a team.
fn plans(
    scenario: Scenario,
    solve: impl FnMut(&mut Mpc<'_, '_, f64>, MpcDims, &Task<'_, f64>, Measured<'_, f64>) -> Report<f64>,
) -> Vec<(Vec<u64>, Report<f64>)> {
    plans_in(scenario, |dims| dims, solve)
}

/// The same in an optimizer of other dimensions.
fn plans_in(
    scenario: Scenario,
    change: impl FnOnce(MpcDims) -> MpcDims,
    mut solve: impl FnMut(&mut Mpc<'_, '_, f64>, MpcDims, &Task<'_, f64>, Measured<'_, f64>) -> Report<f64>,
) -> Vec<(Vec<u64>, Report<f64>)> {
    let robot = load(scenario.facts().robot, &LoadOptions::default()).unwrap().model;
    let believed = prediction(scenario.facts().robot, &robot);
    let model = believed.model();
    let terms = scenario.terms(model).unwrap();
    let dims = change(scenario.dims(model));
    let mut memory = vec![Block::EMPTY; Mpc::<f64>::blocks(dims)];
    let mut mpc = Mpc::new(model, scenario.settings(), dims, &mut Arena::new(&mut memory)).unwrap();
    mpc.settings.max_iterations = 3;
    mpc.reset(scenario.idle(model).unwrap()).unwrap();
    let start = model.keyframe(0).unwrap();
    let (mut q, mut v, mut time) = (start.q.to_vec(), start.v.to_vec(), Nanos(0));
    let mut all = Vec::new();
    for _ in 0..SOLVES {
        let report = solve(&mut mpc, dims, &Task::new(&terms), Measured { time, q: &q, v: &v });
        let plan = mpc.plan();
        let mut bits = Vec::new();
        for k in 0..plan.horizon() {
            let numbers = plan.q(k).iter().chain(plan.v(k)).chain(plan.u(k)).chain(plan.gain(k).data());
            bits.extend(numbers.map(|x| x.to_bits()));
        }
        bits.extend(mpc.cost_parts().iter().map(|x| x.to_bits()));
        all.push((bits, Report { times: Times::default(), ..report }));
        q.copy_from_slice(plan.q(1));
        v.copy_from_slice(plan.v(1));
        time = time.after_s(PERIOD_S);
    }
    all
}

fn with_team<F: Fork>(scenario: Scenario, members: usize, fork: &F) -> Vec<(Vec<u64>, Report<f64>)> {
    plans(scenario, |mpc, dims, task, measured| {
        let mut memory = vec![Block::EMPTY; Team::<f64>::blocks(dims, members)];
        let mut team = Team::carve(&mut Arena::new(&mut memory), dims, members).unwrap();
        mpc.solve_with(task, measured, FOREVER, (&mut team, fork)).unwrap()
    })
}

#[test]
fn a_team_of_any_size_makes_the_plans_of_one() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for scenario in [Scenario::Go1Push, Scenario::HopperHop, Scenario::Ur5Press, Scenario::CartpoleSwingup] {
        let alone = plans(scenario, |mpc, _, task, measured| mpc.solve(task, measured, FOREVER).unwrap());
        assert!(alone.iter().any(|(_, report)| report.step_length > 0.0), "{scenario:?}: no plan was improved");
        for members in [1, 2, 5] {
            assert!(alone == with_team(scenario, members, &pool), "{scenario:?}, {members} members on threads");
        }
        assert!(alone == with_team(scenario, 3, &InTurn), "{scenario:?}, three members in turn");
    }
}

#[test]
fn plans_do_not_depend_on_whether_nodes_are_kept() {
    for scenario in [Scenario::Go1Walk, Scenario::HopperHop, Scenario::Ur5Press, Scenario::CartpoleSwingup] {
        let kept = plans(scenario, |mpc, _, task, measured| mpc.solve(task, measured, FOREVER).unwrap());
        let alone = plans_in(scenario, MpcDims::without_kept_nodes, |mpc, _, task, measured| {
            mpc.solve(task, measured, FOREVER).unwrap()
        });
        assert!(kept == alone, "{scenario:?}");
    }
}

#[test]
fn a_team_takes_untried_steps_as_one_does() {
    for scenario in [Scenario::HopperHop, Scenario::QuadrotorTakeoff, Scenario::CartpoleSwingup] {
        let alone = plans(scenario, |mpc, _, task, measured| {
            mpc.settings.trials = 0;
            mpc.solve(task, measured, FOREVER).unwrap()
        });
        let team = plans(scenario, |mpc, dims, task, measured| {
            mpc.settings.trials = 0;
            let mut memory = vec![Block::EMPTY; Team::<f64>::blocks(dims, 2)];
            let mut team = Team::carve(&mut Arena::new(&mut memory), dims, 2).unwrap();
            mpc.solve_with(task, measured, FOREVER, (&mut team, &InTurn)).unwrap()
        });
        assert!(alone.iter().any(|(_, report)| report.step_length == 1.0), "{scenario:?}: no step was taken");
        assert!(alone == team, "{scenario:?}");
    }
}

#[test]
fn a_team_needs_an_optimizer_that_keeps_its_nodes() {
    plans_in(Scenario::CartpoleSwingup, MpcDims::without_kept_nodes, |mpc, dims, task, measured| {
        let mut memory = vec![Block::EMPTY; Team::<f64>::blocks(dims, 2)];
        let mut team = Team::carve(&mut Arena::new(&mut memory), dims, 2).unwrap();
        let refused = mpc.solve_with(task, measured, FOREVER, (&mut team, &InTurn));
        assert_eq!(refused.unwrap_err(), MpcError::Team);
        mpc.solve(task, measured, FOREVER).unwrap()
    });
}

#[test]
fn more_members_than_a_team_can_have_or_none_are_as_many_as_it_can() {
    let robot = load("cartpole", &LoadOptions::default()).unwrap().model;
    let dims = MpcDims::new(StepDims::of(robot.model(), 1), 2, 1);
    assert_eq!(Team::<f64>::blocks(dims, 0), Team::<f64>::blocks(dims, 1));
    assert_eq!(Team::<f64>::blocks(dims, 1000), Team::<f64>::blocks(dims, MOST_MEMBERS));
    let mut memory = vec![Block::EMPTY; Team::<f64>::blocks(dims, MOST_MEMBERS)];
    assert!(Team::<f64>::carve(&mut Arena::new(&mut memory), dims, 1000).is_ok());
}

#[test]
fn a_team_of_another_optimizer_is_turned_down_and_the_plan_stays() {
    let scenario = Scenario::CartpoleSwingup;
    let before = plans(scenario, |mpc, _, task, measured| mpc.solve(task, measured, FOREVER).unwrap());
    let after = plans(scenario, |mpc, dims, task, measured| {
        let other = MpcDims { horizon: dims.horizon + 1, ..dims };
        let mut memory = vec![Block::EMPTY; Team::<f64>::blocks(other, 2)];
        let mut team = Team::carve(&mut Arena::new(&mut memory), other, 2).unwrap();
        let refused = mpc.solve_with(task, measured, FOREVER, (&mut team, &InTurn));
        assert_eq!(refused.unwrap_err(), MpcError::Team);
        mpc.solve(task, measured, FOREVER).unwrap()
    });
    assert!(before == after);
}

/// A clock that every look sets forward by a microsecond, whoever looks.
#[derive(Debug, Default)]
struct Ticking(std::sync::atomic::AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Nanos {
        Nanos(self.0.fetch_add(1000, std::sync::atomic::Ordering::Relaxed))
    }
}

#[test]
fn a_deadline_ends_a_team_too_and_leaves_a_whole_plan() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for looks in [1, 5, 20, 60, 200] {
        let all = plans(Scenario::Go1Push, |mpc, dims, task, measured| {
            let mut memory = vec![Block::EMPTY; Team::<f64>::blocks(dims, 2)];
            let mut team = Team::carve(&mut Arena::new(&mut memory), dims, 2).unwrap();
            let clock = Ticking::default();
            let budget = Budget { clock: &clock, deadline: Nanos(looks * 1000) };
            mpc.solve_with(task, measured, budget, (&mut team, &pool)).unwrap()
        });
        for (bits, report) in all {
            assert_eq!(report.status, Status::DeadlineReached, "{looks} looks");
            assert!(bits.iter().all(|bits| f64::from_bits(*bits).is_finite()));
        }
    }
}
