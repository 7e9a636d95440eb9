//! What the current child owes: which devices it has, which polls are open, since when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::core::ids::DeviceKey;
use crate::core::model::time::BootTime;
use crate::daemon::child::process::Process;

/// The current child.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) number: u64,
    pub(super) process: Process,
    /// When it was started.
    pub(super) since: BootTime,
    heard_at: BootTime,
    present: BTreeSet<DeviceKey>,
    /// Since when each device owes an answer.
    waiting: BTreeMap<DeviceKey, BootTime>,
    /// Polls that are not done, with the time they were sent.
    open: BTreeMap<u64, BootTime>,
    /// Devices that were left alone when it was started.
    pub(super) resting: Vec<DeviceKey>,
}

/// What is wrong with a child.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It says nothing at all.
    Silent,
    /// Reads of these devices do not return.
    Devices(Vec<DeviceKey>),
    /// It leaves a poll open though no device owes an answer.
    Unfinished,
}

impl Running {
    pub(super) fn new(
        number: u64,
        process: Process,
        resting: Vec<DeviceKey>,
        now: BootTime,
    ) -> Self {
        Self {
            number,
            process,
            since: now,
            heard_at: now,
            present: BTreeSet::new(),
            waiting: BTreeMap::new(),
            open: BTreeMap::new(),
            resting,
        }
    }

    /// A poll was sent: every device owes an answer.
    pub(super) fn asked(&mut self, seq: u64, now: BootTime) {
        self.open.insert(seq, now);
        for device in &self.present {
            self.waiting.entry(device.clone()).or_insert(now);
        }
    }

    pub(super) fn heard(&mut self, now: BootTime) {
        self.heard_at = now;
    }

    /// These are its devices: those it has not named before owe an answer to the newest poll.
    pub(super) fn has(&mut self, devices: &[DeviceKey]) {
        let since = self.open.values().next_back().copied();
        self.present = devices.iter().cloned().collect();
        let present = &self.present;
        self.waiting.retain(|device, _| present.contains(device));
        for device in devices {
            if let Some(since) = since {
                self.waiting.entry(device.clone()).or_insert(since);
            }
        }
    }

    pub(super) fn answered(&mut self, device: &DeviceKey) {
        self.waiting.remove(device);
    }

    pub(super) fn done(&mut self, seq: u64) {
        self.open.retain(|open, _| *open > seq);
    }

    /// Devices that owe an answer.
    pub(super) fn unanswered(&self) -> BTreeSet<DeviceKey> {
        self.waiting.keys().cloned().collect()
    }

    /// We were away ourselves for so long: nobody could have been heard meanwhile.
    pub(super) fn excuse(&mut self, away: Duration, now: BootTime) {
        for time in self.waiting.values_mut().chain(self.open.values_mut()) {
            *time = time.after(away).min(now);
        }
        // After every open poll: it is not silent before it has been asked again.
        self.heard_at = now.after(Duration::from_nanos(1));
    }

    /// What has taken longer than the deadline.
    pub(super) fn wrong(&self, now: BootTime, deadline: Duration) -> Option<Wrong> {
        let late = |since: &BootTime| now.since(*since) > deadline;
        // Silence counts from a poll that came after its last word: with slow lanes a reader whose
        // other devices have reported has nothing more to say until the next one.
        let mut open = self.open.values();
        if open.any(|sent| *sent >= self.heard_at && late(sent)) {
            return Some(Wrong::Silent);
        }
        let guilty = self.waiting.iter().filter(|(_, since)| late(since));
        let guilty: Vec<DeviceKey> = guilty.map(|(key, _)| key.clone()).collect();
        if !guilty.is_empty() {
            return Some(Wrong::Devices(guilty));
        }
        let is_open = self.open.values().next().is_some_and(late);
        (is_open && self.waiting.is_empty()).then_some(Wrong::Unfinished)
    }
}
