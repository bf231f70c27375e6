use saltus_cli::closed_loop::{Loop, Options};
use saltus_scenarios::Scenario;
fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let scenario = Scenario::named(&args[1]).unwrap();
    let seeds: u64 = args.get(2).map_or(1, |s| s.parse().unwrap());
    let verbose = args.len() > 3;
    let one = Loop::new(scenario)?;
    let mut options = Options::default();
    if let Ok(i) = std::env::var("IMPULSE") {
        options.impulse_ns = Some(i.parse()?);
    }
    if let Ok(i) = std::env::var("SECONDS") {
        options.seconds = Some(i.parse()?);
    }
    for seed in 0..seeds {
        let mut next = 0.0;
        let o = one.run(seed, &options, |m| {
            if verbose && m.time_s >= next {
                let q: Vec<_> = m.q.iter().take(7).map(|x| format!("{x:.3}")).collect();
                let u: Vec<_> = m.u.iter().take(4).map(|x| format!("{x:.2}")).collect();
                println!("{:.2} cost {:.4} {} α {} promised {:.1e} reg {:.0e} unsolved {} contacts {} {:.0} µs q {q:?} u {u:?}", m.time_s, m.report.cost, m.report.status, m.report.step_length, m.report.promised, m.report.regularization, m.report.unsolved_contacts, m.contacts, m.solve_us);
                next += 0.1;
            }
            true
        })?;
        let mut s = o.solve_us.clone();
        s.sort_by(f64::total_cmp);
        let n = o.solve_us.len() as u64 * 1000;
        let t = o.times;
        println!(
            "seed {seed}: {:?} cost {:.3} {:?} p50 {:.0} p99 {:.0} µs  rollout {} step {} deriv {} cost {} back {} ls {}",
            o.verdict,
            o.mean_cost,
            o.statuses,
            s[s.len() / 2],
            s[s.len() * 99 / 100],
            t.rollout / n,
            t.step / n,
            t.derivatives / n,
            t.cost / n,
            t.backward / n,
            t.line_search / n
        );
    }
    Ok(())
}
