//! One device's thread: probes it, reads its slots, and is the only one that enters its driver.

mod pass;

use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::core::catalog::{Lane, LaneSet};
use crate::core::ids::DeviceKey;
use crate::core::model::outcome::{FaultReason, Outcome};
use crate::core::wire::{Event, Reading, Report, Slot};
use crate::host::clock::{BootClock, Clock};
use crate::host::discover::{Located, Probed, probe};
use crate::host::reader::budget::Budget;
use crate::host::reader::device::pass::Pass;
use crate::host::reader::outbox::Outbox;
use crate::host::tree::Tree;

/// Bytes of stack: the deepest call is a probe, which needs a tenth of it.
const STACK: usize = 256 << 10;

/// Devices that were found to be restricted, shared by all threads.
#[derive(Debug, Clone)]
pub(super) struct Restricted(Arc<Mutex<BTreeSet<DeviceKey>>>);

impl Restricted {
    pub(super) fn new(known: impl Iterator<Item = DeviceKey>) -> Self {
        Self(Arc::new(Mutex::new(known.collect())))
    }

    pub(super) fn has(&self, key: &DeviceKey) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(key)
    }

    /// Forgets devices that are not there.
    pub(super) fn keep(&self, here: &BTreeSet<&DeviceKey>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|key| here.contains(key));
    }

    fn add(&self, key: DeviceKey) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key);
    }
}

/// A device's queue of one.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    jobs: SyncSender<(u64, LaneSet)>,
    busy: Arc<AtomicBool>,
}

impl Queue {
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// Gives the device a poll; false if its thread is gone.
    pub(super) fn give(&self, seq: u64, lanes: LaneSet) -> bool {
        self.busy.store(true, Ordering::Release);
        self.jobs.try_send((seq, lanes)).is_ok()
    }
}

/// What a device's thread needs.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) tree: Arc<dyn Tree>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) restricted: Restricted,
    pub(super) budget: Budget,
    pub(super) clock: BootClock,
    pub(super) raw: bool,
    pub(super) located: Located,
    /// Of all devices together: two threads of one device never count alike.
    pub(super) generations: Arc<AtomicU32>,
}

impl Device {
    /// Starts the thread; it ends when its queue is dropped.
    pub(super) fn start(self) -> io::Result<Queue> {
        let (jobs, polls) = sync_channel(1);
        let busy = Arc::new(AtomicBool::new(false));
        let name: String = self.located.name.as_str().chars().take(15).collect();
        let flag = Arc::clone(&busy);
        thread::Builder::new()
            .name(name)
            .stack_size(STACK)
            .spawn(move || self.run(&polls, &flag))?;
        Ok(Queue { jobs, busy })
    }

    fn run(self, polls: &Receiver<(u64, LaneSet)>, busy: &AtomicBool) {
        let mut known = Known::default();
        while let Ok((seq, lanes)) = polls.recv() {
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&mut known, seq, lanes)));
            let events = answered.unwrap_or_else(|_| known.panicked(self.clock, seq, lanes));
            // Free before the report is out: the daemon's next poll may come at once.
            busy.store(false, Ordering::Release);
            self.outbox.report(seq, events);
        }
    }

    fn answer(&self, known: &mut Known, seq: u64, lanes: LaneSet) -> Vec<Event> {
        let mut events = Vec::new();
        if self.restricted.has(&self.located.key) {
            return vec![self.nothing(known, seq)];
        }
        if known.probed.is_none() || lanes.has(Lane::Slow) || !self.tree.keeps() {
            let before = known.probed.as_ref();
            let probed = probe(&*self.tree, &self.located, self.raw, before);
            if probed.restricted {
                self.restrict(known);
                return vec![self.nothing(known, seq)];
            }
            events.extend(known.learn(probed, &*self.tree, &self.generations));
        }
        let Some(probed) = &known.probed else {
            return events;
        };
        let pass = Pass {
            tree: &*self.tree,
            clock: self.clock,
            budget: &self.budget,
            probed,
            lanes,
        };
        match pass.run(&mut known.handles) {
            Some(read) => events.push(Event::Report(Report {
                seq,
                device: self.located.key.clone(),
                generation: known.generation,
                lanes,
                began: read.began,
                readings: read.readings,
                spent: read.spent,
            })),
            None => {
                self.restrict(known);
                return vec![self.nothing(known, seq)];
            }
        }
        events
    }

    /// The answer of a device that is not read: it has answered, and that is all.
    fn nothing(&self, known: &Known, seq: u64) -> Event {
        Event::Report(Report {
            seq,
            device: self.located.key.clone(),
            generation: known.generation,
            lanes: LaneSet::default(),
            began: self.clock.now(),
            readings: Vec::new(),
            spent: Vec::new(),
        })
    }

    /// Leaves the device alone from here on: nothing of it stays open.
    fn restrict(&self, known: &mut Known) {
        *known = Known::default();
        self.restricted.add(self.located.key.clone());
    }
}

/// What a device's thread knows of it.
#[derive(Debug, Default)]
struct Known {
    probed: Option<Probed>,
    generation: u32,
    handles: pass::Handles,
}

impl Known {
    /// Takes a new probe; tells it if it says anything new.
    fn learn(
        &mut self,
        mut probed: Probed,
        tree: &dyn Tree,
        generations: &AtomicU32,
    ) -> Option<Event> {
        if let Some(old) = &self.probed {
            probed.keep_missed(old, tree);
        }
        let same = self.probed.as_ref().is_some_and(|old| {
            old.facts == probed.facts
                && old.slots == probed.slots
                && old.targets == probed.targets
                && old.objects == probed.objects
        });
        if same {
            return None;
        }
        self.handles.forget();
        self.generation = generations.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let event = Event::Facts {
            generation: self.generation,
            facts: Box::new(probed.facts.clone()),
            slots: probed.slots.clone(),
        };
        self.probed = Some(probed);
        Some(event)
    }

    /// A report in which every value failed: the reader's own fault, told as one.
    fn panicked(&mut self, clock: BootClock, seq: u64, lanes: LaneSet) -> Vec<Event> {
        self.handles.forget();
        let Some(probed) = &self.probed else {
            return Vec::new();
        };
        let failed = Reading {
            offset_nanos: 0,
            outcome: Outcome::Fault(FaultReason::OtherErrno),
        };
        let due = |slot: &&Slot| lanes.has(slot.lane);
        let readings = probed.slots.iter().filter(due).map(|_| failed).collect();
        vec![Event::Report(Report {
            seq,
            device: probed.facts.key.clone(),
            generation: self.generation,
            lanes,
            began: clock.now(),
            readings,
            spent: Vec::new(),
        })]
    }
}
