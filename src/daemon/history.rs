//! The newest state of every key, and what our own sums have come to.
//!
//! A key is a place on a device and a counter there; it survives readers, renames and
//! re-discovery. Nothing here asks for the time: it comes with the readings.

mod cells;
mod health;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::core::catalog::{Lane, Source};
use crate::core::ids::DeviceKey;
use crate::core::model::facts::{DeviceFacts, SkipReason, Skipped};
use crate::core::model::outcome::{FaultReason, Outcome};
use crate::core::model::snapshot::{Concepts, DeviceView, SourceView};
use crate::core::model::time::BootTime;
use crate::core::wire::{Event, Report, Slot};
use crate::daemon::child::Counts;
use crate::daemon::history::cells::Cell;
use crate::daemon::history::health::{Ages, Health};

/// How long a device that is gone is remembered: longer than a driver reload or a firmware reset.
const REMEMBERED: Duration = Duration::from_secs(600);
/// A device whose pass takes longer than its lane's interval has its own, up to this: by then its
/// reader's deadline has come.
const SLOWEST: Duration = Duration::from_secs(10);
/// Counters of one device that fall in one pass before the device counts as started again. One
/// alone may have been cleared by hand.
const MASS_RESET: usize = 3;
/// A key is current for this many tenths of its lane's interval.
const CURRENT_TENTHS: u32 = 25;

/// Actual intervals of the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// Of the fast lane.
    pub fast: Duration,
    /// Of the link lane.
    pub link: Duration,
    /// Of the slow lane.
    pub slow: Duration,
}

impl Intervals {
    /// The lane's interval.
    #[must_use]
    pub fn of(&self, lane: Lane) -> Duration {
        match lane {
            Lane::Fast => self.fast,
            Lane::Link => self.link,
            Lane::Slow => self.slow,
        }
    }

    /// The same, but none shorter than this.
    #[must_use]
    pub fn at_least(self, shortest: Duration) -> Self {
        Self {
            fast: self.fast.max(shortest),
            link: self.link.max(shortest),
            slow: self.slow.max(shortest),
        }
    }

    fn current_for(&self, lane: Lane) -> Duration {
        self.of(lane)
            .saturating_mul(CURRENT_TENTHS)
            .checked_div(10)
            .unwrap_or_default()
    }
}

/// A read that failed, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure<'a> {
    /// The device.
    pub facts: &'a DeviceFacts,
    /// The value.
    pub slot: &'a Slot,
    /// Why, or `None` when it reads again.
    pub reason: Option<FaultReason>,
}

/// Everything that is known of every device.
#[derive(Debug, Default)]
pub struct History {
    devices: BTreeMap<DeviceKey, Device>,
    skipped: Vec<Skipped>,
    health: Health,
}

#[derive(Debug)]
struct Device {
    facts: Arc<DeviceFacts>,
    slots: Arc<[Slot]>,
    concepts: Arc<Concepts>,
    cells: Vec<Cell>,
    generation: u32,
    /// Since when the node does not have it.
    gone: Option<BootTime>,
    /// When it last reported.
    seen: BootTime,
    /// When it last started again.
    restarted: Option<BootTime>,
    /// Times between its last reports, the newest first.
    spacing: [Duration; 2],
}

