//! The controller without a target: the same code in this process, with solves that take a given time.

use anyhow::{Result, bail};
use saltus::memory::{Arena, Block};
use saltus::mpc::{Measured, Nanos, Stopped};
use saltus::realtime::PlanSlot;
use saltus_control::messages::SolveFigures;
use saltus_control::{Planner, Scenario, TickLoop};

use crate::target::Target;

/// Runs a scenario's controller on the host, to see whether its task is solved before any image is built.
pub struct InProcess {
    scenario: Scenario,
    planner: Planner<'static>,
    tick_loop: TickLoop<'static>,
    plan: PlanSlot<'static, f32>,
    /// Solves under way: the tick at which it ends.
    busy_until: Option<u32>,
    tick: u32,
    latency_ticks: u32,
    figures: SolveFigures,
}

impl InProcess {
    /// A controller whose solves take `latency_ticks`. Its memory is never freed.
    pub fn new(scenario: &Scenario, latency_ticks: u32) -> Result<Self> {
        let mut arena = Arena::new(vec![Block::EMPTY; scenario.blocks()].leak());
        let Ok(planner) = Planner::new(scenario, &mut arena) else { bail!("no planner for {}", scenario.name()) };
        let plan = PlanSlot::carve(&mut arena, scenario.dims())?;
        let tick_loop = TickLoop::new(scenario, &mut arena)?;
        let figures = SolveFigures::default();
        Ok(Self { scenario: *scenario, planner, tick_loop, plan, busy_until: None, tick: 0, latency_ticks, figures })
    }
}

impl Target for InProcess {
    fn exchange(&mut self, window: &[u8]) -> Result<Vec<u8>> {
        if self.busy_until == Some(self.tick) {
            self.busy_until = None;
            self.figures.number += 1;
            self.plan.fill(self.planner.plan())?;
        }
        let now = Nanos(u64::from(self.tick) * u64::from(self.scenario.tick_us) * 1000);
        let frame = self.tick_loop.tick(window, &mut self.plan, (self.figures, 0), now).frame?.to_vec();
        let due = self.tick.is_multiple_of(self.scenario.solve_ticks) && self.busy_until.is_none();
        if let Some(Measured { time, q, v }) = self.tick_loop.state().filter(|_| due) {
            let report = self.planner.solve(Measured { time, q, v }, &Stopped(Nanos(0)));
            self.figures.status = report.map_or(u8::MAX, |report| report.status as u8);
            self.busy_until = Some(self.tick + self.latency_ticks);
        }
        self.tick += 1;
        Ok(frame)
    }

    fn finish(&mut self) -> Result<(Vec<u8>, Option<i32>)> {
        Ok((Vec::new(), Some(0)))
    }

    fn ns_per_instruction(&self) -> Option<u32> {
        None
    }
}
