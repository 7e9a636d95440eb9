//! What is published after a poll: everything a renderer needs, immutable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::core::catalog::{self, Lane, Source};
use crate::core::detect::engine::Findings;
use crate::core::model::change::Run;
use crate::core::model::facts::{DeviceFacts, Skipped};
use crate::core::model::outcome::FaultReason;
use crate::core::model::time::BootTime;
use crate::core::wire::{Place, Slot, What};

/// The newest state of everything, as of `at`.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// When it was put together.
    pub at: BootTime,
    /// Wall time of `at`, seconds since 1970 with fraction; only for documents.
    pub wall_seconds: f64,
    /// Polls sent so far.
    pub polls: u64,
    /// Devices that are read, ordered by name.
    pub devices: Vec<Arc<DeviceView>>,
    /// Devices that are not.
    pub skipped: Vec<Skipped>,
    /// Health of each source, ordered.
    pub sources: Vec<SourceView>,
    /// What the maker calls the whole machine.
    pub product: Option<String>,
    /// Why nothing can be read at all; `None` when it can.
    pub trouble: Option<String>,
    /// Whether findings are written down; `None` where nothing keeps them.
    pub journal: Option<JournalState>,
    /// What is found; `None` where nothing judges, as in a single reading.
    pub findings: Option<Arc<Findings>>,
    /// The daemon itself; renewed on the slow lane.
    pub own: Arc<Own>,
}

/// How the journal of findings fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalState {
    /// What happens is written.
    Working,
    /// It is not, and why.
    Failing(String),
}

/// One device with the newest state of each of its slots.
#[derive(Debug)]
pub struct DeviceView {
    /// What the device is.
    pub facts: Arc<DeviceFacts>,
    /// What is read from it; shared with the history.
    pub slots: Arc<[Slot]>,
    /// State of `slots`, same order and length.
    pub states: Vec<SlotState>,
    /// Where concepts stand in `slots`; shared with the history.
    pub concepts: Arc<Concepts>,
    /// When it last came back, or several of its counters had started again at once; `None` if it
    /// has not since it was first seen.
    pub restarted: Option<BootTime>,
}

/// Positions of slots by the concept of their row: detectors ask for a dozen of them each second.
#[derive(Debug, Default)]
pub struct Concepts(BTreeMap<&'static str, Vec<(Place, usize)>>);

impl Concepts {
    /// The index of these slots.
    #[must_use]
    pub fn of(slots: &[Slot]) -> Self {
        let mut index: BTreeMap<&'static str, Vec<(Place, usize)>> = BTreeMap::new();
        for (position, slot) in slots.iter().enumerate() {
            let What::Row { row, .. } = slot.what else {
                continue;
            };
            if let Some(concept) = catalog::row(row).and_then(|row| row.concept) {
                let places = index.entry(concept).or_default();
                places.push((slot.place.clone(), position));
            }
        }
        Self(index)
    }

    /// The first slot of a concept at a place.
    #[must_use]
    pub fn find(&self, concept: &str, place: &Place) -> Option<usize> {
        let places = self.0.get(concept)?;
        let found = places.iter().find(|(at, _)| at == place)?;
        Some(found.1)
    }
}

/// The newest state of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotState {
    /// Current. For a counter: `value` is our own reset-free sum, before the row's scale.
    Current {
        /// The value.
        value: u64,
        /// The counter stands at its top and says nothing any more.
        saturated: bool,
        /// When it was read.
        at: BootTime,
        /// The unbroken run of readings it belongs to.
        run: Run,
    },
    /// Read, and the kernel has nothing to say.
    Absent,
    /// The newest attempt failed.
    Fault(FaultReason),
    /// Too old to be shown, or never read.
    NotCurrent,
}

/// Health of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceView {
    /// Which.
    pub source: Source,
    /// Whether its newest pass over every device came back with at least one value and without a
    /// stall; `None` before the first pass, or when there is nothing for it to read.
    pub success: Option<bool>,
    /// When its newest pass ended.
    pub ended: Option<BootTime>,
    /// How long the newest pass took, summed over devices.
    pub duration: Duration,
    /// Actual interval of its fastest lane.
    pub interval: Duration,
    /// A read of it hangs now.
    pub stalled: bool,
    /// Polls that found a device still busy.
    pub overruns: u64,
    /// Times its reader was started again.
    pub restarts: u64,
    /// Readers given up in the kernel.
    pub abandoned: u64,
    /// Failed reads by reason.
    pub faults: BTreeMap<FaultReason, u64>,
    /// Actual intervals by lane.
    pub lanes: BTreeMap<Lane, Duration>,
}

/// What the daemon knows of itself and the host it is on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Own {
    /// The host.
    pub host: HostFacts,
    /// Our processes: `daemon`, `reader-nic`.
    pub processes: Vec<ProcessView>,
    /// Configuration problems that were answered with a default.
    pub config_problems: u64,
}

/// Facts of the host, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostFacts {
    /// Its name.
    pub hostname: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Distribution, as `os-release` names it.
    pub os: Option<String>,
    /// Logical CPUs.
    pub cpus: Option<u32>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Seconds since boot when the snapshot was put together are `Snapshot::at`; this names the boot.
    pub boot_id: Option<String>,
}

/// One of our processes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessView {
    /// `daemon` or the reader's name.
    pub process: &'static str,
    /// Proportional set size (`smaps_rollup`), bytes.
    pub pss_bytes: Option<u64>,
    /// User and system time, seconds.
    pub cpu_seconds: Option<f64>,
    /// Open descriptors.
    pub open_fds: Option<u64>,
    /// Start, seconds since 1970.
    pub start_seconds: Option<f64>,
}
