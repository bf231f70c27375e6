//! What goes wrong on a wire, on purpose and reproducibly.

use std::collections::VecDeque;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

/// How often each thing goes wrong: shares of all frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// Never arrives.
    pub lost: f64,
    /// Arrives twice.
    pub duplicated: f64,
    /// Arrives with a wrong byte.
    pub corrupt: f64,
    /// Arrives some ticks later, after its successors.
    pub late: f64,
    /// Arrives with a number that is none.
    pub nan: f64,
    /// Tick from which on nothing arrives.
    pub stall: Option<u32>,
}

/// `lost=0.05,corrupt=0.01`, also `duplicated`, `late`, `nan` (shares), `stall` (a tick).
impl FromStr for Rates {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rates = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').with_context(|| format!("{part:?}: write name=number"))?;
            if name == "stall" {
                rates.stall = Some(value.parse().with_context(|| format!("stall={value}: not a tick"))?);
                continue;
            }
            let share: f64 = value.parse().with_context(|| format!("{name}={value}: not a number"))?;
            ensure!((0.0..=1.0).contains(&share), "{name}={value}: a share is between 0 and 1");
            *match name {
                "lost" => &mut rates.lost,
                "duplicated" => &mut rates.duplicated,
                "corrupt" => &mut rates.corrupt,
                "late" => &mut rates.late,
                "nan" => &mut rates.nan,
                _ => bail!("no fault is called {name:?}: lost, duplicated, corrupt, late, nan, stall"),
            } = share;
        }
        Ok(rates)
    }
}

/// What was done to the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Injected {
    /// Frames that went in.
    pub frames: u32,
    /// Never arrived.
    pub lost: u32,
    /// Arrived twice.
    pub duplicated: u32,
    /// Arrived with a wrong byte.
    pub corrupt: u32,
    /// Arrived after their successors.
    pub late: u32,
    /// Arrived with a number that is none.
    pub nan: u32,
    /// Did not arrive because the plant stood still.
    pub stalled: u32,
}

/// Ticks that a late frame is late by.
const LATE_TICKS: u32 = 3;

/// A wire that frames go through.
#[derive(Debug)]
pub struct Faulty {
    rates: Rates,
    random: u64,
    held: VecDeque<(u32, Vec<u8>)>,
    tick: u32,
    injected: Injected,
}

impl Faulty {
    /// A wire with these faults; the same seed gives the same ones.
    pub fn new(rates: Rates, seed: u64) -> Self {
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self { rates, random, held: VecDeque::new(), tick: 0, injected: Injected::default() }
    }

    /// What was done so far.
    pub fn injected(&self) -> Injected {
        self.injected
    }

    /// Whether the numbers of the next frame are to be spoilt. Ask once per frame, before it is encoded.
    pub fn spoils_numbers(&mut self) -> bool {
        let nan = self.happens(self.rates.nan);
        self.injected.nan += u32::from(nan);
        nan
    }

    /// What arrives in a tick in which `frame` is sent.
    pub fn pass(&mut self, frame: &[u8]) -> Vec<u8> {
        let tick = self.tick;
        self.tick += 1;
        self.injected.frames += 1;
        let mut window = Vec::new();
        if self.rates.stall.is_some_and(|stall| tick >= stall) {
            self.injected.stalled += 1;
            return window;
        }
        if self.happens(self.rates.lost) {
            self.injected.lost += 1;
        } else if self.happens(self.rates.late) {
            self.injected.late += 1;
            self.held.push_back((tick + LATE_TICKS, frame.to_vec()));
        } else if self.happens(self.rates.corrupt) {
            self.injected.corrupt += 1;
            window.extend(self.garbled(frame));
        } else {
            window.extend_from_slice(frame);
            if self.happens(self.rates.duplicated) {
                self.injected.duplicated += 1;
                window.extend_from_slice(frame);
            }
        }
        while let Some((_, late)) = self.held.pop_front_if(|(due, _)| *due <= tick) {
            window.extend(late);
        }
        window
    }

    /// What arrives in a tick in which nothing new goes wrong.
    pub fn pass_clean(&mut self, frame: &[u8]) -> Vec<u8> {
        let rates = self.rates;
        self.rates = Rates { stall: rates.stall, ..Rates::default() };
        let window = self.pass(frame);
        self.rates = rates;
        window
    }

    /// One byte wrong, but not the zero at the end, so that this frame alone is spoilt.
    fn garbled(&mut self, frame: &[u8]) -> Vec<u8> {
        let mut bytes = frame.to_vec();
        let at = self.draw() as usize % bytes.len().saturating_sub(1).max(1);
        if let Some(byte) = bytes.get_mut(at) {
            // Any other value but zero.
            let other = 1 + (self.draw() % 254) as u8;
            *byte = if other >= *byte { other + 1 } else { other };
        }
        bytes
    }

    fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && (self.draw() >> 11) as f64 / ((1_u64 << 53) as f64) < share
    }

    /// SplitMix64.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: [u8; 5] = [3, 1, 2, 9, 0];

    #[test]
    fn rates_are_read_by_name_and_nonsense_is_named() {
        let rates: Rates = "lost=0.05,corrupt=0.01,stall=7".parse().unwrap();
        assert_eq!(rates, Rates { lost: 0.05, corrupt: 0.01, stall: Some(7), ..Rates::default() });
        assert!("lost=2".parse::<Rates>().unwrap_err().to_string().contains("lost=2"));
        assert!("sunk=0.1".parse::<Rates>().unwrap_err().to_string().contains("sunk"));
        assert!("lost".parse::<Rates>().is_err());
    }

    #[test]
    fn faults_come_as_often_as_asked_and_are_counted() {
        let mut wire = Faulty::new(Rates { lost: 0.05, corrupt: 0.01, ..Rates::default() }, 1);
        let (mut empty, mut changed) = (0, 0);
        for _ in 0..10_000 {
            let window = wire.pass(&FRAME);
            empty += u32::from(window.is_empty());
            changed += u32::from(!window.is_empty() && window != FRAME);
            assert!(window.is_empty() || window.iter().filter(|byte| **byte == 0).count() == 1);
        }
        let injected = wire.injected();
        assert_eq!((injected.lost, injected.corrupt), (empty, changed));
        // Three standard deviations of a binomial distribution.
        assert!((435..565).contains(&empty) && (70..130).contains(&changed), "{injected:?}");
    }

    #[test]
    fn a_late_frame_follows_its_successors() {
        let mut wire = Faulty::new(Rates { late: 1.0, ..Rates::default() }, 1);
        assert!(wire.pass(&FRAME).is_empty());
        wire.rates.late = 0.0;
        for _ in 1..LATE_TICKS {
            assert_eq!(wire.pass(&FRAME), FRAME);
        }
        assert_eq!(wire.pass(&FRAME), [FRAME, FRAME].concat());
    }

    #[test]
    fn a_stalled_plant_sends_nothing() {
        let mut wire = Faulty::new(Rates { stall: Some(1), ..Rates::default() }, 1);
        assert_eq!(wire.pass(&FRAME), FRAME);
        assert!(wire.pass(&FRAME).is_empty());
        assert_eq!(wire.injected().stalled, 1);
    }
}