impl History {
    /// Takes what a reader said. `failed` hears of each value whose state turned bad, changed its
    /// reason, or turned good again.
    pub fn take(
        &mut self,
        event: Event,
        now: BootTime,
        intervals: &Intervals,
        failed: &mut dyn FnMut(Failure<'_>),
    ) {
        match event {
            Event::Present { devices, skipped } => self.present(&devices, skipped, now),
            Event::Facts {
                generation,
                facts,
                slots,
            } => self.learn(generation, *facts, slots, now),
            Event::Report(report) => self.report(&report, now, intervals, failed),
            Event::Busy { device, .. } => {
                let sources = self.sources_of(&device);
                self.health.overrun(&sources);
            }
            Event::Done { .. } => self.health.done(now),
            Event::Ready { .. } | Event::Node { .. } | Event::Refused { .. } => {}
        }
    }

    /// A reader that is replaced ends the pass it had begun. What it read stays current until it is
    /// too old: a restart of a reader is no gap.
    pub fn reader_replaced(&mut self) {
        self.health.abort();
    }

    fn present(&mut self, devices: &[DeviceKey], skipped: Vec<Skipped>, now: BootTime) {
        self.skipped = skipped;
        let rests = |key: &DeviceKey| {
            let mut skipped = self.skipped.iter();
            skipped.any(|skipped| skipped.key == *key && skipped.reason == SkipReason::Stalled)
        };
        for (key, device) in &mut self.devices {
            if rests(key) {
                // It is there and left alone.
                continue;
            }
            if devices.contains(key) {
                if device.gone.take().is_some() {
                    device.restart(now);
                }
            } else {
                device.gone.get_or_insert(now);
            }
        }
        self.devices
            .retain(|_, device| device.gone.is_none_or(|gone| now.since(gone) < REMEMBERED));
    }

    fn learn(&mut self, generation: u32, facts: DeviceFacts, slots: Vec<Slot>, seen: BootTime) {
        let key = facts.key.clone();
        let mut old = self.devices.remove(&key);
        if let Some(old) = old.as_mut().filter(|old| old.gone.is_some()) {
            old.restart(seen);
        }
        let cells = slots.iter().map(|slot| {
            old.as_mut()
                .map_or_else(Cell::default, |old| old.give(slot))
        });
        let cells = cells.collect();
        let restarted = old.as_ref().and_then(|old| old.restarted);
        let spacing = old
            .as_ref()
            .map_or_else(Default::default, |old| old.spacing);
        let device = Device {
            facts: Arc::new(facts),
            cells,
            concepts: Arc::new(Concepts::of(&slots)),
            slots: slots.into(),
            generation,
            gone: None,
            seen,
            restarted,
            spacing,
        };
        self.devices.insert(key, device);
    }

    fn report(
        &mut self,
        report: &Report,
        now: BootTime,
        intervals: &Intervals,
        failed: &mut dyn FnMut(Failure<'_>),
    ) {
        let Some(device) = self.devices.get_mut(&report.device) else {
            return;
        };
        if device.generation != report.generation {
            return;
        }
        let intervals = &device.actual(intervals);
        let [newest, _] = device.spacing;
        device.spacing = [now.since(device.seen).min(SLOWEST), newest];
        device.seen = now;
        let due = device
            .slots
            .iter()
            .zip(&mut device.cells)
            .filter(|(slot, _)| report.lanes.has(slot.lane));
        let mut fallen: usize = 0;
        for ((slot, cell), reading) in due.zip(&report.readings) {
            let at = report
                .began
                .after(Duration::from_nanos(reading.offset_nanos));
            let before = cell.fault();
            let gap = intervals.current_for(slot.lane);
            fallen = fallen.saturating_add(cell.take(slot, reading.outcome, at, gap).into());
            self.health.read(slot.source, reading.outcome);
            let reason = cell.fault();
            if reason != before {
                failed(Failure {
                    facts: &device.facts,
                    slot,
                    reason,
                });
            }
        }
        if fallen >= MASS_RESET {
            device.restart(report.began);
        }
        for (source, nanos) in &report.spent {
            self.health.spent(*source, Duration::from_nanos(*nanos));
        }
    }

    fn sources_of(&self, key: &DeviceKey) -> Vec<Source> {
        let slots = self
            .devices
            .get(key)
            .map_or(&[][..], |device| &device.slots);
        Source::ALL
            .into_iter()
            .filter(|source| slots.iter().any(|slot| slot.source == *source))
            .collect()
    }

    /// Devices as they stand at `now`, ordered by name.
    #[must_use]
    pub fn views(&self, now: BootTime, intervals: &Intervals) -> Vec<Arc<DeviceView>> {
        let here = self
            .devices
            .values()
            .filter(|device| device.is_here(now, &device.actual(intervals)));
        let mut views: Vec<Arc<DeviceView>> = here
            .map(|device| Arc::new(device.view(now, &device.actual(intervals))))
            .collect();
        views.sort_by(|a, b| a.facts.name.cmp(&b.facts.name));
        views
    }

    /// Devices that are not read.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Health of each source.
    #[must_use]
    pub fn sources(&self, now: BootTime, intervals: &Intervals, counts: Counts) -> Vec<SourceView> {
        let lanes = |source: Source| {
            let slots = self.devices.values().flat_map(|device| device.slots.iter());
            let lanes = slots
                .filter(|slot| slot.source == source)
                .map(|slot| slot.lane);
            lanes
                .map(|lane| (lane, intervals.of(lane)))
                .collect::<BTreeMap<Lane, Duration>>()
        };
        let stalled = |source: Source| {
            let hanging = self.skipped.iter();
            let mut hanging = hanging.filter(|skipped| skipped.reason == SkipReason::Stalled);
            hanging.any(|skipped| match self.devices.get(&skipped.key) {
                Some(device) => device.slots.iter().any(|slot| slot.source == source),
                // It hung before it could say what it has: only drivers do that.
                None => source == Source::Infiniband,
            })
        };
        Source::ALL
            .into_iter()
            .map(|source| {
                let lanes = lanes(source);
                let fastest = lanes.keys().map(|lane| intervals.current_for(*lane)).min();
                let ages = Ages {
                    now,
                    current_for: fastest.unwrap_or_default(),
                    stalled: stalled(source),
                };
                self.health.view(source, lanes, ages, counts)
            })
            .collect()
    }
}

impl Device {
    /// Nothing read before says anything about what is read from here on.
    fn restart(&mut self, at: BootTime) {
        self.restarted = Some(at);
        for cell in &mut self.cells {
            cell.restart(at);
        }
    }

    /// Intervals at which it is really read: one long pause does not make a slow device.
    fn actual(&self, intervals: &Intervals) -> Intervals {
        let [newest, before] = self.spacing;
        intervals.at_least(newest.min(before))
    }

    /// The cell of a slot, by what it is and not by where it stands in the list.
    fn give(&mut self, slot: &Slot) -> Cell {
        let found = self.slots.iter().position(|old| {
            old.what == slot.what && old.place == slot.place && old.file == slot.file
        });
        found
            .and_then(|position| self.cells.get_mut(position))
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// The node has it, and it reported lately.
    fn is_here(&self, now: BootTime, intervals: &Intervals) -> bool {
        let reported = now.since(self.seen);
        let lanes = [Lane::Fast, Lane::Link];
        self.gone.is_none()
            && lanes
                .iter()
                .any(|lane| reported <= intervals.current_for(*lane))
    }

    fn view(&self, now: BootTime, intervals: &Intervals) -> DeviceView {
        let state =
            |(slot, cell): (&Slot, &Cell)| cell.state(now, intervals.current_for(slot.lane));
        DeviceView {
            facts: Arc::clone(&self.facts),
            slots: Arc::clone(&self.slots),
            concepts: Arc::clone(&self.concepts),
            states: self.slots.iter().zip(&self.cells).map(state).collect(),
            restarted: self.restarted,
        }
    }
}

/// Whether an outcome is a value.
fn is_value(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Value(_))
}

#[cfg(test)]
mod tests;
