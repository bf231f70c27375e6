//! The plots of docs/performance.md, measured anew.

use anyhow::{Result, ensure};

use crate::process::{cargo, root, stream};

/// Runs the scaling benchmark, which writes `docs/step-contacts.svg`, `step-bodies.svg`, `mpc-horizon.svg` and
/// `mpc-nv.svg`.
pub fn run() -> Result<()> {
    let mut bench = cargo();
    bench.args(["bench", "--package", "saltus", "--bench", "scaling", "--", "--svg"]).arg(root().join("docs"));
    ensure!(stream(&mut bench)?.success, "the benchmark failed; its output above says why");
    Ok(())
}
