//! What happened to a counter between two readings.
//!
//! Two steps. [`step`] judges two raw numbers of the kernel by the counter's width and its rule at
//! the top; the history adds them up. [`Change::between`] judges two points of that sum, with their
//! times, for detectors: it knows what came in between and never speaks across a gap.

use std::time::Duration;

use crate::core::catalog::AtTop;
use crate::core::model::time::BootTime;

/// What happened from one raw reading to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It grew by this much.
    Increase(u64),
    /// It started again at zero and has counted this much since.
    Reset(u64),
    /// It stands at its top: what happened above it is not known.
    Saturated,
}

/// Top of a data counter of the basic PortCounters attribute: 32 bits (IBA vol. 1 §16.1.3.5).
const NARROW_TOP: u64 = 0xffff_ffff;

/// Judges two readings of a counter of `width` bits.
///
/// A counter that wraps is believed to have wrapped when the way over the top is shorter than
/// half its range, else to have been reset. A counter that saturates never wraps.
#[must_use]
pub fn step(before: u64, after: u64, width: u8, at_top: AtTop) -> Step {
    let top = top(width);
    let sticks = match at_top {
        AtTop::Saturate => width < 64 && after >= top,
        // A counter of 64 bits is at this very number for less than a microsecond.
        AtTop::WrapOrStick => after == NARROW_TOP,
        AtTop::Wrap | AtTop::Trunc => false,
    };
    if sticks {
        return Step::Saturated;
    }
    if let Some(grown) = after.checked_sub(before) {
        return Step::Increase(grown);
    }
    let over_the_top = top
        .saturating_sub(before)
        .saturating_add(after)
        .saturating_add(1);
    let wraps = matches!(at_top, AtTop::Wrap | AtTop::Trunc) && width < 64 && before <= top;
    if wraps && over_the_top <= top >> 1 {
        return Step::Increase(over_the_top);
    }
    Step::Reset(after)
}

/// The highest number a counter of `width` bits holds.
#[must_use]
pub fn top(width: u8) -> u64 {
    1_u64
        .checked_shl(u32::from(width))
        .map_or(u64::MAX, |end| end.saturating_sub(1))
}

/// Why an unbroken run of readings began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Began {
    /// With the first reading there is.
    #[default]
    First,
    /// After a time without a reading: a failed read, a reader that was replaced, a suspended host.
    Gap,
    /// With a counter that had started again, or a device that had.
    Reset,
}

/// An unbroken run of readings: within it, differences mean what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// Time of its first reading.
    pub since: BootTime,
    /// Why it is the first.
    pub began: Began,
}

/// One reading of a counter as detectors see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Our own sum, in the kernel's unit.
    pub value: u64,
    /// When it was read.
    pub at: BootTime,
    /// The run it belongs to.
    pub run: Run,
    /// The counter stands at its top.
    pub saturated: bool,
}

/// What happened between two readings of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It grew.
    Increase {
        /// By so much, in the kernel's unit.
        by: u64,
        /// In so long; never zero.
        over: Duration,
    },
    /// It, or its device, started again in between.
    Reset,
    /// It stands at its top: it may have grown and does not say.
    Saturated,
    /// It was not read without a gap in between.
    Unknown,
}

impl Change {
    /// Judges two readings; one that is not there makes the change unknown.
    #[must_use]
    pub fn between(before: Option<Point>, after: Option<Point>) -> Self {
        let (Some(before), Some(after)) = (before, after) else {
            return Self::Unknown;
        };
        let over = after.at.since(before.at);
        if over.is_zero() {
            return Self::Unknown;
        }
        if after.run.since > before.at {
            return match after.run.began {
                Began::Reset => Self::Reset,
                Began::First | Began::Gap => Self::Unknown,
            };
        }
        match after.value.checked_sub(before.value) {
            None => Self::Unknown,
            Some(0) if after.saturated => Self::Saturated,
            Some(by) => Self::Increase { by, over },
        }
    }

