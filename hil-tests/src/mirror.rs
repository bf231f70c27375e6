//! The host's own computation of what the target should answer, in the same `f32`.
//!
//! It runs the target's code on the bytes that the target got. The one thing it cannot know is when a plan was ready;
//! the target says which plan it followed, by its start, and the host makes that plan from the state of that time.

use anyhow::{Context, Result, bail};
use saltus::memory::{Arena, Block};
use saltus::mpc::{Measured, Nanos, Stopped};
use saltus::realtime::PlanSlot;
use saltus_control::messages::SolveFigures;
use saltus_control::{Planner, Scenario, TickLoop};

/// States that are kept for plans to come.
const KEPT: usize = 4096;

struct Kept {
    time: Nanos,
    q: Vec<f32>,
    v: Vec<f32>,
}

/// A controller beside the target's.
pub struct Mirror {
    planner: Planner<'static>,
    tick_loop: TickLoop<'static>,
    plan: PlanSlot<'static, f32>,
    /// Number of the solve that made the plan.
    solve: u32,
    states: Vec<Kept>,
}

impl Mirror {
    /// Of a scenario. Its memory is never freed: a run has one mirror.
    pub fn new(scenario: &Scenario) -> Result<Self> {
        let memory = vec![Block::EMPTY; scenario.blocks()].leak();
        let mut arena = Arena::new(memory);
        let Ok(planner) = Planner::new(scenario, &mut arena) else { bail!("no planner for {}", scenario.name()) };
        let plan = PlanSlot::carve(&mut arena, scenario.dims())?;
        let tick_loop = TickLoop::new(scenario, &mut arena)?;
        Ok(Self { planner, tick_loop, plan, solve: 0, states: Vec::new() })
    }

    /// The frame that the target should answer to a window, given the plan and the figures that it says it had.
    pub fn answer(
        &mut self,
        window: &[u8],
        plan_start: u64,
        figures: (SolveFigures, u32),
        now: Nanos,
    ) -> Result<Vec<u8>> {
        if figures.0.number != self.solve {
            self.make_plan(plan_start)?;
            self.solve = figures.0.number;
        }
        let frame = self.tick_loop.tick(window, &mut self.plan, figures, now).frame?.to_vec();
        self.keep_state();
        Ok(frame)
    }

    /// Solves from the state of the time that a plan starts at.
    fn make_plan(&mut self, start: u64) -> Result<()> {
        let kept = self.states.iter().find(|kept| kept.time.0 == start);
        let kept =
            kept.with_context(|| format!("the target planned from a state at {start} ns, which it never got"))?;
        let measured = Measured { time: kept.time, q: &kept.q, v: &kept.v };
        // An error leaves the old plan, here as there.
        let _ = self.planner.solve(measured, &Stopped(Nanos(0)));
        self.plan.fill(self.planner.plan())?;
        Ok(())
    }

    fn keep_state(&mut self) {
        let Some(state) = self.tick_loop.state() else { return };
        if self.states.last().is_some_and(|kept| kept.time == state.time) {
            return;
        }
        if self.states.len() == KEPT {
            self.states.remove(0);
        }
        self.states.push(Kept { time: state.time, q: state.q.to_vec(), v: state.v.to_vec() });
    }
}
