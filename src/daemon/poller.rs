//! The poller: one thread that ticks, sends polls, takes readings and publishes.
//!
//! Lanes run on the injected clock; whom to replace when nothing comes back is a matter of real
//! time. The thread waits for its inbox only, always with a deadline, and enters no device.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use tokio::sync::watch;
use tracing::warn;

use crate::core::catalog::LaneSet;
use crate::core::model::snapshot::{HostFacts, Own, Snapshot};
use crate::core::model::time::BootTime;
use crate::core::wire::Event;
use crate::daemon::child::{Said, Supervisor};
use crate::daemon::complaint::Complaints;
use crate::daemon::history::{History, Intervals};
use crate::daemon::journal::Journal;
use crate::daemon::judge::{Ask, Judge};
use crate::daemon::maintenance;
use crate::daemon::notify::Notify;
use crate::daemon::own;
use crate::daemon::schedule::Schedule;
use crate::daemon::store::{Kept, Store};
use crate::host::clock::{BootClock, Clock, wall_seconds};

/// How long a tick's snapshot waits for a device that is late.
const LATE: Duration = Duration::from_millis(250);
/// How often we look at our own processes.
const OWN: Duration = Duration::from_secs(60);
/// Messages taken before the next look at the clock.
const AT_ONCE: usize = 256;
/// How long the first snapshot waits: a card's first probe may take seconds.
const FIRST: Duration = Duration::from_secs(5);

/// What comes into the poller's inbox.
#[derive(Debug)]
pub enum Message {
    /// From a reader.
    Said(Said),
    /// New settings after a reload.
    Settings(Settings),
    /// The expectation file after a reload.
    Expect(Option<String>),
    /// A person asks for something; the answer goes back the way it came.
    Ask(Ask, SyncSender<Result<String, String>>),
    /// End.
    Stop,
}

impl From<Said> for Message {
    fn from(said: Said) -> Self {
        Self::Said(said)
    }
}

/// What a reload may change while polling goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Intervals of the lanes.
    pub intervals: Intervals,
    /// Counters the catalog lacks are read.
    pub raw: bool,
}

/// What a poller needs.
#[derive(Debug)]
pub struct Parts {
    /// Clock of the lanes.
    pub clock: BootClock,
    /// Where messages come in.
    pub inbox: Receiver<Message>,
    /// Keeps the reader.
    pub supervisor: Supervisor<Message>,
    /// Where snapshots go.
    pub publish: watch::Sender<Option<Arc<Snapshot>>>,
    /// Intervals to begin with.
    pub intervals: Intervals,
    /// The host.
    pub host: HostFacts,
    /// Judges what was read.
    pub judge: Judge,
    /// Where findings are kept; `None` with a capture.
    pub journal: Option<Journal>,
    /// Where a file may ask for maintenance; `None` with a capture.
    pub maintenance: Option<PathBuf>,
    /// What survives a restart; `None` with a capture.
    pub store: Option<Store>,
    /// Configuration problems, as the last load counted them.
    pub problems: Arc<AtomicU64>,
}

/// The poller.
#[derive(Debug)]
pub struct Poller {
    parts: Parts,
    real: BootClock,
    schedule: Schedule,
    history: History,
    complaints: Complaints,
    notify: Notify,
    product: Option<String>,
    /// Why the node cannot be read.
    trouble: Option<String>,
    own: Arc<Own>,
    own_at: BootTime,
    polls: u64,
    /// Until when, in real time, the snapshot of this tick waits; `None` once it is out.
    publish_by: Option<BootTime>,
}

