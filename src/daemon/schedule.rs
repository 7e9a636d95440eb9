//! When each lane is due, without drift and without catching up.

use crate::core::catalog::{Lane, LaneSet};
use crate::core::model::time::BootTime;
use crate::daemon::history::Intervals;

/// When each lane is due.
#[derive(Debug)]
pub struct Schedule {
    intervals: Intervals,
    next: [(Lane, BootTime); 3],
}

impl Schedule {
    /// Every lane is due at `now`.
    #[must_use]
    pub fn new(intervals: Intervals, now: BootTime) -> Self {
        Self {
            intervals,
            next: Lane::ALL.map(|lane| (lane, now)),
        }
    }

    /// The lanes' intervals.
    #[must_use]
    pub fn intervals(&self) -> &Intervals {
        &self.intervals
    }

    /// Lanes due at `now`. Their next time lies on their own grid and after `now`: what a suspend or
    /// a busy machine made us miss is not made up for.
    pub fn take_due(&mut self, now: BootTime) -> LaneSet {
        let mut due = LaneSet::default();
        for (lane, at) in &mut self.next {
            if now < *at {
                continue;
            }
            due = due.with(*lane);
            let interval = self.intervals.of(*lane);
            let missed = now
                .since(*at)
                .as_nanos()
                .checked_div(interval.as_nanos())
                .unwrap_or(0);
            let missed = u32::try_from(missed).unwrap_or(u32::MAX);
            let grid = at.after(interval.saturating_mul(missed)).after(interval);
            *at = if grid > now {
                grid
            } else {
                now.after(interval)
            };
        }
        due
    }

    /// When the next lane is due.
    #[must_use]
    pub fn next(&self) -> BootTime {
        self.next
            .iter()
            .map(|(_, at)| *at)
            .min()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn schedule() -> Schedule {
        let intervals = Intervals {
            fast: Duration::from_secs(1),
            link: Duration::from_secs(1),
            slow: Duration::from_secs(60),
        };
        Schedule::new(intervals, BootTime(0))
    }

    #[test]
    fn lanes_that_fall_together_are_one_poll() {
        let mut schedule = schedule();
        assert_eq!(schedule.take_due(BootTime(0)), LaneSet::all());
        assert!(schedule.take_due(BootTime(SECOND - 1)).is_empty());
        let due = schedule.take_due(BootTime(SECOND));
        assert!(due.has(Lane::Fast) && due.has(Lane::Link) && !due.has(Lane::Slow));
    }

    #[test]
    fn a_late_tick_does_not_move_the_grid() {
        let mut schedule = schedule();
        schedule.take_due(BootTime(0));
        schedule.take_due(BootTime(SECOND + SECOND / 3));
        assert_eq!(schedule.next(), BootTime(2 * SECOND));
    }

    #[test]
    fn a_suspend_is_not_made_up_for() {
        let mut schedule = schedule();
        schedule.take_due(BootTime(0));
        let woken = BootTime(3600 * SECOND + 5);
        assert_eq!(schedule.take_due(woken), LaneSet::all());
        assert!(schedule.take_due(woken).is_empty());
        assert_eq!(schedule.next(), BootTime(3601 * SECOND));
    }

    #[test]
    fn an_interval_of_a_ten_thousand_year_gap_does_not_overflow() {
        let mut schedule = schedule();
        schedule.take_due(BootTime(u64::MAX - 1));
        assert!(schedule.next() > BootTime(0));
    }
}
