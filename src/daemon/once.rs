//! The same pipeline once, for commands that do not ask a daemon.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::core::catalog::LaneSet;
use crate::core::detect::engine::Engine;
use crate::core::detect::expect_file::{ExpectError, parse};
use crate::core::ids::DeviceKey;
use crate::core::model::snapshot::{HostFacts, Snapshot};
use crate::core::model::time::BootTime;
use crate::core::wire::{Event, Hello, Node, PROTOCOL};
use crate::daemon::child::{Launch, Said, Supervisor};
use crate::daemon::config::Config;
use crate::daemon::history::{History, Intervals};
use crate::daemon::judge::expectation_text;
use crate::daemon::own;
use crate::daemon::run::intervals;
use crate::daemon::store;
use crate::host::clock::{BootClock, Clock, wall_seconds};

/// The node could not be read.
#[derive(Debug, thiserror::Error)]
pub enum OnceError {
    /// The expectation file cannot be followed.
    #[error("cannot follow the expectation file {path}: {error}")]
    Expectation {
        /// Which.
        path: PathBuf,
        /// Why.
        error: ExpectError,
    },
    /// The reader cannot open the node.
    #[error("{0}")]
    Refused(String),
    /// Nothing came in time.
    #[error("the reader gave nothing within {0:.1?}; give it longer with --timeout")]
    Nothing(Duration),
}

/// What one poll gave.
#[derive(Debug)]
pub struct Once {
    /// The node as far as it answered.
    pub snapshot: Snapshot,
    /// Devices that had not answered in time.
    pub late: Vec<DeviceKey>,
}

/// What one poll of every lane gave, with what had come by `timeout`.
///
/// # Errors
///
/// [`OnceError`] if the node cannot be opened, or nothing at all came in time.
pub fn once(config: &Config, node: Node, timeout: Duration) -> Result<Once, OnceError> {
    let mut reading = Reading::begin(config, node, timeout);
    let heard = reading.poll()?;
    reading.end(heard)
}

/// The same twice, a second apart, and judged: what is so at both times is found.
///
/// # Errors
///
/// As [`once`].
pub fn judged(config: &Config, node: Node, timeout: Duration) -> Result<Once, OnceError> {
    let mut reading = Reading::begin(config, node, timeout);
    let mut engine = Engine::impatient();
    let mut heard = reading.poll()?;
    let text = expectation_text(&config.path.expect);
    if let Some(text) = text {
        let expected = parse(&text, reading.product.as_deref());
        engine.expect(expected.map_err(|error| OnceError::Expectation {
            path: config.path.expect.clone(),
            error,
        })?);
    }
    engine.tick(&reading.snapshot(), None);
    if !reading.left().is_zero() {
        reading.wait(APART)?;
        heard |= reading.poll()?;
    }
    let snapshot = reading.snapshot();
    engine.tick(&snapshot, None);
    let mut once = reading.end(heard)?;
    once.snapshot = snapshot;
    once.snapshot.findings = Some(Arc::new(engine.findings()));
    Ok(once)
}

/// Time between two readings that are to show a rate.
const APART: Duration = Duration::from_secs(1);

/// A reader of our own, for as long as a command runs.
struct Reading {
    clock: BootClock,
    until: BootTime,
    timeout: Duration,
    config: Intervals,
    host: HostFacts,
    supervisor: Supervisor<Said>,
    inbox: Receiver<Said>,
    history: History,
    product: Option<String>,
    polls: u64,
}

impl Reading {
    fn begin(config: &Config, node: Node, timeout: Duration) -> Self {
        let clock = BootClock::new(1);
        let (to, inbox) = channel::<Said>();
        let host = match node {
            Node::Captured { .. } => HostFacts::default(),
            Node::Host { .. } => own::host(),
        };
        let hello = hello(config, node, &host);
        Self {
            clock,
            until: clock.now().after(timeout),
            timeout,
            config: intervals(config),
            host,
            supervisor: Supervisor::new(
                Launch::own("reader-nic"),
                hello,
                config.reader.deadline,
                to,
            ),
            inbox,
            history: History::default(),
            product: None,
            polls: 0,
        }
    }

    fn left(&self) -> Duration {
        self.until.since(self.clock.now())
    }

    /// Polls every lane once; whether anything was heard.
    fn poll(&mut self) -> Result<bool, OnceError> {
        self.polls = self.polls.saturating_add(1);
        self.supervisor
            .poll(self.polls, LaneSet::all(), self.clock.now());
        let mut heard = false;
        loop {
            let said = match self.inbox.recv_timeout(self.left()) {
                Ok(said) => said,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Ok(heard);
                }
            };
            let events = self.supervisor.hear(said, self.clock.now());
            if events.is_empty() {
                // The reader has ended.
                return Ok(heard);
            }
            if self.take(events, &mut heard)? {
                return Ok(true);
            }
        }
    }

    /// Takes events; whether the poll is done.
    fn take(&mut self, events: Vec<Event>, heard: &mut bool) -> Result<bool, OnceError> {
        let mut done = false;
        for event in events {
            match event {
                Event::Refused { why } => return Err(OnceError::Refused(why)),
                Event::Node { ref product } => self.product.clone_from(product),
                _ => {}
            }
            done |= matches!(event, Event::Done { seq } if seq == self.polls);
            *heard |= matches!(event, Event::Present { .. } | Event::Done { .. });
            let now = self.clock.now();
            self.history.take(event, now, &self.config, &mut |_| {});
        }
        Ok(done)
    }

    /// Lets time pass; what is said meanwhile is taken.
    fn wait(&mut self, span: Duration) -> Result<(), OnceError> {
        let until = self.clock.now().after(span.min(self.left()));
        while let Ok(said) = self.inbox.recv_timeout(until.since(self.clock.now())) {
            let events = self.supervisor.hear(said, self.clock.now());
            self.take(events, &mut false)?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        // What was read is what there is, however long the slowest device took.
        let (now, shown) = (self.clock.now(), self.config.at_least(self.timeout));
        Snapshot {
            at: now,
            wall_seconds: wall_seconds(),
            polls: self.polls,
            devices: self.history.views(now, &shown),
            skipped: self.history.skipped().to_vec(),
            product: self.product.clone(),
            trouble: None,
            journal: None,
            findings: None,
            sources: self
                .history
                .sources(now, &self.config, self.supervisor.counts()),
            own: Arc::new(own::own(&self.host, self.supervisor.pid(), 0)),
        }
    }

    fn end(mut self, heard: bool) -> Result<Once, OnceError> {
        let snapshot = self.snapshot();
        let late = self.supervisor.unanswered().into_iter().collect();
        self.supervisor.stop();
        if heard {
            Ok(Once { snapshot, late })
        } else {
            Err(OnceError::Nothing(self.timeout))
        }
    }
}

/// What the reader is told. What a daemon of this boot has found must not be touched is not touched
/// here either.
fn hello(config: &Config, node: Node, host: &HostFacts) -> Hello {
    let boot = host.boot_id.as_deref();
    let kept = boot.map(|boot| store::peek(&config.path.state, boot));
    let kept = kept.unwrap_or_default();
    let now = BootClock::new(1).now();
    let stalled = kept.stalled.into_iter();
    let stalled = stalled.filter(|(_, stalled)| stalled.retry_at > now);
    Hello {
        protocol: PROTOCOL,
        node,
        stalled: stalled.map(|(key, _)| key).collect(),
        restricted: kept.restricted.into_iter().collect(),
        raw: config.metrics.raw_counters,
        clock_factor: 1,
    }
}
