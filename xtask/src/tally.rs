//! Counting tests: what libtest reports, and the summary line.

use std::ops::Add;

/// Tests, or steps that have none, by their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
}

impl Counts {
    /// The sum over every "test result:" line in a test run's output.
    pub fn in_output(output: &str) -> Counts {
        output.lines().filter_map(Counts::in_line).fold(Counts::default(), Add::add)
    }

    /// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn in_line(line: &str) -> Option<Counts> {
        let (_, fields) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
        let field = |label| {
            let number = fields.split(';').find_map(|field| field.trim().strip_suffix(label))?;
            number.trim().parse().ok()
        };
        Some(Counts { passed: field("passed")?, failed: field("failed")?, ignored: field("ignored")? })
    }

    /// What a step adds to the total: its tests; or itself, where it has none or failed for another reason than a test.
    pub fn of_step(self, success: bool) -> Counts {
        match (success, self) {
            (true, Counts { passed: 0, failed: 0, .. }) => Counts { passed: 1, ..self },
            (false, Counts { failed: 0, .. }) => Counts { failed: 1, ..self },
            _ => self,
        }
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }
}

/// The last line of `cargo xtask test`.
pub fn summary(total: Counts) -> String {
    format!("{} passed, {} failed", total.passed, total.failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 4 tests
test a ... ok
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 3 tests
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 1.20s
";

    fn counts(passed: usize, failed: usize, ignored: usize) -> Counts {
        Counts { passed, failed, ignored }
    }

    #[test]
    fn test_result_lines_are_summed() {
        assert_eq!(Counts::in_output(OUTPUT), counts(4, 2, 1));
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(Counts::in_output("test passed ... ok\n3 passed; 1 failed\ntest result: odd\n"), counts(0, 0, 0));
    }

    #[test]
    fn a_step_without_tests_counts_as_one() {
        assert_eq!(counts(0, 0, 0).of_step(true), counts(1, 0, 0));
        assert_eq!(counts(0, 0, 0).of_step(false), counts(0, 1, 0));
    }

    #[test]
    fn a_step_with_tests_counts_its_tests_only() {
        assert_eq!(counts(3, 0, 1).of_step(true), counts(3, 0, 1));
        assert_eq!(counts(3, 2, 0).of_step(false), counts(3, 2, 0));
    }

    #[test]
    fn a_failure_outside_the_tests_is_never_lost() {
        assert_eq!(counts(3, 0, 0).of_step(false), counts(3, 1, 0));
    }

    #[test]
    fn the_summary_line_is_what_ci_reads() {
        assert_eq!(summary(counts(42, 1, 7)), "42 passed, 1 failed");
    }
}
