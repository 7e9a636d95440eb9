//! One key: its newest attempt and its sum.

use std::time::Duration;

use crate::core::catalog::{self, AtTop, Kind};
use crate::core::model::change::{self, Began, Run, Step};
use crate::core::model::outcome::{FaultReason, Outcome};
use crate::core::model::snapshot::SlotState;
use crate::core::model::time::BootTime;
use crate::core::wire::{Slot, What};

/// The newest attempt at one key, and what it has come to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    /// Our own sum of a counter, or a gauge's value.
    sum: u64,
    /// What the kernel showed when it was last read well; `None` before.
    raw: Option<u64>,
    saturated: bool,
    at: BootTime,
    newest: Newest,
    run: Run,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Newest {
    #[default]
    Never,
    Value,
    Absent,
    Fault(FaultReason),
}

impl Cell {
    /// Takes one attempt; readings further apart than `gap` are not one run. Whether the counter
    /// has started again.
    pub(super) fn take(
        &mut self,
        slot: &Slot,
        outcome: Outcome,
        at: BootTime,
        gap: Duration,
    ) -> bool {
        if at < self.at {
            // A late word of a thread that was replaced.
            return false;
        }
        let unbroken = self.newest == Newest::Value && at.since(self.at) <= gap;
        let restarted = self.run.began == Began::Reset && self.run.since > self.at;
        self.at = at;
        match outcome {
            Outcome::Value(value) => {
                if restarted {
                    // The first reading since.
                    self.restart(at);
                } else if !unbroken {
                    let began = if self.raw.is_some() {
                        Began::Gap
                    } else {
                        Began::First
                    };
                    self.run = Run { since: at, began };
                }
                self.newest = Newest::Value;
                self.value(slot, value)
            }
            Outcome::Absent => {
                self.newest = Newest::Absent;
                false
            }
            Outcome::Fault(reason) => {
                self.newest = Newest::Fault(reason);
                false
            }
        }
    }

    /// The device has started again: what was read before says nothing about what is read now.
    pub(super) fn restart(&mut self, since: BootTime) {
        let began = Began::Reset;
        self.run = Run { since, began };
    }

    fn value(&mut self, slot: &Slot, value: u64) -> bool {
        let Some((width, at_top)) = counter(&slot.what) else {
            self.sum = value;
            self.raw = Some(value);
            return false;
        };
        let Some(before) = self.raw.replace(value) else {
            self.sum = value;
            self.saturated = change::step(0, value, width, at_top) == Step::Saturated;
            return false;
        };
        let step = change::step(before, value, width, at_top);
        let grown = match step {
            Step::Increase(by) | Step::Reset(by) => {
                self.saturated = false;
                by
            }
            // The way up to the top is known, what came after is not.
            Step::Saturated => {
                self.saturated = true;
                value.saturating_sub(before)
            }
        };
        self.sum = self.sum.saturating_add(grown);
        let fell = matches!(step, Step::Reset(_));
        if fell {
            self.restart(self.at);
        }
        fell
    }

