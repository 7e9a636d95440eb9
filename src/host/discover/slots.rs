//! Which values a device has: the catalog's rows whose file is there, and on request the rest.

use std::collections::BTreeSet;

use crate::core::catalog::{self, At, Directory, Driver, File, Form, Lane, Source, Spelling};
use crate::core::ids::{NetdevName, PortNumber};
use crate::core::model::facts::FactFault;
use crate::core::model::outcome::FaultReason;
use crate::core::parse;
use crate::core::wire::{Place, Slot, What};
use crate::host::discover::probe::Target;
use crate::host::discover::{SLOTS, last};
use crate::host::tree::Tree;

/// Width of counters nobody has described.
const RAW_WIDTH: u8 = 64;

/// Collects the slots of one device in reading order.
pub(super) struct Collector<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) driver: Option<Driver>,
    pub(super) raw: bool,
    pub(super) slots: Vec<Slot>,
    pub(super) targets: Vec<Target>,
    /// Directories that are there and could not be listed.
    pub(super) unlisted: Vec<FactFault>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(tree: &'a dyn Tree, driver: Option<Driver>, raw: bool) -> Self {
        Self {
            tree,
            driver,
            raw,
            slots: Vec::new(),
            targets: Vec::new(),
            unlisted: Vec::new(),
        }
    }
}

impl Collector<'_> {
    /// Slots of one RDMA port.
    pub(super) fn port(&mut self, device: &str, number: PortNumber) {
        let path = format!("sys/class/infiniband/{device}/ports/{number}");
        let names = Listed::of(self, &path, &["counters", "counters_ext", "hw_counters"]);
        let mut chosen = catalog::choose(self.driver, At::Port, &|file| names.has(file));
        chosen.sort_by_key(|spelling| reading_order(spelling.how.file));
        self.take(&chosen, &path, &Place::Port(number));
        self.uncatalogued(&path, Directory::PortCounters, &Place::Port(number));
        self.uncatalogued(&path, Directory::PortHwCounters, &Place::Port(number));
    }

    /// Slots of the whole device: its own counters, where no port has the row already.
    pub(super) fn device(&mut self, device: &str) {
        let path = format!("sys/class/infiniband/{device}");
        let names = Listed::of(self, &path, &["hw_counters"]);
        let has = |file: File| matches!(file, File::DeviceHwCounters(_)) && names.has(file);
        let mut chosen = catalog::choose(self.driver, At::Device, &has);
        chosen.retain(|spelling| !self.has_row(spelling.row));
        chosen.sort_by_key(|spelling| reading_order(spelling.how.file));
        self.take(&chosen, &path, &Place::Device);
        self.uncatalogued(&path, Directory::DeviceHwCounters, &Place::Device);
    }

    /// Slots of the PCI function.
    pub(super) fn pci(&mut self, path: &str) {
        let names = Listed::of(self, path, &[]);
        let has = |file: File| matches!(file, File::Pci(_)) && names.has(file);
        let chosen = catalog::choose(self.driver, At::Device, &has);
        self.take(&chosen, path, &Place::Device);
    }

    /// Slots of one netdev.
    pub(super) fn netdev(&mut self, name: &NetdevName) {
        let path = format!("sys/class/net/{name}");
        let names = Listed::of(self, &path, &["statistics"]);
        let chosen = catalog::choose(None, At::Netdev, &|file| names.has(file));
        self.take(&chosen, &path, &Place::Netdev(name.clone()));
    }

    fn has_row(&self, row: u16) -> bool {
        self.slots
            .iter()
            .any(|slot| matches!(slot.what, What::Row { row: taken, .. } if taken == row))
    }

    fn take(&mut self, chosen: &[Spelling], base: &str, place: &Place) {
        for spelling in chosen {
            let slot = Slot {
                what: What::Row {
                    row: spelling.row,
                    entry: spelling.entry,
                },
                place: place.clone(),
                file: spelling.how.file.name().to_owned(),
                lane: spelling.of.lane,
                source: spelling.of.source,
            };
            let target = Target {
                path: format!("{base}/{}", spelling.how.file.path()),
                form: spelling.how.form,
                width: spelling.how.width,
            };
            self.push(slot, target);
        }
    }

    /// Files of a counter directory that the catalog lacks.
    fn uncatalogued(&mut self, base: &str, directory: Directory, place: &Place) {
        if !self.raw {
            return;
        }
        let path = format!("{base}/{}", directory.name());
        for name in self.names(&path) {
            if catalog::is_known(self.driver, directory, &name) {
                continue;
            }
            let slot = Slot {
                what: What::Raw {
                    group: directory.name().to_owned(),
                },
                place: place.clone(),
                file: parse::escaped(&name),
                lane: Lane::Fast,
                source: Source::Infiniband,
            };
            let target = Target {
                path: format!("{path}/{name}"),
                form: Form::NumberOrAllOnes,
                width: RAW_WIDTH,
            };
            self.push(slot, target);
        }
    }

    /// Names in a directory. One that is there and cannot be listed is told.
    fn names(&mut self, path: &str) -> Vec<String> {
        match self.tree.list(path) {
            Ok(names) => names,
            Err(FaultReason::NotExposed) => Vec::new(),
            Err(reason) => {
                let what = path.to_owned();
                self.unlisted.push(FactFault { what, reason });
                Vec::new()
            }
        }
    }

    fn push(&mut self, slot: Slot, target: Target) {
        if self.slots.len() < SLOTS {
            self.slots.push(slot);
            self.targets.push(target);
        }
    }
}

/// State before rate, which asks for it; then `counters`; then `hw_counters`, where mlx5 fetches
/// the whole set when its first file is read and only then (`update_hw_stats` of
/// `K:drivers/infiniband/core/sysfs.c`).
fn reading_order(file: File) -> (u8, bool) {
    match file {
        File::Port("state") => (0, false),
        File::Port(_) => (1, false),
        File::PortHwCounters(name) | File::DeviceHwCounters(name) => {
            (3, name != "rx_write_requests")
        }
        _ => (2, false),
    }
}

/// Names that are there, so that a hundred rows cost a few listings and no look-ups.
struct Listed(BTreeSet<String>);

impl Listed {
    fn of(collector: &mut Collector<'_>, base: &str, directories: &[&str]) -> Self {
        let mut names: BTreeSet<String> = collector.names(base).into_iter().collect();
        for directory in directories {
            if names.contains(*directory) {
                let inside = collector.names(&format!("{base}/{directory}"));
                names.extend(inside.into_iter().map(|name| format!("{directory}/{name}")));
            }
        }
        Self(names)
    }

    fn has(&self, file: File) -> bool {
        debug_assert_eq!(last(&file.path()), file.name());
        self.0.contains(&file.path())
    }
}