    /// What is known to have been added, whether or not more was.
    #[must_use]
    pub fn increase(self) -> Option<u64> {
        match self {
            Self::Increase { by, .. } => Some(by),
            Self::Reset | Self::Saturated | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(value: u64, at: u64, run: Run) -> Point {
        Point {
            value,
            at: BootTime(at),
            run,
            saturated: false,
        }
    }

    #[test]
    fn a_change_says_how_much_and_how_long() {
        let run = Run::default();
        assert_eq!(
            Change::between(Some(point(5, 10, run)), Some(point(9, 30, run))),
            Change::Increase {
                by: 4,
                over: Duration::from_nanos(20)
            }
        );
    }

    #[test]
    fn a_change_across_the_start_of_a_run_is_none() {
        for (began, expected) in [
            (Began::First, Change::Unknown),
            (Began::Gap, Change::Unknown),
            (Began::Reset, Change::Reset),
        ] {
            let run = Run {
                since: BootTime(20),
                began,
            };
            let before = point(5, 10, Run::default());
            assert_eq!(
                Change::between(Some(before), Some(point(9, 30, run))),
                expected
            );
            // From the run's first reading on it is one again.
            assert!(
                Change::between(Some(point(6, 20, run)), Some(point(9, 30, run)))
                    .increase()
                    .is_some()
            );
        }
    }

    #[test]
    fn a_counter_at_its_top_may_have_grown() {
        let (before, mut after) = (point(9, 10, Run::default()), point(9, 30, Run::default()));
        after.saturated = true;
        assert_eq!(
            Change::between(Some(before), Some(after)),
            Change::Saturated
        );
    }

    proptest! {
        #[test]
        fn a_change_is_never_negative_and_never_across_a_gap(
            (a, b) in (any::<u64>(), any::<u64>()),
            (at, later) in (any::<u64>(), any::<u64>()),
            since in any::<u64>(),
            gap in any::<bool>(),
        ) {
            let began = if gap { Began::Gap } else { Began::Reset };
            let run = Run { since: BootTime(since), began };
            let (before, after) = (point(a, at, run), point(b, later, run));
            if let Change::Increase { by, over } = Change::between(Some(before), Some(after)) {
                prop_assert!(since <= at && at < later && a <= b);
                prop_assert_eq!(by, b - a);
                prop_assert_eq!(over, Duration::from_nanos(later - at));
            }
        }

        #[test]
        fn a_step_is_never_more_than_half_the_range_over_the_top(
            (before, after) in (any::<u64>(), any::<u64>()),
            width in 4_u8..=64,
        ) {
            for at_top in [AtTop::Saturate, AtTop::Wrap, AtTop::Trunc, AtTop::WrapOrStick] {
                if let Step::Increase(by) = step(before, after, width, at_top)
                    && after < before
                {
                    prop_assert!(by <= top(width) >> 1);
                }
            }
        }
    }

    #[test]
    fn a_truncated_counter_goes_over_its_top() {
        assert_eq!(step(65_530, 3, 16, AtTop::Trunc), Step::Increase(9));
    }

    #[test]
    fn a_saturating_counter_that_falls_was_reset() {
        assert_eq!(step(200, 3, 8, AtTop::Saturate), Step::Reset(3));
    }

    #[test]
    fn a_counter_at_its_top_says_nothing() {
        assert_eq!(step(254, 255, 8, AtTop::Saturate), Step::Saturated);
        assert_eq!(step(15, 15, 4, AtTop::Saturate), Step::Saturated);
    }

    #[test]
    fn a_data_counter_of_32_bits_sticks_and_one_of_64_goes_on() {
        let narrow = 0xffff_ffff;
        assert_eq!(
            step(narrow - 1, narrow, 64, AtTop::WrapOrStick),
            Step::Saturated
        );
        assert_eq!(
            step(narrow - 1, narrow + 1, 64, AtTop::WrapOrStick),
            Step::Increase(2)
        );
        assert_eq!(step(narrow - 1, narrow, 64, AtTop::Wrap), Step::Increase(1));
    }

    #[test]
    fn a_wrapping_counter_that_falls_far_was_reset() {
        assert_eq!(step(1 << 20, 7, 32, AtTop::Wrap), Step::Reset(7));
    }
}