    /// Why the newest attempt failed.
    pub(super) fn fault(&self) -> Option<FaultReason> {
        match self.newest {
            Newest::Fault(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the newest attempt is young enough to speak for now.
    pub(super) fn is_current(&self, now: BootTime, current_for: Duration) -> bool {
        self.newest != Newest::Never && now.since(self.at) <= current_for
    }

    /// What is shown of it.
    pub(super) fn state(&self, now: BootTime, current_for: Duration) -> SlotState {
        if !self.is_current(now, current_for) {
            return SlotState::NotCurrent;
        }
        match self.newest {
            Newest::Value => SlotState::Current {
                value: self.sum,
                saturated: self.saturated,
                at: self.at,
                run: self.run,
            },
            Newest::Absent => SlotState::Absent,
            Newest::Fault(reason) => SlotState::Fault(reason),
            Newest::Never => SlotState::NotCurrent,
        }
    }
}

/// Width and at-top rule of a counter; `None` for gauges and for what nobody has described.
fn counter(what: &What) -> Option<(u8, AtTop)> {
    let What::Row { row, entry } = what else {
        return None;
    };
    let row = catalog::row(*row)?;
    let entry = row.entries.get(usize::from(*entry))?;
    (row.kind == Kind::Counter).then_some((entry.width, entry.at_top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::catalog::Lane;
    use crate::core::wire::Place;

    const LONG: Duration = Duration::from_secs(1);

    /// A slot of the first entry of a row that has this width.
    fn slot(metric: &str, width: u8) -> Slot {
        let found = (0_u16..)
            .zip(catalog::rows())
            .find(|(_, row)| row.metric == metric)
            .unwrap();
        let entry = found
            .1
            .entries
            .iter()
            .position(|entry| entry.width == width)
            .unwrap();
        Slot {
            what: What::Row {
                row: found.0,
                entry: u16::try_from(entry).unwrap(),
            },
            place: Place::Device,
            file: String::new(),
            lane: Lane::Fast,
            source: found.1.source,
        }
    }

    fn shown(slot: &Slot, values: &[u64]) -> (u64, bool) {
        let mut cell = Cell::default();
        for value in values {
            cell.take(slot, Outcome::Value(*value), BootTime(1), LONG);
        }
        match cell.state(BootTime(1), LONG) {
            SlotState::Current {
                value, saturated, ..
            } => (value, saturated),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_sum_starts_where_the_kernel_stands_and_never_falls() {
        let bytes = slot("railwatch_port_transmit_bytes_total", 64);
        assert_eq!(shown(&bytes, &[100]), (100, false));
        assert_eq!(shown(&bytes, &[100, 130, 5, 9]), (139, false));
    }

    #[test]
    fn a_counter_at_its_top_is_told_and_keeps_its_value() {
        let errors = slot("railwatch_port_link_downed_total", 8);
        assert_eq!(shown(&errors, &[255]), (255, true));
        assert_eq!(shown(&errors, &[250, 255, 255]), (255, true));
        assert_eq!(shown(&errors, &[250, 255, 3]), (258, false));
    }

    #[test]
    fn a_failed_read_is_not_the_last_value() {
        let bytes = slot("railwatch_port_transmit_bytes_total", 64);
        let mut cell = Cell::default();
        cell.take(&bytes, Outcome::Value(5), BootTime(1), LONG);
        cell.take(&bytes, Outcome::Fault(FaultReason::Io), BootTime(2), LONG);
        assert_eq!(
            cell.state(BootTime(2), LONG),
            SlotState::Fault(FaultReason::Io)
        );
        cell.take(&bytes, Outcome::Value(8), BootTime(3), LONG);
        assert!(matches!(
            cell.state(BootTime(3), LONG),
            SlotState::Current { value: 8, .. }
        ));
    }

    fn run(cell: &Cell, now: u64) -> Run {
        match cell.state(BootTime(now), Duration::MAX) {
            SlotState::Current { run, .. } => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_run_ends_with_a_gap_a_failed_read_and_a_reset() {
        let bytes = slot("railwatch_port_transmit_bytes_total", 64);
        let second = 1_000_000_000;
        let mut cell = Cell::default();
        let mut read = |outcome, at| {
            cell.take(&bytes, outcome, BootTime(at), LONG);
            cell
        };
        let began = |cell: Cell, at| run(&cell, at);
        let first = began(read(Outcome::Value(5), 1), 1);
        assert_eq!((first.since, first.began), (BootTime(1), Began::First));
        assert_eq!(began(read(Outcome::Value(6), 2), 2), first);
        let late = 3 + second;
        let after_a_gap = began(read(Outcome::Value(7), late), late);
        assert_eq!(
            (after_a_gap.since, after_a_gap.began),
            (BootTime(late), Began::Gap)
        );
        read(Outcome::Fault(FaultReason::Io), late + 1);
        assert_eq!(
            began(read(Outcome::Value(8), late + 2), late + 2).since.0,
            late + 2
        );
        let reset = began(read(Outcome::Value(1), late + 3), late + 3);
        assert_eq!((reset.since.0, reset.began), (late + 3, Began::Reset));
    }

    #[test]
    fn an_old_value_is_no_value() {
        let bytes = slot("railwatch_port_transmit_bytes_total", 64);
        let mut cell = Cell::default();
        assert_eq!(cell.state(BootTime(0), LONG), SlotState::NotCurrent);
        cell.take(&bytes, Outcome::Value(5), BootTime(0), LONG);
        assert!(matches!(
            cell.state(BootTime(1_000_000_000), LONG),
            SlotState::Current { .. }
        ));
        assert_eq!(
            cell.state(BootTime(1_000_000_001), LONG),
            SlotState::NotCurrent
        );
    }
}
