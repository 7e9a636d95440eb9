//! The journal of findings: what was found survives a restart, whatever the disk does.
//!
//! One thread owns the database. Nobody waits for it: what cannot be written now is kept, the newest
//! of it, and written when the disk works again.

mod database;
mod writer;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::warn;

use crate::core::detect::engine::Transition;
use crate::core::model::finding::Finding;
use crate::core::model::snapshot::JournalState;
use crate::host::clock::wall_seconds;
use writer::{Word, Writer};

/// Transitions that may wait for the disk.
const QUEUE: usize = 1024;
/// How long the start waits for what was kept.
const START: Duration = Duration::from_secs(2);
/// How long the end waits for what is not written yet.
const END: Duration = Duration::from_secs(1);

/// Where the journal is, and how much it keeps.
#[derive(Debug, Clone)]
pub struct Options {
    /// The state directory; the file is `journal.db`.
    pub directory: PathBuf,
    /// Bytes beyond which the oldest findings that are over are dropped.
    pub max_bytes: u64,
    /// Age beyond which findings that are over are dropped.
    pub max_age: Duration,
}

impl Options {
    /// The journal of a state directory with the limits that are usual: 64 MiB, 90 days.
    #[must_use]
    pub fn of(directory: PathBuf) -> Self {
        Self {
            directory,
            max_bytes: 64 << 20,
            max_age: Duration::from_secs(90 * 24 * 3600),
        }
    }
}

/// What was kept before.
#[derive(Debug, Default)]
pub struct Restored {
    /// Findings that were open.
    pub open: Vec<Finding>,
    /// Findings that were over, the newest first.
    pub recent: Vec<Finding>,
    /// The highest number that was given.
    pub newest_id: u64,
}

impl Restored {
    /// What was kept cannot be had now, and may be there: numbers begin where no earlier daemon's
    /// can be, at the seconds since 1970.
    fn nothing_known() -> Self {
        let now = Duration::try_from_secs_f64(wall_seconds()).unwrap_or_default();
        Self {
            newest_id: now.as_secs(),
            ..Self::default()
        }
    }
}

/// The journal. What is not written yet when it is dropped has one second.
#[derive(Debug)]
pub struct Journal {
    to: Option<SyncSender<Word>>,
    state: Arc<State>,
    ended: std::sync::mpsc::Receiver<()>,
}

#[derive(Debug, Default)]
struct State {
    failing: Mutex<Option<String>>,
    lost: AtomicU64,
}

impl State {
    fn set(&self, failing: Option<String>) {
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = failing;
    }
}

impl Journal {
    /// Opens the journal and gives what it kept, as far as that is had within two seconds. A disk
    /// that is full, hangs, holds nonsense or a newer journal keeps nobody from starting.
    #[must_use]
    pub fn open(options: Options) -> (Self, Restored) {
        let (to, inbox) = sync_channel(QUEUE);
        let (restored_to, restored) = sync_channel(1);
        let (ended_to, ended) = sync_channel(1);
        let state = Arc::new(State::default());
        let theirs = Arc::clone(&state);
        let path = options.directory.join("journal.db");
        let started = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                Writer::new(options, theirs).run(&inbox, &restored_to);
                ended_to.try_send(()).ok();
            });
        if let Err(error) = started {
            state.set(Some(format!("its thread cannot be started: {error}")));
        }
        let restored = match restored.recv_timeout(START) {
            Ok(Some(restored)) => restored,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => Restored::nothing_known(),
            Err(RecvTimeoutError::Timeout) => {
                state.set(Some("the disk does not answer".to_owned()));
                Restored::nothing_known()
            }
        };
        let journal = Self {
            to: Some(to),
            state,
            ended,
        };
        if let JournalState::Failing(why) = journal.health() {
            warn!(path = %path.display(), why, "the journal cannot be used; findings do not survive a restart");
        }
        (journal, restored)
    }

    /// Writes down what happened to a finding; returns at once. What finds no room is lost and
    /// counted.
    pub fn record(&self, transition: &Transition) {
        let Some(to) = &self.to else {
            return;
        };
        match to.try_send(Word::new(transition)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.state.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How it fares.
    #[must_use]
    pub fn health(&self) -> JournalState {
        let failing = self.state.failing.lock();
        let failing = failing.unwrap_or_else(PoisonError::into_inner).clone();
        let lost = self.state.lost.load(Ordering::Relaxed);
        match (failing, lost) {
            (None, 0) => JournalState::Working,
            (None, lost) => JournalState::Failing(format!("{lost} transitions were lost")),
            (Some(why), 0) => JournalState::Failing(why),
            (Some(why), lost) => {
                JournalState::Failing(format!("{why}; {lost} transitions were lost"))
            }
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // The thread writes what it has when nobody can send any more.
        self.to = None;
        // A disk that hangs keeps the thread; the process ends without it.
        self.ended.recv_timeout(END).ok();
    }
}
