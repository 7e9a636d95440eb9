//! Keeps one child alive and finds out who is guilty when it does not answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::time::Duration;

use tracing::{info, warn};

use crate::core::catalog::{Lane, LaneSet};
use crate::core::ids::DeviceKey;
use crate::core::model::time::BootTime;
use crate::core::wire::{Event, Hello, PROTOCOL, Request};
use crate::daemon::child::leaving::Leaving;
use crate::daemon::child::process::{Launch, Process, Said, Word};
use crate::daemon::child::running::{Running, Wrong};
use crate::daemon::child::stall::{Stalled, Stalls};

/// Longest pause between two starts of a child that never completes a poll, and how long one must
/// have lived to be a healthy one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Deaths before the one for which a suspect is found guilty.
const GUILTY: u32 = 2;
/// We look at every child each second; longer between two looks and we were away ourselves: stopped,
/// starved, suspended.
const AWAY: Duration = Duration::from_secs(3);

/// What has happened to children so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Children started after the first.
    pub restarts: u64,
    /// Children the kernel would not let end.
    pub abandoned: u64,
}

/// Keeps one child of a kind.
#[derive(Debug)]
pub struct Supervisor<M> {
    launch: Launch,
    hello: Hello,
    deadline: Duration,
    to: Sender<M>,
    current: Option<Running>,
    leaving: Leaving,
    stalls: Stalls,
    restricted: BTreeSet<DeviceKey>,
    restarts: u64,
    started: u64,
    /// Children in a row that ended by themselves or answered nothing.
    failures: u32,
    /// When deadlines were last looked at.
    looked_at: Option<BootTime>,
    not_before: BootTime,
    /// Devices that had not answered when each of the last children died.
    suspects: Option<BTreeSet<DeviceKey>>,
}

