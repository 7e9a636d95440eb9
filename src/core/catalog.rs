//! The table of every counter: one row is one vendor-neutral quantity, one entry one driver's
//! spelling of it. Docs, metrics, API, capture and replay follow from here.

pub mod driver;
mod ib_port;
mod netdev;
mod pci;
mod rdma_hw;
mod row;
mod state;

pub use row::{
    At, AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, LaneSet, Row, Scope, Source, Unit,
};

use std::sync::LazyLock;

/// Rows of one kind of kernel interface.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Short name.
    pub name: &'static str,
    /// One sentence on where the numbers come from.
    pub about: &'static str,
    /// Its rows.
    pub rows: &'static [Row],
}

/// Every group, in the order of docs and metrics.
pub const GROUPS: [Group; 5] = [
    Group {
        name: "ib_port",
        about: "Standard counters of an RDMA port: `ports/<n>/counters`.",
        rows: ib_port::ROWS,
    },
    Group {
        name: "rdma_hw",
        about: "Transport counters of an RDMA driver: `hw_counters` of a port, or of the device.",
        rows: rdma_hw::ROWS,
    },
    Group {
        name: "state",
        about: "State of an RDMA port: files of `ports/<n>`.",
        rows: state::ROWS,
    },
    Group {
        name: "netdev",
        about: "What the network stack says of an interface: `/sys/class/net/<netdev>`.",
        rows: netdev::ROWS,
    },
    Group {
        name: "pci",
        about: "The PCIe link of a device's function.",
        rows: pci::ROWS,
    },
];

/// Every row, in the order of docs and metrics. The position is the row's number on the wire.
#[must_use]
pub fn rows() -> &'static [&'static Row] {
    static ROWS: LazyLock<Vec<&'static Row>> =
        LazyLock::new(|| GROUPS.iter().flat_map(|group| group.rows).collect());
    &ROWS
}

/// The row at a wire position.
#[must_use]
pub fn row(position: u16) -> Option<&'static Row> {
    rows().get(usize::from(position)).copied()
}

/// An entry with its positions, as the wire names them.
#[derive(Debug, Clone, Copy)]
pub struct Spelling {
    /// Position of the row in [`rows`].
    pub row: u16,
    /// Position of the entry in the row.
    pub entry: u16,
    /// The row.
    pub of: &'static Row,
    /// The entry.
    pub how: &'static Entry,
}

/// How a driver may spell each row at one kind of place: for each row the candidates in order of
/// preference, the driver's own first, then what any driver has. Rows without one are left out.
#[must_use]
pub fn spellings(driver: Option<Driver>, at: At) -> Vec<Vec<Spelling>> {
    (0_u16..)
        .zip(rows())
        .map(|(position, row)| candidates(position, row, driver, at))
        .filter(|candidates| !candidates.is_empty())
        .collect()
}

fn candidates(row: u16, of: &'static Row, driver: Option<Driver>, at: At) -> Vec<Spelling> {
    let of_driver = |wanted: Driver| {
        (0_u16..)
            .zip(of.entries)
            .filter(move |(_, how)| how.driver == wanted && how.file.at() == at)
            .map(move |(entry, how)| Spelling {
                row,
                entry,
                of,
                how,
            })
    };
    driver
        .filter(|driver| *driver != Driver::Any)
        .into_iter()
        .chain([Driver::Any])
        .flat_map(of_driver)
        .collect()
}

/// What a place of a device has: of each row the first candidate that `exists`.
///
/// Where a `counters` directory holds any of the standard counters that every kernel shows there,
/// those that are missing are chosen too, so that reading them tells so.
#[must_use]
pub fn choose(driver: Option<Driver>, at: At, exists: &dyn Fn(File) -> bool) -> Vec<Spelling> {
    let has_counters = at == At::Port
        && ib_port::ALWAYS
            .iter()
            .any(|name| exists(File::PortCounters(name)));
    let expected = |spelling: &Spelling| {
        has_counters
            && matches!(spelling.how.file, File::PortCounters(name) if ib_port::ALWAYS.contains(&name))
    };
    spellings(driver, at)
        .into_iter()
        .filter_map(|candidates| {
            let there = candidates
                .iter()
                .find(|candidate| exists(candidate.how.file));
            there
                .or_else(|| candidates.iter().find(|candidate| expected(candidate)))
                .copied()
        })
        .collect()
}

/// Whether a file of a `counters` or `hw_counters` directory is in the catalog for this driver, so
/// that it is not exported as a raw counter. `lifespan` is a setting and never a counter.
#[must_use]
pub fn is_known(driver: Option<Driver>, directory: Directory, name: &str) -> bool {
    if name == "lifespan" {
        return true;
    }
    rows().iter().flat_map(|row| row.entries).any(|entry| {
        (entry.driver == Driver::Any || Some(entry.driver) == driver)
            && Directory::of(entry.file) == Some(directory)
            && entry.file.name() == name
    })
}

/// The directories that hold one counter a file, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Directory {
    /// `ports/<n>/counters`.
    PortCounters,
    /// `ports/<n>/hw_counters`.
    PortHwCounters,
    /// `hw_counters` of the device.
    DeviceHwCounters,
}

impl Directory {
    /// Every such directory.
    pub const ALL: [Self; 3] = [
        Self::PortCounters,
        Self::PortHwCounters,
        Self::DeviceHwCounters,
    ];

    /// Its name, the `group` label of a raw counter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PortCounters => "counters",
            Self::PortHwCounters | Self::DeviceHwCounters => "hw_counters",
        }
    }

    fn of(file: File) -> Option<Self> {
        match file {
            File::PortCounters(_) => Some(Self::PortCounters),
            File::PortHwCounters(_) => Some(Self::PortHwCounters),
            File::DeviceHwCounters(_) => Some(Self::DeviceHwCounters),
            _ => None,
        }
    }
}
