//! What the reader has to say, gathered so that one poll is one frame where possible.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::core::wire::Event;
use crate::host::frame::{self, FrameError};

/// How long a poll's reports wait for each other.
const TOGETHER: Duration = Duration::from_millis(50);

/// Events on their way to the daemon.
pub(super) struct Outbox {
    state: Mutex<State>,
    complete: Condvar,
}

struct State {
    pipe: Box<dyn Write + Send>,
    pending: Vec<Event>,
    /// Devices that have not reported, by poll.
    outstanding: BTreeMap<u64, usize>,
    /// The dispatcher gathers; otherwise every event goes out by itself.
    gathering: bool,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl Outbox {
    pub(super) fn new(pipe: impl Write + Send + 'static) -> Self {
        let state = State {
            pipe: Box::new(pipe),
            pending: Vec::new(),
            outstanding: BTreeMap::new(),
            gathering: false,
        };
        Self {
            state: Mutex::new(state),
            complete: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked left whole events behind, never half of one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says one thing at once.
    pub(super) fn say(&self, event: Event) -> Result<(), FrameError> {
        let mut state = self.lock();
        state.pending.push(event);
        state.flush()
    }

    /// Begins a poll that this many devices will report for. What is `first` goes out at once: if
    /// a device brings this process down, the daemon must know whom it had.
    pub(super) fn begin(&self, seq: u64, devices: usize, first: Vec<Event>) {
        let mut state = self.lock();
        state.pending.extend(first);
        if state.flush().is_err() {
            // The daemon is gone; the dispatcher sees the end of its pipe.
            state.pending.clear();
        }
        state.gathering = true;
        if devices == 0 {
            state.pending.push(Event::Done { seq });
        } else {
            state.outstanding.insert(seq, devices);
        }
    }

    /// Waits until the poll's reports have come, at most [`TOGETHER`], and sends what there is,
    /// behind what `learnt` says of them: who hears that a poll is done has heard everything of it.
    pub(super) fn finish(
        &self,
        seq: u64,
        learnt: impl FnOnce() -> Option<Event>,
    ) -> Result<(), FrameError> {
        let waiting = |state: &mut State| state.outstanding.contains_key(&seq);
        let gathered = self
            .complete
            .wait_timeout_while(self.lock(), TOGETHER, waiting);
        let (mut state, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        state.gathering = false;
        if let Some(event) = learnt() {
            let at = usize::from(matches!(state.pending.first(), Some(Event::Present { .. })));
            state.pending.insert(at, event);
        }
        state.flush()
    }

    /// Takes what a device has to say for a poll; its last word for it.
    pub(super) fn report(&self, seq: u64, events: Vec<Event>) {
        let mut state = self.lock();
        state.pending.extend(events);
        let left = state
            .outstanding
            .get(&seq)
            .map_or(0, |left| left.saturating_sub(1));
        if left == 0 {
            state.outstanding.remove(&seq);
            state.pending.push(Event::Done { seq });
            self.complete.notify_all();
        } else {
            state.outstanding.insert(seq, left);
        }
        if !state.gathering && state.flush().is_err() {
            // The daemon is gone; the dispatcher sees the end of its pipe.
            state.pending.clear();
        }
    }
}

impl State {
    fn flush(&mut self) -> Result<(), FrameError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let sent = frame::write(&mut self.pipe, &self.pending);
        self.pending.clear();
        sent
    }
}