impl<M: From<Said> + Send + 'static> Supervisor<M> {
    /// A supervisor without a child; the first poll starts one. What children say goes to `to` and
    /// comes back through [`Self::hear`].
    #[must_use]
    pub fn new(launch: Launch, hello: Hello, deadline: Duration, to: Sender<M>) -> Self {
        let restricted = hello.restricted.iter().cloned().collect();
        Self {
            launch,
            hello,
            deadline,
            to,
            current: None,
            leaving: Leaving::default(),
            stalls: Stalls::default(),
            restricted,
            restarts: 0,
            started: 0,
            failures: 0,
            looked_at: None,
            not_before: BootTime(0),
            suspects: None,
        }
    }

    /// Takes up the stalled devices an earlier daemon of this boot knew.
    #[must_use]
    pub fn with_stalls(mut self, known: BTreeMap<DeviceKey, Stalled>) -> Self {
        self.stalls = Stalls::known(known);
        self
    }

    /// Process id of the current child.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.current.as_ref().map(|running| running.process.pid())
    }

    /// Devices that owe an answer.
    #[must_use]
    pub fn unanswered(&self) -> BTreeSet<DeviceKey> {
        let running = self.current.as_ref();
        running.map(Running::unanswered).unwrap_or_default()
    }

    /// What has happened so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            restarts: self.restarts,
            abandoned: self.leaving.abandoned(),
        }
    }

    /// Devices that rest.
    #[must_use]
    pub fn stalls(&self) -> &Stalls {
        &self.stalls
    }

    /// Devices known to be restricted.
    #[must_use]
    pub fn restricted(&self) -> &BTreeSet<DeviceKey> {
        &self.restricted
    }

    /// Reads counters the catalog lacks, or stops to; takes effect with a fresh child.
    pub fn set_raw(&mut self, raw: bool, now: BootTime) {
        if self.hello.raw != raw {
            self.hello.raw = raw;
            self.retire(now);
        }
    }

    /// Starts a child if there is none and one is due, and sends it a poll.
    pub fn poll(&mut self, seq: u64, lanes: LaneSet, now: BootTime) {
        if self.current.is_none() && now >= self.not_before {
            self.start(now);
        }
        let Some(running) = &mut self.current else {
            return;
        };
        // A full pipe is a child that takes nothing; its oldest open poll runs into the deadline.
        if running.process.send(&Request::Poll { seq, lanes }).is_ok() {
            running.asked(seq, now);
        }
    }

    /// Takes what a child said; events of the current child come back to be used.
    pub fn hear(&mut self, said: Said, now: BootTime) -> Vec<Event> {
        let Some(running) = self
            .current
            .as_mut()
            .filter(|running| running.number == said.child)
        else {
            return Vec::new();
        };
        match said.word {
            Word::Events(events) => {
                running.heard(now);
                if let Some(protocol) = foreign(&events) {
                    warn!(
                        protocol,
                        expected = PROTOCOL,
                        "reader speaks another protocol; it is replaced"
                    );
                    self.give_up(&[], now);
                    return Vec::new();
                }
                for event in &events {
                    self.note(event, now);
                }
                events
            }
            Word::Ended(why) => {
                self.died(&why, now);
                Vec::new()
            }
        }
    }

    /// Looks at deadlines and at children that are leaving; to be called at every tick.
    pub fn check(&mut self, now: BootTime) {
        for number in self.leaving.reap(now) {
            self.stalls.released(number);
        }
        let away = self.looked_at.replace(now).map(|last| now.since(last));
        let Some(running) = &mut self.current else {
            return;
        };
        if let Some(away) = away.filter(|away| *away > AWAY) {
            running.excuse(away, now);
        }
        match running.wrong(now, self.deadline) {
            Some(Wrong::Silent) => {
                let pid = running.process.pid();
                warn!(pid, "reader says nothing; it is replaced");
                self.give_up(&[], now);
            }
            Some(Wrong::Devices(guilty)) => {
                for device in &guilty {
                    warn!(
                        device = device.as_str(),
                        "a read does not return; the reader is replaced without this device"
                    );
                }
                self.give_up(&guilty, now);
            }
            Some(Wrong::Unfinished) => self.give_up(&[], now),
            None if self.someone_has_rested(now) => {
                info!("trying devices again that had stalled");
                self.retire(now);
            }
            None => {}
        }
    }

    /// Ends the child, without grace: it holds nothing that could be lost.
    pub fn stop(&mut self) {
        if let Some(running) = &mut self.current {
            running.process.kill();
        }
    }

    fn start(&mut self, now: BootTime) {
        let number = self.started;
        self.started = self.started.saturating_add(1);
        self.restarts = number;
        let resting = self.stalls.resting(now);
        let hello = Hello {
            stalled: resting.clone(),
            restricted: self.restricted.iter().cloned().collect(),
            ..self.hello.clone()
        };
        let mut process = match Process::start(&self.launch, number, self.to.clone()) {
            Ok(process) => process,
            Err(failed) => {
                warn!(error = %failed.error, "cannot start the reader");
                if let Some(process) = failed.process {
                    self.leaving.take(number, process, now);
                }
                return self.pause(now);
            }
        };
        if let Err(error) = process.send(&Request::Hello(hello)) {
            warn!(error = %error, "the reader does not take its greeting");
            process.kill();
            self.leaving.take(number, process, now);
            return self.pause(now);
        }
        self.current = Some(Running::new(number, process, resting, now));
    }

    fn note(&mut self, event: &Event, now: BootTime) {
        let Some(running) = &mut self.current else {
            return;
        };
        match event {
            Event::Present { devices, skipped } => {
                running.has(devices);
                let restricted = skipped.iter().filter(|skipped| {
                    skipped.reason == crate::core::model::facts::SkipReason::Restricted
                });
                self.restricted
                    .extend(restricted.map(|skipped| skipped.key.clone()));
                // Another card in its place, or the same after a reset, is asked anew.
                self.restricted.retain(|key| {
                    devices.contains(key) || skipped.iter().any(|skipped| skipped.key == *key)
                });
            }
            Event::Report(report) => {
                running.answered(&report.device);
                // One that hangs on the slow lane only is not well when it answers the fast one.
                let whole = report.lanes.has(Lane::Slow);
                if whole && self.stalls.answered(&report.device) {
                    info!(
                        device = report.device.as_str(),
                        "a device that had stalled answers again"
                    );
                }
            }
            Event::Done { seq } => {
                running.done(*seq);
                if now.since(running.since) >= LONGEST_PAUSE {
                    self.failures = 0;
                    self.suspects = None;
                }
            }
            Event::Ready { .. }
            | Event::Node { .. }
            | Event::Refused { .. }
            | Event::Facts { .. }
            | Event::Busy { .. } => {}
        }
    }

    /// The child ended by itself: whoever had not answered is suspected, and guilty the third time
    /// in a row. Two may be somebody's doing: a full memory, a person.
    fn died(&mut self, why: &str, now: BootTime) {
        let Some(mut running) = self.current.take() else {
            return;
        };
        // It may have closed its pipe only.
        running.process.kill();
        warn!(
            pid = running.process.pid(),
            error = why,
            "reader ended; it is replaced"
        );
        let unanswered = running.unanswered();
        let suspects: BTreeSet<DeviceKey> = match &self.suspects {
            // Before it could say whom it had, nobody is cleared.
            Some(before) if unanswered.is_empty() => before.clone(),
            Some(before) => before.intersection(&unanswered).cloned().collect(),
            None => unanswered,
        };
        if self.failures >= GUILTY && self.suspects.take().is_some() && !suspects.is_empty() {
            // Of several that never answer together, one half rests and so clears the other.
            let count = suspects.len().div_ceil(2);
            for device in suspects.iter().take(count) {
                warn!(
                    device = device.as_str(),
                    "readers end while they read this device; it is left out"
                );
                self.stalls.add(device.clone(), running.number, now);
            }
        } else if !suspects.is_empty() {
            self.suspects = Some(suspects);
        }
        self.leave(running, now);
        self.pause(now);
    }

    /// Kills the child; devices that did not return rest.
    fn give_up(&mut self, guilty: &[DeviceKey], now: BootTime) {
        let Some(mut running) = self.current.take() else {
            return;
        };
        running.process.kill();
        for device in guilty {
            self.stalls.add(device.clone(), running.number, now);
        }
        self.leave(running, now);
        if guilty.is_empty() {
            self.pause(now);
        }
    }

    /// Replaces a child that did nothing wrong.
    fn retire(&mut self, now: BootTime) {
        if let Some(mut running) = self.current.take() {
            running.process.kill();
            self.leave(running, now);
        }
    }

    fn leave(&mut self, running: Running, now: BootTime) {
        self.leaving.take(running.number, running.process, now);
    }

    /// First start at once, then ever longer pauses while no child completes a poll.
    fn pause(&mut self, now: BootTime) {
        let seconds = if self.failures == 0 {
            0
        } else {
            1 << self.failures.saturating_sub(1).min(6)
        };
        self.failures = self.failures.saturating_add(1);
        self.not_before = now.after(Duration::from_secs(seconds).min(LONGEST_PAUSE));
    }

    /// A device the current child leaves alone may be tried again.
    fn someone_has_rested(&self, now: BootTime) -> bool {
        let resting = self.stalls.resting(now);
        let left_alone = self
            .current
            .as_ref()
            .map_or(&[][..], |running| &running.resting);
        left_alone.iter().any(|device| !resting.contains(device))
    }
}

/// The protocol a reader greets with, if it is not ours.
fn foreign(events: &[Event]) -> Option<u16> {
    events.iter().find_map(|event| match event {
        Event::Ready { protocol } if *protocol != PROTOCOL => Some(*protocol),
        _ => None,
    })
}
