//! What daemon and reader say to each other over their pipe.
//!
//! Frames are a little-endian `u32` length and a postcard body (`host::frame`). Both ends are the
//! same binary, so catalog positions are the same numbers on both sides.

use serde::{Deserialize, Serialize};

use crate::core::catalog::{Lane, LaneSet, Source};
use crate::core::ids::{DeviceKey, NetdevName, PortNumber};
use crate::core::model::facts::{DeviceFacts, Skipped};
use crate::core::model::outcome::Outcome;
use crate::core::model::time::BootTime;

/// Version of the messages below; a reader of another version is refused.
pub const PROTOCOL: u16 = 2;
/// The longest frame either side accepts, bytes: 64 devices of 600 slots with room to spare.
pub const FRAME_LIMIT: usize = 8 << 20;

/// Daemon → reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// First frame: what to read and what to leave alone.
    Hello(Hello),
    /// Read every slot of these lanes once. A device still busy is not queued twice.
    Poll {
        /// Ascending number of the poll.
        seq: u64,
        /// Lanes due.
        lanes: LaneSet,
    },
}

/// What a reader is told when it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u16,
    /// Which node to read.
    pub node: Node,
    /// Devices whose read hangs elsewhere: not touched.
    pub stalled: Vec<DeviceKey>,
    /// Devices known since an earlier start of this boot to be restricted: not touched.
    pub restricted: Vec<DeviceKey>,
    /// Read and report counters the catalog does not know, too.
    pub raw: bool,
    /// Clock speed: 1 is real time; more makes tests of hours take minutes.
    pub clock_factor: u32,
}

/// The node to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    /// This host, seen through these mounts.
    Host {
        /// Usually `/sys`.
        sysfs: String,
        /// Usually `/proc`.
        procfs: String,
    },
    /// A capture: a directory (read anew at every poll) or an archive.
    Captured {
        /// Its path.
        path: String,
    },
}

/// Reader → daemon. One frame holds a list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Answer to `Hello`.
    Ready {
        /// The reader's [`PROTOCOL`].
        protocol: u16,
    },
    /// The node cannot be read at all (capture not readable); the reader ends after it.
    Refused {
        /// What was attempted, on what, and what would be right.
        why: String,
    },
    /// What the whole node is; sent once, before anything else of it.
    Node {
        /// `product_name` of its DMI table.
        product: Option<String>,
    },
    /// The devices there are now; sent before the first `Facts` and whenever the set changes.
    Present {
        /// Devices that are, or will be, read.
        devices: Vec<DeviceKey>,
        /// Devices that are left alone.
        skipped: Vec<Skipped>,
    },
    /// What a device is and what is read from it; sent before its first report and after changes.
    Facts {
        /// Counts up with each `Facts` of one reader: no two are alike.
        generation: u32,
        /// What it is.
        facts: Box<DeviceFacts>,
        /// What is read from it, in reading order.
        slots: Vec<Slot>,
    },
    /// The readings of one device for one poll.
    Report(Report),
    /// The device was still busy with an earlier poll.
    Busy {
        /// Poll that found it busy.
        seq: u64,
        /// Device.
        device: DeviceKey,
    },
    /// Every device has reported for this poll (busy ones left out).
    Done {
        /// The poll.
        seq: u64,
    },
}

/// The readings of one device for one poll.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The poll.
    pub seq: u64,
    /// The device.
    pub device: DeviceKey,
    /// Generation of the `Facts` the slots belong to.
    pub generation: u32,
    /// Lanes that were read.
    pub lanes: LaneSet,
    /// When the first read began.
    pub began: BootTime,
    /// One per slot whose lane is in `lanes`, in slot order.
    pub readings: Vec<Reading>,
    /// Time spent per source.
    pub spent: Vec<(Source, u64)>,
}

/// One attempt at one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Nanoseconds after the report's `began` at which the read returned.
    pub offset_nanos: u64,
    /// What it gave.
    pub outcome: Outcome,
}

/// One value that is read from one place of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// What it is.
    pub what: What,
    /// Where on the device.
    pub place: Place,
    /// The kernel's file name (`port_xmit_data`), the last part of its path.
    pub file: String,
    /// How often it is read.
    pub lane: Lane,
    /// Which source reads it.
    pub source: Source,
}

/// A catalogued counter, or one the catalog lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum What {
    /// Position of the row in `catalog::rows()` and of the entry in the row.
    Row {
        /// Row.
        row: u16,
        /// Entry of the row.
        entry: u16,
    },
    /// A counter a driver has and the catalog lacks.
    Raw {
        /// Directory it is in: `counters` or `hw_counters`.
        group: String,
    },
}

/// Where on a device a value belongs; its labels follow from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// The whole device.
    Device,
    /// One RDMA port.
    Port(PortNumber),
    /// One netdev.
    Netdev(NetdevName),
}
