//! The shape of the catalog: what a row and an entry say.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One vendor-neutral quantity.
#[derive(Debug)]
pub struct Row {
    /// Full metric name, e.g. `railwatch_port_transmit_bytes_total`.
    pub metric: &'static str,
    /// Unit of the exported value.
    pub unit: Unit,
    /// Counter or gauge.
    pub kind: Kind,
    /// One sentence for HELP, without a full stop.
    pub help: &'static str,
    /// What detectors sum over; rows that name the same concept are added.
    pub concept: Option<&'static str>,
    /// Metric of a row of the same concept that counts the same things better: where a place has
    /// that one, this one is not added.
    pub yields_to: Option<&'static str>,
    /// How often it is read.
    pub lane: Lane,
    /// Which source reads it.
    pub source: Source,
    /// How drivers spell it. An entry for the device's driver wins over [`Driver::Any`]; of several
    /// entries of one driver the first whose file exists is taken. An entry of the whole device
    /// stands in where none of its ports has the row, so that nothing is counted twice.
    pub entries: &'static [Entry],
}

impl Row {
    /// Whether drivers spell the row differently, so that its kernel counter is worth a label. The
    /// other spelling of the same counter in `counters_ext` does not count.
    #[must_use]
    pub fn has_synonyms(&self) -> bool {
        let mut names = self
            .entries
            .iter()
            .filter(|entry| !matches!(entry.file, File::PortCountersExt(_)))
            .map(|entry| entry.file.name());
        names
            .next()
            .is_some_and(|first| names.any(|name| name != first))
    }
}

/// One driver's spelling of a row.
#[derive(Debug)]
pub struct Entry {
    /// Whose.
    pub driver: Driver,
    /// Which file, and where.
    pub file: File,
    /// How its text is read.
    pub form: Form,
    /// Factor from the file's number to the row's unit.
    pub scale: u32,
    /// Bits of the counter as the device holds it; 64 for gauges.
    pub width: u8,
    /// What it does when it has counted to its width.
    pub at_top: AtTop,
    /// How often the device itself refreshes it, milliseconds; 0 is at every read.
    pub native_refresh_ms: u32,
    /// What a read costs the device.
    pub cost: Cost,
    /// What it counts over.
    pub scope: Scope,
    /// Where the facts come from: kernel path or specification.
    pub source: &'static str,
}

/// Whose spelling an entry is: the RDMA driver's short name, or any driver's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Driver {
    /// The kernel core gives the file its form, whatever the driver.
    Any,
    /// NVIDIA ConnectX-4 and later.
    Mlx5,
    /// NVIDIA ConnectX-3.
    Mlx4,
    /// Broadcom NetXtreme-E.
    BnxtRe,
    /// Intel E810, X722.
    Irdma,
    /// Cornelis Omni-Path.
    Hfi1,
    /// AWS Elastic Fabric Adapter.
    Efa,
    /// Soft RoCE.
    Rxe,
    /// Soft iWARP.
    Siw,
}

impl Driver {
    /// Every driver with a table of its own.
    pub const NAMED: [Self; 8] = [
        Self::Mlx5,
        Self::Mlx4,
        Self::BnxtRe,
        Self::Irdma,
        Self::Hfi1,
        Self::Efa,
        Self::Rxe,
        Self::Siw,
    ];

    /// The short name, as `rdma link` and documents spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Mlx5 => "mlx5",
            Self::Mlx4 => "mlx4",
            Self::BnxtRe => "bnxt_re",
            Self::Irdma => "irdma",
            Self::Hfi1 => "hfi1",
            Self::Efa => "efa",
            Self::Rxe => "rxe",
            Self::Siw => "siw",
        }
    }
}

