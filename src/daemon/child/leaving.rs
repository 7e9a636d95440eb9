//! Children that were killed: waited for without waiting, counted when the kernel keeps them.

use std::time::Duration;

use tracing::{info, warn};

use crate::core::model::time::BootTime;
use crate::daemon::child::process::Process;

/// Time a killed child has to end before it counts as abandoned.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// Children on their way out.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    children: Vec<One>,
    abandoned: u64,
}

#[derive(Debug)]
struct One {
    number: u64,
    process: Process,
    since: BootTime,
    abandoned: bool,
}

impl Leaving {
    /// Takes a child that has ended or was killed.
    pub(super) fn take(&mut self, number: u64, process: Process, since: BootTime) {
        self.children.push(One {
            number,
            process,
            since,
            abandoned: false,
        });
    }

    /// Children the kernel would not let end in time, so far.
    pub(super) fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// Reaps those that have ended; their numbers.
    pub(super) fn reap(&mut self, now: BootTime) -> Vec<u64> {
        let mut ended = Vec::new();
        for mut one in std::mem::take(&mut self.children) {
            if one.process.has_ended() {
                ended.push(one.number);
                if one.abandoned {
                    info!(pid = one.process.pid(), "an abandoned reader has ended");
                }
                continue;
            }
            if !one.abandoned && now.since(one.since) > LAST_BREATH {
                one.abandoned = true;
                self.abandoned = self.abandoned.saturating_add(1);
                warn!(
                    pid = one.process.pid(),
                    "a killed reader does not end; it is abandoned"
                );
            }
            self.children.push(one);
        }
        ended
    }
}
