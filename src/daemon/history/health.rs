//! How each source fares.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::core::catalog::{Lane, Source};
use crate::core::model::outcome::{FaultReason, Outcome};
use crate::core::model::snapshot::SourceView;
use crate::core::model::time::BootTime;
use crate::daemon::child::Counts;
use crate::daemon::history::is_value;

/// What decides whether the newest pass still speaks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ages {
    pub(super) now: BootTime,
    /// How old it may be.
    pub(super) current_for: Duration,
    /// A read hangs.
    pub(super) stalled: bool,
}

/// Health of every source.
#[derive(Debug, Default)]
pub(super) struct Health {
    sources: BTreeMap<Source, One>,
}

#[derive(Debug, Default)]
struct One {
    now: Pass,
    last: Option<(Pass, BootTime)>,
    overruns: u64,
    faults: BTreeMap<FaultReason, u64>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Pass {
    attempts: u64,
    values: u64,
    took: Duration,
}

impl Health {
    /// Counts one attempt.
    pub(super) fn read(&mut self, source: Source, outcome: Outcome) {
        let one = self.sources.entry(source).or_default();
        one.now.attempts = one.now.attempts.saturating_add(1);
        one.now.values = one.now.values.saturating_add(u64::from(is_value(outcome)));
        if let Outcome::Fault(reason) = outcome {
            let count = one.faults.entry(reason).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Adds time spent reading.
    pub(super) fn spent(&mut self, source: Source, time: Duration) {
        let one = self.sources.entry(source).or_default();
        one.now.took = one.now.took.saturating_add(time);
    }

    /// A device was still busy.
    pub(super) fn overrun(&mut self, sources: &[Source]) {
        for source in sources {
            let one = self.sources.entry(*source).or_default();
            one.overruns = one.overruns.saturating_add(1);
        }
    }

    /// The pass over every device has ended.
    pub(super) fn done(&mut self, now: BootTime) {
        for one in self.sources.values_mut() {
            let pass = std::mem::take(&mut one.now);
            if pass.attempts > 0 {
                one.last = Some((pass, now));
            }
        }
    }

    /// The pass will not end: its reader is gone.
    pub(super) fn abort(&mut self) {
        for one in self.sources.values_mut() {
            one.now = Pass::default();
        }
    }

    /// What is shown of a source.
    pub(super) fn view(
        &self,
        source: Source,
        lanes: BTreeMap<Lane, Duration>,
        ages: Ages,
        counts: Counts,
    ) -> SourceView {
        let Ages {
            now,
            current_for,
            stalled,
        } = ages;
        let none = One::default();
        let one = self.sources.get(&source).unwrap_or(&none);
        let last = one.last.filter(|_| !lanes.is_empty());
        SourceView {
            source,
            success: last.map(|(pass, ended)| {
                pass.values > 0 && !stalled && now.since(ended) <= current_for
            }),
            ended: last.map(|(_, ended)| ended),
            duration: last.map_or(Duration::ZERO, |(pass, _)| pass.took),
            interval: lanes.values().min().copied().unwrap_or_default(),
            stalled,
            overruns: one.overruns,
            restarts: counts.restarts,
            abandoned: counts.abandoned,
            faults: one.faults.clone(),
            lanes,
        }
    }
}