/// Which file holds the value, by the directory it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// `class/infiniband/<dev>/ports/<n>/<name>`.
    Port(&'static str),
    /// `class/infiniband/<dev>/ports/<n>/counters/<name>`.
    PortCounters(&'static str),
    /// `class/infiniband/<dev>/ports/<n>/counters_ext/<name>` of kernels up to 4.4.
    PortCountersExt(&'static str),
    /// `class/infiniband/<dev>/ports/<n>/hw_counters/<name>`.
    PortHwCounters(&'static str),
    /// `class/infiniband/<dev>/hw_counters/<name>`.
    DeviceHwCounters(&'static str),
    /// `class/net/<netdev>/<name>`.
    Net(&'static str),
    /// `class/net/<netdev>/statistics/<name>`.
    NetStatistics(&'static str),
    /// `<PCI function>/<name>`.
    Pci(&'static str),
}

impl File {
    /// The file's own name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Port(name)
            | Self::PortCounters(name)
            | Self::PortCountersExt(name)
            | Self::PortHwCounters(name)
            | Self::DeviceHwCounters(name)
            | Self::Net(name)
            | Self::NetStatistics(name)
            | Self::Pci(name) => name,
        }
    }
}

impl File {
    /// Which kind of place the file describes.
    #[must_use]
    pub fn at(self) -> At {
        match self {
            Self::Port(_)
            | Self::PortCounters(_)
            | Self::PortCountersExt(_)
            | Self::PortHwCounters(_) => At::Port,
            Self::DeviceHwCounters(_) | Self::Pci(_) => At::Device,
            Self::Net(_) | Self::NetStatistics(_) => At::Netdev,
        }
    }

    /// The path below the place's directory.
    #[must_use]
    pub fn path(self) -> String {
        match self {
            Self::PortCounters(name) => format!("counters/{name}"),
            Self::PortCountersExt(name) => format!("counters_ext/{name}"),
            Self::PortHwCounters(name) | Self::DeviceHwCounters(name) => {
                format!("hw_counters/{name}")
            }
            Self::NetStatistics(name) => format!("statistics/{name}"),
            Self::Port(name) | Self::Net(name) | Self::Pci(name) => name.to_owned(),
        }
    }
}

/// The kinds of place a value belongs to; its labels follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// The whole device: its own files and those of its PCI function.
    Device,
    /// An RDMA port.
    Port,
    /// A netdev.
    Netdev,
}

/// How a file's text becomes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Decimal, nothing else.
    Number,
    /// `4: ACTIVE` → 4.
    StateId,
    /// `400 Gb/sec (4X NDR)` → bytes per second. Absent unless the port's `state` is ACTIVE.
    Rate,
    /// Mb/s, where 0 and -1 in any width are "unknown" → absent; scale makes it bytes per second.
    /// A read that fails with EINVAL is absent (netdev that is down).
    NetSpeed,
    /// `16.0 GT/s PCIe` → transfers per second per lane; `Unknown` → absent.
    PcieSpeed,
    /// Decimal lanes; 0, 63 and 255 are "unknown" → absent.
    PcieWidth,
    /// `1` or `0`; a read that fails with EINVAL is absent (carrier of a netdev that is down).
    Flag,
    /// `up`, `down`, … of `operstate` → 1 if `up`, 0 if `down` or `lowerlayerdown`, else absent.
    Operstate,
    /// Decimal, where 18446744073709551615 is "cannot say" → absent.
    NumberOrAllOnes,
}

/// What the exported value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Events, messages, errors.
    Events,
    /// Ticks of a clock the device does not describe.
    Ticks,
    /// Bytes per second.
    BytesPerSecond,
    /// Transfers per second.
    TransfersPerSecond,
    /// PCIe lanes.
    Lanes,
    /// A kernel enumeration's id.
    Id,
    /// 0 or 1.
    Flag,
}

impl Unit {
    /// Spelling in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Events => "events",
            Self::Ticks => "ticks",
            Self::BytesPerSecond => "bytes_per_second",
            Self::TransfersPerSecond => "transfers_per_second",
            Self::Lanes => "lanes",
            Self::Id => "id",
            Self::Flag => "flag",
        }
    }
}

/// Counter or gauge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only ever grows, but for resets.
    Counter,
    /// A state.
    Gauge,
}

/// What a counter does at the top of its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtTop {
    /// Stays at all ones and says nothing any more.
    Saturate,
    /// Starts again at zero.
    Wrap,
    /// The driver masks a wider number: starts again at zero.
    Trunc,
    /// 64 bits that start again at zero, or 32 that stay at all ones where the device has no
    /// extended counters: the kernel gives both the same file and does not say which.
    WrapOrStick,
}

/// What a read costs the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Memory of the driver.
    Free,
    /// Values the device writes to memory by itself.
    Dma,
    /// A firmware command.
    Firmware,
    /// Holds the kernel's RTNL lock.
    Rtnl,
}

/// What a counter counts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole physical port: all functions and the host's own traffic.
    Port,
    /// This PF, VF or SF only.
    Function,
    /// The whole RDMA device.
    Device,
}

/// How often a row is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Data, packets and RDMA counters.
    Fast,
    /// Port state, carrier, link errors, netdev statistics.
    Link,
    /// What hardly ever changes.
    Slow,
}

impl Lane {
    /// Every lane, fastest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Link, Self::Slow];

    /// Spelling in configuration and documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Link => "link",
            Self::Slow => "slow",
        }
    }

    fn bit(self) -> u8 {
        match self {
            Self::Fast => 1,
            Self::Link => 2,
            Self::Slow => 4,
        }
    }
}

/// A set of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LaneSet(u8);

impl LaneSet {
    /// Every lane.
    #[must_use]
    pub fn all() -> Self {
        Lane::ALL.into_iter().fold(Self::default(), Self::with)
    }

    /// This set and `lane`.
    #[must_use]
    pub fn with(self, lane: Lane) -> Self {
        Self(self.0 | lane.bit())
    }

    /// Whether `lane` is in it.
    #[must_use]
    pub fn has(self, lane: Lane) -> bool {
        self.0 & lane.bit() != 0
    }

    /// Whether it holds no lane.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What reads one kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// `/sys/class/infiniband`.
    Infiniband,
    /// `/sys/class/net`.
    Netdev,
    /// PCI functions' own files.
    Pci,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::Infiniband, Self::Netdev, Self::Pci];

    /// The label's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Infiniband => "infiniband",
            Self::Netdev => "netdev",
            Self::Pci => "pci",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
