//! The same pipeline once, for commands that do not ask a daemon.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::core::catalog::LaneSet;
use crate::core::ids::DeviceKey;
use crate::core::model::snapshot::{HostFacts, Snapshot};
use crate::core::wire::{Event, Hello, Node, PROTOCOL};
use crate::daemon::child::{Launch, Said, Supervisor};
use crate::daemon::config::Config;
use crate::daemon::history::History;
use crate::daemon::own;
use crate::daemon::run::intervals;
use crate::daemon::store;
use crate::host::clock::{BootClock, Clock, wall_seconds};

/// The node could not be read.
#[derive(Debug, thiserror::Error)]
pub enum OnceError {
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
    let clock = BootClock::new(1);
    let (to, inbox) = channel::<Said>();
    let is_capture = matches!(node, Node::Captured { .. });
    let host = if is_capture {
        HostFacts::default()
    } else {
        own::host()
    };
    let hello = hello(config, node, &host);
    let mut supervisor =
        Supervisor::new(Launch::own("reader-nic"), hello, config.reader.deadline, to);
    let mut history = History::default();
    let until = clock.now().after(timeout);
    supervisor.poll(1, LaneSet::all(), clock.now());
    let (mut done, mut heard) = (false, false);
    while !done {
        let said = match inbox.recv_timeout(until.since(clock.now())) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        };
        let events = supervisor.hear(said, clock.now());
        if events.is_empty() {
            // The reader has ended.
            break;
        }
        for event in events {
            if let Event::Refused { why } = event {
                return Err(OnceError::Refused(why));
            }
            done |= matches!(event, Event::Done { .. });
            heard |= matches!(event, Event::Present { .. } | Event::Done { .. });
            history.take(event, clock.now(), &intervals(config), &mut |_| {});
        }
    }
    // What one poll gave is what there is, however long the slowest device took.
    let intervals = intervals(config);
    let (now, shown) = (clock.now(), intervals.at_least(timeout));
    let snapshot = Snapshot {
        at: now,
        wall_seconds: wall_seconds(),
        polls: 1,
        devices: history.views(now, &shown),
        skipped: history.skipped().to_vec(),
        trouble: None,
        sources: history.sources(now, &intervals, supervisor.counts()),
        own: Arc::new(own::own(&host, supervisor.pid(), 0)),
    };
    let late = supervisor.unanswered().into_iter().collect();
    supervisor.stop();
    if heard {
        Ok(Once { snapshot, late })
    } else {
        Err(OnceError::Nothing(timeout))
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