impl Poller {
    /// A poller whose first tick is now.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let schedule = Schedule::new(parts.intervals, parts.clock.now());
        Self {
            real: BootClock::new(1),
            schedule,
            history: History::default(),
            complaints: Complaints::default(),
            notify: Notify::default(),
            product: None,
            trouble: None,
            own: Arc::default(),
            own_at: BootTime(0),
            polls: 0,
            publish_by: None,
            parts,
        }
    }

    /// Polls until it is told to stop.
    pub fn run(mut self) {
        loop {
            self.tick();
            let first = match self.parts.inbox.recv_timeout(self.patience()) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if first.is_some_and(|message| !self.take_all(message)) {
                break;
            }
        }
        self.parts.supervisor.stop();
    }

    /// Takes a message and what else lies in the inbox, before anybody is judged by what has not
    /// come; false if it is time to end.
    fn take_all(&mut self, first: Message) -> bool {
        let rest: Vec<Message> = self.parts.inbox.try_iter().take(AT_ONCE).collect();
        for message in std::iter::once(first).chain(rest) {
            match message {
                Message::Said(said) => self.hear(said),
                Message::Settings(settings) => self.set(settings),
                Message::Expect(text) => self.parts.judge.expect(text),
                Message::Ask(ask, answer) => self.ask(ask, &answer),
                Message::Stop => return false,
            }
        }
        true
    }

    fn tick(&mut self) {
        let (now, real) = (self.parts.clock.now(), self.real.now());
        let reader = self.parts.supervisor.pid();
        self.parts.supervisor.check(real);
        let lanes = self.schedule.take_due(now);
        if !lanes.is_empty() {
            self.poll(lanes, real);
        }
        self.note_reader(reader);
        if self.publish_by.is_some_and(|by| real >= by) {
            self.publish();
        }
        if real.since(self.own_at) >= OWN {
            self.look_at_self();
            self.look_for_maintenance();
        }
        self.notify.ticked(real);
    }

    fn poll(&mut self, lanes: LaneSet, real: BootTime) {
        if self.publish_by.is_some() && self.parts.publish.borrow().is_some() {
            self.publish();
        }
        self.polls = self.polls.saturating_add(1);
        if self.publish_by.is_none() {
            let wait = if self.parts.publish.borrow().is_some() {
                LATE
            } else {
                FIRST
            };
            self.publish_by = Some(real.after(wait));
        }
        self.parts.supervisor.poll(self.polls, lanes, real);
        self.complaints.tick(self.parts.clock.now());
    }

    fn hear(&mut self, said: Said) {
        let reader = self.parts.supervisor.pid();
        for event in self.parts.supervisor.hear(said, self.real.now()) {
            let is_done = matches!(event, Event::Done { seq } if seq == self.polls);
            match &event {
                Event::Refused { why } => {
                    if self.trouble.as_ref() != Some(why) {
                        warn!(error = why, "the reader cannot read the node");
                    }
                    self.trouble = Some(why.clone());
                }
                Event::Report(_) | Event::Present { .. } => self.trouble = None,
                Event::Node { product } => self.product.clone_from(product),
                _ => {}
            }
            let now = self.parts.clock.now();
            let complaints = &mut self.complaints;
            if let Event::Present { devices, .. } = &event {
                complaints.keep(devices);
            }
            let intervals = self.schedule.intervals();
            self.history.take(event, now, intervals, &mut |failure| {
                complaints.hear(failure, now);
            });
            if is_done {
                self.publish();
            }
        }
        self.note_reader(reader);
    }

    fn set(&mut self, settings: Settings) {
        if *self.schedule.intervals() != settings.intervals {
            self.schedule = Schedule::new(settings.intervals, self.parts.clock.now());
        }
        self.parts.supervisor.set_raw(settings.raw, self.real.now());
    }

    fn ask(&mut self, ask: Ask, answer: &SyncSender<Result<String, String>>) {
        let said = self.parts.judge.ask(ask, wall_seconds());
        // Whoever asked may have stopped waiting.
        answer.try_send(said).ok();
    }

    fn look_for_maintenance(&mut self) {
        let Some(path) = &self.parts.maintenance else {
            return;
        };
        let found = maintenance::of_file(path, wall_seconds()).unwrap_or_else(|error| {
            warn!(path = %path.display(), error = %error, "cannot read whether the node is in maintenance");
            None
        });
        self.parts.judge.by_file(found);
    }

    /// A reader that is not the one before has left its pass unfinished.
    fn note_reader(&mut self, before: Option<u32>) {
        let now = self.parts.supervisor.pid();
        if now != before {
            if before.is_some() {
                self.history.reader_replaced();
            }
            self.look_at_self();
        }
    }

    fn look_at_self(&mut self) {
        self.own_at = self.real.now();
        let problems = self.parts.problems.load(Ordering::Relaxed);
        self.own = Arc::new(own::own(
            &self.parts.host,
            self.parts.supervisor.pid(),
            problems,
        ));
    }

    fn publish(&mut self) {
        self.publish_by = None;
        let now = self.parts.clock.now();
        let intervals = self.schedule.intervals();
        let mut snapshot = Snapshot {
            at: now,
            wall_seconds: wall_seconds(),
            polls: self.polls,
            devices: self.history.views(now, intervals),
            skipped: self.history.skipped().to_vec(),
            product: self.product.clone(),
            trouble: self.trouble.clone(),
            sources: self
                .history
                .sources(now, intervals, self.parts.supervisor.counts()),
            own: Arc::clone(&self.own),
            journal: self.parts.journal.as_ref().map(Journal::health),
            findings: None,
        };
        let journal = &self.parts.journal;
        let findings = self.parts.judge.judge(&snapshot, &mut |transition| {
            if let Some(journal) = journal {
                journal.record(transition);
            }
        });
        snapshot.findings = Some(findings);
        let status = format!("reading {} devices", snapshot.devices.len());
        self.parts.publish.send_replace(Some(Arc::new(snapshot)));
        self.notify.ready(&status);
        self.keep();
    }

    /// Writes down which devices are not to be touched, when that has changed.
    fn keep(&mut self) {
        let Some(store) = &mut self.parts.store else {
            return;
        };
        let supervisor = &self.parts.supervisor;
        let (restricted, stalled) = (supervisor.restricted(), supervisor.stalls().devices());
        let kept = store.kept();
        if kept.restricted != *restricted || kept.stalled != *stalled {
            store.keep(Kept {
                restricted: restricted.clone(),
                stalled: stalled.clone(),
            });
        }
    }

    /// How long to wait for the inbox.
    fn patience(&self) -> Duration {
        let next = self.schedule.next().since(self.parts.clock.now());
        let mut patience = self.parts.clock.real(next).min(self.notify.patience());
        if let Some(by) = self.publish_by {
            patience = patience.min(by.since(self.real.now()));
        }
        patience
    }
}
