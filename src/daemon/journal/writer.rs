//! The journal's thread: takes words, writes them in one transaction, tries again when that fails.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use tracing::{info, warn};

use crate::core::detect::engine::{Happened, Transition};
use crate::core::model::finding::Finding;
use crate::core::model::time::BootTime;
use crate::daemon::journal::database::{Database, DatabaseError};
use crate::daemon::journal::{Options, QUEUE, Restored, State};
use crate::host::clock::{BootClock, Clock, wall_seconds};

/// First pause after a failed attempt; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often old findings are dropped.
const TIDY: Duration = Duration::from_secs(3600);

/// One transition on its way.
#[derive(Debug)]
pub(super) struct Word {
    /// The finding after it.
    pub(super) finding: Finding,
    /// What happened.
    pub(super) what: &'static str,
    /// When, seconds since 1970.
    pub(super) at: f64,
}

impl Word {
    pub(super) fn new(transition: &Transition) -> Self {
        let what = match transition.what {
            Happened::Over(why) => why.as_str(),
            other => other.as_str(),
        };
        Self {
            finding: transition.finding.clone(),
            what,
            at: wall_seconds(),
        }
    }
}

/// What the thread has.
pub(super) struct Writer {
    options: Options,
    state: Arc<State>,
    clock: BootClock,
    database: Option<Database>,
    waiting: VecDeque<Word>,
    failures: u32,
    not_before: BootTime,
    tidied: Option<BootTime>,
}

impl Writer {
    pub(super) fn new(options: Options, state: Arc<State>) -> Self {
        Self {
            options,
            state,
            clock: BootClock::new(1),
            database: None,
            waiting: VecDeque::new(),
            failures: 0,
            not_before: BootTime(0),
            tidied: None,
        }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Word>, restored: &SyncSender<Option<Restored>>) {
        let found = self.open();
        // Nobody listens any more if it took too long.
        restored.try_send(found).ok();
        loop {
            match inbox.recv_timeout(self.patience()) {
                Ok(word) => {
                    self.waiting.push_back(word);
                    self.waiting.extend(inbox.try_iter());
                    self.forget_some();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // One last attempt, whether or not it is time for it.
                    self.not_before = BootTime(0);
                    self.write();
                    return;
                }
            }
            self.write();
            self.tidy();
        }
    }

    fn patience(&self) -> Duration {
        if self.waiting.is_empty() && self.failures == 0 {
            TIDY
        } else {
            self.not_before
                .since(self.clock.now())
                .max(Duration::from_millis(1))
        }
    }

    /// Only so many are kept while the disk does not work. What goes first is what a later word of
    /// the same finding says better; how each finding stands is kept as long as there is room.
    fn forget_some(&mut self) {
        while self.waiting.len() > QUEUE {
            let mut newest = std::collections::BTreeSet::new();
            let stale = self
                .waiting
                .iter()
                .enumerate()
                .rev()
                .filter_map(|(position, word)| {
                    (!newest.insert(word.finding.id)).then_some(position)
                });
            let position = stale.last().unwrap_or_default();
            self.waiting.remove(position);
            self.state
                .lost
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    fn open(&mut self) -> Option<Restored> {
        let opened = Database::open(&self.options.directory).and_then(|database| {
            let restored = database.restored()?;
            Ok((database, restored))
        });
        match opened {
            Ok((database, restored)) => {
                if self.failures > 0 {
                    info!("the journal works again");
                }
                self.failures = 0;
                self.state.set(None);
                self.database = Some(database);
                Some(restored)
            }
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    fn write(&mut self) {
        let idle = self.waiting.is_empty() && self.failures == 0;
        if idle || self.clock.now() < self.not_before {
            return;
        }
        if self.database.is_none() && self.open().is_none() {
            return;
        }
        let Some(database) = &mut self.database else {
            return;
        };
        match database.write(&self.waiting) {
            Ok(()) => {
                self.waiting.clear();
                self.failures = 0;
                self.state.set(None);
            }
            Err(error) => self.failed(&error),
        }
    }

    fn tidy(&mut self) {
        let now = self.clock.now();
        if self.tidied.is_some_and(|last| now.since(last) < TIDY) {
            return;
        }
        self.tidied = Some(now);
        let before = wall_seconds() - self.options.max_age.as_secs_f64();
        let tidied = self
            .database
            .as_mut()
            .map(|database| database.tidy(before, self.options.max_bytes));
        if let Some(Err(error)) = tidied {
            self.failed(&error);
        }
    }

    fn failed(&mut self, error: &DatabaseError) {
        // Whatever it is, a fresh connection is the way back.
        self.database = None;
        let doubled = PAUSE.saturating_mul(1 << self.failures.min(6));
        self.not_before = self.clock.now().after(doubled.min(LONGEST_PAUSE));
        if self.failures == 0 {
            warn!(error = %error, "the journal cannot be written; what happens is kept in memory");
        }
        self.failures = self.failures.saturating_add(1);
        self.state.set(Some(error.to_string()));
    }
}
