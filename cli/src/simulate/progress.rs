//! How far a long run is.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks of the line.
const REFRESH: Duration = Duration::from_millis(100);
const WIDTH: usize = 40;

/// A bar on stderr, if that is a terminal.
pub struct Progress {
    watched: bool,
    next: Instant,
    drawn: bool,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn new() -> Self {
        Self { watched: stderr().is_terminal(), next: Instant::now() + PATIENCE, drawn: false }
    }

    /// Shows that `share` of the run is done, from 0 to 1.
    pub fn show(&mut self, share: f64) {
        if !self.watched || Instant::now() < self.next {
            return;
        }
        let done = (share * WIDTH as f64) as usize;
        eprint!("\r[{}{}] {:3.0} %", "=".repeat(done), " ".repeat(WIDTH.saturating_sub(done)), share * 100.0);
        let _ = stderr().flush();
        (self.next, self.drawn) = (Instant::now() + REFRESH, true);
    }

    /// Makes room for other output.
    pub fn clear(&mut self) {
        if self.drawn {
            eprint!("\r{}\r", " ".repeat(WIDTH + 8));
            self.drawn = false;
        }
    }
}
